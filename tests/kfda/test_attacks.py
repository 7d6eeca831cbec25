"""What was tried against the classifiers and solvers from outside, and is right."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from marginbook.kfda import KFDAClassifier, OLSKFDAClassifier, SparseKFDAClassifier
from marginbook.kfda.estimators import training
from marginbook.kfda.experiments.grids import rbf, squared_distances
from marginbook.kfda.model.certificates import duality_gap, magnitude_bound
from marginbook.kfda.model.objective import Problem, objective, targets
from marginbook.kfda.solvers.lasso import lasso, lasso_path
from marginbook.kfda.solvers.majorise_minimise import shrinking_mm
from marginbook.kfda.solvers.solution import Solution


def _rows(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = X[:, 0] + 0.5 * rng.normal(size=n) > 0
    y[:2] = [True, False]
    return X, y


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "model",
    [
        SparseKFDAClassifier(q=1.0, rho=0.003),
        SparseKFDAClassifier(q=1.0, rho=0.003, solver="mm"),
        SparseKFDAClassifier(q=0.5, rho=0.003),
        SparseKFDAClassifier(q=1.5, rho=0.003, penalize_bias=False),
        KFDAClassifier(reg=0.1),
        OLSKFDAClassifier(n_terms=5),
    ],
    ids=str,
)
def test_the_order_of_the_rows_does_not_matter(model: object, seed: int) -> None:
    X, y = _rows(seed, 45)
    order = np.random.default_rng(seed + 100).permutation(len(y))
    new = _rows(seed + 50, 30)[0]
    first = model.fit(X, y)  # type: ignore[attr-defined]
    decided, retained = first.decision_function(new), first.retained_
    again = model.fit(X[order], y[order])  # type: ignore[attr-defined]
    np.testing.assert_allclose(again.decision_function(new), decided, atol=1e-7)
    np.testing.assert_array_equal(np.sort(order[again.retained_]), retained)


@pytest.mark.parametrize("q", [0.5, 1.0])
def test_equal_rows_are_retained_once(q: float) -> None:
    X, y = _rows(0, 20)
    X, y = np.repeat(X, 6, axis=0), np.repeat(y, 6)
    y[::7] = ~y[::7]  # equal rows of opposite classes, too
    for rho in (0.03, 0.003, 0.0003):
        model = SparseKFDAClassifier(q=q, rho=rho).fit(X, y)
        kept = X[model.retained_]
        assert len(np.unique(kept, axis=0)) == len(kept) <= 20


def test_lasso_on_the_grid_of_the_tables_is_certified_by_a_fresh_gap() -> None:
    rhos = 10.0 ** np.arange(-0.5, -5.1, -0.5)
    for seed, width in ((0, 0.3), (1, 2.5), (2, 10.0)):
        X, y = _rows(seed, 80)
        problem = Problem(rbf(squared_distances(np.round(X, 1)), width), targets(y))
        for found in lasso_path(problem, rhos):
            gap = duality_gap(problem, found.omega, found.rho)
            assert found.converged
            assert gap <= 1e-7 * found.objective
            assert found.objective == pytest.approx(
                objective(problem, found.omega, 1.0, found.rho), rel=1e-12
            )


def test_what_is_retained_below_one_is_above_the_bound_of_minima() -> None:
    for seed, width in ((0, 0.5), (1, 2.5)):
        X, y = _rows(seed, 60)
        problem = Problem(rbf(squared_distances(X), width), targets(y))
        for rho in (0.1, 0.01, 0.001, 1e-4):
            found = shrinking_mm(problem, 0.5, rho, tol=1e-7)
            assert found.curvature is not None
            assert found.curvature > 0
            kept = found.omega != 0
            assert (np.abs(found.omega[kept]) >= (1 - 1e-6) * magnitude_bound(problem, 0.5, rho)[kept]).all()


@pytest.mark.parametrize("size", [1e-150, 1e-8, 1e3])
@pytest.mark.parametrize("rho", [1e-4, 1e-2, 1e100])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_converged_is_never_said_of_a_large_gap(size: float, rho: float, kernel: str) -> None:
    X, y = _rows(3, 10)
    for q, solver, bias in ((1.0, "lasso", False), (1.0, "mm", True), (1.5, "mm", False)):
        model = SparseKFDAClassifier(q=q, rho=rho, kernel=kernel, solver=solver, penalize_bias=bias)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            model.fit(X * size, y)
        assert np.isfinite(model.decision_function(X * size)).all()
        assert model.converged_ == (model.dual_gap_ <= 1e-8 * model.objective_)
        assert model.converged_ != any(issubclass(one.category, ConvergenceWarning) for one in caught)


def test_converged_is_measured_by_the_certificate_that_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def boasting(problem: Problem, rho: float, **options: object) -> Solution:
        found = lasso(problem, 2 * rho)
        return replace(found, rho=rho, dual_gap=0.0, converged=True)

    monkeypatch.setattr(training, "lasso", boasting)
    X, y = _rows(4, 20)
    with pytest.warns(ConvergenceWarning, match="relative duality gap"):
        model = SparseKFDAClassifier(rho=0.01).fit(X, y)
    assert not model.converged_


def test_data_are_left_as_they_were() -> None:
    X, y = _rows(5, 30)
    K = rbf(squared_distances(X), 1.0)
    kept = K.copy()
    K.flags.writeable = X.flags.writeable = False
    for q in (0.5, 1.0, 1.5, 2.0):
        precomputed = SparseKFDAClassifier(q=q, kernel="precomputed").fit(K, y)
        assert np.isfinite(precomputed.decision_function(K)).all()
        SparseKFDAClassifier(q=q).fit(X, y)
    lasso(Problem(K, targets(y)), 0.01, start=np.ones(31))
    np.testing.assert_array_equal(K, kept)


def _smooth(n: int, seed: int) -> Problem:
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return Problem(rbf(squared_distances(X), 1.0), targets(np.arange(n) < max(1, n // 3)))


@pytest.mark.parametrize("rho", [1e-13, 1e-16, 1e-100])
def test_a_penalty_below_rounding_ends(rho: float) -> None:
    for n, seed in ((3, 0), (4, 1), (6, 2), (12, 3)):
        assert np.isfinite(lasso(_smooth(n, seed), rho).omega).all()


def test_a_start_of_zeros_is_left_without_a_polish_too() -> None:
    solution = shrinking_mm(_smooth(8, 0), 1.0, 0.01, start=np.zeros(9), polish=False)
    assert solution.converged
    assert solution.objective <= solution.objective_path[-1] * (1 + 1e-9)
    assert solution.retained_path[-1] > 0


def test_converged_means_stationary() -> None:
    X = np.random.default_rng(1).normal(size=(12, 2))
    problem = Problem(rbf(squared_distances(X), 10.0), targets(np.arange(12) < 5))
    said = 0
    for q in (0.01, 0.1, 0.25, 0.5):
        for rho in 10.0 ** np.arange(-3, -10, -1):
            solution = shrinking_mm(problem, q, rho)
            said += solution.converged
            assert not solution.converged or solution.stationarity <= 1e-4
    assert said > 0

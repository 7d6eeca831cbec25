"""The general solver: its own optimality, scikit-learn, the room's solvers, degenerate problems."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from sklearn.linear_model import Lasso, Ridge

from marginbook.kernels import gram
from marginbook.kfda.model.certificates import duality_gap, stationarity
from marginbook.kfda.model.objective import Problem, objective, targets
from marginbook.kfda.solvers import oracle as module
from marginbook.kfda.solvers.irls import majorize_minimize
from marginbook.kfda.solvers.lasso import lasso
from marginbook.kfda.solvers.oracle import oracle


def _problem(n: int = 30, width: float = 0.7, columns: int | None = None) -> Problem:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    mask = np.arange(n) < max(1, n // 3)
    X[mask] += 1.0
    return Problem(gram(("rbf", {"gamma": 0.5 / width**2}), X)[:, :columns], targets(mask))


@pytest.mark.parametrize("penalize_bias", [True, False])
@pytest.mark.parametrize("rho", [0.1, 0.003])
def test_lasso_meets_the_oracle(rho: float, penalize_bias: bool) -> None:
    problem = _problem()
    found = oracle(problem, 1.0, rho, penalize_bias=penalize_bias)
    assert duality_gap(problem, found.omega, rho, penalize_bias) < 1e-5 * found.objective
    exact = lasso(problem, rho, penalize_bias=penalize_bias)
    assert exact.objective == pytest.approx(found.objective, rel=1e-6)
    assert exact.objective <= found.objective * (1 + 1e-12)
    np.testing.assert_allclose(found.omega, exact.omega, atol=1e-3 * np.abs(exact.omega).max())


def test_scikit_learn_agrees() -> None:
    problem = _problem()
    found = oracle(problem, 1.0, 0.05, penalize_bias=False)
    peer = Lasso(alpha=0.05, tol=1e-12, max_iter=100_000).fit(problem.K, problem.yhat)
    np.testing.assert_allclose(found.omega[1:], peer.coef_, atol=1e-4)
    found = oracle(problem, 2.0, 0.05, penalize_bias=False)
    ridge = Ridge(alpha=2 * 0.05 * problem.n).fit(problem.K, problem.yhat)
    np.testing.assert_allclose(found.omega, [ridge.intercept_, *ridge.coef_], atol=1e-5)


@pytest.mark.parametrize("penalize_bias", [True, False])
@pytest.mark.parametrize("q", [1.2, 1.5, np.sqrt(2.5), 2.0])
def test_between_the_lasso_and_ridge(q: float, penalize_bias: bool) -> None:
    problem = _problem()
    found = oracle(problem, q, 0.02, penalize_bias=penalize_bias)
    # near zero, the slope of |t|^1.2 is steep: the solver's tolerance in omega weighs more
    assert stationarity(problem, found.omega, q, 0.02, penalize_bias) < (0.1 if q < 1.5 else 1e-3)
    mm = majorize_minimize(problem, q, 0.02, tol=1e-12, penalize_bias=penalize_bias)
    assert mm.objective == pytest.approx(found.objective, rel=1e-6)
    rng = np.random.default_rng(0)
    for _ in range(20):
        near = found.omega + 1e-2 * rng.normal(size=found.omega.shape)
        assert objective(problem, near, q, 0.02, penalize_bias) > found.objective


@pytest.mark.parametrize("columns", [5, 30])
def test_few_columns_and_two_samples(columns: int) -> None:
    for problem in (_problem(columns=columns), _problem(2)):
        found = oracle(problem, 1.0, 0.01)
        assert found.omega.shape == (problem.n_coefficients,)
        assert lasso(problem, 0.01).objective == pytest.approx(found.objective, rel=1e-6)


def test_equal_columns_and_all_zero() -> None:
    problem = _problem(12)
    doubled = Problem(np.repeat(problem.K, 2, axis=1), problem.yhat)
    value = oracle(doubled, 1.0, 0.02).objective
    assert value == pytest.approx(oracle(problem, 1.0, 0.02).objective, rel=1e-6)
    assert value == pytest.approx(lasso(doubled, 0.02).objective, rel=1e-6)
    # for q > 1 two equal columns share what one would hold, which costs less
    assert oracle(doubled, 1.5, 0.02).objective < oracle(problem, 1.5, 0.02).objective - 1e-3
    # from max / N on, all is zero
    rho = 1.5 * float(np.abs(problem.design.T @ problem.yhat).max()) / problem.n
    np.testing.assert_allclose(oracle(problem, 1.0, rho).omega, 0.0, atol=1e-5)


def test_a_minimiser_is_not_changed_by_accident() -> None:
    found = oracle(_problem(6), 1.0, 0.1)
    with pytest.raises(FrozenInstanceError):
        found.objective = 0.0


def test_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = _problem(6)
    with pytest.raises(ValueError, match=r"q must be at least 1, got 0.5: below, J is not convex"):
        oracle(problem, 0.5, 0.1)
    with pytest.raises(ValueError, match=r"rho must be a finite number > 0"):
        oracle(problem, 1.0, -0.1)
    monkeypatch.setitem(__import__("sys").modules, "cvxpy", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'marginbook\[oracle\]'"):
        module.oracle(problem, 1.0, 0.1)

"""The hard-margin model against cvxpy and its limits; the certificates of data that cannot be separated."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import LinearSVC

from marginbook.ldm.model.objective import primal_objective
from marginbook.ldm.model.whitening import WhitenedGram
from marginbook.ldm.solvers import active_set, hard_margin
from marginbook.ldm.solvers.hard_margin import (
    InfeasibleError,
    gram_features,
    inseparability,
    solve_hard_margin,
)
from marginbook.ldm.solvers.oracle import hard_margin_oracle


def _separable(m=20, d=4, seed=0, kind="linear"):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    w = rng.normal(size=d)
    y = np.sign(X @ w)
    X += 0.2 * y[:, None] * w / np.linalg.norm(w)
    if kind == "duplicates":
        X, y = np.vstack([X, X]), np.concatenate([y, y])
    return X, y


@pytest.mark.parametrize("kind", ["linear", "duplicates", "rbf"])
@pytest.mark.parametrize(("lambda1", "lambda2"), [(0.0, 0.0), (0.25, 0.1), (30.0, 0.0), (0.1, 50.0)])
def test_the_optimum_is_cvxpys(kind, lambda1, lambda2):
    X, y = _separable(kind=kind)
    G = rbf_kernel(X, gamma=0.5) if kind == "rbf" else X @ X.T
    found = solve_hard_margin(WhitenedGram(G, y), lambda1, lambda2)
    oracle = hard_margin_oracle(gram_features(G), y, lambda1, lambda2)
    assert found.converged
    assert np.isinf(found.C)
    assert found.objective == pytest.approx(oracle.objective, rel=1e-6, abs=1e-6)
    np.testing.assert_allclose(found.margins, oracle.margins, rtol=1e-3, atol=1e-3)
    assert found.margins.min() >= 1 - 1e-12
    assert found.beta.min() >= 0
    np.testing.assert_allclose(y * (G @ found.alpha), found.margins, rtol=1e-8, atol=1e-8)
    norm = found.alpha @ G @ found.alpha
    value = primal_objective(np.maximum(found.margins, 1), norm, lambda1, lambda2, 1.0)
    assert value == pytest.approx(found.objective, rel=1e-8)


def test_no_rounding_makes_a_gap_negative():
    """The difference of the objectives is, for about a third of these."""
    for seed in range(40):
        X, y = _separable(8, 2, seed)
        if abs(y.sum()) < 8:
            assert solve_hard_margin(WhitenedGram(X @ X.T, y), 0.0, 0.0).dual_gap >= 0


def test_it_does_not_say_converged_above_its_tolerance(monkeypatch):
    X, y = _separable()
    exact = hard_margin.minimise

    def stopped_early(H, x, lower, *others):
        told = exact(H, x, lower, *others)
        x += 0.1 * (x - lower)  # feasible, and not the minimum
        return told

    monkeypatch.setattr(hard_margin, "minimise", stopped_early)
    found = solve_hard_margin(WhitenedGram(X @ X.T, y), 0.5, 0.5)
    assert found.dual_gap > 1e-3 * found.objective
    assert not found.converged


def test_a_point_with_margins_below_one_is_stretched_until_it_is_feasible():
    X, y = np.eye(2), np.array([1.0, -1.0])
    H = WhitenedGram(X, y).hessian(0.0)
    found = hard_margin._feasible(H, y, np.array([0.8, 1.0]), 0.0, 0.0, 1e-8, 1)
    np.testing.assert_allclose(found.margins, [1.0, 1.25])
    assert found.objective == pytest.approx(0.5 * (1.0 + 1.25**2))


def test_without_margin_terms_it_is_the_hard_margin_svm():
    X, y = _separable()
    found = solve_hard_margin(WhitenedGram(X @ X.T, y), 0.0, 0.0)
    svm = LinearSVC(C=1e6, loss="hinge", fit_intercept=False, max_iter=10**7, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(X.T @ found.alpha, svm.coef_[0], rtol=1e-3)


def test_it_is_the_limit_of_the_soft_margin():
    X, y = _separable()
    whitened = WhitenedGram(X @ X.T, y)
    hard = solve_hard_margin(whitened, 0.5, 0.5)
    soft = active_set(whitened.hessian(0.5), y, 0.5, 0.5, 10 * hard.beta.max())
    np.testing.assert_allclose(soft.margins, hard.margins, atol=1e-8)


def test_small_margins_are_found_until_double_precision_ends():
    y = np.array([1.0, -1.0])
    for margin in (1e-2, 1e-4):
        X = np.array([[1.0, margin], [1.0, -margin]])
        found = solve_hard_margin(WhitenedGram(X @ X.T, y), 0.0, 0.0)
        np.testing.assert_allclose(X.T @ found.alpha, [0.0, 1 / margin], rtol=1e-6, atol=1e-3)
    X = np.array([[1.0, 1e-6], [1.0, -1e-6]])
    with pytest.raises(
        ValueError, match=r"separable, but by a margin of 1\.0e-06, too small against a radius of 1"
    ):
        solve_hard_margin(WhitenedGram(X @ X.T, y), 0.0, 0.0)


def _flawed(kind):
    X, y = _separable()
    if kind == "same point in both classes":
        X[1], y[0], y[1] = X[0], 1.0, -1.0
    if kind == "opposite points in one class":
        X[1], y[0], y[1] = -X[0], 1.0, 1.0
    if kind == "zero row":
        X[3] = 0.0
    if kind == "constant":
        X[:] = 1.0
    if kind == "all zero":
        X[:] = 0.0
    if kind == "noise":
        y = np.where(np.arange(20) % 2, 1.0, -1.0)
    return X, y


@pytest.mark.parametrize(
    "kind",
    [
        "same point in both classes",
        "opposite points in one class",
        "zero row",
        "constant",
        "all zero",
        "noise",
    ],
)
@pytest.mark.parametrize(("lambda1", "lambda2"), [(0.0, 0.0), (1.0, 2.0)])
def test_infeasible_data_carry_a_certificate(kind, lambda1, lambda2):
    X, y = _flawed(kind)
    with pytest.raises(InfeasibleError, match="no hyperplane through the origin") as caught:
        solve_hard_margin(WhitenedGram(X @ X.T, y), lambda1, lambda2)
    weights = caught.value.certificate
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1)
    assert np.linalg.norm((weights * y) @ X) <= 1e-7 * (1 + np.abs(X).max())
    assert caught.value.residual == pytest.approx(np.linalg.norm((weights * y) @ X), abs=1e-9)


def test_the_error_tells_of_a_certificate_only_where_there_is_one():
    told = "(a convex combination of y_i phi(x_i) has norm 1.5e-12)"
    assert told in str(InfeasibleError(np.array([0.5, 0.5]), 1.5e-12))
    assert "convex combination" not in str(InfeasibleError())


def test_the_distance_of_separable_data_is_the_margin():
    X, y = _separable()
    weights, distance = inseparability(X @ X.T, y)
    found = solve_hard_margin(WhitenedGram(X @ X.T, y), 0.0, 0.0)
    assert distance == pytest.approx(1 / np.linalg.norm(X.T @ found.alpha), rel=1e-6)
    np.testing.assert_allclose(weights, found.beta / found.beta.sum(), atol=1e-6)


def test_parameters_out_of_range_are_refused():
    X, y = _separable()
    with pytest.raises(ValueError, match="lambda2 must be a finite number >= 0, got -1"):
        solve_hard_margin(WhitenedGram(X @ X.T, y), 0.0, -1.0)

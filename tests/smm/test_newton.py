"""Newton's method for the smooth losses, alone and for both blocks together."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from marginbook.smm.model.objective import loss_curvatures, loss_slopes, loss_values, objective
from marginbook.smm.solvers.block_problem import BlockProblem
from marginbook.smm.solvers.newton import direction, newton
from marginbook.smm.solvers.newton_joint import factors, joint_newton
from marginbook.smm.solvers.oracle import by_cvxpy

SMOOTH = ["squared_hinge", "logistic"]


def problem(n, p, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, p))
    return Z, np.where(Z[:, 0] + rng.standard_normal(n) > 0.2, 1.0, -1.0), rng.random(n)


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize(("n", "p"), [(60, 5), (12, 30), (40, 1)])
def test_agrees_with_cvxpy(loss, free, n, p):
    Z, y, weight = problem(n, p)
    found = newton(
        BlockProblem(Z, y, lam=0.05, loss=loss, sample_weight=weight, fit_intercept=free, tol=1e-10)
    )
    w, _, value = by_cvxpy(Z, y, lam=0.05, loss=loss, sample_weight=weight, fit_intercept=free)
    assert found.converged
    assert found.objective == pytest.approx(value, abs=1e-7)
    np.testing.assert_allclose(found.weights, w, atol=1e-3)
    np.testing.assert_allclose(found.weights, (found.multipliers * y) @ Z / 0.1, atol=1e-4)


def test_is_scikit_learns_logistic_regression():
    Z, y, _ = problem(80, 4, 1)
    found = newton(
        BlockProblem(
            Z, y, lam=0.03, loss="logistic", sample_weight=np.ones(80), fit_intercept=True, tol=1e-12
        )
    )
    other = LogisticRegression(C=1 / (2 * 0.03 * 80), tol=1e-10, max_iter=1000).fit(Z, y)
    np.testing.assert_allclose(found.weights, other.coef_[0], atol=1e-5)


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("lam", [1e-12, 1e-4, 1e6])
def test_extreme_penalties(loss, lam):
    Z, y, weight = problem(90, 3, 2)
    found = newton(BlockProblem(Z, y, lam=lam, loss=loss, sample_weight=weight, fit_intercept=True, tol=1e-9))
    assert found.converged


def test_the_hinge_loss_is_refused():
    with pytest.raises(ValueError, match="needs a loss with curvature"):
        newton(
            BlockProblem(
                np.ones((1, 1)),
                np.ones(1),
                lam=1.0,
                loss="hinge",
                sample_weight=np.ones(1),
                fit_intercept=False,
                tol=1e-6,
            )
        )


@pytest.mark.parametrize(("n", "p"), [(30, 4), (4, 30)])
@pytest.mark.parametrize("free", [False, True])
def test_direction_solves_the_system(n, p, free):
    rng = np.random.default_rng(3)
    A, y, D = rng.standard_normal((n, p)), np.where(rng.random(n) < 0.5, -1.0, 1.0), rng.random(n)
    D[0] = 0.0
    ridge, g, g_b = rng.random(p) + 0.1, rng.standard_normal(p), 0.3
    step, step_b = direction(A, y, D, g, g_b, ridge=ridge, fit_intercept=free, proximity=0.2)
    full = np.column_stack([A, y]) if free else A
    penalty = np.diag(np.r_[ridge, 0.2] if free else ridge)
    wanted = np.linalg.solve(full.T @ (D[:, None] * full) + penalty, -np.r_[g, g_b] if free else -g)
    np.testing.assert_allclose(np.r_[step, step_b] if free else step, wanted, rtol=1e-8, atol=1e-10)


def test_without_curvature_the_direction_is_downhill_by_the_penalties_alone():
    """The intercept has one if a proximal term is steep enough, and at least 1 else."""
    A, y, gradient, flat = np.ones((3, 2)), np.array([1.0, 1.0, -1.0]), np.array([1.0, -2.0]), np.zeros(3)
    for free, proximity, wanted in ((True, 0.2, -0.3), (True, 4.0, -0.075), (False, 0.2, 0.0)):
        options = {"ridge": 0.5, "fit_intercept": free, "proximity": proximity}
        step, step_b = direction(A, y, flat, gradient, 0.3, **options)
        np.testing.assert_allclose(step, [-2.0, 4.0])
        assert step_b == pytest.approx(wanted)


@pytest.mark.parametrize(("n", "p"), [(30, 4), (4, 30)])
def test_an_intercept_is_free_unless_a_proximal_term_is_asked_for(n, p):
    Z, y, curvatures = problem(n, p)
    options = {"ridge": 0.5, "fit_intercept": True}
    _, found = direction(Z, y, curvatures, np.ones(p), 0.3, **options)
    _, wanted = direction(Z, y, curvatures, np.ones(p), 0.3, proximity=0.0, **options)
    assert found == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("free", [False, True])
def test_few_curved_rows_need_no_matrix_of_the_features(free):
    """One of 8 MB."""
    rng = np.random.default_rng(5)
    A, y, g = rng.standard_normal((3, 1000)), np.array([1.0, -1.0, 1.0]), rng.standard_normal(1000)
    tracemalloc.start()
    step, step_b = direction(A, y, np.ones(3), g, 0.3, ridge=0.5, fit_intercept=free, proximity=0.2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8e5
    np.testing.assert_allclose(A.T @ (A @ step + y * step_b) + 0.5 * step, -g, atol=1e-8)


def test_direction_tells_an_indefinite_form():
    A, y = np.eye(2), np.ones(2)
    assert (
        direction(A, y, np.ones(2), np.ones(2), 0.0, ridge=np.array([1.0, -2.0]), fit_intercept=False) is None
    )
    found = direction(A, y, np.ones(2), np.ones(2), 0.0, ridge=np.array([1.0, -0.5]), fit_intercept=False)
    np.testing.assert_allclose(found[0], [-0.5, -2.0])
    flat = np.array([0.01, 1.0])
    assert direction(A, y, flat, np.ones(2), 0.0, ridge=np.array([-0.5, 1.0]), fit_intercept=False) is None


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("shape", [(80, 5, 4), (80, 3, 6), (20, 6, 6), (60, 3, 3)])
def test_both_blocks_together_reach_a_stationary_point_quadratically(loss, free, shape):
    rng = np.random.default_rng(4)
    X = rng.standard_normal(shape)
    y = np.where(X[:, 0, 0] - X[:, 1, 1] + 0.5 * rng.standard_normal(shape[0]) > 0, 1.0, -1.0)
    C, lam, rank = np.full(len(y), 1 / len(y)), 0.05, min(2, shape[2])

    def risk(m):
        return C * loss_values(m, loss), C * loss_slopes(m, loss), C * loss_curvatures(m, loss)

    P = np.linalg.qr(rng.standard_normal((shape[2], rank)))[0]
    start = factors(rng.standard_normal((shape[1], rank)) @ P.T, P, 0.0, X, y)
    found, steps = joint_newton(X, y, risk, start, lam=lam, fit_intercept=free, tol=1e-15, max_iter=60)
    B = found.coef
    assert steps < 60
    assert np.linalg.matrix_rank(B) == rank
    np.testing.assert_allclose(found.margins, y * (X.reshape(len(y), -1) @ B.ravel() + found.b), atol=1e-9)
    M = -((risk(found.margins)[1] * y) @ X.reshape(len(y), -1)).reshape(B.shape)
    np.testing.assert_allclose((M - 2 * lam * B) @ found.P, 0, atol=1e-6)
    np.testing.assert_allclose(found.Q.T @ (M - 2 * lam * B), 0, atol=1e-6)
    value = objective(B, found.b, X, y, lam=lam, loss=loss)
    for _ in range(20):  # a local minimum among the matrices of the rank
        U = found.Q * found.s + 1e-3 * rng.standard_normal(found.Q.shape)
        V = found.P + 1e-3 * rng.standard_normal(found.P.shape)
        assert objective(U @ V.T, found.b, X, y, lam=lam, loss=loss) >= value - 1e-9

"""The two solvers of the hinge loss against cvxpy, LIBSVM and their own duality gap."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC

from marginbook.smm.solvers.block_problem import BlockProblem
from marginbook.smm.solvers.hinge_augmented_lagrangian import augmented_newton
from marginbook.smm.solvers.hinge_block import solve_hinge_block
from marginbook.smm.solvers.oracle import by_cvxpy

SOLVERS = [solve_hinge_block, augmented_newton]


def problem(n, p, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, p))
    y = np.where(Z[:, 0] + noise * rng.standard_normal(n) > 0.2, 1.0, -1.0)
    return Z, y, rng.random(n)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize(("n", "p"), [(60, 5), (12, 30), (1, 3), (40, 1)])
def test_agrees_with_cvxpy(solver, free, n, p):
    Z, y, weight = problem(n, p)
    if n == 1 and free:
        pytest.skip("one class only: solve_inner answers before the solvers")
    found = solver(BlockProblem(Z, y, lam=0.05, sample_weight=weight, fit_intercept=free, tol=1e-9))
    _, _, value = by_cvxpy(Z, y, lam=0.05, sample_weight=weight, fit_intercept=free)
    assert found.converged
    assert found.objective == pytest.approx(value, abs=1e-7)
    assert found.dual_gap <= 1e-9 * max(found.objective, 1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("free", [False, True])
def test_conditions_of_the_optimum(solver, free):
    Z, y, weight = problem(80, 4, 1)
    lam = 0.02
    found = solver(BlockProblem(Z, y, lam=lam, sample_weight=weight, fit_intercept=free, tol=1e-11))
    c, C = found.multipliers, weight / len(y)
    assert (c >= 0).all()
    assert (c <= C * (1 + 1e-12)).all()
    np.testing.assert_allclose(found.weights, (c * y) @ Z / (2 * lam), atol=1e-4)
    margins = y * (Z @ found.weights + found.intercept)
    assert (c[margins > 1 + 1e-3] < 1e-5).all()
    assert (C - c)[margins < 1 - 1e-3].max() < 1e-5
    if free:
        assert abs(float(y @ c)) < 1e-12
    else:
        assert found.intercept == 0.0


def test_is_libsvm_with_the_constant_of_the_same_problem():
    Z, y, _ = problem(70, 6, 2)
    lam = 0.01
    found = solve_hinge_block(
        BlockProblem(Z, y, lam=lam, sample_weight=np.ones(70), fit_intercept=True, tol=1e-10)
    )
    other = SVC(kernel="linear", C=1 / (2 * lam * 70), tol=1e-9).fit(Z, y)
    np.testing.assert_allclose(found.weights, other.coef_[0], atol=1e-5)
    assert found.intercept == pytest.approx(float(other.intercept_[0]), abs=1e-5)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("lam", [1e-12, 1e-6, 1.0, 1e6])
def test_extreme_penalties_are_certified(free, lam):
    Z, y, weight = problem(60, 5, 3)
    found = solve_hinge_block(BlockProblem(Z, y, lam=lam, sample_weight=weight, fit_intercept=free, tol=1e-9))
    assert found.converged
    assert found.dual_gap <= 1e-9 * found.objective


def test_separable_data_and_duplicates_and_zero_features():
    Z, y, _ = problem(30, 40, 4, noise=0.0)
    twice = solve_hinge_block(
        BlockProblem(
            np.vstack([Z, Z]), np.r_[y, y], lam=1e-4, sample_weight=np.ones(60), fit_intercept=True, tol=1e-9
        )
    )
    once = solve_hinge_block(
        BlockProblem(Z, y, lam=1e-4, sample_weight=np.ones(30), fit_intercept=True, tol=1e-9)
    )
    assert twice.converged
    assert twice.objective == pytest.approx(once.objective, rel=1e-8)
    nothing = solve_hinge_block(
        BlockProblem(
            np.zeros((5, 2)),
            np.array([1, 1, 1, -1, -1.0]),
            lam=1.0,
            sample_weight=np.ones(5),
            fit_intercept=True,
            tol=1e-9,
        )
    )
    assert nothing.objective == pytest.approx(0.8, abs=1e-9)
    assert not nothing.weights.any()


def test_weightless_samples_do_not_matter():
    Z, y, weight = problem(40, 3, 5)
    weight[::2] = 0.0
    found = solve_hinge_block(
        BlockProblem(Z, y, lam=0.1, sample_weight=weight, fit_intercept=True, tol=1e-10)
    )
    Z[::2] = 100.0
    other = solve_hinge_block(
        BlockProblem(Z, y, lam=0.1, sample_weight=weight, fit_intercept=True, tol=1e-10)
    )
    assert found.objective == pytest.approx(other.objective, rel=1e-9)
    assert not found.multipliers[::2].any()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("free", [False, True])
def test_the_solution_as_a_start_needs_no_system(solver, free):
    Z, y, weight = problem(50, 4, 6)
    settings = {"lam": 0.05, "sample_weight": weight, "fit_intercept": free}
    found = solve_hinge_block(BlockProblem(Z, y, tol=1e-9, **settings))
    again = solver(
        BlockProblem(Z, y, tol=1e-8, **settings),
        start=(found.weights, found.intercept),
        multipliers=found.multipliers,
    )
    assert again.n_iter == 0
    assert again.converged
    assert again.objective == pytest.approx(found.objective, rel=1e-12)


def test_multipliers_that_are_not_given_are_those_of_the_margins():
    """Which are 3 and three times 3/4: none is undecided, and nothing is left to do."""
    whole = BlockProblem(np.array([[4.0], [1.0], [1.0], [1.0]]), np.ones(4), 0.5, np.ones(4), False, 1e-9)
    found = augmented_newton(whole, start=(np.array([0.75]), 0.0))
    assert found.n_iter == 0
    np.testing.assert_allclose(found.multipliers, [0.0, 0.25, 0.25, 0.25])


def test_a_good_start_needs_no_system_and_no_start_makes_it_worse():
    Z, y, weight = problem(50, 4, 6)
    settings = {"lam": 0.05, "sample_weight": weight, "fit_intercept": True}
    found = solve_hinge_block(BlockProblem(Z, y, tol=1e-9, **settings))
    again = solve_hinge_block(
        BlockProblem(Z, y, tol=1e-8, **settings),
        start=(found.weights, found.intercept),
        multipliers=found.multipliers,
    )
    assert again.n_iter == 0
    assert again.objective == found.objective
    bad = augmented_newton(BlockProblem(Z, y, tol=1e-9, **settings), start=(np.full(4, 1e3), -1e3))
    assert bad.objective == pytest.approx(found.objective, rel=1e-8)
    early = solve_hinge_block(BlockProblem(Z, y, tol=1e-9, **settings), max_iter=2)
    assert not early.converged
    assert early.dual_gap > 0

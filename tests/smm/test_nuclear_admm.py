"""The support matrix machine: both solvers against cvxpy and in limits, the quadratic program, the bound."""

from __future__ import annotations

import ast
import inspect
import re

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from marginbook.datasets.generators import make_low_rank
from marginbook.smm.solvers.box_qp import hinge_qp
from marginbook.smm.solvers.nuclear_admm import nuclear_admm
from marginbook.smm.solvers.nuclear_multiples import best_factor, best_intercept, best_multiple
from marginbook.smm.solvers.nuclear_newton import _step_length, nuclear_newton, tangent_features
from marginbook.smm.solvers.nuclear_norm import NuclearProblem, nuclear_limit, soft_threshold

SOLVERS = [nuclear_newton, nuclear_admm]


def problem(seed, n=40, shape=(4, 6), *, fit_intercept=True, cost=None):
    sample = make_low_rank(n, shape, 1, random_state=seed)
    costs = np.random.default_rng(seed).uniform(0.05, 2, n) if cost is None else np.full(n, cost)
    return NuclearProblem(sample.X, sample.y.astype(float), costs, fit_intercept)


def oracle(given_problem, tau):
    X, y, costs = given_problem.X, given_problem.y, given_problem.costs
    B = cp.Variable(X.shape[1:])
    b = cp.Variable() if given_problem.fit_intercept else 0
    fitted = X.reshape(len(X), -1) @ cp.vec(B, order="C") + b
    loss = costs @ cp.pos(1 - cp.multiply(y, fitted))
    found = cp.Problem(cp.Minimize(cp.sum_squares(B) / 2 + tau * cp.normNuc(B) + loss))
    found.solve(solver="CLARABEL")
    return found.value, B.value


@pytest.mark.parametrize("solve", SOLVERS)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("tau", [0.0, 0.3, 2.0, 10.0])
def test_solver_matches_cvxpy(solve, fit_intercept, tau):
    for seed, shape in [(0, (4, 6)), (1, (5, 3)), (2, (1, 7))]:
        data = problem(seed, shape=shape, fit_intercept=fit_intercept)
        value, coef = oracle(data, tau)
        found = solve(data, tau, tol=1e-8, max_iter=5000)
        assert found.converged
        assert found.objective == pytest.approx(value, rel=1e-6)
        assert found.lower_bound <= value * (1 + 1e-7)
        np.testing.assert_allclose(found.coef, coef, atol=2e-3)


@pytest.mark.parametrize("solve", SOLVERS)
def test_solution_satisfies_the_optimality_conditions(solve):
    data, tau = problem(3), 1.5
    found = solve(data, tau, tol=1e-11, max_iter=20000)
    a = data.y * found.multipliers
    assert (a >= 0).all()
    assert (a <= data.costs).all()
    assert abs(found.multipliers.sum()) < 1e-12
    margins = data.y * (data.fitted(found.coef) + found.intercept)
    assert a[margins > 1 + 1e-3].max(initial=0) < 1e-3
    assert (data.costs - a)[margins < 1 - 1e-3].max(initial=0) < 1e-3
    M = data.combine(found.multipliers)
    np.testing.assert_allclose(found.coef, soft_threshold(M, tau)[0], atol=1e-4)
    # M - B is tau times a subgradient of the nuclear norm
    assert np.linalg.norm(M - found.coef, 2) <= tau * (1 + 1e-4)
    assert ((M - found.coef) * found.coef).sum() == pytest.approx(tau * found.singular_values.sum(), rel=1e-4)


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.floats(0, 20), st.booleans())
def test_feasible_multipliers_bound_every_objective(seed, tau, fit_intercept):
    rng = np.random.default_rng(seed)
    n, shape = int(rng.integers(2, 12)), tuple(rng.integers(1, 5, 2))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1, -1
    data = NuclearProblem(rng.standard_normal((n, *shape)), y, rng.uniform(0.01, 5, n), fit_intercept)
    beta = data.feasible(3 * rng.standard_normal(n))
    low, high = data.box
    assert (beta >= low).all()
    assert (beta <= high).all()
    if fit_intercept:
        assert abs(beta.sum()) < 1e-12 * max(1, np.abs(beta).sum())
    B = rng.standard_normal(shape) * 10.0 ** rng.uniform(-2, 1)
    b = rng.standard_normal() if fit_intercept else 0.0
    value = (
        (B**2).sum() / 2
        + tau * np.linalg.norm(B, "nuc")
        + data.costs @ np.maximum(0, 1 - y * (np.einsum("ij,nij->n", B, data.X) + b))
    )
    shrunk = np.maximum(np.linalg.svd(np.einsum("n,nij->ij", beta, data.X), compute_uv=False) - tau, 0)
    bound = data.dual(beta, shrunk)
    assert bound == pytest.approx(y @ beta - (shrunk**2).sum() / 2)
    assert bound <= value + 1e-9 * abs(value)


def test_soft_threshold_is_the_proximal_map():
    rng = np.random.default_rng(0)
    M = rng.standard_normal((4, 6))
    B, shrunk = soft_threshold(M, 0.7)
    np.testing.assert_allclose(np.linalg.svd(B, compute_uv=False), shrunk, atol=1e-12)

    def value(Z):
        return ((Z - M) ** 2).sum() / 2 + 0.7 * np.linalg.norm(Z, "nuc")

    nearby = [B + 10.0**-k * rng.standard_normal(B.shape) for k in (0, 1, 2, 3) for _ in range(10)]
    assert value(B) < min(map(value, nearby))


@pytest.mark.parametrize("shape", [(4, 6), (6, 4), (5, 5), (1, 4), (4, 1)])
def test_tangent_features_are_the_derivative_of_soft_thresholding(shape):
    rng = np.random.default_rng(1)
    X, M, h = rng.standard_normal((7, *shape)), 3 * rng.standard_normal(shape), 1e-6
    sizes = np.linalg.svd(M, compute_uv=False)
    for tau in (0.5 * sizes.min(), 0.97 * np.median(sizes), 2 * sizes.max()):
        features = tangent_features(X, M, tau)
        ahead = [(soft_threshold(M + h * E, tau)[0] - soft_threshold(M - h * E, tau)[0]) / (2 * h) for E in X]
        slow = np.array([[(E * change).sum() for change in ahead] for E in X])
        np.testing.assert_allclose(features @ features.T, slow, atol=1e-6)


@pytest.mark.parametrize("solve", SOLVERS)
def test_no_nuclear_norm_is_the_linear_machine(solve):
    data = problem(4, n=60, cost=0.3)
    found = solve(data, 0.0, tol=1e-10, max_iter=5000)
    machine = SVC(kernel="linear", C=0.3, tol=1e-8).fit(data.rows, data.y)
    np.testing.assert_allclose(found.coef.ravel(), machine.coef_[0], atol=1e-4)
    assert found.intercept == pytest.approx(machine.intercept_[0], abs=1e-3)


@pytest.mark.parametrize("solve", SOLVERS)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_large_tau_gives_zero_and_a_smaller_one_does_not(solve, fit_intercept):
    sample = make_low_rank(41, (4, 6), 1, random_state=5)
    X = np.concatenate([sample.X[sample.y > 0][:15], sample.X[sample.y < 0][:15]])
    data = NuclearProblem(X, np.repeat([1.0, -1.0], 15), np.full(30, 0.5), fit_intercept)
    limit = nuclear_limit(data)
    assert limit == pytest.approx(np.linalg.norm(np.einsum("n,nij->ij", 0.5 * data.y, X), 2))
    zero = solve(data, limit, tol=1e-10)
    assert not zero.coef.any()
    assert zero.objective == pytest.approx(data.null_objective)
    rank_one = solve(data, 0.98 * limit, tol=1e-10, max_iter=20000)
    assert (rank_one.singular_values > 1e-6).sum() == 1
    assert rank_one.objective < data.null_objective * (1 - 1e-6)


def test_zero_above_the_limit_for_unequal_classes():
    for seed in range(5):
        data = problem(seed)
        assert not nuclear_newton(data, nuclear_limit(data), tol=1e-10).coef.any()


def test_turned_and_rotated_matrices_turn_and_rotate_the_solution():
    data, tau = problem(6), 2.0
    rng = np.random.default_rng(0)
    left, right = (np.linalg.qr(rng.standard_normal((d, d)))[0] for d in (4, 6))
    found = nuclear_newton(data, tau, tol=1e-12)
    turned = NuclearProblem(data.X.transpose(0, 2, 1).copy(), data.y, data.costs)
    rotated = NuclearProblem(left @ data.X @ right, data.y, data.costs)
    np.testing.assert_allclose(nuclear_newton(turned, tau, tol=1e-12).coef, found.coef.T, atol=1e-5)
    np.testing.assert_allclose(
        nuclear_newton(rotated, tau, tol=1e-12).coef, left @ found.coef @ right, atol=1e-5
    )


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_other_units_scale_the_solution(scale):
    data, tau = problem(7), 2.0
    found = nuclear_newton(data, tau, tol=1e-10)
    scaled = NuclearProblem(scale * data.X, data.y, data.costs / scale**2)
    other = nuclear_newton(scaled, tau / scale, tol=1e-10)
    assert other.objective * scale**2 == pytest.approx(found.objective, rel=1e-8)
    np.testing.assert_allclose(other.coef * scale, found.coef, atol=1e-4)


def degenerate():
    sample = make_low_rank(40, (3, 5), 1, random_state=8)
    X, y = sample.X, sample.y.astype(float)
    alone = -np.ones(40)
    alone[0] = 1
    matrix = np.eye(3, 5)
    yield "duplicates", np.r_[X, X], np.r_[y, y], 1.0
    yield "contradictions", np.r_[X, X], np.r_[y, -y], 1.0
    yield "constant", np.ones_like(X), y, 1.0
    yield "zero", np.zeros_like(X), y, 1.0
    yield "shifted", X + 100, y, 1.0
    yield "one positive", X, alone, 1.0
    yield "two samples", X[:2], np.array([1.0, -1.0]), 1.0
    yield "tied singular values", (y * np.linspace(1, 2, 40))[:, None, None] * matrix, y, 0.1
    yield "expensive losses", X, y, 1e4
    yield "cheap losses", X, y, 1e-4


@pytest.mark.parametrize("case", list(degenerate()), ids=lambda case: case[0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_degenerate_samples_are_certified(case, fit_intercept):
    name, X, y, cost = case
    data = NuclearProblem(X, y, np.full(len(y), cost), fit_intercept)
    found = nuclear_newton(data, 0.5, tol=1e-7)
    assert found.converged
    if name == "expensive losses":  # where alternating directions take long
        return
    other = nuclear_admm(data, 0.5, tol=1e-6, max_iter=3000)
    assert other.converged
    assert other.objective == pytest.approx(found.objective, abs=2e-6 * data.null_objective)


def test_alternating_directions_leave_a_start_that_a_rough_machine_does_not():
    sample = make_low_rank(100, (12, 12), 2, random_state=1)
    data = NuclearProblem(sample.X, sample.y.astype(float), np.full(100, 1e-4))
    found = nuclear_admm(data, 0.5 * nuclear_limit(data), penalty=1.0, max_iter=100)
    assert found.converged


def test_a_step_ends_where_the_derivative_vanishes():
    """Without a threshold it is linear, and the secant finds its zero, here 1/4."""
    M, E = np.array([[3.0, 0.0], [0.0, 1.0]]), np.array([[1.0, 1.0], [0.0, 1.0]])
    rise = ((M + 0.25 * E) * E).sum()
    first = (M * E).sum() - rise
    assert _step_length(M, E, rise, 0.0, first) == pytest.approx(0.25, rel=1e-9)
    # and a whole step where it falls all the way
    assert _step_length(M, E, ((M + 2 * E) * E).sum(), 0.0, -2 * (E * E).sum()) == 1.0


@pytest.mark.parametrize("solve", SOLVERS)
def test_defaults_are_those_of_the_docstring(solve):
    said = dict(re.findall(r"^ *(\w+) : .*default=(\S+)$", solve.__doc__, re.MULTILINE))
    has = inspect.signature(solve).parameters
    assert len(said) >= 3
    assert {name: str(has[name].default) for name in said} == {
        name: str(ast.literal_eval(value)) for name, value in said.items()
    }


def test_restarts_save_iterations():
    data, tau = problem(9, n=100, shape=(8, 8), cost=1.0), 10.0
    fast = nuclear_admm(data, tau, max_iter=3000)
    plain = nuclear_admm(data, tau, max_iter=3000, restart=False)
    assert fast.converged
    assert fast.n_iter < plain.n_iter
    assert fast.objective == pytest.approx(plain.objective, rel=1e-4)


def test_the_extrapolation_begins_with_the_second_step():
    data = problem(9, n=40)
    for n_iter, same in ((1, True), (2, True), (3, False)):
        fast, plain = (
            nuclear_admm(data, 2.0, tol=0.0, max_iter=n_iter, restart=each) for each in (True, False)
        )
        assert np.array_equal(fast.multipliers, plain.multipliers) == same


def test_newton_steps_end_fast():
    data, tau = problem(10, n=100, shape=(8, 8), cost=1.0), 10.0
    found = nuclear_newton(data, tau, tol=1e-12)
    assert found.converged
    assert found.n_iter <= 25
    assert found.gap_path[-1] < 1e-2 * found.gap_path[-2]


def test_a_start_nearby_saves_iterations():
    data = problem(11, n=100, shape=(8, 8), cost=1.0)
    cold = nuclear_newton(data, 5.0)
    warm = nuclear_newton(data, 5.0, start=nuclear_newton(data, 5.2).multipliers)
    assert warm.n_iter < cold.n_iter
    assert warm.objective == pytest.approx(cold.objective, rel=1e-6)
    again = nuclear_newton(data, 5.0, start=cold.multipliers)
    assert again.n_iter == 0
    assert again.objective <= cold.objective * (1 + 1e-12)


@pytest.mark.parametrize("solve", SOLVERS)
def test_too_few_iterations_are_reported(solve):
    found = solve(problem(12), 2.0, tol=1e-14, max_iter=2)
    assert not found.converged
    assert found.dual_gap > 1e-14
    assert found.n_iter == 2


def test_best_intercept_is_the_middle_of_the_minimisers():
    rng = np.random.default_rng(2)
    for _ in range(50):
        n = int(rng.integers(2, 9))
        y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
        y[:2] = 1, -1
        fitted, costs = rng.integers(-3, 4, n) / 2.0, rng.integers(1, 4, n).astype(float)
        corners = np.unique(y - fitted)
        values = [costs @ np.maximum(0, 1 - y * (fitted + b)) for b in corners]
        best = corners[np.isclose(values, min(values))]
        assert best_intercept(fitted, y, costs) == pytest.approx((best.min() + best.max()) / 2)


def test_best_factor_beats_every_other():
    rng = np.random.default_rng(4)
    for _ in range(200):
        n = int(rng.integers(1, 8))
        margins, costs = rng.standard_normal(n) * 10.0 ** rng.uniform(-3, 3), 10.0 ** rng.uniform(-3, 3, n)
        square, norm = 10.0 ** rng.uniform(-3, 3), rng.uniform(0, 3) * rng.integers(0, 2)

        def value(t, m=margins, c=costs, s=square, r=norm):
            return t * t * s / 2 + t * r + c @ np.maximum(0, 1 - t * m)

        best = best_factor(margins, costs, square, norm)
        others = np.r_[0, best * (1 + np.array([-0.5, -1e-6, 1e-6, 0.5])), 10.0 ** rng.uniform(-4, 4, 20)]
        assert value(best) <= min(map(value, others)) + 1e-14 * costs.sum()
        got, factor, b = best_multiple(
            margins, np.ones(n), costs, square=square, norm=norm, fit_intercept=False
        )
        assert (got, b) == (pytest.approx(value(best), rel=1e-9), 0)
        assert value(factor) == got


def test_what_costs_too_much_gets_the_least_multiple_without_losses():
    """The best multiple for the intercept of B itself is three times as large."""
    fitted, y = np.array([1.9, 1.8, 0.9, 0.2]), np.array([1.0, 1.0, -1.0, -1.0])
    got, factor, b = best_multiple(fitted, y, np.full(4, 1e6), square=1.0, norm=0.1, fit_intercept=True)
    assert (factor, b) == (pytest.approx(2 / 0.9), pytest.approx(-3))
    assert got == pytest.approx(factor**2 / 2 + 0.1 * factor)


def hard():
    """Problems whose losses cost up to 1e8, in units up to a thousand times as large."""
    for seed, n, shape in [(1, 60, (8, 8)), (2, 150, (8, 8)), (5, 300, (4, 6))]:
        sample = make_low_rank(n, shape, 1, scale=10.0 if seed == 2 else 1.0, random_state=seed)
        for unit in (1e-3, 1.0, 1e3):
            yield unit * sample.X, sample.y.astype(float)
    yield sample.X + 1e4, sample.y.astype(float)


@pytest.mark.parametrize("case", range(10))
@pytest.mark.parametrize("cost", [1e4, 1e8])
def test_expensive_losses_are_certified_relative_to_the_objective(case, cost):
    X, y = list(hard())[case]
    for fit_intercept in (True, False)[: 1 if case == 9 else 2]:
        data = NuclearProblem(X, y, np.full(len(y), cost), fit_intercept)
        for tau in (0.0, 0.5, 10.0):
            found = nuclear_newton(data, tau)
            assert found.converged
            if found.objective > 1e-12 * data.null_objective:
                assert found.objective - found.lower_bound <= 1e-6 * found.objective
            margins = y * (np.einsum("ij,nij->n", found.coef, X) + found.intercept)
            value = (found.coef**2).sum() / 2 + tau * np.linalg.norm(found.coef, "nuc")
            loss = cost * np.maximum(0, 1 - margins).sum()
            assert found.objective == pytest.approx(value + loss, rel=1e-5, abs=1e-14 * data.null_objective)
            assert found.lower_bound <= found.objective * (1 + 1e-9)


def test_separable_classes_cost_the_same_at_any_price():
    sample = make_low_rank(60, (8, 8), 1, random_state=1)
    X, y = sample.X, sample.y.astype(float)
    cheap = oracle(NuclearProblem(X, y, np.full(60, 1e2)), 0.5)[0]
    for cost in (1e4, 1e6, 1e8):
        found = nuclear_newton(NuclearProblem(X, y, np.full(60, cost)), 0.5, tol=1e-8)
        assert found.objective == pytest.approx(cheap, rel=1e-6)


def test_what_rounding_leaves_open_is_said():
    # without an intercept nothing cancels the constant, and the inner products are all the same to 8 digits
    sample = make_low_rank(40, (3, 5), 1, random_state=8)
    data = NuclearProblem(sample.X + 1e4, sample.y.astype(float), np.full(40, 1e8), False)
    found = nuclear_newton(data, 0.5)
    assert not found.converged
    assert 1e-6 < found.dual_gap < 1e-3
    assert found.dual_gap == pytest.approx(1 - found.lower_bound / found.objective, rel=1e-6)


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("rank", [3, 40])
@pytest.mark.parametrize("size", [1e-2, 1.0, 1e3])
def test_quadratic_program_matches_cvxpy(paired, rank, size):
    rng = np.random.default_rng(rank)
    n = 30
    Z, q, y = rng.standard_normal((n, rank)), rng.standard_normal(n), np.where(np.arange(n) % 3, 1.0, -1.0)
    low, high = np.where(y > 0, 0, -size), np.where(y > 0, size, 0)
    beta, violation = hinge_qp(Z @ Z.T, q, low, high, np.zeros(n), paired=paired, tol=1e-9)
    assert violation <= 1e-9
    assert (beta >= low).all()
    assert (beta <= high).all()
    if paired:
        assert abs(beta.sum()) < 1e-12 * max(1, np.abs(beta).sum())
    x = cp.Variable(n)
    wanted = cp.Problem(
        cp.Minimize(cp.sum_squares(Z.T @ x) / 2 + q @ x),
        [x >= low, x <= high] + ([cp.sum(x) == 0] if paired else []),
    )
    wanted.solve(solver="CLARABEL")
    assert ((beta @ Z) ** 2).sum() / 2 + q @ beta == pytest.approx(wanted.value, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("size", [1.0, 1e-14, 1e-20])
def test_quadratic_program_has_no_scale(size):
    """Moves of single coefficients alone would take far more rounds than there are."""
    rng = np.random.default_rng(2)
    Z, q = rng.standard_normal((20, 6)) * np.logspace(0, -2, 6), -0.1 * rng.standard_normal(20)
    low, high = np.zeros(20), np.full(20, 5.0)
    options = {"paired": False, "tol": 1e-9 * size}
    _, violation = hinge_qp(size * Z @ Z.T, size * q, low, high, np.zeros(20), **options)
    assert violation <= 1e-9 * size


def test_quadratic_program_keeps_the_sum_of_its_start():
    rng = np.random.default_rng(3)
    Z, start = rng.standard_normal((20, 5)), rng.uniform(0, 1, 20)
    beta, _ = hinge_qp(Z @ Z.T, rng.standard_normal(20), np.zeros(20), np.ones(20), start)
    assert beta.sum() == pytest.approx(start.sum(), rel=1e-12)

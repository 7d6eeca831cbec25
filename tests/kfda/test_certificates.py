"""The certificates of optimality."""

import cvxpy as cp
import numpy as np
import pytest
from scipy.sparse.linalg import ArpackError

from marginbook.kfda.model import certificates
from marginbook.kfda.model.certificates import (
    duality_gap,
    kkt_residual,
    magnitude_bound,
    scaled_hessian,
    smallest_curvature,
    smallest_eigenvalue,
    stationarity,
)
from marginbook.kfda.model.objective import Problem, gradient, objective, penalty_weights, targets
from marginbook.kfda.solvers.irls import majorize_minimize, step_stable

from .test_plain import rbf_problem


def lowest(problem, q, rho, penalize_bias):
    omega = cp.Variable(problem.n_coefficients)
    weights = penalty_weights(problem, penalize_bias)
    size = cp.sum(cp.multiply(weights, cp.power(cp.abs(omega), q)))
    fit = 0.5 * cp.sum_squares(problem.yhat - problem.design @ omega)
    program = cp.Problem(cp.Minimize(fit + rho * problem.n * size))
    program.solve(solver="CLARABEL")
    return program.value, omega.value


@pytest.mark.parametrize("q", [1.0, 1.5])
@pytest.mark.parametrize("penalize_bias", [True, False])
def test_gap_bounds_the_distance_to_the_minimum(q, penalize_bias):
    problem = rbf_problem(16, n_positive=5)
    value, solution = lowest(problem, q, 0.05, penalize_bias)
    rng = np.random.default_rng(0)
    for size in (0.0, 1e-3, 0.1, 1.0):
        omega = solution + size * rng.standard_normal(17)
        excess = objective(problem, omega, q, 0.05, penalize_bias) - value
        assert duality_gap(problem, omega, 0.05, penalize_bias, q) >= excess - 1e-6
    assert duality_gap(problem, solution, 0.05, penalize_bias, q) < 1e-4


def test_gap_refuses_q_below_one():
    with pytest.raises(ValueError, match="use smallest_curvature"):
        duality_gap(rbf_problem(6), np.ones(7), 0.1, q=0.5)


def test_all_zero_is_optimal_exactly_from_the_largest_correlation_on():
    problem = rbf_problem()
    largest = np.abs(problem.correlations).max() / problem.n
    zero = np.zeros(31)
    assert duality_gap(problem, zero, largest * 1.001) < 1e-12 * problem.energy
    assert kkt_residual(problem, zero, largest * 1.001) == 0.0
    assert duality_gap(problem, zero, largest * 0.9) > 0
    assert kkt_residual(problem, zero, largest * 0.9) == pytest.approx(1 / 0.9 - 1)


@pytest.mark.parametrize("penalize_bias", [True, False])
def test_kkt_residual_against_a_loop(penalize_bias):
    problem = rbf_problem(10)
    omega = np.array([0.3, 0, -0.2, 0, 0, 1.0, 0, 0, 0, 0, 0])
    lam = 0.02 * 10
    r = problem.yhat - problem.design @ omega
    worst = 0.0
    for i, w in enumerate(omega):
        slope = problem.design[:, i] @ r
        if i == 0 and not penalize_bias:
            worst = max(worst, abs(slope))
        elif w:
            worst = max(worst, abs(slope - lam * np.sign(w)))
        else:
            worst = max(worst, abs(slope) - lam)
    assert kkt_residual(problem, omega, 0.02, penalize_bias) == pytest.approx(worst / lam)


@pytest.mark.parametrize("q", [0.5, 1.0, 1.5])
def test_stationarity_is_the_relative_gradient(q):
    problem = rbf_problem(10)
    omega = np.linspace(-1, 2, 11)
    omega[4] = 0.0 if q <= 1 else 0.3
    g = gradient(problem, omega, q, 0.1)
    slope = 0.1 * 10 * q * np.abs(omega[omega != 0]) ** (q - 1)
    scale = slope if q <= 1 else slope.max()
    assert stationarity(problem, omega, q, 0.1) == pytest.approx(np.max(np.abs(g[omega != 0]) / scale))
    assert stationarity(problem, np.zeros(11), 0.5, 0.1) == 0.0


@pytest.mark.parametrize("penalize_bias", [True, False])
def test_hessian_by_finite_differences(penalize_bias):
    problem = rbf_problem(8, n_positive=3)
    rng = np.random.default_rng(0)
    omega = rng.uniform(0.5, 1, 9)
    q, rho, lam = 0.6, 0.2, 0.2 * 8
    full = np.empty((9, 9))
    for i in range(9):
        step = 1e-6 * np.eye(9)[i]
        rise = gradient(problem, omega + step, q, rho, penalize_bias)
        full[i] = (rise - gradient(problem, omega - step, q, rho, penalize_bias)) / 2e-6
    if not penalize_bias:
        full = full[1:, 1:] - np.outer(full[1:, 0], full[0, 1:]) / full[0, 0]
    support, psi, hessian = scaled_hessian(problem, omega, q, rho, penalize_bias)
    assert len(support) == 9 - (not penalize_bias)
    np.testing.assert_allclose(hessian, full * np.outer(psi, psi) / (lam * q), rtol=1e-5, atol=1e-6)
    assert smallest_curvature(problem, omega, q, rho, penalize_bias) == pytest.approx(
        np.linalg.eigvalsh(hessian)[0]
    )


def test_curvature_gives_the_rate_of_the_iteration():
    problem = rbf_problem(20, width=0.5)
    solution = majorize_minimize(problem, 0.5, 0.01, tol=1e-15, max_iter=5000)
    omega = np.where(np.abs(solution.omega) > magnitude_bound(problem, 0.5, 0.01), solution.omega, 0.0)
    for _ in range(300):
        omega = step_stable(problem, omega, 0.5, 0.01)
    kappa = smallest_curvature(problem, omega, 0.5, 0.01)
    support = np.flatnonzero(omega)
    jacobian = np.empty((len(support), len(support)))
    for j, i in enumerate(support):
        step = np.zeros(21)
        step[i] = 1e-6 * abs(omega[i])
        rise = step_stable(problem, omega + step, 0.5, 0.01) - step_stable(problem, omega - step, 0.5, 0.01)
        jacobian[:, j] = rise[support] / (2 * step[i])
    assert kappa > 0
    assert np.abs(np.linalg.eigvals(jacobian)).max() == pytest.approx(1.5 / (1.5 + kappa), rel=1e-4)


def test_smallest_eigenvalue_of_large_and_of_empty_matrices():
    rng = np.random.default_rng(0)
    Q, _ = np.linalg.qr(rng.standard_normal((260, 260)))
    for low in (1e-4, -0.3):
        values = np.linspace(1, 2, 260)
        values[7] = low
        assert smallest_eigenvalue(Q * values @ Q.T) == pytest.approx(low, rel=1e-6)
    assert smallest_eigenvalue(np.eye(250)) == pytest.approx(1.0)
    assert smallest_eigenvalue(np.diag(np.r_[-1.0, np.full(249, 2.0)])) == pytest.approx(-1.0)
    assert smallest_eigenvalue(np.empty((0, 0))) == np.inf


@pytest.mark.parametrize("q", [0.25, 0.5, 0.75])
def test_bound_holds_at_minima_and_is_sharp_along_a_coordinate(q):
    problem = rbf_problem(20)
    bound = magnitude_bound(problem, q, 0.01)
    curvature = problem.squared_norms + 0.01 * 20 * q * (q - 1) * bound ** (q - 2)
    np.testing.assert_allclose(curvature, 0, atol=1e-9 * problem.squared_norms.max())
    solution = majorize_minimize(problem, q, 0.01, tol=1e-14, max_iter=5000)
    size = np.abs(solution.omega)
    assert np.all(size[size > 1e-9] >= bound[size > 1e-9])


def test_bound_of_a_column_of_zeros_is_infinite_and_none_exists_from_one_on():
    problem = Problem(np.zeros((4, 2)), targets(np.array([True, False, True, False])))
    bound = magnitude_bound(problem, 0.5, 0.1, penalize_bias=False)
    np.testing.assert_array_equal(bound, [0.0, np.inf, np.inf])
    assert not magnitude_bound(problem, 1.0, 0.1).any()


def dual_value(problem, omega, rho, penalize_bias, q):
    """Return the dual objective at the residual of omega, centred and scaled into what is feasible."""
    theta, lam = problem.yhat - problem.design @ omega, rho * problem.n
    if not penalize_bias:
        theta = theta - theta.mean()
    u = (problem.design.T @ theta)[int(not penalize_bias) :]
    if q == 1:
        theta, u = theta * min(1.0, lam / np.abs(u).max()), 0.0
    penalty = lam * (q - 1) * np.sum((np.abs(u) / (lam * q)) ** (q / (q - 1))) if q > 1 else 0.0
    return problem.yhat @ theta - 0.5 * theta @ theta - penalty


@pytest.mark.parametrize("q", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("penalize_bias", [True, False])
def test_the_gap_is_the_objective_less_the_dual_value(q, penalize_bias):
    """At points where the dual point has to be scaled, and where it is feasible as it is."""
    problem = rbf_problem(16, n_positive=5)
    rng = np.random.default_rng(1)
    for size, rho in ((1.0, 0.05), (0.1, 0.05), (0.1, 5.0), (0.1, 0.7)):
        for sign in (-1, 1):
            omega = size * rng.standard_normal(17)
            omega[0], omega[3] = 0.5 * sign, 0.0
            value = objective(problem, omega, q, rho, penalize_bias)
            gap = duality_gap(problem, omega, rho, penalize_bias, q)
            assert gap == pytest.approx(value - dual_value(problem, omega, rho, penalize_bias, q), rel=1e-9)
    assert duality_gap(problem, omega, rho) == duality_gap(problem, omega, rho, True, 1.0)
    assert duality_gap(problem, omega, rho) != duality_gap(problem, omega, rho, False, 1.0)


def test_without_features_nothing_is_missing_to_the_minimum():
    """Then no slope bounds the scale of the dual point: the residual itself is optimal."""
    problem = Problem(np.zeros((4, 2)), targets(np.array([True, False, True, False])))
    for penalize_bias in (True, False):
        assert duality_gap(problem, np.zeros(3), 0.1, penalize_bias) == 0.0


def test_rounding_makes_no_gap_negative():
    """One feature has its minimum in closed form, where the terms vanish but for rounding."""
    rng = np.random.default_rng(0)
    problems = [Problem(rng.standard_normal((5, 1)), targets(np.arange(5) < 2)) for _ in range(100)]
    gaps = []
    for problem in problems:
        d = problem.design[:, 1]
        along, lam = float(d @ problem.yhat), 0.01 * 5
        best = np.sign(along) * max(abs(along) - lam, 0.0) / float(d @ d)
        gaps.append(duality_gap(problem, np.array([0.0, best]), 0.01, penalize_bias=True, q=1.0))
    assert min(gaps) >= 0.0


def test_a_bias_that_is_not_penalised_is_stationary_where_the_residuals_sum_to_zero():
    problem = rbf_problem(10)
    omega = np.zeros(11)
    for level in (0.3, -2.0):
        omega[0] = level  # the targets sum to 0, so the residuals to -10 times the level
        size = 10 * abs(level) / np.sqrt(10 * problem.energy)
        assert stationarity(problem, omega, 0.5, 0.1, penalize_bias=False) == pytest.approx(size)
    assert stationarity(problem, omega, 0.5, 0.1) == stationarity(problem, omega, 0.5, 0.1, True)
    omega[0], omega[4] = 0.0, 1e-6  # the slope of its penalty is enormous beside that of the fit
    assert stationarity(problem, omega, 0.5, 0.1, penalize_bias=False) == pytest.approx(1.0, abs=0.05)


def test_at_zero_a_smooth_penalty_has_no_slope_to_be_relative_to():
    """What ten digits of the products leave stands in for it: a right angle is stationary, no other is."""
    problem = rbf_problem(10)
    cosine = np.abs(problem.design.T @ problem.yhat).max()
    cosine /= np.linalg.norm(problem.design, axis=0).max() * np.linalg.norm(problem.yhat)
    assert stationarity(problem, np.zeros(11), 1.5, 0.1) == pytest.approx(1e10 * cosine)


def test_curvature_is_that_of_the_support_whatever_the_signs():
    problem = rbf_problem(10)
    omega = np.zeros(11)
    omega[[0, 4, 7]] = -0.3, 0.5, -0.8
    for penalize_bias, expected in ((True, [0, 4, 7]), (False, [4, 7])):
        support, psi, _ = scaled_hessian(problem, omega, 0.5, 0.1, penalize_bias)
        np.testing.assert_array_equal(support, expected)
        np.testing.assert_allclose(psi, np.abs(omega[expected]) ** 0.75)
        at = smallest_curvature(problem, omega, 0.5, 0.1, penalize_bias)
        assert at == smallest_curvature(problem, np.abs(omega), 0.5, 0.1, penalize_bias)
    assert smallest_curvature(problem, omega, 0.5, 0.1) == smallest_curvature(problem, omega, 0.5, 0.1, True)
    assert smallest_curvature(problem, np.zeros(11), 0.5, 0.1) == np.inf


def test_where_lanczos_gives_up_the_dense_routine_answers(monkeypatch):
    def fails(*_, **__):
        raise ArpackError(-9999)

    monkeypatch.setattr(certificates, "eigsh", fails)
    assert smallest_eigenvalue(np.diag(np.linspace(0.25, 2, 230))) == pytest.approx(0.25)


def test_defaults_penalise_the_bias():
    problem = rbf_problem(10)
    omega = np.zeros(11)
    omega[0] = 5.0  # far off, so that the bias misses its condition most
    assert kkt_residual(problem, omega, 0.1) == kkt_residual(problem, omega, 0.1, True)
    assert kkt_residual(problem, omega, 0.1) != kkt_residual(problem, omega, 0.1, False)
    assert magnitude_bound(problem, 0.5, 0.1)[0] > 0
    assert len(scaled_hessian(problem, omega, 0.5, 0.1)[0]) == 1

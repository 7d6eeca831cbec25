"""Resting points, rates and stopping: against differences, naive loops and other solvers; wrong laws fail."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from marginbook.claims import Verdict
from marginbook.kernels import gram
from marginbook.kfda.claims import fixed_points, section_3_rates, section_3_stopping
from marginbook.kfda.claims import section_3_acceleration as acceleration
from marginbook.kfda.claims.beyond_magnitudes import stationary_points
from marginbook.kfda.claims.fixed_points import (
    linear_rate,
    newton,
    resting_point,
    support_factors,
    zero_factors,
)
from marginbook.kfda.claims.local_minima import no_return
from marginbook.kfda.claims.problems import samples
from marginbook.kfda.model.certificates import duality_gap, kkt_residual, smallest_curvature, stationarity
from marginbook.kfda.model.objective import Problem, objective, targets
from marginbook.kfda.solvers.irls import majorize_minimize, ridge_start, step_stable

ALL_Q = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0)


def problem_of(seed, n=12, positive=4, copies=False, constant=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    if copies:
        X[1] = X[0]
    if constant:
        X[:, 1] = 1.0
    return Problem(gram(("rbf", {"gamma": 0.5}), X), targets(np.arange(n) < positive))


@pytest.mark.parametrize("q", ALL_Q)
@pytest.mark.parametrize("penalize_bias", [True, False])
def test_eigenvalues_are_those_of_the_derivative_by_differences(q, penalize_bias):
    problem = problem_of(1)
    limit = resting_point(problem, q, 0.02, penalize_bias=penalize_bias)
    kept = np.flatnonzero(limit)
    columns = []
    for i in kept:
        h = 1e-6 * abs(limit[i]) * (np.arange(len(limit)) == i)
        ends = [
            step_stable(problem, limit + t * h, q, 0.02, penalize_bias=penalize_bias)[kept] for t in (1, -1)
        ]
        columns.append((ends[0] - ends[1]) / (2 * h[i]))
    expected = np.sort(np.linalg.eigvals(np.array(columns).T).real)
    assert_allclose(support_factors(problem, limit, q, 0.02, penalize_bias), expected, atol=2e-6)


@pytest.mark.parametrize("q", ALL_Q)
def test_a_resting_point_is_where_the_iteration_goes(q):
    problem = problem_of(2, n=9)
    limit = resting_point(problem, q, 0.05)
    assert_allclose(step_stable(problem, limit, q, 0.05), limit, rtol=1e-10, atol=1e-13)
    plain = majorize_minimize(problem, q, 0.05, tol=0.0, max_iter=3000).omega
    assert_allclose(plain, limit, atol=1e-6 * np.abs(limit).max())


def test_of_one_coefficient_the_rate_is_known_in_closed_form():
    # J = (y - w)^2 / 2 + lambda |w| has w = y - lambda, and (8) is w+ = w y / (w + lambda)
    problem = Problem(np.array([[0.0], [1.0]]), np.array([0.0, 4.0]))
    limit = np.array([0.0, 4.0 - 1.0])
    assert_allclose(support_factors(problem, limit, 1.0, 0.5), [1.0 / 4.0])
    assert_allclose(step_stable(problem, np.array([0.0, 2.0]), 1.0, 0.5), [0.0, 8.0 / 3.0])


@pytest.mark.parametrize("q", [0.25, 0.5, 0.75])
def test_the_rate_is_below_one_just_where_the_hessian_is_positive(q):
    rng = np.random.default_rng(3)
    problem, seen = problem_of(3, n=6), set()
    for point in stationary_points(problem, q, 0.05, rng, starts=100):
        curvature = smallest_curvature(problem, point, q, 0.05)
        rate = linear_rate(problem, point, q, 0.05)
        assert_allclose(rate, (2 - q) / (2 - q + curvature), rtol=1e-6)
        seen.add(rate < 1)
    assert seen == {True, False}


def test_for_the_lasso_the_slowest_zero_may_decide():
    problem, rho = problem_of(4, n=15, positive=6), 0.02
    limit = resting_point(problem, 1.0, rho)
    assert duality_gap(problem, limit, rho) < 1e-9
    assert kkt_residual(problem, limit, rho) < 1e-9
    slopes = np.abs(problem.design.T @ (problem.yhat - problem.design @ limit))[limit == 0]
    assert_allclose(zero_factors(problem, limit, rho), slopes / (rho * 15))
    both = max(support_factors(problem, limit, 1.0, rho).max(), zero_factors(problem, limit, rho).max())
    assert linear_rate(problem, limit, 1.0, rho) == both < 1


@pytest.mark.parametrize(
    "case", ["copies", "constant", "one sample in a class", "fewer columns", "two samples"]
)
@pytest.mark.parametrize("q", [0.5, 1.0])
def test_degenerate_problems_give_a_stationary_point_or_none(case, q):
    problem = {
        "copies": problem_of(5, copies=True),
        "constant": problem_of(5, constant=True),
        "one sample in a class": problem_of(5, positive=1),
        "fewer columns": Problem(problem_of(5).K[:, :3], problem_of(5).yhat),
        "two samples": Problem(np.eye(2), targets(np.array([True, False]))),
    }[case]
    for rho in (1e-3, 0.1, 100.0):
        limit = resting_point(problem, q, rho, max_iter=500)
        if limit is not None:
            assert stationarity(problem, limit, q, rho) < 1e-6
            assert smallest_curvature(problem, limit, q, rho) > -1e-9
        if rho == 100.0:
            assert not limit.any()


def test_newton_gives_up_rather_than_change_a_sign():
    problem = problem_of(6)
    wrong = -ridge_start(problem, 0.01)
    assert newton(problem, wrong, 1.0, 0.01) is None


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from([0.25, 0.5, 0.75, 0.9]), st.floats(1e-3, 0.5))
def test_below_the_bound_of_no_return_coefficients_only_shrink(seed, q, rho):
    rng = np.random.default_rng(seed)
    problem = problem_of(seed, n=7, positive=3)
    omega = rng.normal(size=8) * 10.0 ** rng.uniform(-6, 1, size=8)
    lost = np.zeros(8, dtype=bool)
    for _ in range(60):
        lost |= np.abs(omega) < no_return(problem, omega, q, rho)
        after = step_stable(problem, omega, q, rho)
        assert np.all(np.abs(after[lost]) <= np.abs(omega[lost]))
        omega = after
    assert np.all(np.abs(omega[lost]) < no_return(problem, omega, q, rho)[lost])


@pytest.mark.parametrize("q", [0.5, 1.0])
def test_a_certified_point_is_near_the_limit(q):
    problem, rho = next(section_3_stopping.clouds(n=25))
    omega = ridge_start(problem, rho)
    assert section_3_stopping.certified(problem, omega, q, rho) is None
    for _ in range(3000):
        omega = step_stable(problem, omega, q, rho)
    found = section_3_stopping.certified(problem, omega, q, rho)
    limit = resting_point(problem, q, rho)
    assert objective(problem, found, q, rho) <= objective(problem, limit, q, rho) * (1 + 1e-5)


def test_evaluations_are_counted_to_the_first_value_that_is_near():
    solution = majorize_minimize(problem_of(7), 1.0, 0.05, tol=1e-9)
    path = solution.objective_path
    assert acceleration.evaluations(solution, path[5]) == 5
    assert acceleration.evaluations(solution, path[-1] / 2) is None


@pytest.fixture
def few(monkeypatch):
    def sliced(seed, repeats=1):
        return itertools.islice(samples(seed, repeats), 0, None, 4)

    for module in (section_3_rates, section_3_stopping):
        monkeypatch.setattr(module, "samples", sliced)
    clouds = section_3_stopping.clouds
    for module in (section_3_stopping, acceleration):
        monkeypatch.setattr(module, "clouds", lambda **_: itertools.islice(clouds(n=25), 0, None, 5))


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        (section_3_rates.check_rate, Verdict.HOLDS),
        (section_3_rates.check_rate_to_zero, Verdict.HOLDS),
        (section_3_rates.check_cost, Verdict.HOLDS),
        (section_3_stopping.check_stopping, Verdict.HOLDS),
        (section_3_stopping.check_convergence, Verdict.HOLDS),
        (acceleration.check_acceleration, Verdict.HOLDS),
    ],
)
def test_verdicts_on_a_few_problems(check, verdict):
    assert check().verdict == verdict


@pytest.mark.usefixtures("few")
def test_another_rate_than_the_predicted_one_fails(monkeypatch):
    right = fixed_points.linear_rate
    monkeypatch.setattr(section_3_rates, "linear_rate", lambda *args: right(*args) ** 1.3)
    assert section_3_rates.check_rate().verdict == Verdict.FAILS


@pytest.mark.usefixtures("few")
def test_another_order_towards_zero_fails(monkeypatch):
    right = section_3_rates.last_order
    monkeypatch.setattr(section_3_rates, "last_order", lambda sizes: None if right(sizes) is None else 1.0)
    assert section_3_rates.check_rate_to_zero().verdict == Verdict.FAILS


@pytest.mark.usefixtures("few")
def test_a_step_that_is_no_ridge_regression_fails(monkeypatch):
    right = section_3_rates.step_stable
    monkeypatch.setattr(
        section_3_rates, "step_stable", lambda p, omega, q, rho: right(p, omega, q, 1.01 * rho)
    )
    assert section_3_rates.check_cost().verdict == Verdict.FAILS


@pytest.mark.usefixtures("few")
def test_without_its_bound_the_proof_fails(monkeypatch):
    right = section_3_stopping.no_return
    monkeypatch.setattr(section_3_stopping, "no_return", lambda *args: 100 * right(*args))
    assert section_3_stopping.check_convergence().verdict == Verdict.FAILS


def test_starts_beside_the_unlucky_ones_lead_to_the_minimum():
    ends = section_3_stopping.unlucky_ends(0.0)
    assert min(ends) > 0.05
    assert max(section_3_stopping.unlucky_ends(1e-9)) < 1e-5


@pytest.mark.usefixtures("few")
def test_iterates_that_are_not_accelerated_fail(monkeypatch):
    monkeypatch.setattr(
        acceleration,
        "squarem",
        lambda problem, q, rho, tol, max_iter: majorize_minimize(problem, q, rho, tol=tol, max_iter=max_iter),
    )
    assert acceleration.check_acceleration().verdict == Verdict.FAILS

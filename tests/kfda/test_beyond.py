"""The list of all minima, bounds, copies, bias and threshold: against brute force and wrong laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize, minimize_scalar
from sklearn.linear_model import Ridge

from marginbook.claims import Verdict
from marginbook.kernels import gram
from marginbook.kfda.claims import beyond_bias, beyond_magnitudes, beyond_minima
from marginbook.kfda.claims import beyond_equal_samples as copies
from marginbook.kfda.claims.fixed_points import newton, resting_point
from marginbook.kfda.claims.local_minima import local_minima, no_return, zero_box
from marginbook.kfda.claims.problems import samples, small_problems
from marginbook.kfda.model.certificates import magnitude_bound, smallest_curvature, stationarity
from marginbook.kfda.model.objective import Problem, midpoint, objective, targets
from marginbook.kfda.solvers.irls import majorize_minimize, ridge_start, step_stable

POWERS = (0.25, 0.5, 0.75)


def problem_of(seed, n=4):
    return next(small_problems(seed, count=1, n=n))


@pytest.mark.parametrize("q", POWERS)
@pytest.mark.parametrize("target", [0.5, 2.0, 5.0, -5.0])
def test_ofone_column_the_minima_are_those_of_a_fine_grid(q, target):
    # a bias that fits nothing: its column is orthogonal to the target
    problem = Problem(np.array([[1.5], [-1.5]]), np.array([target, -target]))
    grid = np.linspace(-5, 5, 400_001)
    values = (target - 1.5 * grid) ** 2 + 0.6 * np.abs(grid) ** q
    inner = (values[1:-1] < values[:-2]) & (values[1:-1] < values[2:]) & (np.abs(grid[1:-1]) > 1e-3)
    found = sorted(m.omega[1] for m in local_minima(problem, q, 0.3))
    assert_allclose(found, np.sort([0.0, *grid[1:-1][inner]]), atol=1e-4)


@pytest.mark.parametrize("q", POWERS)
@pytest.mark.parametrize("rho", [1e-3, 0.05, 0.3])
def test_minima_are_certified_distinct_and_include_what_descents_find(q, rho):
    problem, rng = problem_of(0), np.random.default_rng(0)
    minima = local_minima(problem, q, rho)
    assert len({m.support for m in minima}) == len(minima)
    assert [m.objective for m in minima] == sorted(m.objective for m in minima)
    assert () in [m.support for m in minima]
    for m in minima:
        assert stationarity(problem, m.omega, q, rho) < 1e-7
        assert smallest_curvature(problem, m.omega, q, rho) > 0
        assert_allclose(m.objective, objective(problem, m.omega, q, rho))
    for _ in range(25):
        found = resting_point(problem, q, rho, start=rng.normal(size=5) * 10.0 ** rng.uniform(-2, 1, 5))
        assert beyond_minima.is_listed(found, minima)


def test_no_general_optimiser_finds_a_lower_value():
    problem, rng = problem_of(1), np.random.default_rng(1)
    lowest = local_minima(problem, 0.5, 0.05)[0].objective
    values = [
        minimize(lambda w: objective(problem, w, 0.5, 0.05), rng.normal(size=5), method="Nelder-Mead").fun
        for _ in range(15)
    ]
    assert min(values) >= lowest * (1 - 1e-9)


def test_supports_with_two_signs_are_searched_in_both():
    # two opposite samples: the minima with one kernel column have either sign
    problem = Problem(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([2.0, -2.0]))
    minima = local_minima(problem, 0.5, 0.1)
    assert sorted(m.support for m in minima) == [(), (1,), (2,)]
    signs = {m.support: np.sign(m.omega[list(m.support)]).tolist() for m in minima}
    assert signs == {(): [], (1,): [1.0], (2,): [-1.0]}


@pytest.mark.parametrize("q", [0.0, 1.0, 1.5])
def test_powers_without_isolated_minima_are_refused(q):
    problem = problem_of(2)
    for function in (local_minima, zero_box, lambda p, q, rho: no_return(p, np.ones(5), q, rho)):
        with pytest.raises(ValueError, match=r"q must be in \(0, 1\), got"):
            function(problem, q, 0.1)


def test_large_problems_are_refused():
    with pytest.raises(
        ValueError, match="11 coefficients are too many to try all signs, expected at most 10"
    ):
        local_minima(Problem(np.eye(10), np.ones(10)), 0.5, 0.1)


@pytest.mark.parametrize("q", POWERS)
def test_degenerate_columns(q):
    y = np.array([2.0, 2.0, -2.0, -2.0])
    assert [m.support for m in local_minima(Problem(np.zeros((4, 2)), y), q, 0.1)] == [()]
    # the bias cannot help with targets of sum zero, and equal columns do not share
    column = np.array([1.0, 1.0, -1.0, -1.0])
    supports = {m.support for m in local_minima(Problem(np.column_stack([column, column]), y), q, 0.1)}
    assert supports == {(), (1,), (2,)}
    assert [m.support for m in local_minima(Problem(np.column_stack([column, column]), y), q, 1e3)] == [()]


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.sampled_from(POWERS), st.floats(1e-3, 1.0))
def test_inside_its_box_zero_is_the_lowest_point(seed, q, rho):
    problem, rng = problem_of(seed), np.random.default_rng(seed)
    box = np.minimum(zero_box(problem, q, rho), 1e6)
    omega = 0.999 * box * rng.uniform(-1, 1, 5)
    assert objective(problem, omega, q, rho) > objective(problem, 0 * omega, q, rho)


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.sampled_from(POWERS), st.floats(1e-3, 0.3))
def test_every_minimum_obeys_its_bounds(seed, q, rho):
    problem = problem_of(seed, n=3)
    for m in local_minima(problem, q, rho):
        kept = m.omega != 0
        assert np.all(np.abs(m.omega[kept]) >= magnitude_bound(problem, q, rho)[kept])
        assert np.all(np.abs(m.omega[kept]) >= no_return(problem, m.omega, q, rho)[kept])
    best = local_minima(problem, q, rho)[0].omega
    assert np.all((best == 0) | (np.abs(best) >= beyond_magnitudes.global_bound(problem, q, rho)))


@pytest.mark.parametrize("q", POWERS)
def test_the_larger_bound_is_where_one_coefficient_pays(q):
    # J(t) - J(0) of one column with the target that makes t stationary
    column, force = np.array([1.0, -1.0]), 0.3 * 2
    t = (2 * force * (1 - q) / 2.0) ** (1 / (2 - q))
    for factor, pays in ((1.02, True), (0.98, False)):
        size = factor * t
        target = size + force * q * size ** (q - 1) / 2
        problem = Problem(column[:, None], target * column)
        omega = np.array([0.0, size])
        assert stationarity(problem, omega, q, 0.3) < 1e-9
        assert (objective(problem, omega, q, 0.3) < objective(problem, 0 * omega, q, 0.3)) == pays
    assert_allclose(beyond_magnitudes.global_bound(problem, q, 0.3)[1], t)


def test_steps_down_are_found_from_a_saddle_and_not_from_a_minimum():
    y = np.array([2.0, 2.0, -2.0, -2.0])
    column = np.array([1.0, 1.0, -1.0, -1.0])
    problem = Problem(np.column_stack([column, column]), y)
    alike = newton(problem, np.array([0.0, 0.9, 0.9]), 0.5, 0.1)
    assert_allclose(alike[1], alike[2])
    assert smallest_curvature(problem, alike, 0.5, 0.1) < 0
    assert beyond_minima.descends(problem, alike, 0.5, 0.1)
    assert not beyond_minima.descends(problem, local_minima(problem, 0.5, 0.1)[0].omega, 0.5, 0.1)


@pytest.mark.parametrize("q", [0.5, 1.0])
def test_the_iteration_keeps_equal_samples_alike(q):
    X, positive = copies.categorical(5, n=60)
    problem = Problem(gram(("rbf", {"gamma": 0.5}), X), targets(positive))
    omega = majorize_minimize(problem, q, 0.01).omega
    for x in np.unique(X, axis=0):
        group = omega[1:][(x == X).all(axis=1)]
        assert np.ptp(group) <= 1e-6 * np.abs(omega).max()


@pytest.mark.parametrize("start", beyond_minima.STARTS)
def test_starts_are_usable(start):
    problem = problem_of(3)
    omega = beyond_minima.STARTS[start](problem, 0.5, 0.05, np.random.default_rng(0))
    assert omega.shape == (5,)
    assert np.isfinite(step_stable(problem, omega, 0.5, 0.05)).all()


def test_the_free_bias_gives_the_fit_of_scikit_learns_ridge():
    sample = next(samples(seed=1, repeats=1))
    problem, rho = sample.problem, 0.05
    ridge = Ridge(alpha=2 * rho * problem.n, solver="svd").fit(sample.K, problem.yhat)
    alpha = ridge_start(problem, rho, penalize_bias=False)[1:]
    assert_allclose(alpha, ridge.coef_, atol=1e-9)
    fisher = beyond_bias.regularised_fisher(sample, rho * problem.n)
    assert beyond_bias.sine(ridge.coef_, fisher) < 1e-9


@settings(max_examples=30)
@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 1000), st.sampled_from((0.5, 1.0, 2.0)))
def test_class_means_are_r2_times_the_targets(n1, n2, seed, q):
    rng = np.random.default_rng(seed)
    yhat = targets(np.arange(n1 + n2) < n1)
    problem = Problem(rng.normal(size=(n1 + n2, 4)), yhat)
    omega = step_stable(problem, rng.normal(size=5), q, 0.1, penalize_bias=False)
    fit = problem.design @ omega
    share = yhat @ fit / (yhat @ yhat)
    means = fit[:n1].mean(), fit[n1:].mean()
    assert_allclose(means, (share * yhat[0], share * yhat[-1]), atol=1e-9)
    assert_allclose(np.mean(means), share * midpoint(n1, n2), atol=1e-9)


def test_the_midpoint_of_the_targets_is_their_mean_where_both_classes_are_as_probable():
    n1, n2 = 3, 9
    both = minimize_scalar(lambda t: (t - 12 / n1) ** 2 + (t + 12 / n2) ** 2).x
    assert_allclose(both, midpoint(n1, n2))


@pytest.fixture
def few(monkeypatch):
    for module in (beyond_minima, beyond_magnitudes):
        monkeypatch.setattr(module, "small_problems", lambda seed, count=2, n=4: small_problems(seed, 2, 4))
    clouds = beyond_magnitudes.clouds
    monkeypatch.setattr(beyond_magnitudes, "clouds", lambda: clouds(n=20, repeats=1))


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    "check",
    [
        beyond_minima.check_zero_minimum,
        beyond_magnitudes.check_magnitude_bound,
        beyond_magnitudes.check_global_bound,
        beyond_minima.check_certificate,
        beyond_minima.check_many_minima,
        copies.check_equal_samples,
        beyond_bias.check_penalised_bias,
        beyond_bias.check_threshold,
        beyond_bias.check_scale,
    ],
)
def test_claims_hold_on_a_few_problems(check):
    assert check().verdict == Verdict.HOLDS


@pytest.mark.usefixtures("few")
def test_twice_the_box_of_zero_fails(monkeypatch):
    right = beyond_minima.zero_box
    monkeypatch.setattr(beyond_minima, "zero_box", lambda *args: 30 * right(*args))
    assert beyond_minima.check_zero_minimum().verdict == Verdict.FAILS


@pytest.mark.usefixtures("few")
def test_a_bound_that_is_too_large_fails(monkeypatch):
    right = beyond_magnitudes.magnitude_bound
    monkeypatch.setattr(beyond_magnitudes, "magnitude_bound", lambda *args: 4 * right(*args))
    assert beyond_magnitudes.check_magnitude_bound().verdict == Verdict.FAILS


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("factor", [0.98, 1.02])
def test_a_global_bound_that_is_too_large_or_not_the_largest_fails(monkeypatch, factor):
    right = beyond_magnitudes.global_bound
    monkeypatch.setattr(beyond_magnitudes, "global_bound", lambda *args: factor * right(*args))
    assert beyond_magnitudes.check_global_bound().verdict == Verdict.FAILS


@pytest.mark.usefixtures("few")
def test_a_list_that_lacks_a_minimum_fails(monkeypatch):
    right = beyond_minima.local_minima
    monkeypatch.setattr(beyond_minima, "local_minima", lambda *args: right(*args)[1:])
    assert beyond_minima.check_many_minima().verdict == Verdict.FAILS
    assert beyond_minima.check_certificate().verdict == Verdict.FAILS


@pytest.mark.usefixtures("few")
def test_a_certificate_that_accepts_saddles_fails(monkeypatch):
    monkeypatch.setattr(beyond_minima, "smallest_curvature", lambda *args: 1.0)
    assert beyond_minima.check_certificate().verdict == Verdict.FAILS


def test_another_ridge_than_the_free_one_fails(monkeypatch):
    monkeypatch.setattr(beyond_bias, "ridge_start", lambda problem, rho, **_: ridge_start(problem, rho))
    assert beyond_bias.check_penalised_bias().verdict == Verdict.FAILS


def test_another_scaling_law_fails(monkeypatch):
    right = beyond_bias.step_stable
    monkeypatch.setattr(beyond_bias, "step_stable", lambda p, w, q, rho, **k: right(p, w, q, rho**1.01, **k))
    assert beyond_bias.check_scale().verdict == Verdict.FAILS

"""The accelerated iterations end where (8) ends, never raise J, and count the evaluations of the map."""

import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso

from marginbook.kernels import gram
from marginbook.kfda.model.objective import Problem, objective, targets
from marginbook.kfda.solvers import irls_accelerated
from marginbook.kfda.solvers.irls import majorize_minimize, ridge_start, step_stable
from marginbook.kfda.solvers.irls_accelerated import over_relaxed, scaled_gradient, squarem

SOLVERS = [squarem, over_relaxed]


def two_clouds(n=30, gamma=2.0, seed=0, p=2):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.4
    positive[:2] = True, False
    X = rng.normal(size=(n, p)) + positive[:, None]
    return Problem(gram(("rbf", {"gamma": gamma}), X), targets(positive))


def lasso_of_sklearn(problem, rho, penalize_bias=True):
    """Return J at the optimum of coordinate descent."""
    model = Lasso(alpha=rho, fit_intercept=not penalize_bias, tol=1e-14, max_iter=10**6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if penalize_bias:
            omega = model.fit(problem.design, problem.yhat).coef_
        else:
            model.fit(problem.K, problem.yhat)
            omega = np.r_[model.intercept_, model.coef_]
    return objective(problem, omega, 1.0, rho, penalize_bias)


@pytest.mark.parametrize("penalize_bias", [True, False])
@pytest.mark.parametrize("rho", [1e-3, 1e-2, 0.1])
@pytest.mark.parametrize("solver", SOLVERS)
def test_limit_for_q_1_is_the_lasso(solver, rho, penalize_bias):
    problem = two_clouds()
    best = lasso_of_sklearn(problem, rho, penalize_bias)
    found = solver(problem, 1.0, rho, tol=1e-13, max_iter=20_000, penalize_bias=penalize_bias)
    assert found.converged
    assert best <= found.objective * (1 + 1e-12)
    assert found.objective == pytest.approx(best, rel=1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
def test_limit_for_q_1_is_that_of_cvxpy(solver):
    cp = pytest.importorskip("cvxpy")
    problem = two_clouds(20)
    omega = cp.Variable(21)
    fit = 0.5 * cp.sum_squares(problem.yhat - problem.design @ omega)
    program = cp.Problem(cp.Minimize(fit + 0.02 * problem.n * cp.norm1(omega)))
    program.solve(solver=cp.CLARABEL, tol_gap_rel=1e-11, tol_gap_abs=1e-11, tol_feas=1e-11)
    found = solver(problem, 1.0, 0.02, tol=1e-14, max_iter=20_000)
    assert found.objective == pytest.approx(program.value, rel=1e-8)
    np.testing.assert_allclose(found.omega, omega.value, atol=1e-4)


@pytest.mark.parametrize("q", [1.2, 1.5, 1.9])
@pytest.mark.parametrize("solver", SOLVERS)
def test_limit_of_convex_problems_is_that_of_the_plain_iteration(solver, q):
    problem = two_clouds()
    plain = majorize_minimize(problem, q, 0.01, tol=1e-15)
    found = solver(problem, q, 0.01, tol=1e-15)
    np.testing.assert_allclose(found.omega, plain.omega, atol=1e-6 * np.abs(plain.omega).max())
    assert found.objective == pytest.approx(plain.objective, rel=1e-12)


@settings(max_examples=40)
@given(
    st.integers(2, 25),
    st.integers(0, 10**6),
    st.sampled_from([0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0]),
    st.floats(-5, 1),
    st.floats(0.05, 1.95),
    st.booleans(),
)
def test_neither_raises_the_objective(n, seed, q, log_rho, relaxation, penalize_bias):
    problem, rho = two_clouds(n, seed=seed), 10.0**log_rho
    common = {"tol": 1e-12, "max_iter": 200, "penalize_bias": penalize_bias, "record": True}
    for found in (
        squarem(problem, q, rho, **common),
        over_relaxed(problem, q, rho, relaxation=relaxation, **common),
    ):
        assert (np.diff(found.objective_path) <= 0).all()
        values = [objective(problem, omega, q, rho, penalize_bias) for omega in found.omega_path]
        np.testing.assert_array_equal(found.objective_path, values)
        assert len(values) == found.n_iter + 1 == len(found.retained_path)
        assert found.objective == objective(problem, found.omega, q, rho, penalize_bias)
        assert found.penalize_bias == penalize_bias


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from([0.1, 0.5, 1.0, 1.7]), st.floats(0.01, 1.99))
def test_no_relaxation_below_two_raises_the_objective(seed, q, relaxation):
    problem, rho = two_clouds(12, seed=seed), 0.05
    omega = np.random.default_rng(seed).normal(size=13)
    further = omega + relaxation * (step_stable(problem, omega, q, rho) - omega)
    assert objective(problem, further, q, rho) <= objective(problem, omega, q, rho) * (1 + 1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
def test_points_are_kept_on_request_only(solver):
    problem = two_clouds(6)
    assert solver(problem, 1.0, 0.1).omega_path is None
    assert solver(problem, 1.0, 0.1, record=True).omega_path is not None


@pytest.mark.parametrize("q", [0.5, 1.0])
def test_squarem_needs_fewer_evaluations(q):
    problem = two_clouds(60)
    plain = majorize_minimize(problem, q, 0.01, tol=1e-12, max_iter=20_000)
    fast = squarem(problem, q, 0.01, tol=1e-12, max_iter=20_000)
    half = over_relaxed(problem, q, 0.01, tol=1e-12, max_iter=20_000)
    assert half.n_iter < plain.n_iter
    assert fast.n_iter < (0.4 if q == 1 else 1.0) * plain.n_iter


def test_over_relaxation_by_one_is_the_plain_iteration():
    problem = two_clouds()
    for q in (0.5, 1.0):
        plain = majorize_minimize(problem, q, 0.02)
        found = over_relaxed(problem, q, 0.02, relaxation=1)
        np.testing.assert_array_equal(found.omega, plain.omega)
        np.testing.assert_array_equal(found.objective_path, plain.objective_path)
        assert found.n_iter == plain.n_iter
        assert found.converged


def test_squarem_is_plain_up_to_its_first_extrapolation():
    problem = two_clouds()
    plain = majorize_minimize(problem, 1.0, 0.02, record=True, tol=1e-12)
    found = squarem(problem, 1.0, 0.02, record=True, tol=1e-12)
    np.testing.assert_array_equal(found.omega_path[:3], plain.omega_path[:3])
    assert found.objective_path[3] < plain.objective_path[3]


def test_the_extrapolation_is_that_of_its_formula():
    problem, q, rho = two_clouds(), 1.0, 0.02
    zero = ridge_start(problem, rho) * np.where(np.arange(31) % 5 == 2, -1.0, 1.0)  # some signs will change
    one = step_stable(problem, zero, q, rho)
    two = step_stable(problem, one, q, rho)
    same = (np.sign(zero) == np.sign(one)) & (np.sign(one) == np.sign(two))
    assert same.sum() > 20
    assert not same.all()
    u, v = np.zeros(31), np.zeros(31)
    for i in np.flatnonzero(same):
        u[i] = np.log(one[i] / zero[i])
        v[i] = np.log(two[i] / one[i]) - u[i]
    s = np.sqrt(sum((two * u) ** 2) / sum((two * v) ** 2))
    assert s > 1
    start = np.where(same, zero * np.exp(2 * s * u + s**2 * v), two)
    expected = step_stable(problem, start, q, rho)
    found = squarem(problem, q, rho, start=zero, record=True, max_iter=3)
    np.testing.assert_allclose(found.omega_path[3], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
def test_evaluations_of_the_map_are_counted(solver, monkeypatch):
    problem, calls = two_clouds(), []

    def counted(*arguments, **options):
        calls.append(1)
        return step_stable(*arguments, **options)

    monkeypatch.setattr(irls_accelerated, "step_stable", counted)
    for max_iter in (1, 2, 3, 4, 5, 50):
        calls.clear()
        found = solver(problem, 1.0, 0.01, tol=1e-14, max_iter=max_iter)
        assert found.n_iter == len(calls) == max_iter
        assert not found.converged
    calls.clear()
    assert solver(problem, 0.5, 0.01).n_iter == len(calls)


@pytest.mark.parametrize("q", [0.3, 0.5, 1.0])
@pytest.mark.parametrize("solver", SOLVERS)
def test_zeros_stay_and_none_is_made_while_coefficients_live(solver, q):
    problem = two_clouds()
    start = np.where(np.arange(31) % 3 == 0, 0.0, 1.0)
    found = solver(problem, q, 0.02, start=start, record=True)
    assert (found.omega_path[:, ::3] == 0).all()
    plain = majorize_minimize(problem, q, 0.02, start=start, record=True)
    alive = np.abs(plain.omega) > 1e-6  # what dies may underflow, as with (8) itself
    assert (found.omega_path[:3][:, start != 0] != 0).all()
    if q == 1:
        assert (found.omega_path[:, alive] != 0).all()
    assert (np.sign(found.omega) != 0).sum() >= 1


def test_extrapolation_keeps_signs(monkeypatch):
    problem, mapped = two_clouds(gamma=0.5), []

    def seen(problem, omega, *arguments, **options):
        mapped.append((omega.copy(), step_stable(problem, omega, *arguments, **options)))
        return mapped[-1][1]

    monkeypatch.setattr(irls_accelerated, "step_stable", seen)
    squarem(problem, 1.0, 0.01, tol=1e-14)
    jumps = 0
    for k in range(2, len(mapped)):
        omega, before = mapped[k][0], mapped[k - 1][1]
        if not any(np.array_equal(omega, image) for _, image in mapped[:k]):
            np.testing.assert_array_equal(np.sign(omega), np.sign(before))
            jumps += 1
    assert jumps > 5


@pytest.mark.parametrize("solver", SOLVERS)
def test_stationarity_is_waited_for(solver):
    problem = two_clouds(gamma=10.0)
    early = solver(problem, 1.0, 0.01, tol=1e-3)
    late = solver(problem, 1.0, 0.01, tol=1e-3, stationarity_tol=1e-6, max_iter=20_000)
    assert early.n_iter < late.n_iter
    assert scaled_gradient(problem, early.omega, 1.0, 0.01) > 1e-6
    assert scaled_gradient(problem, late.omega, 1.0, 0.01) <= 1e-6
    assert late.converged
    never = solver(problem, 1.0, 0.01, tol=1e-3, stationarity_tol=0.0, max_iter=60)
    assert not never.converged


def test_scaled_gradient_is_that_of_finite_differences():
    problem, rng = two_clouds(10), np.random.default_rng(0)
    for q, penalize_bias in ((0.5, True), (1.0, False), (1.5, True)):
        omega = rng.normal(size=11)
        weights = np.ones(11)
        weights[0] = penalize_bias
        products = []
        for i in range(11):
            step = 1e-6 * np.eye(11)[i]
            values = [objective(problem, omega + sign * step, q, 0.1, penalize_bias) for sign in (1, -1)]
            products.append(omega[i] * (values[0] - values[1]) / 2e-6)
        largest = 0.1 * 10 * q * (weights * np.abs(omega) ** q).max()
        value = scaled_gradient(problem, omega, q, 0.1, penalize_bias)
        assert value == pytest.approx(np.abs(products).max() / largest, rel=1e-6)
    assert scaled_gradient(problem, np.zeros(11), 0.5, 0.1) == 0


@pytest.mark.parametrize("solver", SOLVERS)
def test_small_and_degenerate_problems(solver):
    pair = Problem(np.eye(2), targets(np.array([True, False])))
    assert solver(pair, 1.0, 0.1).converged
    flat = Problem(np.ones((6, 6)), targets(np.arange(6) < 2))
    found = solver(flat, 1.0, 0.1)
    assert found.objective == pytest.approx(flat.energy / 2)  # nothing to explain: all coefficients vanish
    problem = two_clouds(15)
    twice = Problem(np.vstack([np.c_[problem.K, problem.K]] * 2), np.r_[problem.yhat, problem.yhat])
    once = solver(problem, 1.0, 0.02, tol=1e-13, max_iter=20_000)
    # twice the rows at the same rho: the columns share their coefficients, and J doubles
    assert solver(twice, 1.0, 0.02, tol=1e-13, max_iter=20_000).objective == pytest.approx(
        2 * once.objective, rel=1e-7
    )
    alone = Problem(problem.K, targets(np.arange(15) == 4))
    assert solver(alone, 0.5, 1e-3).converged
    assert not solver(problem, 1.0, 0.01, start=np.zeros(16)).omega.any()
    huge = solver(problem, 0.5, 1e6)
    assert np.abs(huge.omega).max() < 1e-6
    ridge = solver(problem, 2.0, 0.1)
    np.testing.assert_allclose(ridge.omega, ridge_start(problem, 0.1), rtol=1e-9)


@pytest.mark.parametrize(
    ("solver", "changes", "message"),
    [
        (squarem, {"q": 2.5}, "q must be at most 2, got 2.5"),
        (over_relaxed, {"rho": 0}, "rho must be a finite number > 0, got 0"),
        (squarem, {"start": np.ones(3)}, "omega has shape (3,), wanted 31 finite numbers, the bias first"),
        (
            over_relaxed,
            {"relaxation": 2},
            "relaxation must be a number in (0, 2), where J cannot rise, got 2",
        ),
        (over_relaxed, {"relaxation": np.nan}, "relaxation must be a number in (0, 2), where J cannot rise"),
    ],
)
def test_bad_arguments(solver, changes, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        solver(**{"problem": two_clouds(), "q": 1.0, "rho": 0.1} | changes)

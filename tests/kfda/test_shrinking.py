"""The shrinking iteration: the same minima as (8), exact zeros, certificates, hard inputs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Lasso, Ridge

from marginbook.kfda.model.certificates import magnitude_bound
from marginbook.kfda.model.objective import Problem, objective, targets
from marginbook.kfda.solvers import active_coefficients
from marginbook.kfda.solvers.active_coefficients import Active, Trail
from marginbook.kfda.solvers.compressed import EXACT, Compressed, compressed, whole
from marginbook.kfda.solvers.irls import majorize_minimize, ridge_start, step_stable
from marginbook.kfda.solvers.l1_on_support import settle_l1
from marginbook.kfda.solvers.majorise_minimise import shrinking_mm
from marginbook.kfda.solvers.newton_on_support import (
    DYING,
    ROUNDING,
    drop_dying,
    least_size,
    leave_saddle,
    settle,
)

from .test_plain import rbf_problem


def check(problem, solution, q, rho, penalize_bias=True):
    """Assert all that holds for any polished solution."""
    assert solution.converged
    value = objective(problem, solution.omega, q, rho, penalize_bias)
    assert solution.objective == pytest.approx(value, rel=1e-12)
    assert solution.objective_path[-1] == pytest.approx(value, rel=1e-6)
    assert np.all(np.diff(solution.objective_path) <= 1e-12 * solution.objective_path[:-1])
    assert len(solution.objective_path) == len(solution.retained_path) == solution.n_iter + 1
    if q < 1:
        assert solution.curvature > 0
        assert solution.stationarity < 1e-5
        bound = magnitude_bound(problem, q, rho, penalize_bias)
        size = np.abs(solution.omega)
        assert np.all((size == 0) | (size >= bound * (1 - 1e-9)))
    else:
        assert solution.dual_gap < 1e-6 * value


@pytest.mark.parametrize("penalize_bias", [True, False])
def test_reaches_the_minimum_of_the_plain_iteration(penalize_bias):
    ratios = []
    for width in (0.3, 1.0, 3.0):
        problem = rbf_problem(40, width=width)
        for q in (0.25, 0.5, 0.75):
            for rho in (1e-3, 1e-2, 0.1):
                solution = shrinking_mm(problem, q, rho, penalize_bias=penalize_bias)
                check(problem, solution, q, rho, penalize_bias)
                plain = majorize_minimize(
                    problem, q, rho, tol=1e-13, max_iter=3000, penalize_bias=penalize_bias
                )
                ratios.append(solution.objective / plain.objective)
                if abs(ratios[-1] - 1) < 1e-6 and solution.omega[1:].any():
                    np.testing.assert_array_equal(solution.retained, plain.retained_above(1e-6))
    # there are many minima: from where Newton's steps begin, another one may be nearer
    assert np.mean(np.abs(np.array(ratios) - 1) < 1e-6) > 0.9
    assert max(ratios) < 1.001


# the peer may stop early: its objective is an upper bound all the same
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@settings(max_examples=25)
@given(
    seed=st.integers(0, 999),
    rho=st.floats(1e-4, 0.3),
    width=st.floats(0.2, 3.0),
    penalize_bias=st.booleans(),
)
def test_q_1_is_the_lasso(seed, rho, width, penalize_bias):
    problem = rbf_problem(25, seed=seed, width=width, n_positive=9)
    solution = shrinking_mm(problem, 1.0, rho, penalize_bias=penalize_bias)
    check(problem, solution, 1.0, rho, penalize_bias)
    peer = Lasso(alpha=rho, fit_intercept=not penalize_bias, tol=1e-10, max_iter=100_000)
    peer.fit(problem.K if not penalize_bias else problem.design, problem.yhat)
    omega = peer.coef_ if penalize_bias else np.append(peer.intercept_, peer.coef_)
    assert solution.objective <= objective(problem, omega, 1.0, rho, penalize_bias) * (1 + 1e-10)


@pytest.mark.parametrize("q", [1.2, 1.5, 1.8])
@pytest.mark.parametrize("penalize_bias", [True, False])
def test_convex_powers_between(q, penalize_bias):
    problem = rbf_problem(30)
    solution = shrinking_mm(problem, q, 0.02, penalize_bias=penalize_bias)
    check(problem, solution, q, 0.02, penalize_bias)
    far = np.ones(31)
    far[5:20] = 0.0
    again = shrinking_mm(problem, q, 0.02, start=far, penalize_bias=penalize_bias)
    assert again.objective == pytest.approx(solution.objective, rel=1e-9)


def test_q_2_is_ridge_regression():
    problem = rbf_problem(30)
    solution = shrinking_mm(problem, 2.0, 0.02, start=np.zeros(31))
    peer = Ridge(alpha=2 * 0.02 * 30, fit_intercept=False).fit(problem.design, problem.yhat)
    np.testing.assert_allclose(solution.omega, peer.coef_, atol=1e-6)


@pytest.mark.parametrize("polish", [True, False])
@pytest.mark.parametrize("q", [0.5, 1.0, 1.5])
def test_huge_rho_gives_zero_and_tiny_rho_the_fit(q, polish):
    problem = rbf_problem(20, width=0.3)
    solution = shrinking_mm(problem, q, 1e4, polish=polish)
    assert solution.objective == pytest.approx(problem.energy / 2, rel=1e-6)
    if q <= 1 and polish:
        assert not solution.omega.any()
    assert shrinking_mm(problem, q, 1e-7, polish=polish).objective < 1e-3 * problem.energy


@pytest.mark.parametrize("q", [0.5, 0.9, 1.0, 1.5])
@pytest.mark.parametrize("penalize_bias", [True, False])
@pytest.mark.parametrize(
    "name",
    ["duplicates", "constant", "one", "two", "rank one", "zero columns", "wide", "narrow", "indefinite"],
)
def test_hard_inputs(name, q, penalize_bias):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((24, 2))
    positive = X[:, 0] > 0
    K = np.exp(-((X[:, None] - X) ** 2).sum(-1))
    problem = {
        "duplicates": Problem(K[::2, ::2].repeat(2, 0).repeat(2, 1), targets(positive[::2].repeat(2))),
        "constant": Problem(np.ones((24, 24)), targets(positive)),
        "one": Problem(K, targets(np.arange(24) == 3)),
        "two": Problem(K[:2, :2], targets(np.array([True, False]))),
        "rank one": Problem(np.outer(X[:, 0], X[:, 0]), targets(positive)),
        "zero columns": Problem(K * (np.arange(24) > 4), targets(positive)),
        "wide": Problem(rng.standard_normal((12, 60)), targets(positive[:12])),
        "narrow": Problem(K[:, :4], targets(positive)),
        "indefinite": Problem(np.tanh(X @ X.T - 1), targets(positive)),
    }[name]
    for rho in (1e-3, 0.1):
        check(problem, shrinking_mm(problem, q, rho, penalize_bias=penalize_bias), q, rho, penalize_bias)


def test_start_names_a_support_for_q_below_one():
    problem = rbf_problem(30)
    start = np.zeros(31)
    start[[3, 8, 20]] = 1.0
    solution = shrinking_mm(problem, 0.5, 1e-3, start=start)
    check(problem, solution, 0.5, 1e-3)
    assert set(solution.retained) <= {2, 7, 19}
    warm = shrinking_mm(problem, 0.5, 1e-3, start=solution.omega)
    np.testing.assert_allclose(warm.omega, solution.omega, rtol=1e-7)
    assert warm.n_iter <= 5
    alone = np.zeros(31)
    alone[3] = 1.0
    assert shrinking_mm(problem, 0.95, 1e-3, start=alone).retained.tolist() == [2]


def test_start_with_zeros_reaches_the_lasso_all_the_same():
    problem = rbf_problem(30)
    start = np.zeros(31)
    for polish in (True, False):
        start[5] = 1.0 - polish
        solution = shrinking_mm(problem, 1.0, 0.01, start=start, polish=polish, tol=1e-9)
        best = shrinking_mm(problem, 1.0, 0.01).objective
        assert solution.objective == pytest.approx(best, rel=1e-9 if polish else 1e-4)


def test_without_polish_it_stops_where_the_paper_stops():
    problem = rbf_problem(40)
    for q in (0.5, 1.0):
        plain = majorize_minimize(problem, q, 0.01)
        solution = shrinking_mm(problem, q, 0.01, polish=False)
        assert solution.converged
        assert solution.objective == pytest.approx(plain.objective, rel=1e-5)
        assert solution.n_iter == pytest.approx(plain.n_iter, abs=2)


@pytest.mark.parametrize("q", [0.5, 1.5])
def test_without_polish_it_stops_there_on_a_compressed_problem_too(q):
    problem = rbf_problem(200, width=3.0)
    assert not compressed(problem).exact
    path = shrinking_mm(problem, q, 0.01, tol=1e-5, polish=False).objective_path
    changes = -np.diff(path) / path[1:]
    assert changes[-1] <= 1e-5 < changes[:-1].min()


def test_iterations_end():
    problem = rbf_problem(40)
    for q in (0.5, 1.0, 1.5):
        solution = shrinking_mm(problem, q, 1e-3, max_iter=2)
        assert solution.n_iter <= 3
        assert not solution.converged


@settings(max_examples=30)
@given(q=st.floats(0.1, 0.95), seed=st.integers(0, 99), rho=st.floats(1e-3, 0.3))
def test_what_leaves_would_have_died_and_lowers_the_objective(q, seed, rho):
    problem = rbf_problem(15, seed)
    rng = np.random.default_rng(seed)
    omega = ridge_start(problem, rho) * 10.0 ** rng.uniform(-20, 0, 16)
    source = compressed(problem)
    active = Active(source, np.arange(16), omega, q, rho * 15)
    before = active.objective()
    drop_dying(active, before)
    assert active.objective() <= before * (1 + ROUNDING)  # fewer terms are summed, in another order
    gone = np.setdiff1d(np.arange(16), active.index)
    for _ in range(6):
        new = step_stable(problem, omega, q, rho)
        assert np.all(np.abs(new[gone]) <= DYING * np.abs(omega[gone]) + 1e-290)
        omega = new


@pytest.mark.parametrize(("n", "left"), [(1500, 0), (2500, 2500)])
def test_small_ones_that_halved_leave_only_if_all_together_cannot_raise_the_objective(n, left):
    """One at a time they could: they stay while twice the square of their shift is above their penalty."""
    source = Compressed(np.full((n, 1), 1e4), np.ones(1), 0.0, has_bias=False, exact=True)
    active = Active(source, np.arange(n), np.full(n, 0.0099 * (4e8) ** (-2 / 3)), 0.5, 1.0)
    drop_dying(active, 2.0, before=np.ones(n))
    assert len(active.index) == left


def test_equal_columns_make_a_saddle_that_is_left():
    rng = np.random.default_rng(0)
    column = rng.standard_normal(20)
    problem = Problem(np.column_stack([column, column]), targets(column > 0))
    start = np.array([0.0, 1.0, 1.0])
    stuck = majorize_minimize(problem, 0.5, 0.01, start=start, tol=1e-15)
    assert stuck.omega[1] == pytest.approx(stuck.omega[2])
    solution = shrinking_mm(problem, 0.5, 0.01, start=start)
    check(problem, solution, 0.5, 0.01)
    assert len(solution.retained) == 1
    assert solution.objective < stuck.objective * (1 - 1e-4)

    active = Active(whole(problem, True, slice(None)), np.array([1, 2]), stuck.omega[1:], 0.5, 0.2)
    trail = Trail(100)
    trail.add(active)
    assert leave_saddle(active, trail)
    assert trail.values[1] < trail.values[0]
    assert settle(active, trail)
    assert not leave_saddle(active, trail)


def _bent(sign: float, lost: float) -> Active:
    """Three coefficients that are too small to be a minimum; the targets have other signs, too."""
    columns = np.array([[1.0, 0.2], [0.9, 0.5], [0.3, 1.0]])
    source = Compressed(columns, sign * np.array([1.0, 0.7]), lost, has_bias=False, exact=True)
    return Active(source, np.arange(3), sign * np.array([0.3, 0.2, 0.25]), 0.5, 0.3)


def test_both_ways_along_the_negative_curvature_are_tried():
    """With all signs turned the better one is the other one."""
    ends = []
    for sign in (1.0, -1.0):
        active, trail = _bent(sign, 0.0), Trail(9)
        trail.add(active)
        assert leave_saddle(active, trail)
        ends.append(sign * active.spread())
        assert trail.values[-1] == pytest.approx(active.objective(), rel=1e-12)
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-12)


def test_a_saddle_from_which_j_falls_by_rounding_only_is_not_left():
    active, trail = _bent(1.0, 1e18), Trail(9)
    trail.add(active)
    assert not leave_saddle(active, trail)
    assert active.spread().tolist() == [0.3, 0.2, 0.25]
    assert trail.values == [1e18]


@pytest.mark.parametrize("penalize_bias", [True, False])
def test_compression_keeps_the_problem(penalize_bias):
    problem = rbf_problem(200, width=3.0)
    source = compressed(problem, penalize_bias)
    assert not source.exact
    assert source.columns.shape[1] < 100
    assert compressed(problem, penalize_bias) is source
    full = whole(problem, penalize_bias, slice(None))
    np.testing.assert_allclose(source.gram, full.gram, atol=1e-9)
    np.testing.assert_allclose(source.correlations, full.correlations, atol=1e-9)
    assert source.lost + 0.5 * source.yhat @ source.yhat == pytest.approx(problem.energy / 2)
    assert compressed(rbf_problem(60, width=0.02)).exact


@pytest.mark.parametrize(("share", "exact"), [(0.8, False), (1.25, True)])
def test_what_compression_leaves_of_an_indefinite_matrix_is_rounding_up_to_its_limit(share, exact):
    """Its diagonal shows a rank of 1; each sum of a row with signs is the largest entry that is left."""
    K = np.zeros((12, 12))
    K[0, 0] = 1.0
    first = np.arange(2, 12, 2)
    K[first, first + 1] = K[first + 1, first] = share * EXACT * 12
    assert compressed(Problem(K, targets(np.arange(12) < 5))).exact == exact


@pytest.mark.parametrize("rho", [1e-15, 1e-12])
def test_where_what_was_cut_off_counts_all_rows_are_taken(rho):
    """Huge coefficients: J of the few rows says nothing of J, which at zero is half the energy."""
    problem = rbf_problem(100, width=10.0)
    assert not compressed(problem).exact
    assert shrinking_mm(problem, 0.3, rho).objective <= 1.01 * problem.energy / 2


@pytest.mark.parametrize(("k", "unknowns"), [(16, 8), (15, 15)])
def test_the_system_of_many_coefficients_has_as_many_unknowns_as_rows(monkeypatch, k, unknowns):
    sizes, solve = [], active_coefficients.solve
    monkeypatch.setattr(
        active_coefficients, "solve", lambda M, *rest: (sizes.append(len(M)), solve(M, *rest))[1]
    )
    source = Compressed(np.eye(k, 8), np.ones(8), 0.0, has_bias=False, exact=True)
    Active(source, np.arange(k), np.ones(k), 0.7, 0.8).majorised()
    assert sizes == [unknowns]


def test_the_three_systems_of_a_step_agree():
    rng = np.random.default_rng(0)
    problem = Problem(rng.standard_normal((8, 40)), targets(np.arange(8) < 3))
    omega = rng.standard_normal(41)
    wanted = step_stable(problem, omega, 0.7, 0.1)
    active = Active(compressed(problem), np.arange(41), omega, 0.7, 0.8)
    np.testing.assert_allclose(active.majorised(), wanted, rtol=1e-8)
    gradient = active.slopes() - active.columns @ active.residual()
    np.testing.assert_allclose(omega + active.newton(gradient, damping=1.3), wanted, rtol=1e-8, atol=1e-10)
    nearly = Problem(1e9 * np.ones((6, 6)), targets(np.arange(6) < 3))
    spoiled = Active(compressed(nearly), np.arange(7), np.ones(7), 1.0, 1e-9)
    assert np.isfinite(spoiled.majorised()).all()


@pytest.mark.parametrize("rho", [1e-4, 1e-2, 0.2])
def test_any_guess_of_the_support_leads_to_the_lasso(rho):
    problem = rbf_problem(40, width=0.5)
    best = shrinking_mm(problem, 1.0, rho).objective
    source = compressed(problem)
    rng = np.random.default_rng(0)
    for size in (0, 1, 10, 41):
        index = np.sort(rng.choice(41, size, replace=False))
        active = Active(source, index, rng.standard_normal(size), 1.0, rho * 40)
        trail = Trail(1000)
        trail.add(active)
        active, converged = settle_l1(active, trail)
        assert converged
        assert active.objective() == pytest.approx(best, rel=1e-9)


def test_columns_that_violate_most_enter_first_and_an_excess_of_rounding_is_none():
    """With those that barely enter J falls by rounding only: were they first, the others would stay out.

    The columns are orthonormal, so that the solution is known: each correlation less the penalty.
    """
    correlations = 10.0 * np.r_[np.full(60, 1 + 1e-8), np.full(5, 2.0)]
    source = Compressed(np.eye(65), correlations, 0.0, has_bias=False, exact=True)
    active = Active(source, np.arange(0), np.zeros(0), 1.0, 10.0)
    trail = Trail(1000)
    trail.add(active)
    active, converged = settle_l1(active, trail)
    assert converged
    np.testing.assert_allclose(active.spread(), np.r_[np.zeros(60), np.full(5, 10.0)], atol=1e-6)


def test_coefficients_that_all_pass_zero_become_zero_by_one_system_with_j_recorded_there():
    source = Compressed(np.eye(4), np.zeros(4), 0.0, has_bias=False, exact=True)
    active, trail = Active(source, np.arange(4), np.ones(4), 1.0, 0.1), Trail(1000)
    trail.add(active)
    active, converged = settle_l1(active, trail)
    assert converged
    assert trail.values == pytest.approx([4 * (0.5 + 0.1), 0.0])
    assert trail.retained == [4, 0]


def test_the_least_size_is_where_the_curvature_changes_its_sign():
    source = Compressed(np.diag([1.0, 2.0, 5.0]), np.ones(3), 0.0, has_bias=False, exact=True)
    for q in (0.1, 0.5, 0.9):
        active = Active(source, np.arange(3), np.ones(3), q, 0.3)
        # the second derivative of |d|^2 t^2 / 2 + scale t^q
        curvature = source.norms**2 + 0.3 * q * (q - 1) * least_size(active) ** (q - 2)
        np.testing.assert_allclose(curvature, 0.0, atol=1e-12)


def test_parameters_are_checked():
    problem = rbf_problem(6, n_positive=3)
    with pytest.raises(ValueError, match="q must be at most 2"):
        shrinking_mm(problem, 3.0, 0.1)
    with pytest.raises(ValueError, match="wanted 7 finite numbers"):
        shrinking_mm(problem, 1.0, 0.1, start=np.ones(6))

"""The exact lasso against scikit-learn, enumeration and its own certificate; degenerate problems."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Lasso, lars_path_gram

from marginbook.kernels import gram
from marginbook.kernels.cholesky import backward, column, forward
from marginbook.kfda.model.certificates import duality_gap, kkt_residual
from marginbook.kfda.model.objective import Problem, objective, targets
from marginbook.kfda.solvers.lasso import lasso, lasso_path
from marginbook.kfda.solvers.lasso_active_set import ROUNDS, ROUNDS_PER_COLUMN, exchange, settle, sweep
from marginbook.kfda.solvers.lasso_factor import enter, leave
from marginbook.kfda.solvers.lasso_working_set import WorkingSet


def _problem(n: int = 60, width: float = 1.0, seed: int = 0, positive: int | None = None) -> Problem:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    mask = np.arange(n) < (n // 3 if positive is None else positive)
    X[mask] += 1.0
    return Problem(gram(("rbf", {"gamma": 0.5 / width**2}), X), targets(mask))


def _by_enumeration(problem: Problem, rho: float, weights: np.ndarray) -> float:
    """Return the minimum of J: the best stationary point over all patterns of signs."""
    D, lam = problem.design, rho * problem.n
    best = 0.5 * problem.energy
    for pattern in product((-1, 0, 1), repeat=D.shape[1]):
        signs = np.array(pattern)
        S = np.flatnonzero(signs)
        if len(S):
            w = np.linalg.lstsq(D[:, S].T @ D[:, S], D[:, S].T @ problem.yhat - lam * weights[S] * signs[S])[
                0
            ]
            value = 0.5 * np.sum((problem.yhat - D[:, S] @ w) ** 2) + lam * weights[S] @ np.abs(w)
            best = min(best, value)
    return best


@pytest.mark.parametrize("penalize_bias", [True, False])
@pytest.mark.parametrize("rho", [0.3, 0.05, 0.003])
def test_reaches_the_best_of_all_sign_patterns(rho: float, penalize_bias: bool) -> None:
    problem = _problem(5, 0.8)
    weights = np.ones(6)
    weights[0] = float(penalize_bias)
    solution = lasso(problem, rho, penalize_bias=penalize_bias)
    assert solution.objective == pytest.approx(_by_enumeration(problem, rho, weights), rel=1e-9)
    assert solution.objective == pytest.approx(
        objective(problem, solution.omega, 1.0, rho, penalize_bias), rel=1e-12
    )


@pytest.mark.parametrize("rho", [0.1, 0.03, 0.01])
def test_agrees_with_scikit_learn(rho: float) -> None:
    problem = _problem(80, 0.7)
    peer = Lasso(alpha=rho, fit_intercept=False, tol=1e-12, max_iter=100_000).fit(
        problem.design, problem.yhat
    )
    solution = lasso(problem, rho)
    np.testing.assert_allclose(solution.omega, peer.coef_, atol=1e-6 * np.abs(peer.coef_).max())
    assert solution.objective <= objective(problem, peer.coef_, 1.0, rho) * (1 + 1e-10)


def test_unpenalised_bias_is_scikit_learns_intercept() -> None:
    problem = _problem(80, 0.7)
    peer = Lasso(alpha=0.01, tol=1e-12, max_iter=100_000).fit(problem.K, problem.yhat)
    solution = lasso(problem, 0.01, penalize_bias=False)
    np.testing.assert_allclose(solution.omega[1:], peer.coef_, atol=1e-6)
    assert solution.omega[0] == pytest.approx(peer.intercept_, abs=1e-6)


def test_path_agrees_with_least_angle_regression() -> None:
    problem = _problem(50, 0.5)
    knots, _, coefs = lars_path_gram(
        problem.correlations, problem.gram, n_samples=problem.n, method="lasso", alpha_min=1e-3
    )
    rhos = [0.2, 0.03, 0.004]
    for rho, solution in zip(rhos, lasso_path(problem, rhos), strict=True):
        expected = [np.interp(-rho, -knots, row) for row in coefs]
        np.testing.assert_allclose(solution.omega, expected, atol=1e-7)


@pytest.mark.parametrize("penalize_bias", [True, False])
@pytest.mark.parametrize("width", [0.1, 1.0, 10.0])
def test_certificate_down_to_small_rho(width: float, penalize_bias: bool) -> None:
    problem = _problem(150, width)
    for solution in lasso_path(problem, np.geomspace(0.3, 1e-5, 6), penalize_bias=penalize_bias):
        gap = duality_gap(problem, solution.omega, solution.rho, penalize_bias)
        assert gap <= 1.1e-8 * solution.objective
        assert solution.converged
        assert solution.dual_gap == pytest.approx(gap, abs=1e-10 * solution.objective)
        kkt = kkt_residual(problem, solution.omega, solution.rho, penalize_bias)
        assert solution.stationarity == pytest.approx(kkt, abs=1e-6)


def test_stops_and_says_so_where_rounding_ends_it() -> None:
    problem = _problem(150, 10.0)
    solution = lasso(problem, 1e-12)
    assert not solution.converged
    assert solution.dual_gap is not None
    assert 1e-8 * solution.objective < solution.dual_gap < solution.objective
    assert solution.n_iter > 12  # the factor was made anew, and the search went on
    assert np.isfinite(solution.omega).all()


@settings(max_examples=30)
@given(
    n=st.integers(2, 25),
    columns=st.integers(1, 30),
    rank=st.integers(1, 30),
    seed=st.integers(0, 1000),
    rho=st.floats(1e-4, 1.0),
    penalize_bias=st.booleans(),
)
def test_any_design(n: int, columns: int, rank: int, seed: int, rho: float, penalize_bias: bool) -> None:
    """More columns than rows and fewer, full rank and less."""
    rng = np.random.default_rng(seed)
    rank = min(rank, n, columns)
    K = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, columns))
    problem = Problem(K, targets(np.arange(n) < rng.integers(1, n)))
    solution = lasso(problem, rho, penalize_bias=penalize_bias)
    gap = duality_gap(problem, solution.omega, rho, penalize_bias)
    assert gap <= 1e-8 * solution.objective + 1e-12 * problem.energy
    assert np.count_nonzero(solution.omega) <= n + 1


def _edge(problem: Problem, penalize_bias: bool = True) -> float:
    """The smallest rho for which all penalised coefficients are zero."""
    r = problem.yhat if penalize_bias else problem.yhat - problem.yhat.mean()
    return float(np.abs(problem.design.T @ r)[not penalize_bias :].max()) / problem.n


def test_all_zero_from_the_edge_on() -> None:
    problem = _problem()
    edge = _edge(problem)
    assert not lasso(problem, edge * (1 + 1e-9)).omega.any()
    assert np.count_nonzero(lasso(problem, edge * (1 - 1e-5)).omega) == 1
    edge = _edge(problem, penalize_bias=False)
    assert not lasso(problem, edge * (1 + 1e-9), penalize_bias=False).omega[1:].any()
    assert lasso(problem, edge * (1 - 1e-6), penalize_bias=False).omega[1:].any()


def test_equal_columns_share_one_deterministic_solution() -> None:
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(20, 2)), 3, axis=0)
    mask = np.arange(60) < 21
    problem = Problem(gram(("rbf", {"gamma": 0.5}), X), targets(mask))
    first, second = lasso(problem, 1e-3), lasso(problem, 1e-3)
    np.testing.assert_array_equal(first.omega, second.omega)
    assert first.converged
    assert len(first.retained) <= 21  # no more than distinct columns
    single = lasso(Problem(problem.K[:, ::3], problem.yhat), 1e-3)
    assert first.objective == pytest.approx(single.objective, rel=1e-9)


def test_equal_samples_of_opposite_classes() -> None:
    X = np.repeat(np.random.default_rng(1).normal(size=(15, 2)), 2, axis=0)
    problem = Problem(gram(("rbf", {"gamma": 0.5}), X), targets(np.arange(30) % 2 == 0))
    # both classes have the same columns: the targets cancel in every one
    assert _edge(problem) < 1e-12
    assert not lasso(problem, 1e-3).omega.any()


@pytest.mark.parametrize("penalize_bias", [True, False])
@pytest.mark.parametrize("K", [np.ones((8, 8)), np.zeros((8, 8)), np.eye(8)])
def test_constant_kernels(K: np.ndarray, penalize_bias: bool) -> None:
    problem = Problem(K, targets(np.arange(8) < 3))
    solution = lasso(problem, 1e-3, penalize_bias=penalize_bias)
    assert solution.converged
    if K[0, 1] == 1 or not K.any():  # every column is constant: nothing to tell the classes apart
        assert not solution.omega.any()
        assert solution.objective == pytest.approx(0.5 * problem.energy)
    else:  # the identity: each residual is at most lambda
        residual = problem.yhat - problem.design @ solution.omega
        assert np.abs(residual).max() == pytest.approx(8e-3, rel=1e-6)


@pytest.mark.parametrize("rho", [0.5, 1e-2, 1e-6])
def test_two_samples(rho: float) -> None:
    problem = Problem(
        gram(("rbf", {"gamma": 1.0}), np.array([[0.0], [1.0]])), targets(np.array([True, False]))
    )
    solution = lasso(problem, rho)
    assert solution.converged
    assert solution.omega[1] == pytest.approx(-solution.omega[2])


def test_one_sample_in_a_class() -> None:
    solution = lasso(_problem(100, 0.5, positive=1), 0.01)
    assert solution.converged
    assert 0 in solution.retained


def test_cold_path_and_warm_start_find_the_same() -> None:
    problem = _problem(120, 0.6)
    rhos = [1e-3, 0.1, 1e-2, 1e-3]
    path = lasso_path(problem, rhos)
    assert [s.rho for s in path] == rhos
    for rho, solution in zip(rhos, path, strict=True):
        np.testing.assert_allclose(solution.omega, lasso(problem, rho).omega, atol=1e-7)
    sparse, dense = path[1].omega, path[0].omega
    rng = np.random.default_rng(0)
    for start in (sparse, dense, rng.normal(size=121)):
        np.testing.assert_allclose(lasso(problem, 1e-2, start=start).omega, path[2].omega, atol=1e-7)
    again = lasso(problem, 1e-2, start=path[2].omega)
    assert again.n_iter <= 1


def test_recorded_paths() -> None:
    solution = lasso(_problem(), 0.01)
    assert len(solution.objective_path) == len(solution.retained_path) == solution.n_iter + 1
    assert np.all(np.diff(solution.objective_path) <= 1e-12)
    assert solution.retained_path[-1] == len(solution.retained)
    assert solution.q == 1.0


def test_messages() -> None:
    problem = _problem(6)
    with pytest.raises(ValueError, match=r"rho must be a finite number > 0, got 0"):
        lasso(problem, 0.0)
    with pytest.raises(ValueError, match=r"rho must be a finite number > 0, got -1"):
        lasso_path(problem, [0.1, -1.0])
    with pytest.raises(ValueError, match=r"tol must be a number >= 0, got -1"):
        lasso(problem, 0.1, tol=-1)
    with pytest.raises(ValueError, match=r"omega has shape \(3,\), wanted 7 finite numbers"):
        lasso(problem, 0.1, start=np.ones(3))
    assert lasso_path(problem, []) == []


def test_factor_follows_what_enters_and_leaves() -> None:
    rng = np.random.default_rng(0)
    B = rng.normal(size=(12, 8))
    A = B.T @ B
    R, basis, v, k = np.zeros((8, 8)), np.zeros(8, np.int64), np.empty(8), 0
    for i in (3, 0, 7, 5, 1):
        pivot = column(R, k, A, basis, i, v)
        distance = A[i, i]
        if k:
            used = basis[:k]
            distance -= A[i, used] @ np.linalg.solve(A[np.ix_(used, used)], A[used, i])
        assert pivot == pytest.approx(distance)
        k = enter(R, k, basis, i, v, pivot)
    for a in (1, 0, 2):
        k = leave(R, k, basis, a)
        upper = np.triu(R[:k, :k])
        np.testing.assert_allclose(upper.T @ upper, A[np.ix_(basis[:k], basis[:k])])
    assert list(basis[:k]) == [7, 5]
    x = rng.normal(size=k)
    z = x.copy()
    forward(R, k, z)
    backward(R, k, z)
    np.testing.assert_allclose(A[np.ix_(basis[:k], basis[:k])] @ z, x)


def test_the_same_without_compilation() -> None:
    problem = _problem(25, 0.8)
    lam = 0.02 * problem.n
    c = problem.correlations
    limits = np.full(26, lam)
    found = []
    for function, patience in ((exchange, 10**6), (exchange.py_func, 10**6), (exchange, 1)):
        w, g, sign, used = np.zeros(26), c.copy(), np.zeros(26), np.zeros(26, bool)
        R, basis = np.zeros((26, 26)), np.zeros(26, np.int64)
        k, idle = 0, 0
        while idle >= 0:  # with patience for one round it comes back after each, and is called again
            state = (problem.gram, w, g, limits, sign, R, basis, k, used)
            k, rounds, idle = function(*state, 1e-10, 0.5 * problem.energy, patience, idle)
            assert rounds <= patience
        np.testing.assert_allclose(g, c - problem.gram @ w, atol=1e-9)
        assert set(basis[:k]) == set(np.flatnonzero(used)) == set(np.flatnonzero(w))
        found.append(w)
    np.testing.assert_allclose(found[0], found[1], atol=1e-10)
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_allclose(found[0], lasso(problem, 0.02).omega, atol=1e-9)


def test_rounds_end_where_no_condition_is_ever_met() -> None:
    """A value and a limit below zero, with which no round is idle and none is the last."""
    m, basis = 250, np.zeros(250, np.int64)
    most, none = ROUNDS + ROUNDS_PER_COLUMN * m, np.zeros(m)
    state = (np.eye(m), none.copy(), none.copy(), np.ones(m), none.copy(), np.eye(m), basis, 0, none > 0)
    assert exchange(*state, -1.0, -1.0, 10**9, 0) == (0, most, -1)
    working = WorkingSet(np.eye(m))
    working.join(np.arange(m))
    assert most <= working.minimise(none, np.ones(m), -1.0, -1.0) < 2 * most


def test_of_equal_columns_the_larger_coefficient_stays_and_the_other_becomes_zero() -> None:
    working = WorkingSet(np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    working.start(np.array([0.5, -2.0, 3.0]))
    assert working.coefficients().tolist() == [0.0, -2.0, 3.0]
    assert working.n_used == 2


def test_settle_tells_by_how_much_the_objective_fell() -> None:
    problem = _problem(25, 0.8)
    lam = 0.02 * problem.n
    working = WorkingSet(problem.design)
    start = np.zeros(26)
    start[[2, 9, 20]] = 3.0, -2.0, 1e-3
    w, g = start.copy(), problem.design.T @ (problem.yhat - problem.design @ start)
    sign, used = np.sign(start), start != 0
    R, basis, k, v = np.zeros((26, 26)), np.zeros(26, np.int64), 0, np.empty(26)
    for i in np.flatnonzero(start):
        k = enter(R, k, basis, i, v, column(R, k, problem.gram, basis, i, v))
    _, fall = settle(problem.gram, w, g, np.full(26, lam), sign, R, basis, k, used)
    before, after = objective(problem, start, 1.0, 0.02), objective(problem, w, 1.0, 0.02)
    assert before - after == pytest.approx(fall)
    assert len(working) == 0


def test_sweeps_go_to_the_same_minimum() -> None:
    problem = _problem(25, 0.3)
    w, r = np.zeros(26), problem.yhat.copy()
    for _ in range(3000):
        sweep(problem.design.T, np.arange(26), w, r, np.full(26, 0.02 * 25))
    np.testing.assert_allclose(r, problem.yhat - problem.design @ w, atol=1e-10)
    np.testing.assert_allclose(w, lasso(problem, 0.02).omega, atol=1e-8)


def test_a_sweep_passes_columns_of_zeros() -> None:
    rows, w, r = np.array([[0.0, 0.0], [2.0, 0.0]]), np.array([3.0, 0.0]), np.array([1.0, 1.0])
    sweep(rows, np.arange(2), w, r, np.full(2, 0.5))
    np.testing.assert_allclose(w, [3.0, (2 - 0.5) / 4])
    np.testing.assert_allclose(r, [1 - 2 * w[1], 1.0])


def test_many_candidates() -> None:
    """Kernels that are almost the identity: all columns violate their condition at first."""
    problem = _problem(900, 0.05)
    solution = lasso(problem, 1e-4)
    assert solution.converged
    assert duality_gap(problem, solution.omega, 1e-4) <= 1e-8 * solution.objective

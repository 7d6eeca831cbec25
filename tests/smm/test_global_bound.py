"""The lower bound by the convex relaxation, against cvxpy and in the cases where it is tight."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from marginbook.smm.model.objective import LOSSES, dual_bound
from marginbook.smm.solvers import global_bound
from marginbook.smm.solvers.block_descent import low_rank_svm
from marginbook.smm.solvers.global_bound import improve, prox_support, shrink_largest


def matrices(n=60, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d, d))
    return X, np.where(X[:, 0, 0] + X[:, 1, 1] + rng.standard_normal(n) > 0, 1.0, -1.0)


def test_the_mean_of_the_multipliers_is_feasible():
    X, y = matrices()
    C = np.full(len(y), 1 / len(y))
    smooth = global_bound.envelope(C / 2, C, 10.0)
    *_, mean = global_bound._accelerated(
        X.reshape(len(y), -1), y, smooth, np.zeros((4, 4)), 0.0, 1e-2, 0.1, 1, 30, False
    )
    assert (mean > 0).any()
    assert (mean >= 0).all()
    assert (mean <= C * (1 + 1e-12)).all()


def test_the_first_two_steps_have_no_momentum():
    X, y = matrices()
    C = np.full(len(y), 1 / len(y))
    smooth = global_bound.envelope(C / 2, C, 10.0)

    def after(steps, coef):
        flat = X.reshape(len(y), -1)
        return global_bound._accelerated(flat, y, smooth, coef, 0.0, 1e-2, 0.1, 1, steps, False)[0]

    once = after(1, np.zeros((4, 4)))
    np.testing.assert_allclose(after(2, np.zeros((4, 4))), after(1, once), rtol=1e-12)
    assert np.abs(after(3, np.zeros((4, 4))) - after(1, after(1, once))).max() > 1e-6


def test_rounds_without_gain_end_the_search(monkeypatch):
    X, y = matrices()
    monkeypatch.setattr(global_bound, "dual_bound", lambda *_, **__: 0.5)
    found = improve(X, y, rank=1, lam=0.1)
    assert (found.value, found.n_iter) == (0.5, global_bound.IDLE * global_bound.ROUND)


@settings(max_examples=50)
@given(st.lists(st.floats(0, 5), min_size=1, max_size=6), st.floats(-2, 2), st.integers(0, 1000))
@example([5e-324, 5e-324], 0.0, 1)
@example([1e-310, 3e-308, 1e-307], 2.0, 0)
def test_no_point_nearby_is_better_than_the_shrunk_one(entries, log_tau, seed):
    v, tau, rng = np.array(entries), 10.0**log_tau, np.random.default_rng(seed)
    rank = int(rng.integers(1, len(v) + 1))

    def value(s):
        return 0.5 * np.sum((s - v) ** 2) + 0.5 * tau * np.sum(np.sort(np.abs(s))[::-1][:rank] ** 2)

    s = shrink_largest(v, tau, rank)
    for size in (1e-3, 0.1, 1.0):  # convex: a local minimum is the minimum
        for _ in range(20):
            assert value(s) <= value(s + size * rng.standard_normal(len(v))) + 1e-12


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_prox_is_optimal_for_the_norm_by_its_conjugate(rank):
    rng = np.random.default_rng(rank)
    V, lam, step = rng.standard_normal((4, 3)), 0.3, 0.7
    B = prox_support(V, step, lam, rank)
    M = (V - B) / step  # a subgradient of lam |.|_sp^2 in B: Fenchel's equality with the conjugate
    conjugate = np.sum(np.linalg.svd(M)[1][:rank] ** 2) / (4 * lam)
    for _ in range(50):
        N = M + rng.standard_normal((4, 3)) * 0.3
        other = np.sum(np.linalg.svd(N)[1][:rank] ** 2) / (4 * lam)
        assert np.sum(B * N) - other <= np.sum(B * M) - conjugate + 1e-12
    if rank == 3:
        np.testing.assert_allclose(B, V / (1 + 2 * lam * step), atol=1e-12)


@pytest.mark.parametrize("free", [False, True])
def test_the_bound_is_the_dual_optimum_of_cvxpy(free):
    X, y = matrices(25, 3)
    lam, rank, n = 0.05, 1, 25
    c = cp.Variable(n)
    M = cp.reshape((X.reshape(n, -1).T @ cp.multiply(y, c)), (3, 3), order="C")
    constraints = [c >= 0, c <= 1 / n] + ([y @ c == 0] if free else [])
    problem = cp.Problem(cp.Maximize(cp.sum(c) - cp.square(cp.sigma_max(M)) / (4 * lam)), constraints)
    problem.solve(solver=cp.CLARABEL)
    found = improve(X, y, rank=rank, lam=lam, fit_intercept=free, max_iter=4000)
    assert found.value <= problem.value + 1e-7
    assert found.value == pytest.approx(problem.value, abs=2e-5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("free", [False, True])
def test_it_is_below_the_objective_and_never_below_the_first_multipliers(loss, free):
    X, y = matrices(seed=1)
    found = low_rank_svm(X, y, rank=2, lam=0.02, loss=loss, fit_intercept=free)
    settings = {"rank": 2, "lam": 0.02, "loss": loss, "fit_intercept": free}
    first = dual_bound(found.multipliers, X, y, **settings)
    better = improve(X, y, multipliers=found.multipliers, max_iter=120, **settings)
    assert first <= better.value <= found.objective
    assert better.value == pytest.approx(dual_bound(better.multipliers, X, y, **settings), rel=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_full_rank_is_closed(loss):
    X, y = matrices(seed=2)
    found = low_rank_svm(X, y, rank=4, lam=0.1, loss=loss)
    assert found.global_gap <= 1e-9 * found.objective
    bound = improve(X, y, rank=4, lam=0.1, loss=loss, max_iter=2000)
    assert bound.value == pytest.approx(found.objective, rel=1e-4)


def test_a_large_penalty_is_certified_and_a_small_one_stays_open():
    X, y = matrices(seed=3)
    closed = low_rank_svm(X, y, rank=2, lam=1.0, bound_iter=400)
    assert closed.global_gap <= 1e-6 * closed.objective
    left = low_rank_svm(X, y, rank=1, lam=0.003, bound_iter=400)
    assert left.global_gap > 1e-3 * left.objective


def test_zero_matrices_and_no_steps():
    found = improve(np.zeros((3, 2, 2)), np.array([1, -1, 1]), rank=1, lam=1.0)
    assert found.value == pytest.approx(0.5)  # nothing to learn from: half of the box, as at the start
    whole = improve(np.zeros((3, 2, 2)), np.array([1, -1, 1]), rank=1, lam=1.0, multipliers=np.full(3, 1 / 3))
    assert whole.value == pytest.approx(1.0)
    X, y = matrices()
    assert improve(X, y, rank=1, lam=1.0, max_iter=0).n_iter == 0

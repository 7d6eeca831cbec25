"""What the room says about itself is so: its chapter's code and proofs hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

import marginbook.smm
from marginbook.smm.claims.beyond_bound_tight import maximise_bound
from marginbook.smm.model.objective import combination, objective
from marginbook.smm.model.row_kernels import row_gram
from marginbook.smm.solvers.block import solve_inner
from marginbook.smm.solvers.block_gram import gram_machine
from marginbook.smm.solvers.kernel_block_descent import low_rank_kernel_svm

from ..chapter_code import run_chapter


def test_what_the_room_offers_is_there():
    for name in marginbook.smm.__all__:
        assert getattr(marginbook.smm, name).__doc__


def test_the_code_of_the_chapter_runs():
    names = run_chapter("smm")
    model, p, X = names["model"], names["p_test"], names["X_test"]
    assert model.global_gap_ <= 1e-6 * model.objective_
    assert np.mean(names["inside"] == (p > 0.7)) > 0.8
    errors = {
        name: np.abs(names[name].predict_proba(X)[:, 1] - p).mean()
        for name in ("path", "logistic", "calibrated")
    }
    assert max(errors["path"], errors["logistic"]) < 0.14 < errors["calibrated"]
    assert names["search"].best_score_ > 0.7
    assert 0 < names["harder"].global_gap_ < names["once"].global_gap_ / 2
    assert names["rows"].dual_coef_.shape == (1000, 1)
    assert names["shrunk"].dual_gap_ <= 1e-6


@settings(max_examples=50)
@given(st.lists(st.booleans(), min_size=1, max_size=30))
def test_a_projection_on_falling_sequences_keeps_the_count(indicators):
    """The chapter's proposition, by another implementation of the projection."""
    s = np.array(indicators, dtype=float)
    falling = IsotonicRegression(increasing=False).fit_transform(np.arange(len(s)), s)
    assert np.isclose(falling.sum(), s.sum())


@settings(max_examples=200)
@given(st.floats(0, 1), st.integers(2, 12), st.data())
def test_wrong_levels_cost_what_the_proof_of_the_error_bound_says(p, H, data):
    """k wrong levels: k (k - 1) / (4 H) of excess risk or more, and an error of 1/(2H) + k/H or less."""
    levels = np.arange(1, H) / H
    wrong = np.array(data.draw(st.lists(st.booleans(), min_size=H - 1, max_size=H - 1)))
    k = wrong.sum()
    assert np.abs(p - levels)[wrong].sum() >= k * (k - 1) / (4 * H) - 1e-12
    count = (0.5 + ((p > levels) ^ wrong).sum()) / H
    assert abs(count - p) <= 1 / (2 * H) + k / H + 1e-12


@pytest.mark.parametrize("free", [False, True])
def test_a_maximiser_with_a_gap_of_singular_values_solves_the_problem(free):
    """The chapter's proposition without its proof: leading triplets at the best multipliers have F = D."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((30, 4, 3))
    X[:, 0, 0] += (y := np.where(rng.random(30) < 0.5, -1.0, 1.0))
    if free:
        pytest.importorskip("cvxpy")
        c = _best_with_intercept(X, y, 0.5)
    else:
        c = maximise_bound(X, y, lam=0.5, rank=1)
    left, sigma, right = np.linalg.svd(combination(c, X, y))
    assert sigma[0] > 1.2 * sigma[1]
    B = sigma[0] * np.outer(left[:, 0], right[0]) / (2 * 0.5)
    gain = -(np.clip(30 * c, 1e-300, 1) * np.log(np.clip(30 * c, 1e-300, 1))).mean()
    gain -= (np.clip(1 - 30 * c, 1e-300, 1) * np.log(np.clip(1 - 30 * c, 1e-300, 1))).mean()
    D = gain - sigma[0] ** 2 / (4 * 0.5)
    shifts = np.linspace(-1, 1, 4001) if free else [0.0]
    F = min(objective(B, b, X, y, lam=0.5, loss="logistic") for b in shifts)
    assert D - 1e-9 <= F <= D * (1 + 1e-5)


def _best_with_intercept(X: np.ndarray, y: np.ndarray, lam: float) -> np.ndarray:
    """Return the maximiser of D_1 for the logistic loss with an intercept, by cvxpy."""
    import cvxpy

    n, d1, d2 = X.shape
    u = cvxpy.Variable(n)
    signed = (y[:, None] * X.reshape(n, -1) / n).T
    M = cvxpy.reshape(signed @ u, (d1, d2), order="C")
    gain = cvxpy.sum(cvxpy.entr(u) + cvxpy.entr(1 - u)) / n
    cvxpy.Problem(cvxpy.Maximize(gain - cvxpy.square(cvxpy.sigma_max(M)) / (4 * lam)), [y @ u == 0]).solve()
    return np.asarray(u.value / n)


def test_the_row_kernel_algorithm_of_the_chapter_goes_down_to_the_solvers_blocks():
    """The three lines of the algorithm: no step goes up, and at the library's limit they stay there."""
    rng = np.random.default_rng(8)
    n, d1, r, lam = 24, 3, 2, 0.05
    X, y = rng.standard_normal((n, d1, 2)), np.where(rng.random(n) < 0.5, -1.0, 1.0)
    kernel = ("rbf", {"gamma": 0.5})
    K = row_gram(kernel, X)
    blocks = K.reshape(n, d1, n, d1)
    common = {"lam": lam, "loss": "squared_hinge", "fit_intercept": True}

    def sweep(Q: np.ndarray) -> tuple[list[float], np.ndarray]:
        first = gram_machine(
            np.einsum("ak,iajb,bk->ij", Q, blocks, Q), y, sample_weight=np.ones(n), tol=1e-10, **common
        )
        alpha = np.asarray(first.multipliers) / (2 * lam)
        C = ((alpha * y)[:, None, None] * Q).reshape(-1, r)
        sizes, turn = np.linalg.eigh(C.T @ K @ C)
        Z = (K @ C @ (turn / np.sqrt(sizes)) @ turn.T).reshape(n, -1)
        second = solve_inner(Z, y, tol=1e-10, **common)
        return [first.objective, second.objective], np.linalg.qr(second.weights.reshape(d1, r))[0]

    Q = np.linalg.qr(rng.standard_normal((d1, r)))[0]
    values: list[float] = []
    for _ in range(6):
        found, Q = sweep(Q)
        values += found
    assert np.all(np.diff(values) <= 1e-8)
    best = low_rank_kernel_svm(X, y, rank=r, kernel=kernel, tol=1e-10, n_restarts=3, random_state=0, **common)
    assert values[-1] >= best.lower_bound - 1e-9
    assert np.allclose(sweep(best.U)[0], best.objective, rtol=1e-5)

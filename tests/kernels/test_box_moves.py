"""Moves of one and two coordinates on a box: where they stop, and what they keep."""

import numpy as np
import pytest

from marginbook.kernels import box_moves
from marginbook.kernels.box_moves import coordinate_moves


def problem(rank, seed=0, n=40):
    rng = np.random.default_rng(seed)
    Z, low = rng.standard_normal((n, rank)), rng.uniform(-1, 0, n)
    return Z @ Z.T, rng.standard_normal(n), low, low + rng.uniform(0.1, 1.0, n)


def moved(K, q, low, high, **options):
    beta = (low + high) / 2
    grad = K @ beta + q
    violation, done = coordinate_moves(K, beta, grad, low, high, **options)
    np.testing.assert_allclose(grad, K @ beta + q, atol=1e-11)
    assert (beta >= low).all()
    assert (beta <= high).all()
    return beta, grad, violation, done


@pytest.mark.parametrize("rank", [3, 40])
def test_one_coordinate_at_a_time_until_the_gap_is_enough(rank):
    K, q, low, high = problem(rank)
    beta, grad, _, done = moved(K, q, low, high, paired=False, tol=0.0, max_iter=10**6, enough=1e-3)
    assert done
    assert (grad * (beta - np.where(grad > 0, low, high))).sum() <= 1e-3
    best, grad, violation, done = moved(K, q, low, high, paired=False, tol=1e-9, max_iter=10**6)
    assert done
    assert violation <= 1e-9
    # at a bound is exactly there
    assert (best[grad > 1e-6] == low[grad > 1e-6]).all()
    assert (best[grad < -1e-6] == high[grad < -1e-6]).all()
    values = [b @ K @ b / 2 + q @ b for b in (beta, best)]
    assert values[1] <= values[0] <= values[1] + 1e-3


def test_pairs_keep_the_sum():
    K, q, low, high = problem(10)
    beta, grad, violation, done = moved(K, q, low, high, paired=True, tol=1e-9, max_iter=10**6)
    assert done
    assert beta.sum() == pytest.approx((low + high).sum() / 2, rel=1e-12)
    assert grad[beta > low].max() - grad[beta < high].min() == pytest.approx(violation, abs=1e-15)


@pytest.mark.parametrize("paired", [True, False])
def test_turns_end_where_one_call_does_after_as_many_moves(paired, monkeypatch):
    options = {"paired": paired, "tol": 0.0, "max_iter": 25}
    whole = moved(*problem(10), **options)
    monkeypatch.setattr(box_moves, "TURN", 7 * 40)
    parts = moved(*problem(10), **options)
    np.testing.assert_array_equal(parts[0], whole[0])
    assert not whole[3]

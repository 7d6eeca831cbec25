"""Losses, their conjugates, weights of a level, and the lower bound over all matrices of a rank."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginbook.smm.model import objective as room

LOSSES = room.LOSSES


@pytest.mark.parametrize("loss", LOSSES)
def test_slopes_and_curvatures_are_differences(loss):
    z = np.array([-3.0, -0.4, 0.3, 0.9, 1.2, 4.0])
    h = 1e-5
    slope = (room.loss_values(z + h, loss) - room.loss_values(z - h, loss)) / (2 * h)
    np.testing.assert_allclose(room.loss_slopes(z, loss), slope, atol=1e-8)
    curvature = (room.loss_slopes(z + h, loss) - room.loss_slopes(z - h, loss)) / (2 * h)
    np.testing.assert_allclose(room.loss_curvatures(z, loss), curvature, atol=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("u", [0.0, 0.2, 0.7, 1.0])
def test_conjugate_is_the_supremum_on_a_grid(loss, u):
    z = np.linspace(-60, 60, 240_001)
    largest = np.max(-u * z - room.loss_values(z, loss))
    np.testing.assert_allclose(room.conjugates(np.array([u]), loss)[0], largest, atol=1e-6)


def test_conjugates_outside_their_domain_are_infinite():
    assert np.isinf(room.conjugates(np.array([-0.1, 1.1]), "hinge")).all()
    assert np.isinf(room.conjugates(np.array([-0.1, 1.1]), "logistic")).all()
    assert np.isinf(room.conjugates(np.array([-0.1, 1.1]), "squared_hinge")).tolist() == [True, False]


def test_objective_is_the_loop():
    rng = np.random.default_rng(0)
    X, y, B = rng.standard_normal((7, 3, 2)), np.array([1, -1, 1, 1, -1, -1, 1]), rng.standard_normal((3, 2))
    w = rng.random(7)
    total = 0.3 * sum(B[j, k] ** 2 for j in range(3) for k in range(2))
    for i in range(7):
        f = sum(B[j, k] * X[i, j, k] for j in range(3) for k in range(2)) + 0.1
        total += w[i] * max(0.0, 1 - y[i] * f) / 7
    assert room.objective(B, 0.1, X, y, lam=0.3, sample_weight=w) == pytest.approx(total, rel=1e-14)


def test_weights_of_a_level():
    y = np.array([1, -1, -1])
    assert room.weights_for(None, y).tolist() == [1, 1, 1]
    assert room.weights_for(0.0, y).tolist() == [1, 0, 0]
    assert room.weights_for(0.2, y, np.array([2.0, 1.0, 0.0])).tolist() == [1.6, 0.2, 0.0]
    with pytest.raises(ValueError, match="pi must be a level between 0 and 1"):
        room.weights_for(1.5, y)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: room.validate_loss("hing"), "loss must be one of"),
        (lambda: room.validate_signs(np.array([0, 1]), 2), "wanted -1 and \\+1"),
        (lambda: room.validate_signs(np.ones(3), 2), "one label per matrix"),
        (lambda: room.validate_lam(0.0), "lam must be a finite number > 0"),
        (lambda: room.validate_sample_weight(np.array([-1.0]), 1), "negative or not finite"),
        (lambda: room.validate_sample_weight(np.ones(2), 1), "wanted \\(1,\\)"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@settings(max_examples=60)
@given(seed=st.integers(0, 10_000), loss=st.sampled_from(LOSSES), free=st.booleans())
def test_the_bound_is_below_every_matrix_of_the_rank(seed, loss, free):
    rng = np.random.default_rng(seed)
    n, d1, d2 = rng.integers(1, 9), rng.integers(1, 5), rng.integers(1, 5)
    rank = int(rng.integers(1, min(d1, d2) + 1))
    X, y = rng.standard_normal((n, d1, d2)), np.where(rng.random(n) < 0.5, -1.0, 1.0)
    w, lam = rng.random(n) * (rng.random(n) < 0.8), 10.0 ** rng.uniform(-3, 1)
    c = rng.uniform(-0.2, 1.2, n) / n
    bound = room.dual_bound(c, X, y, lam=lam, rank=rank, loss=loss, sample_weight=w, fit_intercept=free)
    B = rng.standard_normal((d1, rank)) @ rng.standard_normal((rank, d2)) * 10.0 ** rng.uniform(-2, 1)
    b = float(rng.standard_normal()) if free else 0.0
    value = room.objective(B, b, X, y, lam=lam, loss=loss, sample_weight=w)
    assert bound <= value + 1e-12 * max(1.0, value)


def test_the_bound_falls_with_the_rank_and_is_attained_by_the_top_singular_triplets():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((5, 4, 3)), np.array([1, 1, 1, -1, 1.0])
    lam = 50.0  # all losses stay positive, so c = 1/n is optimal
    c = np.full(5, 0.2)
    bounds = [room.dual_bound(c, X, y, lam=lam, rank=r) for r in (1, 2, 3)]
    assert bounds[0] > bounds[1] > bounds[2]
    left, s, right = np.linalg.svd(room.combination(c, X, y) / (2 * lam))
    for r in (1, 2, 3):
        B = (left[:, :r] * s[:r]) @ right[:r]
        assert room.objective(B, 0.0, X, y, lam=lam) == pytest.approx(bounds[r - 1], rel=1e-12)


def test_feasible_multipliers_balance_and_keep_their_box():
    y = np.array([1, 1, -1, -1.0])
    c = room.feasible(np.array([1.0, -1.0, 0.1, 0.05]), y, fit_intercept=True)
    np.testing.assert_allclose(c, [0.15, 0.0, 0.1, 0.05])
    one_class = room.feasible(np.ones(2), np.ones(2), fit_intercept=True)
    assert one_class.tolist() == [0.0, 0.0]

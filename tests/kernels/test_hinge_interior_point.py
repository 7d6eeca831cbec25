"""The interior point of all hinge machines: values by hand, its conditions at the end, and what stops it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import LinAlgError

from marginbook.kernels.hinge_interior_point import HingeProgram, Iterate, factorise


def program(n: int, p: int, *, curved: bool, free: bool = False) -> HingeProgram:
    rng = np.random.default_rng(n + p)
    Z, y = rng.normal(size=(n, p)), np.where(np.arange(n) % 3, 1.0, -1.0)
    B = rng.normal(size=(p, p))
    Q = np.eye(p) + B @ B.T if curved else 0.3
    return HingeProgram(y[:, None] * Z, rng.uniform(0.1, 1.0, n), Q, rng.normal(size=p), y if free else None)


@pytest.mark.parametrize("curved", [False, True])
def test_value_and_gap_by_hand(curved):
    found = program(15, 3, curved=curved)
    rng = np.random.default_rng(0)
    w, c = rng.normal(size=3), rng.random(15) * found.C
    Q = found.Q if curved else 0.3 * np.eye(3)
    objective, gap = found.value(w, c)
    value = 0.5 * w @ Q @ w - found.q @ w + found.C @ np.maximum(0, 1 - found.A @ w)
    right = found.q + found.A.T @ c
    assert objective == pytest.approx(value)
    assert gap == pytest.approx(value - (c.sum() - 0.5 * right @ np.linalg.solve(Q, right)))
    np.testing.assert_allclose(found.minimiser(c), np.linalg.solve(Q, right))


@pytest.mark.parametrize("shape", [(40, 5), (12, 30)])
@pytest.mark.parametrize("curved", [False, True])
@pytest.mark.parametrize("free", [False, True])
def test_ends_at_the_conditions_of_both_problems(shape, curved, free):
    found = program(*shape, curved=curved, free=free)
    at = next(at for at in found.iterates(30) if at.complementarity() < 1e-11)
    margins = found.A @ at.w + (at.b * found.y if free else 0.0)
    np.testing.assert_allclose(found.curved(at.w), found.q + at.c @ found.A, atol=1e-9)
    np.testing.assert_allclose(margins - 1, at.s - at.xi, atol=1e-9)
    np.testing.assert_allclose(at.c + at.room, found.C, atol=1e-12)
    if free:
        assert found.y @ at.c == pytest.approx(0.0, abs=1e-9)
    else:
        w, c, gap, n_iter = found.minimise(lambda _, gap: gap < 1e-9, 40)
        assert found.value(w, c)[1] == gap < 1e-9
        assert n_iter < 25
        assert found.minimise(lambda _, gap: gap < 1e-9, 2)[2] > 1e-9


def test_steps_end_soon_after_rounding_leaves_nothing_to_gain():
    found = program(12, 30, curved=False)
    assert sum(1 for _ in found.iterates(100)) == 100
    assert found.minimise(lambda *_: False, 100)[3] < 60


def test_the_first_step_by_hand():
    """The predictor would leave 2/9 of the complementarity; its cube is Mehrotra's share of the corrector."""
    first = next(HingeProgram(np.array([[2.0]]), np.array([2.0]), 1.0).iterates(1))
    centre = (2 / 9) ** 3
    wanted = [0 + 2 / 3, 1 - 2 / 3, 1 + 2 / 3, 1 + centre - 7 / 12, 1 + centre - 11 / 12]
    start, found = [0, 1, 1, 1, 1], [first.w, first.c, first.room, first.s, first.xi]
    for at, got, full in zip(start, found, wanted, strict=True):
        assert got == pytest.approx(at + 0.995 * (full - at), rel=1e-12)


def test_the_longest_step_stops_at_the_boundary():
    at = Iterate(np.zeros(1), 0.0, *(np.array([each]) for each in (1.0, 2.0, 3.0, 4.0)))
    down = Iterate(np.zeros(1), 0.0, *(np.array([each]) for each in (-4.0, 1.0, 0.0, -5.0)))
    assert at.reach(down) == 0.25
    assert at.moved(down, 0.25).c == 0


def test_rounding_gets_a_ridge_and_nothing_finite_an_error():
    for row in ([1.0, 1.0, 1.0], [4.0, 2.0, 1.0]):
        factor = np.tril(factorise(np.outer(row, row)))
        np.testing.assert_allclose(factor @ factor.T, np.outer(row, row), atol=1e-11)
    with pytest.raises(LinAlgError, match="nowhere positive"):
        factorise(np.zeros((2, 2)))

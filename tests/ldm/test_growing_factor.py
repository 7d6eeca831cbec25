"""The factor after any sequence of entries and departures is the Cholesky factor of its block."""

import numpy as np
import pytest

from marginbook.kernels.cholesky import backward, column, forward
from marginbook.ldm.solvers.basic_factor import DEPENDENT, enter, leave, make_basic


def _matrix(m=90, rank=90, seed=0):
    F = np.random.default_rng(seed).normal(size=(m, rank))
    return F @ F.T


def _assert_factor(R, n, H, basis, is_basic):
    members = basis[:n]
    assert len(set(members.tolist())) == n
    np.testing.assert_array_equal(np.flatnonzero(is_basic), np.sort(members))
    upper = np.triu(R[:n, :n])
    np.testing.assert_allclose(upper.T @ upper, H[np.ix_(members, members)], atol=1e-9 * H.max())


def test_entries_and_departures_in_any_order():
    H = _matrix(40)
    rng = np.random.default_rng(1)
    R, basis, is_basic, v, n = (
        np.full((40, 40), np.nan),
        np.zeros(40, int),
        np.zeros(40, bool),
        np.empty(40),
        0,
    )
    for _ in range(400):
        if n and rng.random() < 0.45:
            n = leave(R, n, basis, is_basic, int(rng.integers(n)))
        else:
            rest = np.flatnonzero(~is_basic)
            if len(rest):
                i = int(rng.choice(rest))
                n = enter(R, n, basis, is_basic, i, v, column(R, n, H, basis, i, v))
        _assert_factor(R, n, H, basis, is_basic)
    right = rng.normal(size=n)
    solved = right.copy()
    forward(R, n, solved)
    backward(R, n, solved)
    np.testing.assert_allclose(H[np.ix_(basis[:n], basis[:n])] @ solved, right, atol=1e-6)


@pytest.mark.parametrize(("m", "rank", "expected"), [(30, 30, 30), (90, 90, 90), (90, 7, 7), (30, 4, 4)])
def test_what_lies_between_the_bounds_enters_as_far_as_it_is_independent(m, rank, expected):
    H = _matrix(m, rank)
    R, basis, is_basic = np.empty((m, m)), np.zeros(m, int), np.zeros(m, bool)
    n = make_basic(H, np.full(m, 0.5), 0.0, 1.0, R, basis, is_basic)
    assert n == expected
    _assert_factor(R, n, H, basis, is_basic)
    for i in np.flatnonzero(~is_basic):
        assert column(R, n, H, basis, i, np.empty(m)) <= DEPENDENT * H[i, i]


@pytest.mark.parametrize("m", [10, 90])
@pytest.mark.parametrize(("off", "together"), [(1e-9, True), (1e-13, False)])
def test_of_two_variables_that_are_nearly_one_the_second_stays_out(m, off, together):
    """Its squared distance from the first is twice `off`, by one at a time and by blocks alike."""
    H = np.eye(m)
    H[0, 1] = H[1, 0] = 1 - off
    R, basis, is_basic = np.empty((m, m)), np.zeros(m, int), np.zeros(m, bool)
    assert make_basic(H, np.full(m, 0.5), 0.0, 1.0, R, basis, is_basic) == m - 1 + together
    assert is_basic[1] == together
    assert is_basic.sum() == m - 1 + together


def test_variables_at_a_bound_stay_out():
    H = _matrix(20)
    x = np.full(20, 0.5)
    x[:5], x[5:8] = 0.0, 1.0
    basis, is_basic = np.zeros(20, int), np.zeros(20, bool)
    assert make_basic(H, x, 0.0, 1.0, np.empty((20, 20)), basis, is_basic) == 12
    assert not is_basic[:8].any()

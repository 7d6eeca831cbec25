"""Whatever enters and leaves, the factor is the Cholesky factor of its block, as LAPACK computes it."""

import numpy as np
import pytest
from scipy.linalg import hilbert, solve_triangular

from marginbook.kernels.cholesky import append, backward, column, forward, remove

EPS = np.finfo(float).eps


def _matrix(m, seed=0):
    F = np.random.default_rng(seed).normal(size=(m, m + 5))
    return F @ F.T


def _factor(H, order):
    """Return an array with the factor of the block `order` of H, NaN where nothing was written, and n."""
    R, basis, v = np.full(H.shape, np.nan), np.array(order, dtype=np.int64), np.empty(len(H))
    n = 0
    for i in order:
        n = append(R, n, v, column(R, n, H, basis, i, v))
    return R, n


def _assert_factor(R, n, H, order, rtol=1e-12):
    expected = np.linalg.cholesky(H[np.ix_(order, order)]).T
    np.testing.assert_allclose(np.triu(R[:n, :n]), expected, rtol=0, atol=rtol * np.abs(H).max() ** 0.5)


@pytest.mark.parametrize("m", [1, 2, 3, 17, 70])
def test_columns_that_are_appended_give_the_factor_of_lapack(m):
    H, order = _matrix(m), np.random.default_rng(m).permutation(m)
    R, n = _factor(H, order)
    assert n == m
    _assert_factor(R, n, H, order)
    assert np.isnan(R[np.tril_indices(m, -1)]).all()


@pytest.mark.parametrize("m", [2, 3, 17, 70])
@pytest.mark.parametrize("where", ["first", "middle", "last"])
def test_a_column_that_is_removed_leaves_the_factor_of_the_others(m, where):
    H, order = _matrix(m), list(range(m))
    R, n = _factor(H, order)
    a = {"first": 0, "middle": m // 2, "last": m - 1}[where]
    n = remove(R, n, a)
    del order[a]
    assert n == m - 1
    _assert_factor(R, n, H, order)
    assert (np.diag(R)[:n] > 0).all()


def test_hundreds_of_changes_leave_the_factor_of_lapack():
    H = _matrix(40)
    rng = np.random.default_rng(1)
    R, v, order, n = np.full((40, 40), np.nan), np.empty(40), [], 0
    for _ in range(500):
        if order and rng.random() < 0.48:
            a = int(rng.integers(n))
            n = remove(R, n, a)
            del order[a]
        elif rest := sorted(set(range(40)) - set(order)):
            i = int(rng.choice(rest))
            n = append(R, n, v, column(R, n, H, np.array(order, dtype=np.int64), i, v))
            order.append(i)
        assert n == len(order)
    _assert_factor(R, n, H, order)


def test_the_pivot_is_the_squared_distance_from_the_span():
    rng = np.random.default_rng(2)
    F = rng.normal(size=(12, 30))
    H = F @ F.T
    R, n = _factor(H, range(7))
    pivot = column(R, n, H, np.arange(7), 9, np.empty(12))
    rest = F[9] - F[:7].T @ np.linalg.lstsq(F[:7].T, F[9], rcond=None)[0]
    assert pivot == pytest.approx(rest @ rest, rel=1e-12)


def test_both_triangular_systems_are_those_of_scipy_and_touch_nothing_behind_them():
    H = _matrix(30)
    R, n = _factor(H, range(25))
    v = np.random.default_rng(3).normal(size=30)
    for solve, trans in ((forward, "T"), (backward, "N")):
        solved = v.copy()
        solve(R, n, solved)
        expected = solve_triangular(np.triu(R[:n, :n]), v[:n], trans=trans)
        np.testing.assert_allclose(solved[:n], expected, rtol=1e-10)
        np.testing.assert_array_equal(solved[n:], v[n:])


def test_an_empty_factor_solves_nothing_and_gives_the_diagonal_as_pivot():
    R, v, H = np.full((3, 3), np.nan), np.arange(3.0), _matrix(3)
    forward(R, 0, v)
    backward(R, 0, v)
    np.testing.assert_array_equal(v, np.arange(3.0))
    assert column(R, 0, H, np.empty(0, dtype=np.int64), 1, v) == H[1, 1]


def test_one_column_comes_and_goes():
    H = np.array([[4.0]])
    R, n = _factor(H, [0])
    assert (n, R[0, 0]) == (1, 2.0)
    v = np.array([6.0])
    forward(R, n, v)
    assert v[0] == 3.0
    backward(R, n, v)
    assert v[0] == 1.5
    assert remove(R, n, 0) == 0


def test_the_factor_of_a_nearly_singular_matrix_is_that_of_a_matrix_within_rounding():
    H = hilbert(10)  # condition 1.6e13
    order = list(range(10))
    R, n = _factor(H, order)
    for a in (4, 0, 6):
        n = remove(R, n, a)
        del order[a]
        upper = np.triu(R[:n, :n])
        assert np.abs(upper.T @ upper - H[np.ix_(order, order)]).max() <= 50 * EPS
    right = H[np.ix_(order, order)] @ np.ones(n)
    solved = right.copy()
    forward(R, n, solved)
    backward(R, n, solved)
    assert np.abs(H[np.ix_(order, order)] @ solved - right).max() <= 100 * EPS


def test_a_dependent_column_has_a_pivot_that_is_rounding():
    F = np.random.default_rng(4).normal(size=(6, 8))
    F[5] = F[:5].sum(axis=0)
    H = F @ F.T
    R, n = _factor(H, range(5))
    assert abs(column(R, n, H, np.arange(5), 5, np.empty(6))) <= 1e-12 * H[5, 5]


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_tiny_and_huge_entries_are_rotated_without_loss(scale):
    H = _matrix(8)
    R, n = _factor(scale * H, range(8))
    n = remove(R, n, 2)
    _assert_factor(R / scale**0.5, n, H, [0, 1, 3, 4, 5, 6, 7])


def test_what_was_compiled_is_what_was_written():
    H, order = _matrix(9), list(range(9))
    R, n = _factor(H, order)
    plain = R.copy()
    assert remove(R, n, 3) == remove.py_func(plain, n, 3)
    np.testing.assert_allclose(R, plain, rtol=1e-12, atol=1e-12)
    v = np.random.default_rng(5).normal(size=9)
    for solve in (forward, backward):
        slow, fast = v.copy(), v.copy()
        solve(R, 8, fast)
        solve.py_func(R, 8, slow)
        np.testing.assert_allclose(fast, slow, rtol=1e-12, atol=1e-12)

r"""The Cholesky factor :math:`H_{BB}=R^\top R` of the basic variables, which enter and leave.

``basis[:n]`` names the variables in the order of the columns (:mod:`marginbook.kernels.cholesky`),
``is_basic`` marks them.
"""

from __future__ import annotations

import numpy as np

from ...base.compiled import njit
from ...base.interruptible import LARGE, interruptible
from ...kernels.cholesky import append, column, remove

#: squared distance from the span of the basic variables, as a share of h_ii, that counts as zero
DEPENDENT = 1e-11
#: from this number of variables on, LAPACK factorises faster than one at a time
_BLOCKED = 60


@njit(error_model="numpy")
def enter(
    R: np.ndarray, n: int, basis: np.ndarray, is_basic: np.ndarray, i: int, v: np.ndarray, pivot: float
) -> int:
    """Make variable `i` basic, with its column `v` and pivot; return the number of basic ones."""
    basis[n] = i
    is_basic[i] = True
    return append(R, n, v, pivot)


@njit(error_model="numpy")
def leave(R: np.ndarray, n: int, basis: np.ndarray, is_basic: np.ndarray, a: int) -> int:
    """Take basic variable number `a` out of the factor; return the number that are left."""
    is_basic[basis[a]] = False
    for r in range(a, n - 1):
        basis[r] = basis[r + 1]
    return remove(R, n, a)


def make_basic(
    H: np.ndarray,
    x: np.ndarray,
    lower: float,
    upper: float,
    R: np.ndarray,
    basis: np.ndarray,
    is_basic: np.ndarray,
) -> int:
    """Make basic what lies between the bounds, as far as it is independent; return the number."""
    free = np.flatnonzero((lower < x) & (x < upper))
    n = len(free)
    if n >= _BLOCKED:
        try:
            block = H[np.ix_(free, free)]
            large = len(block) > LARGE
            L = interruptible(np.linalg.cholesky, block) if large else np.linalg.cholesky(block)
        except np.linalg.LinAlgError:
            L = None
        if L is not None and (np.diagonal(L) ** 2 > DEPENDENT * np.diagonal(H)[free]).all():
            R[:n, :n] = L.T
            basis[:n], is_basic[free] = free, True
            return n
    basis[:n] = free
    return int(_admit(H, R, basis, is_basic, n, 0)) if n else 0


@njit(error_model="numpy")
def _admit(H: np.ndarray, R: np.ndarray, basis: np.ndarray, is_basic: np.ndarray, count: int, n: int) -> int:
    """Make basic what is independent of the first `count` entries of `basis`, one after the other."""
    v = np.empty(len(basis))
    for a in range(count):
        i = basis[a]
        pivot = column(R, n, H, basis, i, v)
        if pivot > DEPENDENT * H[i, i]:
            n = enter(R, n, basis, is_basic, i, v, pivot)
    return n

r"""The Cholesky factor :math:`H_{BB}=R^\top R` of the basic variables, which enter and leave.

``basis[:n]`` names the variables in the order of the columns (:mod:`marginbook.kernels.cholesky`),
``is_basic`` marks them.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ...kernels.cholesky import append, column, remove

#: squared distance from the span of the basic variables, as a share of h_ii, that counts as zero
DEPENDENT = 1e-11
#: from this number of variables on, LAPACK factorises faster than one at a time
_BLOCKED = 60


@njit(cache=True)
def enter(
    R: np.ndarray, n: int, basis: np.ndarray, is_basic: np.ndarray, i: int, v: np.ndarray, pivot: float
) -> int:
    """Make variable `i` basic, with its column `v` and pivot; return the number of basic ones."""
    basis[n] = i
    is_basic[i] = True
    return append(R, n, v, pivot)


@njit(cache=True)
def leave(R: np.ndarray, n: int, basis: np.ndarray, is_basic: np.ndarray, a: int) -> int:
    """Take basic variable number `a` out of the factor; return the number that are left."""
    is_basic[basis[a]] = False
    for r in range(a, n - 1):
        basis[r] = basis[r + 1]
    return remove(R, n, a)


@njit(cache=True)
def factorise(
    H: np.ndarray,
    x: np.ndarray,
    lower: float,
    upper: float,
    R: np.ndarray,
    basis: np.ndarray,
    is_basic: np.ndarray,
) -> int:
    """Make basic what lies between the bounds, as far as it is independent; return the number."""
    m, n = len(x), 0
    for i in range(m):
        if lower < x[i] < upper:
            basis[n] = i
            n += 1
    if n >= _BLOCKED:
        block = np.empty((n, n))
        largest = 0.0
        for a in range(n):
            row = H[basis[a]]
            for b in range(n):
                block[a, b] = row[basis[b]]
            largest = max(largest, block[a, a])
        whole = True
        try:
            L = np.linalg.cholesky(block)
        except Exception:  # LinAlgError, which compiled code cannot name
            whole = False
        if whole:
            for a in range(n):
                whole = whole and L[a, a] * L[a, a] > DEPENDENT * H[basis[a], basis[a]]
        if whole:
            for a in range(n):
                is_basic[basis[a]] = True
                for b in range(a, n):
                    R[a, b] = L[b, a]
            return n
    candidates = basis[:n].copy()
    v = np.empty(m)
    n = 0
    for i in candidates:
        pivot = column(R, n, H, basis, i, v)
        if pivot > DEPENDENT * H[i, i]:
            n = enter(R, n, basis, is_basic, i, v, pivot)
    return n

r"""A Cholesky factor :math:`H_{BB}=R^\top R` that variables enter and leave; O(n^2) each.

R is stored by rows in the upper triangle of the leading block of a square array: every inner loop runs along
a row. ``basis[:n]`` names the variables in the order of the columns, ``is_basic`` marks them.
"""

from __future__ import annotations

import numpy as np
from numba import njit

#: squared distance from the span of the basic variables, as a share of h_ii, that counts as zero
DEPENDENT = 1e-11
#: from this number of variables on, LAPACK factorises faster than one at a time
_BLOCKED = 60
#: sums may be reordered, so that they run in vector registers
_FAST = {"reassoc", "contract", "nsz"}


@njit(cache=True, fastmath=_FAST)
def forward(R: np.ndarray, n: int, v: np.ndarray) -> None:
    """Solve R' z = v in place."""
    for k in range(n):
        row = R[k]
        z = v[k] / row[k]
        v[k] = z
        for r in range(k + 1, n):
            v[r] -= row[r] * z


@njit(cache=True, fastmath=_FAST)
def backward(R: np.ndarray, n: int, v: np.ndarray) -> None:
    """Solve R z = v in place."""
    for k in range(n - 1, -1, -1):
        row = R[k]
        total = 0.0
        for r in range(k + 1, n):
            total += row[r] * v[r]
        v[k] = (v[k] - total) / row[k]


@njit(cache=True)
def column(R: np.ndarray, n: int, H: np.ndarray, basis: np.ndarray, i: int, v: np.ndarray) -> float:
    """Write the column of the factor that variable `i` would add to `v`; return its squared pivot."""
    row = H[i]
    for a in range(n):
        v[a] = row[basis[a]]
    forward(R, n, v)
    pivot = row[i]
    for a in range(n):
        pivot -= v[a] * v[a]
    return pivot


@njit(cache=True)
def enter(
    R: np.ndarray, n: int, basis: np.ndarray, is_basic: np.ndarray, i: int, v: np.ndarray, pivot: float
) -> int:
    """Make variable `i` basic, with the column `v` of :func:`column`; return the number of basic ones."""
    for a in range(n):
        R[a, n] = v[a]
    R[n, n] = np.sqrt(pivot)
    basis[n] = i
    is_basic[i] = True
    return n + 1


@njit(cache=True)
def leave(R: np.ndarray, n: int, basis: np.ndarray, is_basic: np.ndarray, a: int) -> int:
    """Take basic variable number `a` out of the factor; return the number that are left."""
    is_basic[basis[a]] = False
    for r in range(a, n - 1):
        basis[r] = basis[r + 1]
    for k in range(n):
        row = R[k]
        for r in range(max(a, k - 1), n - 1):
            row[r] = row[r + 1]
    for k in range(a, n - 1):  # Givens rotations clear what is now below the diagonal
        upper, lower = R[k], R[k + 1]
        p, q = upper[k], lower[k]
        size = np.sqrt(p * p + q * q)
        cos, sin = p / size, q / size
        for r in range(k, n - 1):
            p, q = upper[r], lower[r]
            upper[r] = cos * p + sin * q
            lower[r] = cos * q - sin * p
    return n - 1


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

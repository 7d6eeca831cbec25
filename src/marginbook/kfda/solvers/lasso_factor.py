r"""A Cholesky factor :math:`A_{SS}=R^\top R` that columns enter and leave, each in O(k^2).

R is stored by rows in the upper triangle of the leading block of a square array: every inner loop runs along
a row. ``basis[:k]`` names the coefficients in the order of the columns.
"""

from __future__ import annotations

import numpy as np
from numba import njit

#: sums may be reordered, so that they run in vector registers
_FAST = {"reassoc", "contract", "nsz"}


@njit(cache=True, error_model="numpy", fastmath=_FAST)
def forward(R: np.ndarray, k: int, v: np.ndarray) -> None:
    """Solve R' z = v in place."""
    for a in range(k):
        row = R[a]
        z = v[a] / row[a]
        v[a] = z
        for b in range(a + 1, k):
            v[b] -= row[b] * z


@njit(cache=True, error_model="numpy", fastmath=_FAST)
def backward(R: np.ndarray, k: int, v: np.ndarray) -> None:
    """Solve R z = v in place."""
    for a in range(k - 1, -1, -1):
        row = R[a]
        total = 0.0
        for b in range(a + 1, k):
            total += row[b] * v[b]
        v[a] = (v[a] - total) / row[a]


@njit(cache=True, error_model="numpy")
def column(R: np.ndarray, k: int, A: np.ndarray, basis: np.ndarray, i: int, v: np.ndarray) -> float:
    """Write the column that coefficient `i` would add to R to `v`; return its squared pivot.

    The pivot is the squared distance of the i-th column of the design from the span of those in use.
    """
    row = A[i]
    for a in range(k):
        v[a] = row[basis[a]]
    forward(R, k, v)
    pivot = row[i]
    for a in range(k):
        pivot -= v[a] * v[a]
    return pivot


@njit(cache=True, error_model="numpy")
def enter(R: np.ndarray, k: int, basis: np.ndarray, i: int, v: np.ndarray, pivot: float) -> int:
    """Append coefficient `i`, with the column `v` of :func:`column`; return the number in use."""
    for a in range(k):
        R[a, k] = v[a]
    R[k, k] = np.sqrt(pivot)
    basis[k] = i
    return k + 1


@njit(cache=True, error_model="numpy", fastmath=_FAST)
def leave(R: np.ndarray, k: int, basis: np.ndarray, a: int) -> int:
    """Take column number `a` out of the factor; return the number that are left."""
    for b in range(a, k - 1):
        basis[b] = basis[b + 1]
    for i in range(k):
        row = R[i]
        for b in range(max(a, i - 1), k - 1):
            row[b] = row[b + 1]
    for i in range(a, k - 1):  # Givens rotations clear what is now below the diagonal
        upper, lower = R[i], R[i + 1]
        p, q = upper[i], lower[i]
        size = np.sqrt(p * p + q * q)
        cos, sin = p / size, q / size
        for b in range(i, k - 1):
            p, q = upper[b], lower[b]
            upper[b] = cos * p + sin * q
            lower[b] = cos * q - sin * p
    return k - 1

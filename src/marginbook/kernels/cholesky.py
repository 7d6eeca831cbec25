r"""A Cholesky factor :math:`H=R^\top R` that grows and shrinks by a column; compiled loops, O(n^2) each.

R is stored by rows in the upper triangle of the leading block of a square array, so that every inner loop
runs along a row. What lies below the diagonal is never read. A column comes last, by one triangular system;
any column can go, by Givens rotations of the rows after it (Golub and Van Loan, Matrix Computations, section
6.5). Which variable a column stands for is the business of the solver.

Two flags of the compiler: :data:`FAST` lets sums be reordered. ``error_model="numpy"`` leaves out the test
for division by zero: no diagonal entry is zero, as a column comes with a positive pivot only, and a rotation
makes the entry that it keeps no smaller. Every function states both: what it leaves open numba takes from
whichever caller it is first compiled for.

Compiled code is cached by the file that calls: after a change here alone, delete the callers' caches
(``*.nbc`` and ``*.nbi``).
"""

from __future__ import annotations

import numpy as np

from ..base.compiled import njit

#: sums run in vector registers and products are fused with them; NaN and infinities keep their meaning
FAST = {"reassoc", "contract", "nsz"}


@njit(error_model="numpy", fastmath=FAST)
def forward(R: np.ndarray, n: int, v: np.ndarray) -> None:
    """Solve R' z = v in place, for the first `n` entries of `v`."""
    for k in range(n):
        row = R[k]
        z = v[k] / row[k]
        v[k] = z
        for r in range(k + 1, n):
            v[r] -= row[r] * z


@njit(error_model="numpy", fastmath=FAST)
def backward(R: np.ndarray, n: int, v: np.ndarray) -> None:
    """Solve R z = v in place, for the first `n` entries of `v`."""
    for k in range(n - 1, -1, -1):
        row = R[k]
        total = 0.0
        for r in range(k + 1, n):
            total += row[r] * v[r]
        v[k] = (v[k] - total) / row[k]


@njit(error_model="numpy", fastmath=False)
def column(R: np.ndarray, n: int, H: np.ndarray, basis: np.ndarray, i: int, v: np.ndarray) -> float:
    """Write the column that variable `i` would add to the factor to `v`; return its squared pivot.

    ``basis[:n]`` names the variables in the order of the columns: R is the factor of their block of H. The
    pivot is the squared distance of variable `i` from their span; rounding may make it negative.
    """
    row = H[i]
    for a in range(n):
        v[a] = row[basis[a]]
    forward(R, n, v)
    pivot = row[i]
    for a in range(n):
        pivot -= v[a] * v[a]
    return pivot


@njit(error_model="numpy", fastmath=False)
def append(R: np.ndarray, n: int, v: np.ndarray, pivot: float) -> int:
    """Add the column `v` with its positive squared pivot as the last; return the number of columns."""
    for a in range(n):
        R[a, n] = v[a]
    R[n, n] = np.sqrt(pivot)
    return n + 1


@njit(error_model="numpy", fastmath=FAST)
def remove(R: np.ndarray, n: int, a: int) -> int:
    """Take column number `a` out, the later ones move up; return the number that are left."""
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

"""Products and factors of large matrices in blocks, between which Ctrl-C is heard.

A call of BLAS or LAPACK cannot be interrupted. Up to `LARGE` rows it takes a second at most on one thread,
and is made at once; above, it is divided.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack

#: rows up to which a cubic number of operations is one call
LARGE = 2500
#: columns of a block
WIDTH = 512


def gram_of(rows: np.ndarray) -> np.ndarray:
    """Return the inner products of `rows`, (k, N): (k, k)."""
    k = len(rows)
    if k <= LARGE:
        return np.asarray(rows @ rows.T)
    products = np.empty((k, k))
    for start in range(0, k, WIDTH):
        stop = min(start + WIDTH, k)
        products[start:stop, :stop] = rows[start:stop] @ rows[:stop].T
        products[:start, start:stop] = products[start:stop, :start].T
    return products


def blocked_cholesky(matrix: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the lower factor of a symmetric `matrix`, (k, k), which is overwritten, and 0 if there is one.

    Parameters
    ----------
    matrix : (k, k) array
        By columns (Fortran's order), or it is copied; its lower half is read, its upper one left as it is.
    """
    k = len(matrix)
    if k <= LARGE:
        factor, info = lapack.dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
        return factor, int(info)
    matrix = np.asfortranarray(matrix)
    for start in range(0, k, WIDTH):
        stop = min(start + WIDTH, k)
        corner, info = lapack.dpotrf(matrix[start:stop, start:stop], lower=1, clean=1)
        if info:
            return matrix, int(info) + start
        matrix[start:stop, start:stop] = corner
        if stop == k:
            break
        below = blas.dtrsm(1.0, corner, matrix[stop:, start:stop], side=1, lower=1, trans_a=1)
        matrix[stop:, start:stop] = below
        for left in range(stop, k, WIDTH):
            right = min(left + WIDTH, k)
            matrix[left:, left:right] -= below[left - stop :] @ below[left - stop : right - stop].T
    return matrix, 0

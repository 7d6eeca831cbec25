r"""The Cholesky factor :math:`A_{SS}=R^\top R` of the columns of a lasso in use, which enter and leave.

``basis[:k]`` names the coefficients in the order of the columns (:mod:`marginbook.kernels.cholesky`).
"""

from __future__ import annotations

import numpy as np

from marginbook.kernels.cholesky import append, remove

from ...base.compiled import njit


@njit(error_model="numpy")
def enter(R: np.ndarray, k: int, basis: np.ndarray, i: int, v: np.ndarray, pivot: float) -> int:
    """Append coefficient `i`, with its column `v` and pivot; return the number in use."""
    basis[k] = i
    return append(R, k, v, pivot)


@njit(error_model="numpy")
def leave(R: np.ndarray, k: int, basis: np.ndarray, a: int) -> int:
    """Take column number `a` out of the factor; return the number that are left."""
    for b in range(a, k - 1):
        basis[b] = basis[b + 1]
    return remove(R, k, a)

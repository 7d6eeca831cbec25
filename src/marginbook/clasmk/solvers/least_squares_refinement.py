"""Iterative refinement of regularised least squares in a kernel, in the terms of `.least_squares`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .least_squares import LeastSquares, solve_kernel
from .least_squares_errors import kkt_residual

#: steps at most: where the second gains anything, rounding of the dual itself is near
STEPS = 3
#: kernel values that are in extended precision at once
BLOCK = 2**20


def refined(
    K: np.ndarray,
    targets: np.ndarray,
    C: float,
    found: LeastSquares,
    error: float,
    weights: np.ndarray | None = None,
) -> tuple[LeastSquares, float]:
    """Return `found` with the solution for what it leaves of the targets added, and its error.

    Where that is no better, as with a matrix that is singular to rounding, they come back as they are. The
    predictions that leave a row out stay those by which `C` was chosen.

    Parameters
    ----------
    K : (n, n) array
    targets : (n, m) array
    C : float
    found : LeastSquares
    error : float
        Its :func:`kkt_residual`.
    weights : (n,) array of numbers > 0, optional
    """
    for _ in range(STEPS):
        step = solve_kernel(K, _left(K, targets, C, found, weights), C, weights)
        closer = replace(found, dual=found.dual + step.dual, bias=found.bias + step.bias)
        less = kkt_residual(K, targets, C, closer, weights)
        if not less < error:  # nan is not less either
            break
        found, error = closer, less
    return found, error


def _left(
    K: np.ndarray, targets: np.ndarray, C: float, found: LeastSquares, weights: np.ndarray | None
) -> np.ndarray:
    """Return what the rows' own equations leave of the targets, (n, m), with sums in extended precision."""
    dual = found.dual.astype(np.longdouble)
    height = max(1, BLOCK // len(K))
    blocks = [K[at : at + height].astype(np.longdouble) @ dual for at in range(0, len(K), height)]
    errors = dual / C if weights is None else dual / (C * weights[:, None])
    return np.asarray(targets - np.concatenate(blocks) - errors - found.bias, dtype=float)

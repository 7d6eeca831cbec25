"""Non-negative least squares: SciPy's, or ours where SciPy is too old for it."""

from __future__ import annotations

import numpy as np
import scipy
from scipy import optimize

#: before this version SciPy's stops early: 1.12 to 1.14 on normal equations, 1.15 on a rounded slope
SOUND = (1, 16)
OLD = tuple(map(int, scipy.__version__.split(".")[:2])) < SOUND


def nnls(A: np.ndarray, b: np.ndarray, maxiter: int | None = None) -> tuple[np.ndarray, float]:
    r"""Return :math:`\arg\min_{x\ge0}\lVert Ax-b\rVert` and the norm.

    Parameters
    ----------
    A : (m, n) array
    b : (m,) array
    maxiter : int, optional
        Variables that become positive; 3 n by default.

    Raises
    ------
    RuntimeError
        After `maxiter`.
    """
    if not OLD:
        x, norm = optimize.nnls(A, b, maxiter=maxiter)
        return np.asarray(x), float(norm)
    return lawson_hanson(np.asarray(A, float), np.asarray(b, float), maxiter or 3 * A.shape[1])


def lawson_hanson(A: np.ndarray, b: np.ndarray, maxiter: int) -> tuple[np.ndarray, float]:
    """Solve by the active set of Lawson and Hanson (1974), each least squares from its singular values.

    A variable is freed where the slope is positive, and kept free where that lowers the residual: near a
    residual of 0 slopes are of its square, and no tolerance tells them from rounding.
    """
    n = A.shape[1]
    x, norm = np.zeros(n), float(np.linalg.norm(b))
    barred = np.zeros(n, bool)
    freed = 0
    while freed < maxiter:
        slopes = A.T @ (b - A @ x)
        slopes[(x > 0) | barred] = 0.0
        entering = int(np.argmax(slopes))
        if slopes[entering] <= 0:
            return x, norm
        moved = _descended(A, b, x, entering)
        lower = float(np.linalg.norm(A @ moved - b))
        if lower < norm:
            x, norm, freed = moved, lower, freed + 1
            barred[:] = False
        else:
            barred[entering] = True
    raise RuntimeError(f"no solution after {maxiter} variables became positive")


def _descended(A: np.ndarray, b: np.ndarray, x: np.ndarray, entering: int) -> np.ndarray:
    """Return the least squares over the positive variables and the entering one, less those that leave."""
    free, x = x > 0, x.copy()
    free[entering] = True
    while True:
        best = np.zeros(len(x))
        best[free] = np.linalg.lstsq(A[:, free], b, rcond=None)[0]
        leaving = free & (best <= 0)
        if not leaving.any():
            return best
        shares = np.full(len(x), np.inf)
        shares[leaving] = 0.0  # of those that are at 0 already
        np.divide(x, x - best, out=shares, where=leaving & (x > 0))
        x += float(shares.min()) * (best - x)
        free &= ~(leaving & (shares <= shares.min())) & (x > 0)
        x[~free] = 0.0

r"""Greedy coordinate steps and projected Newton steps for :math:`\frac12x^\top Hx+q^\top x` on a box.

The first, of :mod:`marginbook.kernels.box_moves`, find the bounds that hold at the solution, at a price of
O(n) a step; the second, of which a few suffice then, solve for all variables between their bounds at once.

For chunks of thousands of rows, which have hundreds of variables between their bounds, and need no more than
a share of their gap: the exchanges of :mod:`marginbook.ldm.solvers.active_sets` take three to nine times as
long there. They are exact, also for H of low rank, on which these steps fail.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from ...kernels.box_moves import coordinate_moves

#: ridges, as shares of the mean diagonal, with which a Newton step is tried
RIDGES = (1e-12, 1e-7, 1e-5)
#: a squared pivot below this share is rounding: variables that depend on others want more than one ridge
DEPENDENT = 1e-9
#: halvings of a Newton step
HALVINGS = 6


def violations(x: np.ndarray, grad: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Return what each variable adds to the gap of the box problem, (n,); their sum bounds the excess."""
    shares: np.ndarray = np.where(grad > 0.0, x, x - upper) * grad
    return shares


def newton_step(H: np.ndarray, x: np.ndarray, grad: np.ndarray, upper: np.ndarray) -> bool:
    """Minimise over all variables between their bounds, projected on the box; whether that went down."""
    free = np.flatnonzero((x > 0.0) & (x < upper))
    if not len(free):
        return False
    whole = len(free) == len(x)
    size = float(np.diagonal(H)[free].mean())
    for ridge in RIDGES:
        A = H.copy() if whole else H[np.ix_(free, free)]
        A[np.diag_indices_from(A)] += ridge * size
        # the transpose of a symmetric matrix is itself, in the order of columns that LAPACK wants
        factor, failed = dpotrf(A.T, lower=1, overwrite_a=1, clean=0)
        dependent = not failed and float(np.diagonal(factor).min()) ** 2 < DEPENDENT * size
        if failed or (dependent and ridge == RIDGES[0]):
            continue
        direction = -dpotrs(factor, grad[free], lower=1)[0]
        step = np.zeros(len(x))
        for halving in range(HALVINGS):
            new = np.clip(x[free] + 0.5**halving * direction, 0.0, upper[free])
            step[free] = new - x[free]
            change = H @ step
            slope = float(grad @ step)
            if slope < 0.0 and slope + 0.5 * float(step @ change) <= 1e-4 * slope:
                x[free] = new
                grad += change
                return True
    return False


def minimise_box(
    H: np.ndarray, x: np.ndarray, grad: np.ndarray, upper: np.ndarray, enough: float, most: int
) -> None:
    """Minimise until the gap is `enough`; `x`, in the box, and `grad` = H x + q are updated.

    Parameters
    ----------
    H : (n, n) array
        Symmetric and positive semidefinite.
    x, grad : (n,) arrays
    upper : (n,) array
        The lower bounds are 0.
    enough : float
    most : int
        Newton steps.
    """
    n, lower = len(x), np.zeros(len(x))
    for step in range(most + 1):
        moved = step > 0 and newton_step(H, x, grad, upper)
        steps = n if moved else 10 * n
        _, done = coordinate_moves(
            H, x, grad, lower, upper, paired=False, tol=0.0, max_iter=steps, enough=enough
        )
        if done:
            break

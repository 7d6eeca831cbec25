r"""Greedy coordinate steps and projected Newton steps for :math:`\frac12x^\top Hx+q^\top x` on a box.

The first find the bounds that hold at the solution, at a price of O(n) a step; the second, of which a few
suffice then, solve for all variables between their bounds at once.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from ...base.compiled import njit

#: ridges, as shares of the mean diagonal, with which a Newton step is tried
RIDGES = (1e-12, 1e-7, 1e-5)
#: a squared pivot below this share is rounding: variables that depend on others want more than one ridge
DEPENDENT = 1e-9
#: halvings of a Newton step
HALVINGS = 6
#: greedy steps in one call of compiled code: some hundredths of a second, so that Ctrl-C is heard
STEPS = 2000


def violations(x: np.ndarray, grad: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Return what each variable adds to the gap of the box problem, (n,); their sum bounds the excess."""
    shares: np.ndarray = np.where(grad > 0.0, x, x - upper) * grad
    return shares


@njit()
def greedy(
    H: np.ndarray, x: np.ndarray, grad: np.ndarray, upper: np.ndarray, enough: float, most: int
) -> tuple[int, float]:
    """Minimise over the variable whose step gains most, up to `most` times; `x` and `grad` are updated.

    Returns the number of steps and the gap of the last point looked at; it stops where that is `enough`.
    """
    gap = 0.0
    for step in range(most):
        best, who, gap = 0.0, -1, 0.0
        for j in range(len(x)):
            slope = grad[j]
            room = x[j] if slope > 0.0 else upper[j] - x[j]
            if room <= 0.0:
                continue
            slope = abs(slope)
            gap += slope * room
            h = H[j, j]
            size = slope / h if slope < h * room else room
            gain = size * (slope - 0.5 * h * size)
            if gain > best:
                best, who = gain, j
        if gap <= enough or who < 0:
            return step, gap
        h = H[who, who]
        new = 0.0 if grad[who] > 0.0 else upper[who]
        if abs(grad[who]) < h * abs(new - x[who]):
            new = min(max(x[who] - grad[who] / h, 0.0), upper[who])
        change = new - x[who]
        x[who] = new
        row = H[who]
        for j in range(len(x)):
            grad[j] += change * row[j]
    return most, gap


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
) -> float:
    """Minimise until the gap is `enough`; return it. `x`, in the box, and `grad` = H x + q are updated.

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
    n = len(x)
    left = 10 * n
    while left > 0:
        steps, gap = greedy(H, x, grad, upper, enough, min(left, STEPS))
        if gap <= enough or steps < min(left, STEPS):
            return gap
        left -= steps
    for _ in range(most):
        moved = newton_step(H, x, grad, upper)
        left = n if moved else 10 * n
        while left > 0:
            steps, gap = greedy(H, x, grad, upper, enough, min(left, STEPS))
            if gap <= enough or steps < min(left, STEPS):
                return gap
            left -= steps
    return float(violations(x, grad, upper).sum())

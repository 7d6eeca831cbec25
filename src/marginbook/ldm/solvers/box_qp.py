r"""Compiled kernels for the box-constrained dual: minimise :math:`\frac12x^\top Hx-e^\top x` on a box.

Everything here takes plain arrays and runs unchanged, slowly, with ``NUMBA_DISABLE_JIT=1``.
"""

from __future__ import annotations

import numpy as np

from ...base.compiled import njit


@njit(error_model="numpy")
def add_multiple(target: np.ndarray, factor: float, row: np.ndarray) -> None:
    """Add ``factor * row`` to `target` in place."""
    if factor != 0.0:
        for j in range(len(target)):
            target[j] += factor * row[j]


@njit(error_model="numpy")
def sweep(H: np.ndarray, x: np.ndarray, grad: np.ndarray, lower: float, upper: float) -> float:
    """Minimise exactly over each coordinate in turn; keep ``grad = H x - e`` current.

    Returns the largest change of a coordinate. A coordinate with ``h_ii = 0`` has a row of zeros in a
    positive semidefinite H, hence the gradient -1: it goes to the bound that its gradient points to.
    """
    largest = 0.0
    for i in range(len(x)):
        g, h = grad[i], H[i, i]
        if h > 0.0:
            new = min(max(x[i] - g / h, lower), upper)
        elif g < 0.0:
            new = upper
        elif g > 0.0:
            new = lower
        else:
            new = x[i]
        change = new - x[i]
        if change != 0.0:
            x[i] = new
            add_multiple(grad, change, H[i])
            largest = max(largest, abs(change))
    return largest


@njit(error_model="numpy")
def certify(x: np.ndarray, grad: np.ndarray, lower: float, upper: float) -> tuple[float, float]:
    """Return the duality gap and the primal objective of the point `x` of the box."""
    gap, primal = 0.0, 0.0
    for i in range(len(x)):
        g = grad[i]
        primal += 0.5 * x[i] * (g + 1.0) - lower * (g + 1.0)
        if g > 0.0:
            gap += (x[i] - lower) * g
        elif g < 0.0:
            gap -= (upper - x[i]) * g
            primal -= (upper - lower) * g
    return gap, primal


@njit(error_model="numpy")
def largest_of(values: np.ndarray) -> int:
    """Return where the first of the largest `values` is."""
    found = 0
    for i in range(len(values)):
        if values[i] > values[found]:
            found = i
    return found


@njit(error_model="numpy")
def resting_violations(
    x: np.ndarray, grad: np.ndarray, lower: float, upper: float, is_basic: np.ndarray, out: np.ndarray
) -> float:
    """Write what each variable that is not basic adds to the duality gap; return the largest."""
    largest = 0.0
    for i in range(len(x)):
        g = grad[i]
        out[i] = 0.0 if is_basic[i] else (x[i] - lower) * g if g > 0.0 else (x[i] - upper) * g
        largest = max(largest, out[i])
    return largest

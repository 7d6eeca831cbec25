r"""Machines with hinge losses as quadratic programs: what LDM, SVM, kernel learning and low rank share.

.. math:: \min_{w,b}\ \tfrac12w^\top Rw+r^\top w+\sum_ic_i\bigl(1-y_i(w^\top z_i+b)\bigr)_+
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

from .numbers import exactly, identity, zeros
from .programs import minimise

#: a slope this small ends a search along a line
FLAT = mpmath.mpf(10) ** -22
TRIES = 60


@dataclass(frozen=True)
class HingeOptimum:
    """Weights, bias, least objective, and multipliers of the losses, each between 0 and its cost."""

    w: np.ndarray
    b: Any
    value: Any
    multipliers: np.ndarray


def hinge_optimum(
    R: np.ndarray, r: np.ndarray, Z: np.ndarray, y: np.ndarray, costs: np.ndarray, intercept: bool
) -> HingeOptimum:
    """Return the minimiser.

    Parameters
    ----------
    R, r : (p, p) and (p,) arrays
    Z : (n, p) array, rows of features
    y : (n,) array of -1 and 1
    costs : (n,) array, at least 0
    intercept : bool
        Whether b is free; otherwise it is 0.
    """
    n, p = Z.shape
    signs = exactly(y)
    free = p + int(intercept)
    rows = signs[:, None] * (np.column_stack([Z, exactly(np.ones(n))]) if intercept else Z)
    P, q = zeros(free + n, free + n), zeros(free + n)
    P[:p, :p], q[:p], q[free:] = R, r, costs
    G = np.block([[-rows, -identity(n)], [zeros(n, free), -identity(n)]])
    found = minimise(P, q, G, np.concatenate([-exactly(np.ones(n)), zeros(n)]))
    b = found.x[p] if intercept else exactly(0.0)[()]
    return HingeOptimum(found.x[:p], b, found.value, found.multipliers[:n])


def stationary(at: Callable[[Any], tuple[Any, ...]], low: Any, high: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return where the slope of a function vanishes between two ends, and what `at` says there.

    Secants, with bisections where they crawl. If the slope does not change its sign, the better end.

    Parameters
    ----------
    at : callable
        Of a number: value, slope, and anything else.
    low, high : numbers
    """
    ends = [(low, at(low)), (high, at(high))]
    if ends[0][1][1] >= 0 or ends[1][1][1] <= 0:
        return min(ends, key=lambda end: end[1][0])
    (a, (_, f, *_)), (b, (_, g, *_)) = ends
    found, side = ends[0], 0
    for count in range(TRIES):
        middle = (a + b) / 2 if count % 8 == 7 else a - f * (b - a) / (g - f)
        found = middle, at(middle)
        slope = found[1][1]
        if abs(slope) < FLAT or b - a < FLAT:
            break
        # an end that stays twice counts half: the secants would come from one side only (Illinois rule)
        if slope < 0:
            a, f, g, side = middle, slope, g / 2 if side < 0 else g, -1
        else:
            b, g, f, side = middle, slope, f / 2 if side > 0 else f, 1
    return found


def hinge_rounding(margins: np.ndarray, sums: np.ndarray) -> Any:
    """Return the size of the terms behind the losses of margins that are at most 1 up to rounding.

    Parameters
    ----------
    margins : (n,) array
    sums : (n,) array
        Sums of absolute values that each margin is computed from.
    """
    return sum(1 + size for margin, size in zip(margins, sums, strict=True) if margin <= 1 + 1e-9 * size)

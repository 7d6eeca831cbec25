r"""Convex quadratic programs to 50 digits: an interior-point method on numbers of 100 digits.

.. math:: \min_x\ \tfrac12x^\top Px+q^\top x\quad\text{with}\quad Gx\le h,\ Ax=b .

Mehrotra's predictor and corrector, from any start. Nothing about a solution is assumed, so that none of a
solver under test can lead it astray; the distance of the result from the optimum is measured by its own
residuals and its own gap, which are below 1e-45 or an error is raised.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

from .numbers import Factored, largest, zeros

#: residuals and gap at which the iterations stop, relative, and at which the result is accepted
TARGET, ACCEPTED = mpmath.mpf(10) ** -50, mpmath.mpf(10) ** -40
STEPS = 150


class NotSolved(ArithmeticError):
    """The interior-point method ended away from the optimum."""


@dataclass(frozen=True)
class Optimum:
    """Solution `x`, its value, multipliers of the inequalities, and the residual that is left."""

    x: np.ndarray
    value: Any
    multipliers: np.ndarray
    residual: Any


def minimise(
    P: np.ndarray,
    q: np.ndarray,
    G: np.ndarray,
    h: np.ndarray,
    A: np.ndarray | None = None,
    b: np.ndarray | None = None,
) -> Optimum:
    """Return the minimiser of the quadratic program.

    Parameters
    ----------
    P : (n, n) array, positive semidefinite
    q : (n,) array
    G, h : (m, n) and (m,) arrays
    A, b : (k, n) and (k,) arrays, optional

    Raises
    ------
    NotSolved
        If the residuals are above 1e-40 after 150 steps.
    """
    n, m = len(q), len(h)
    A = zeros(0, n) if A is None else A
    b = zeros(0) if b is None else b
    k = len(b)
    scale = 1 + max(largest(q), largest(h), largest(b))
    x, y = zeros(n), zeros(k)
    s = np.array([max(abs(value), mpmath.mpf(1)) for value in h], dtype=object)
    z = np.array([scale] * m, dtype=object)

    def residuals() -> tuple[np.ndarray, np.ndarray, np.ndarray, Any]:
        return P @ x + q + G.T @ z + A.T @ y, G @ x + s - h, A @ x - b, (s @ z) / m

    best = None
    for _ in range(STEPS):
        dual, primal, equal, mu = residuals()
        value = x @ (P @ x) / 2 + q @ x
        size = 1 + abs(value)
        left = max(largest(dual) / scale, largest(primal) / scale, largest(equal) / scale, mu * m / size)
        if best is None or left < best.residual:
            best = Optimum(x.copy(), value, z.copy(), left)
        if left <= TARGET:
            break
        weights = z / s
        H = np.block([[P + (G.T * weights) @ G, A.T], [A, zeros(k, k)]])
        try:
            step = _directions(H, G, s, z, dual, primal, equal)
            dx, dy, ds, dz = step(s * z)
            reach = min(_reach(s, ds), _reach(z, dz))
            ahead = ((s + reach * ds) @ (z + reach * dz)) / m
            sigma = (ahead / mu) ** 3
            dx, dy, ds, dz = step(s * z + ds * dz - sigma * mu)
        except ZeroDivisionError:
            break
        primal_step, dual_step = (
            min(mpmath.mpf(1), mpmath.mpf("0.995") * _reach(v, dv)) for v, dv in ((s, ds), (z, dz))
        )
        # one length for both: with a quadratic term the dual residual depends on x too
        length = min(primal_step, dual_step)
        x, y, s, z = x + length * dx, y + length * dy, s + length * ds, z + length * dz
    assert best is not None
    if best.residual > ACCEPTED:
        raise NotSolved(f"the quadratic program ended at a residual of {mpmath.nstr(best.residual, 3)}")
    return best


def _directions(
    H: np.ndarray,
    G: np.ndarray,
    s: np.ndarray,
    z: np.ndarray,
    dual: np.ndarray,
    primal: np.ndarray,
    equal: np.ndarray,
) -> Any:
    """Return the map from the residual of complementarity to the step; the matrix is factored once."""
    n, factored = G.shape[1], Factored(H)

    def step(complementarity: np.ndarray) -> tuple[np.ndarray, ...]:
        right = -dual - G.T @ ((z * primal - complementarity) / s)
        both = factored.solve(np.concatenate([right, -equal]))
        dx, dy = both[:n], both[n:]
        ds = -primal - G @ dx
        dz = -(complementarity + z * ds) / s
        return dx, dy, ds, dz

    return step


def _reach(v: np.ndarray, dv: np.ndarray) -> Any:
    """Return the longest step, at most 1, that keeps `v` at least 0."""
    ratios = [-value / change for value, change in zip(v, dv, strict=True) if change < 0]
    return min([mpmath.mpf(1), *ratios])

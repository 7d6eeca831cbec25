r"""The linear LDM with a rounded hinge: value, gradient, curvature and duality gap at a w, from one pass.

The hinge :math:`(1-\gamma)_+` becomes a parabola for :math:`|1-\gamma|<h`,

.. math::

   \phi_h(\gamma)=\frac{(1+h-\gamma)^2}{4h},\qquad
   f_h(w)=\tfrac12\lVert w\rVert^2+2\lambda_1w^\top Vw-\lambda_2w^\top\bar p+C\sum_i\phi_h(\gamma_i).

At every w the slopes :math:`\beta_i=-C\phi_h'(\gamma_i)` lie in [0, C], so that
:math:`\beta_i(1-\gamma)` is below the hinge for every margin. With it in the place of the hinge the objective
is a quadratic with the Hessian :math:`A=I+4\lambda_1V`, and its minimum a lower bound of the optimum. The
distance of the objective, with the hinge itself, to that bound is a sum of terms that are not negative,

.. math:: \tfrac12\nabla f_h(w)^\top A^{-1}\nabla f_h(w)
          +\sum_i(C-\beta_i)(1-\gamma_i)_++\beta_i(\gamma_i-1)_+ ,

the duality gap. The second part is at most :math:`mCh/8`: no multiplier is kept, and no row after its chunk.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve

from .near import Collector, Near
from .sources import Chunk
from .statistics import Statistics, with_constant
from .sums import Sum

#: by how much more than in the last pass rows are first taken to be near; too many of them are let go again
WIDER = 4.0


@dataclass(frozen=True)
class LinearLDM:
    """The part of the problem that the statistics hold.

    Attributes
    ----------
    statistics : Statistics
    lambda1, lambda2, C : float
    """

    statistics: Statistics
    lambda1: float
    lambda2: float
    C: float

    def quadratic(self, w: np.ndarray) -> float:
        """Return the objective without the hinge."""
        spread = float(w @ self.statistics.covariance @ w)
        return float(0.5 * w @ w + 2 * self.lambda1 * spread - self.lambda2 * (w @ self.statistics.mean))

    def slope(self, w: np.ndarray) -> np.ndarray:
        """Return the gradient of :meth:`quadratic`, (p,)."""
        return w + 4 * self.lambda1 * (self.statistics.covariance @ w) - self.lambda2 * self.statistics.mean

    def curvature(self) -> np.ndarray:
        """Return the Hessian of :meth:`quadratic`, (p, p)."""
        return np.eye(len(self.statistics.mean)) + 4 * self.lambda1 * self.statistics.covariance


@dataclass(frozen=True)
class Rounded:
    """What a pass finds for one width h.

    Attributes
    ----------
    width : float
        h.
    value : float
        Of the rounded objective.
    gradient : (p,) array
    hessian : (p, p) array
    slope_gap, hinge_gap : float
        The two parts of the duality gap.
    """

    width: float
    value: float
    gradient: np.ndarray
    hessian: np.ndarray
    slope_gap: float
    hinge_gap: float

    @property
    def gap(self) -> float:
        """The duality gap."""
        return self.slope_gap + self.hinge_gap


@dataclass(frozen=True)
class Pass:
    """What a pass over all chunks finds at `w`.

    Attributes
    ----------
    w : (p,) array
    objective : float
    rounded : tuple of Rounded
        One for each width.
    near : Near
    crossings : float
        C times how far rows that were not near at an earlier w have crossed to the other side.
    gap : float
        How far `objective` is above the optimum, at most.
    """

    w: np.ndarray
    objective: float
    rounded: tuple[Rounded, ...]
    near: Near
    crossings: float
    gap: float


def one_pass(
    chunks: Iterable[Chunk],
    problem: LinearLDM,
    w: np.ndarray,
    widths: tuple[float, ...],
    constant: bool,
    earlier: Near | None = None,
) -> Pass:
    """Return value, gradient, curvature and gap at `w`.

    Parameters
    ----------
    chunks : iterable of Chunk
    problem : LinearLDM
    w : (p,) array
    widths : tuple of float
        Widths h, descending.
    constant : bool
        Append a feature that is 1 everywhere.
    earlier : Near, optional
        The rows that were near when `w` was found.
    """
    hinge, crossed = Sum(), Sum()
    sums = [_Sums(width) for width in widths]
    collector = Collector(w, np.inf if earlier is None else WIDER * earlier.width)
    positive = problem.statistics.classes[1]
    for chunk in chunks:
        for X, y in chunk.dense_parts():
            rows = with_constant(X, constant) * np.where(y == positive, 1.0, -1.0)[:, None]
            short = 1.0 - rows @ w
            hinge.add(float(np.maximum(short, 0.0).sum()))
            for each in sums:
                each.add(rows, short)
            collector.add(rows, short)
            if earlier is not None:
                crossed.add(earlier.crossings(1.0 - rows @ earlier.w, short))
    smooth, slope, curvature = problem.quadratic(w), problem.slope(w), problem.curvature()
    rounded = tuple(each.total(smooth, slope, curvature, problem.C) for each in sums)
    return Pass(
        w,
        smooth + problem.C * float(hinge.value),
        rounded,
        collector.total(),
        problem.C * float(crossed.value),
        min(each.gap for each in rounded),
    )


def slopes_along(
    chunks: Iterable[Chunk],
    problem: LinearLDM,
    w: np.ndarray,
    direction: np.ndarray,
    steps: np.ndarray,
    width: float,
    constant: bool,
) -> np.ndarray:
    """Return the slopes of the rounded objective along a direction after each of some steps, one pass.

    Parameters
    ----------
    chunks : iterable of Chunk
    problem : LinearLDM
    w, direction : (p,) arrays
    steps : (k,) array
    width : float
        h.
    constant : bool
        Append a feature that is 1 everywhere.
    """
    hinge = Sum()
    positive = problem.statistics.classes[1]
    for chunk in chunks:
        for X, y in chunk.dense_parts():
            rows = with_constant(X, constant) * np.where(y == positive, 1.0, -1.0)[:, None]
            short, rise = 1.0 - rows @ w, rows @ direction
            after = short[:, None] - rise[:, None] * steps
            hinge.add(rise @ np.clip((after + width) / (2 * width), 0.0, 1.0))
    smooth = float(problem.slope(w) @ direction) + steps * float(direction @ problem.curvature() @ direction)
    return smooth - problem.C * hinge.value


class _Sums:
    def __init__(self, width: float) -> None:
        self.width = width
        self.value, self.gradient, self.hessian, self.gap = Sum(), Sum(), Sum(), Sum()

    def add(self, rows: np.ndarray, short: np.ndarray) -> None:
        """Take in signed rows, (m, p), and one minus their margins, (m,)."""
        h = self.width
        share = np.clip((short + h) / (2 * h), 0.0, 1.0)  # beta / C
        inside = np.abs(short) < h
        parabola = (short[inside] + h) ** 2 / (4 * h)
        self.value.add(float(parabola.sum() + short[short >= h].sum()))
        self.gradient.add(-share @ rows)
        near = rows[inside]
        self.hessian.add(near.T @ near / (2 * h))
        self.gap.add(float(((np.maximum(short, 0.0)) - share * short).sum()))

    def total(self, smooth: float, slope: np.ndarray, curvature: np.ndarray, C: float) -> Rounded:
        gradient = slope + C * self.gradient.value
        return Rounded(
            self.width,
            smooth + C * float(self.value.value),
            gradient,
            curvature + C * self.hessian.value,
            0.5 * float(gradient @ solve(curvature, gradient, assume_a="pos")),
            C * float(self.gap.value),
        )

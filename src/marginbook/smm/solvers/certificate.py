"""The best point and the best multipliers that a solver of a convex problem has met, and their gap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.objective import conjugate_sum, feasible, loss_values
from .block_problem import BlockProblem
from .solution import InnerSolution


@dataclass
class Point:
    """A point of the minimisation: coefficients, intercept, and the margins in them."""

    w: np.ndarray
    b: float
    margins: np.ndarray
    n_iter: int = 0


class Certificate:
    """The best point and the best multipliers seen, and whether their gap is small enough.

    The gap is asked relative to the objective or, where that is tiny beside its value F(0, 0) at no
    coefficients at all, to ``FLOOR`` times the latter: sums of losses carry rounding of that order.
    """

    FLOOR = 1e-5

    def __init__(self, problem: BlockProblem) -> None:
        self.problem = problem
        self.trivial = float(problem.shares @ loss_values(np.zeros(len(problem.y)), problem.loss))
        self.objective, self.dual = np.inf, -np.inf
        self.w, self.b, self.multipliers = np.zeros(problem.Z.shape[1]), 0.0, np.zeros(len(problem.y))

    @property
    def gap(self) -> float:
        return max(0.0, self.objective - self.dual)

    @property
    def met(self) -> bool:
        scale = max(abs(self.objective), self.FLOOR * self.trivial)
        return self.gap <= self.problem.tol * scale

    def offer(self, point: Point, multipliers: np.ndarray, norm: float = 0.0) -> bool:
        """Take the point and the multipliers if they are better; return whether the gap is small enough."""
        problem, w = self.problem, point.w
        lam = problem.lam
        value = float(problem.shares @ loss_values(point.margins, problem.loss)) + lam * float(w @ w)
        if value < self.objective:
            self.objective, self.w, self.b = value, w, point.b
        # to first order the gap is at least |gradient|^2 / 4 lam: no need to compute it when that is large
        if norm > 4.0 * lam * 10.0 * problem.tol * max(abs(self.objective), self.FLOOR * self.trivial):
            return False
        allowed = feasible(
            multipliers,
            problem.y,
            loss=problem.loss,
            sample_weight=problem.sample_weight,
            fit_intercept=problem.fit_intercept,
        )
        combined = allowed @ problem.A
        if problem.loss == "hinge":
            gain = float(allowed.sum())
        else:
            gain = conjugate_sum(allowed, loss=problem.loss, sample_weight=problem.sample_weight)
        dual = gain - float(combined @ combined) / (4.0 * lam)
        if dual > self.dual:
            self.dual, self.multipliers = dual, allowed
        return self.met

    def solution(self, n_iter: int) -> InnerSolution:
        """Return the best point with its certificate."""
        if not np.isfinite(self.dual):
            self.dual = 0.0  # no multipliers were tried: c = 0 is feasible and its bound is 0
        return InnerSolution(
            self.w, self.b, self.multipliers, self.objective, self.gap, n_iter, bool(self.met)
        )

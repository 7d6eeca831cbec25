"""What a solver of the support matrix machine returns, and how it keeps the best that it has met."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .nuclear_multiples import ROUNDING
from .nuclear_norm import FLOOR, NuclearProblem, soft_threshold


@dataclass(frozen=True)
class NuclearSolution:
    r"""A solution of the support matrix machine with its certificate.

    Attributes
    ----------
    coef : (d1, d2) array, B
    intercept : float, b
    singular_values : (min(d1, d2),) array
        Of B.
    multipliers : (n,) array
        Feasible signed multipliers :math:`\beta`.
    objective : float
        P(B, b).
    lower_bound : float
        :math:`D(\beta)`.
    dual_gap : float
        Their difference, relative to the objective or, if that is more, to `FLOOR` times the least one at
        B = 0.
    gap_path : tuple of float
        The gap whenever it was computed.
    n_iter : int
    converged : bool
    """

    coef: np.ndarray
    intercept: float
    singular_values: np.ndarray
    multipliers: np.ndarray
    objective: float
    lower_bound: float
    dual_gap: float
    gap_path: tuple[float, ...]
    n_iter: int
    converged: bool


class Record:
    """The best primal point and the best dual point of a run, and the gap between them.

    Parameters
    ----------
    problem : NuclearProblem
    tau : float
    tol : float
        Relative gap that is asked for.
    """

    def __init__(self, problem: NuclearProblem, tau: float, tol: float) -> None:
        self.problem, self.tau, self.tol = problem, tau, tol
        self.objective, self.lower_bound = np.inf, -np.inf
        self.path: list[float] = []

    @property
    def gap(self) -> float:
        """The relative gap."""
        unit = max(self.objective, FLOOR * self.problem.null_objective)
        return max(0.0, self.objective - self.lower_bound) / unit

    def offer(self, B: np.ndarray, sizes: np.ndarray) -> None:
        """Keep the best multiple of B, (d1, d2), with singular values `sizes`, if no other was better."""
        objective, factor, intercept = self.problem.primal(B, sizes, self.tau)
        # a difference of roundings is no gain: B = 0 stays where it is optimal
        if objective < self.objective * (1 - ROUNDING):
            self.objective, self.coef, self.intercept = objective, factor * B, intercept
            self.sizes = factor * sizes

    def certify(self, beta: np.ndarray) -> bool:
        """Take feasible multipliers, (n,), and the B that they give; return whether the gap is small."""
        B, sizes = soft_threshold(self.problem.combine(beta), self.tau)
        bound = self.problem.dual(beta, sizes)
        if bound > self.lower_bound:
            self.lower_bound, self.beta = bound, beta.copy()
        self.offer(B, sizes)
        self.path.append(self.gap)
        return self.gap <= self.tol

    def solution(self, n_iter: int) -> NuclearSolution:
        """Return the best points after `n_iter` iterations."""
        return NuclearSolution(
            coef=self.coef,
            intercept=self.intercept,
            singular_values=self.sizes,
            multipliers=self.beta,
            objective=self.objective,
            lower_bound=self.lower_bound,
            dual_gap=self.gap,
            gap_path=tuple(self.path),
            n_iter=n_iter,
            converged=self.gap <= self.tol,
        )

"""What the solvers return: a point, the multipliers that certify it, and how far from optimal it can be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class InnerSolution:
    r"""Solution of a convex problem, one block for instance.

    .. math:: \min_{w,b}\ \frac1n\sum_iw_iL\bigl(y_i(z_i^\top w+b)\bigr)+\lambda\lVert w\rVert^2

    Attributes
    ----------
    weights : (p,) array
        The coefficients of the features.
    intercept : float
        0 without an intercept.
    multipliers : (n,) array
        Feasible c; at the optimum the coefficients are :math:`\sum_ic_iy_iz_i/2\lambda`.
    objective : float
    dual_gap : float
        `objective` minus the dual objective of `multipliers`: no coefficients are better by more.
    n_iter : int
        Systems of linear equations that were solved.
    converged : bool
        Whether the gap met the tolerance.
    """

    weights: np.ndarray
    intercept: float
    multipliers: np.ndarray
    objective: float
    dual_gap: float
    n_iter: int
    converged: bool


@dataclass(frozen=True)
class LowRankSolution:
    r"""A matrix of coefficients :math:`B=UV^\top` of rank at most r.

    Attributes
    ----------
    U : (d1, r) array
    V : (d2, r) array
        Orthogonal columns, scaled so that the k-th columns of U and V have the same length, longest first.
    coef : (d1, d2) array
        :math:`B=UV^\top`.
    intercept : float
    multipliers : (n,) array
        c of the last block that was solved.
    objective : float
    lower_bound : float
        No matrix of rank at most r has a smaller objective, see
        :func:`~marginbook.smm.model.objective.dual_bound`.
    block_gap : float
        No change of the last block alone is better by more.
    objective_path : (k,) array
        The objective after each block of the winning start, beginning with the start itself.
    n_iter : int
        Sweeps, each over both blocks, of the winning start.
    converged : bool
        Whether the relative change by a sweep met the tolerance and the last block was solved.
    start : str
        Which start won: ``"given"``, ``"full"``, ``"relaxed"``, ``"random-0"``, ...
    """

    U: np.ndarray
    V: np.ndarray
    coef: np.ndarray
    intercept: float
    multipliers: np.ndarray
    objective: float
    lower_bound: float
    block_gap: float
    objective_path: np.ndarray
    n_iter: int
    converged: bool
    start: str

    @property
    def global_gap(self) -> float:
        """The objective minus its lower bound over all matrices of the rank, 0 for a global optimum."""
        return max(0.0, self.objective - self.lower_bound)

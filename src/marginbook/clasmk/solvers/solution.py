"""What every solver of the kernel weights returns: the weights, the way there, and the certificate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Weights:
    r"""Kernel weights at which a solver stopped.

    Attributes
    ----------
    weights : (C, K) array
        :math:`\nu`: nonnegative, each row sums to 1.
    objective : float
        The ratio (33) in them.
    lower_bound : float or None
        No weights have a smaller ratio than this; None if the solver has no bound. It is proved in floating
        point, so up to rounding.
    kkt_residual : float
        :func:`marginbook.clasmk.model.objective.kkt_residual`.
    n_iter : int
    converged : bool
        Whether the solver's own stopping rule was met.
    objective_path : (n_iter+1,) array
        The ratio at the start and after each iteration.
    n_nodes : int
        Nodes that the search for a better minimum and for the bound has visited.
    n_evaluations : int
        Evaluations of the objective, finite differences included; 0 where the solver has other steps.
    """

    weights: np.ndarray
    objective: float
    lower_bound: float | None
    kkt_residual: float
    n_iter: int
    converged: bool
    objective_path: np.ndarray
    n_nodes: int = 0
    n_evaluations: int = 0

    @property
    def roots(self) -> np.ndarray:
        """The roots of the weights, (C, K), a unit vector for each class."""
        return np.sqrt(self.weights)

    @property
    def gap(self) -> float | None:
        """By how much the objective can exceed the minimum, relative to itself; None without a bound."""
        if self.lower_bound is None:
            return None
        if self.objective == 0:
            return 0.0
        return (self.objective - self.lower_bound) / self.objective

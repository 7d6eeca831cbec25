"""The convex problem of one block, as its solvers take it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class BlockProblem:
    r"""The risk of a linear function with a quadratic penalty, and how close to its optimum to come.

    .. math:: \min_{w,b}\ \frac1n\sum_iw_iL\bigl(y_i(z_i^\top w+b)\bigr)+\lambda\lVert w\rVert^2

    Attributes
    ----------
    Z : (n, p) array
    y : (n,) array of -1 and +1
    lam : float
        Above 0.
    sample_weight : (n,) array
    fit_intercept : bool
        Without it b is 0.
    tol : float
        Duality gap at which to stop, relative to the objective.
    loss : {"hinge", "squared_hinge", "logistic"}
    """

    Z: np.ndarray
    y: np.ndarray
    lam: float
    sample_weight: np.ndarray
    fit_intercept: bool
    tol: float
    loss: str = "hinge"

    @cached_property
    def A(self) -> np.ndarray:
        """Rows :math:`y_iz_i`, (n, p)."""
        return self.y[:, None] * self.Z

    @cached_property
    def shares(self) -> np.ndarray:
        """Weights of the losses, :math:`w_i/n`: the upper bounds of the hinge loss's multipliers."""
        return self.sample_weight / len(self.y)

    def intercept(self, start: tuple[np.ndarray, float]) -> float:
        """Return the intercept of a start, 0 where there is none."""
        return float(start[1]) if self.fit_intercept else 0.0

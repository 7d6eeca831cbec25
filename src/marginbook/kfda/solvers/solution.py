"""What every solver of kFDA_q returns: the coefficients, the way there, and the certificate."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, eq=False)
class Solution:
    r"""A point at which a solver stopped.

    Attributes
    ----------
    omega : (M+1,) array
        The bias, then the kernel coefficients.
    q, rho : float
    objective : float
        J(omega).
    objective_path : (n_iter+1,) array
        J at the start and after each iteration.
    retained_path : (n_iter+1,) array of int
        Number of kernel coefficients that are not zero, the same times.
    n_iter : int
    converged : bool
        Whether the solver's own stopping rule was met.
    dual_gap : float or None
        For q >= 1: by how much J can at most exceed its minimum.
    stationarity : float or None
        Largest relative residual of the stationarity conditions on the support; for q = 1, of the KKT
        conditions of all coefficients.
    curvature : float or None
        For q < 1: smallest eigenvalue of the Hessian restricted to the support, in the scaling of
        :func:`marginbook.kfda.model.certificates.smallest_curvature`; positive at a strict local minimum.
    penalize_bias : bool
    omega_path : (n_iter+1, M+1) array or None
        All iterates, if the solver was asked to record them.
    """

    omega: np.ndarray
    q: float
    rho: float
    objective: float
    objective_path: np.ndarray
    retained_path: np.ndarray
    n_iter: int
    converged: bool
    dual_gap: float | None = None
    stationarity: float | None = None
    curvature: float | None = None
    penalize_bias: bool = True
    omega_path: np.ndarray | None = field(default=None, repr=False)

    @property
    def retained(self) -> np.ndarray:
        """Indices of the kernel columns whose coefficients are not zero, from 0 to M-1."""
        return np.flatnonzero(self.omega[1:])

    def retained_above(self, cut: float) -> np.ndarray:
        r"""Return the kernel columns with :math:`|\alpha_i|>\mathrm{cut}\cdot\max_j|\alpha_j|`, from 0."""
        size = np.abs(self.omega[1:])
        return np.flatnonzero(size > cut * size.max(initial=0.0))

r"""Solvers of the DRM problem (12): arrays in, weights with a certificate out.

.. math:: \min_w\ \tfrac12 w^\top(K+\alpha(H-B)+\beta I)w-w^\top K_x

One beta is solved by :func:`closed_form`, many by :class:`EigenPath`; the paper's iterations are in
:mod:`marginbook.drm.solvers.first_order`, the exact one-pass form for explicit features in
:mod:`marginbook.drm.solvers.one_pass`, exact leave-one-out in :mod:`marginbook.drm.solvers.leave_one_out`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from ...base.interruptible import LARGE, interruptible
from ..model.objective import kkt_residual, system_matrix, validate_parameters


class NotPositiveDefinite(ValueError):
    """The system cannot be factorised in double precision."""

    def __init__(self, K: np.ndarray, alpha: float, beta: float) -> None:
        super().__init__(
            f"K + alpha (H - B) + beta I is not positive definite in double precision for alpha={alpha:g}, "
            f"beta={beta:g} and a largest kernel value of {np.abs(K).max():.3g}; raise beta or scale the data"
        )


def unit_diagonal(M: np.ndarray, K: np.ndarray, alpha: float, beta: float) -> np.ndarray:
    """Return s such that ``s_i M_ij s_j`` has a unit diagonal; see ClosedForm."""
    diagonal = np.diagonal(M)
    if not ((diagonal > 0) & np.isfinite(diagonal)).all():
        raise NotPositiveDefinite(K, alpha, beta)
    return 1.0 / np.sqrt(diagonal)


@dataclass(frozen=True)
class ClosedForm:
    r"""Factorised :math:`Q+\beta I`, ready to give :math:`w^\star=(Q+\beta I)^{-1}K_x` (eq. 13).

    The matrix is scaled to unit diagonal before it is factorised: degrees of a polynomial kernel differ by
    dozens of orders of magnitude between examples, and Cholesky's error does not.
    """

    matrix: np.ndarray
    scale: np.ndarray
    factor: np.ndarray

    def weights(self, Kx: np.ndarray, refine: int = 1) -> np.ndarray:
        """Return the optimal weights, (n, m), for kernel vectors `Kx`, (n, m)."""
        W = self._solve(Kx)
        for _ in range(refine):
            W += self._solve(Kx - self.matrix @ W)
        return W

    def certificate(self, Kx: np.ndarray) -> float:
        """Return the relative KKT residual of the weights for `Kx`."""
        return kkt_residual(self.matrix, self.weights(Kx), Kx)

    def _solve(self, right: np.ndarray) -> np.ndarray:
        s = self.scale[:, None]
        return s * cho_solve((self.factor, True), s * right, check_finite=False)


def closed_form(K: np.ndarray, sizes: Sequence[int] | np.ndarray, alpha: float, beta: float) -> ClosedForm:
    """Factorise the system of eq. (13), Algorithm 2 of the paper; O(n^3).

    Parameters
    ----------
    K : (n, n) Gram matrix, grouped by class
    sizes : (g,) class sizes
    alpha, beta : float
        ``alpha >= 0``, ``beta > 0``.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    NotPositiveDefinite
        If `beta` is too small against `K` for double precision, or the kernel is indefinite.
    """
    validate_parameters(alpha, beta)
    return closed_form_of(system_matrix(K, sizes, alpha, beta), K, alpha, beta)


def closed_form_of(M: np.ndarray, K: np.ndarray, alpha: float, beta: float) -> ClosedForm:
    """Factorise the matrix `M` of a system, (n, n); what else is given, an error names."""
    s = unit_diagonal(M, K, alpha, beta)
    try:
        if len(M) > LARGE:
            factor = interruptible(np.linalg.cholesky, M * s * s[:, None])
        else:
            factor, _ = cho_factor(M * s * s[:, None], lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:  # numpy's is the same
        raise NotPositiveDefinite(K, alpha, beta) from None
    return ClosedForm(M, s, factor)


class EigenPath:
    r"""The solutions for every beta from one eigendecomposition :math:`Q=V\Lambda V^\top`; O(n^3) once.

    .. math:: w^\star(\beta)=V(\Lambda+\beta I)^{-1}V^\top K_x

    A beta then costs O(n^2) a test point. A decomposition costs about as much as ten Cholesky factors, and it
    cannot scale the examples as :class:`ClosedForm` does: for a single beta, or a kernel whose values differ
    by dozens of orders of magnitude, take :func:`closed_form`.

    Parameters
    ----------
    K : (n, n) Gram matrix, grouped by class
    sizes : (g,) class sizes
    alpha : float
        At least 0.

    Attributes
    ----------
    eigenvalues : (n,) array
        Of Q, ascending.
    eigenvectors : (n, n) array
        In the columns.

    Raises
    ------
    ValueError
        If `alpha` is out of range.

    Examples
    --------
    >>> path = EigenPath(np.array([[2.0, 0], [0, 1]]), [1, 1], alpha=1.0)
    >>> [path.weights(np.array([[2.0], [1]]), beta).ravel().round(3).tolist() for beta in (1.0, 3.0)]
    [[0.667, 0.5], [0.4, 0.25]]
    """

    def __init__(self, K: np.ndarray, sizes: Sequence[int] | np.ndarray, alpha: float) -> None:
        validate_parameters(alpha, 1.0)
        self.K, self.alpha = K, float(alpha)
        self.Q = system_matrix(K, sizes, self.alpha)
        self.eigenvalues, self.eigenvectors = eigh(self.Q)

    def weights(self, Kx: np.ndarray, beta: float, refine: int = 1) -> np.ndarray:
        """Return the optimal weights, (n, m), for kernel vectors `Kx`, (n, m), and one `beta` > 0.

        Raises
        ------
        NotPositiveDefinite
            If an eigenvalue of Q plus `beta` is not positive.
        """
        validate_parameters(self.alpha, beta)
        if not self.eigenvalues[0] + beta > 0:
            raise NotPositiveDefinite(self.K, self.alpha, beta)
        shrink = 1.0 / (self.eigenvalues + beta)[:, None]
        W: np.ndarray = self.eigenvectors @ (shrink * (self.eigenvectors.T @ Kx))
        for _ in range(refine):
            left = Kx - self.Q @ W - beta * W
            W += self.eigenvectors @ (shrink * (self.eigenvectors.T @ left))
        return W

    def certificate(self, Kx: np.ndarray, beta: float) -> float:
        """Return the relative KKT residual of the weights for `Kx` and `beta`."""
        M = self.Q.copy()
        M[np.diag_indices_from(M)] += beta
        return kkt_residual(M, self.weights(Kx, beta), Kx)

r"""Exact leave-one-out of the DRM at about the price of one fit.

Leaving out example k of class c deletes a row and a column of :math:`M=Q+\beta I` *and* changes the weight of
the class block from :math:`1/n_c` to :math:`1/(n_c-1)`. With :math:`a=\alpha/(n_c(n_c-1))`, :math:`P=M^{-1}`,
Woodbury's identity on the class block gives the columns of
:math:`P^{(c)}=(M-aE_cK_cE_c^\top)^{-1}` that belong to c as
:math:`P^{(c)}_{:,c}=P_{:,c}(I-aK_cP_{cc})^{-1}`, and block elimination of row k gives

.. math:: w_{-k}=e_k-\frac{p_k}{p_{kk}}+\frac{\alpha}{n_c-1}\Bigl(v_k-\frac{v_{kk}}{p_{kk}}p_k\Bigr),\qquad
          p_k=P^{(c)}_{:,k},\quad v_k=P^{(c)}_{:,c}K_{c,k}.

The inverse of the rescaled system must exist; where it does not, the left-out systems are solved one by one.
Derivation: notebook ``drm/01_the_model``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from .objective import class_products, class_slices, dissimilarity, system_matrix
from .solvers import NotPositiveDefinite, check_parameters, closed_form, unit_diagonal


@dataclass(frozen=True)
class LeaveOneOut:
    """Dissimilarities of each example by the model that was trained on all others.

    Attributes
    ----------
    delta : (n, g) array
        Eq. (10); infinite in the column of a class that has vanished with its only example.
    kkt_residual : (n,) array
        Certificate of each left-out fit: relative residual of its optimality conditions.
    """

    delta: np.ndarray
    kkt_residual: np.ndarray


def leave_one_out(
    K: np.ndarray,
    sizes: Sequence[int] | np.ndarray,
    alpha: float,
    beta: float,
    tol: float = 1e-8,
    fallback: bool | int = True,
) -> LeaveOneOut:
    """Return the exact leave-one-out dissimilarities for all n examples; O(n^3) in total.

    Parameters
    ----------
    K : (n, n) Gram matrix, grouped by class
    sizes : (g,) class sizes, all at least 1
    alpha, beta : float
        ``alpha >= 0``, ``beta > 0``.
    tol : float
        A hundredth of this is where iterative refinement starts.
    fallback : bool or int
        Solve those examples one by one, O(n^3) each, whose residual still exceeds `tol` after refinement. The
        fast formula inverts the rescaled system as a whole, which can be singular although each left-out part
        of it is positive definite. A number is the most that are solved so; where more are missed, none is.

    Raises
    ------
    ValueError
        As :func:`marginbook.drm.solvers.closed_form`, and for fewer than two examples.
    """
    check_parameters(alpha, beta)
    n = K.shape[0]
    if n < 2:
        raise ValueError(f"leave-one-out needs at least two examples, got {n}")
    Kx = K - np.diag(np.diagonal(K))
    downdate = _Downdate(K, sizes, alpha, beta)
    W = downdate.weights()
    gap, KW, own = _gap(K, W, sizes, alpha, beta)
    residual = _relative(gap, Kx)
    if not (residual <= tol / 100).all():
        W -= downdate.solve(gap)
        gap, KW, own = _gap(K, W, sizes, alpha, beta)
        residual = _relative(gap, Kx)
    missed = np.flatnonzero(~(residual <= tol))
    if len(missed) > (n if fallback is True else int(fallback)):
        missed = missed[:0]
    for k in missed:
        with contextlib.suppress(NotPositiveDefinite):  # the residual tells
            W[:, k] = _left_out_directly(K, sizes, int(k), alpha, beta)
    if missed.size:
        gap, KW, own = _gap(K, W, sizes, alpha, beta)
        residual = _relative(gap, Kx)
    delta = dissimilarity(sizes, Kx, W, KW, own)
    for i, block in enumerate(class_slices(sizes)):
        if block.stop - block.start == 1:
            delta[block.start, i] = np.inf
    return LeaveOneOut(delta, residual)


class _Downdate:
    """The inverses of all left-out systems, in the variables that give M a unit diagonal (see ClosedForm)."""

    def __init__(self, K: np.ndarray, sizes: Sequence[int] | np.ndarray, alpha: float, beta: float) -> None:
        M = system_matrix(K, sizes, alpha, beta)
        self.s = s = unit_diagonal(M, K, alpha, beta)
        self.K, self.blocks, self.alpha = K, class_slices(sizes), alpha
        self.P = _inverse(M * s * s[:, None], alpha, beta, K)
        self.columns = self.P.copy()
        for block in self.blocks:
            n_c = block.stop - block.start
            if n_c > 1 and alpha > 0:
                middle = np.eye(n_c) - self._weight(n_c) * (self._class_kernel(block) @ self.P[block, block])
                factor = lapack.dgetrf(middle)
                if factor[2] == 0:
                    turned, _ = lapack.dgetrs(factor[0], factor[1], self.P[:, block].T, trans=1)
                    self.columns[:, block] = turned.T
                else:  # the rescaled system is singular as a whole, though no left-out part of it is
                    self.columns[:, block] = np.nan
        self.pivots = np.diagonal(self.columns).copy()

    def weights(self) -> np.ndarray:
        """Return w_{-k} as the columns of an (n, n) matrix: the formula in the module's docstring."""
        scaled = -self.columns / self.pivots
        for block in self.blocks:
            n_c = block.stop - block.start
            if n_c > 1 and self.alpha > 0:
                own = self.columns[:, block]
                V = own @ self._class_kernel(block)
                V -= own * (np.diagonal(V[block]) / self.pivots[block])
                scaled[:, block] += (self.alpha / (n_c - 1)) * V
        return self._unscaled(scaled / self.s)

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return the solutions of the left-out systems for the columns of `right`, (n, n)."""
        U = self.P @ (self.s[:, None] * right)
        for block in self.blocks:
            n_c = block.stop - block.start
            own, u = self.columns[:, block], U[:, block]
            if n_c > 1 and self.alpha > 0:
                u += self._weight(n_c) * (own @ (self._class_kernel(block) @ u[block]))
            u -= own * (np.diagonal(u[block]) / self.pivots[block])
        return self._unscaled(U)

    def _weight(self, n_c: int) -> float:
        return self.alpha / (n_c * (n_c - 1))

    def _class_kernel(self, block: slice) -> np.ndarray:
        return self.K[block, block] * self.s[block] * self.s[block][:, None]

    def _unscaled(self, scaled: np.ndarray) -> np.ndarray:
        W = self.s[:, None] * scaled
        np.fill_diagonal(W, 0.0)
        return W


def _inverse(M: np.ndarray, alpha: float, beta: float, K: np.ndarray) -> np.ndarray:
    factor, info = lapack.dpotrf(M.T, lower=0, overwrite_a=1)
    if info == 0:
        inverse, info = lapack.dpotri(factor, lower=0, overwrite_c=1)
    if info != 0:
        raise NotPositiveDefinite(K, alpha, beta)
    # LAPACK filled one triangle and left zeros in the other
    full: np.ndarray = inverse + inverse.T
    full[np.diag_indices_from(full)] /= 2
    return full


def _gap(
    K: np.ndarray, W: np.ndarray, sizes: Sequence[int] | np.ndarray, alpha: float, beta: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what is left of the optimality conditions of every left-out fit, and the class products."""
    KW, own = class_products(K, sizes, W)
    gap = KW - K
    gap += (alpha * np.diagonal(K) + beta)[:, None] * W
    for block in class_slices(sizes):
        n_i = block.stop - block.start
        weight = np.full(W.shape[1], alpha / n_i)
        if n_i > 1:
            weight[block] = alpha / (n_i - 1)
        gap[block] -= own[block] * weight
    np.fill_diagonal(gap, 0.0)
    return gap, KW, own


def _relative(gap: np.ndarray, Kx: np.ndarray) -> np.ndarray:
    right = np.maximum(Kx.max(axis=0), -Kx.min(axis=0))
    left = np.maximum(gap.max(axis=0), -gap.min(axis=0))
    return left / np.where(right > 0, right, 1.0)


def _left_out_directly(
    K: np.ndarray, sizes: Sequence[int] | np.ndarray, k: int, alpha: float, beta: float
) -> np.ndarray:
    """Return the weights of one left-out fit by solving its own system; O(n^3)."""
    keep = np.delete(np.arange(K.shape[0]), k)
    remaining = np.array(sizes, dtype=int)
    remaining[np.searchsorted(np.cumsum(sizes), k, side="right")] -= 1
    form = closed_form(K[np.ix_(keep, keep)], remaining[remaining > 0], alpha, beta)
    weights = np.zeros(K.shape[0])
    weights[keep] = form.weights(K[keep, k : k + 1])[:, 0]
    return weights

r"""Exact leave-one-out of the DRM at about the price of one fit.

Leaving out example k of class c deletes a row and a column of :math:`M=Q+\beta I` *and* changes the weight of
the class block from :math:`1/n_c` to :math:`1/(n_c-1)`. With :math:`a=\alpha/(n_c(n_c-1))`, :math:`P=M^{-1}`,
Woodbury's identity on the class block gives the columns of
:math:`P^{(c)}=(M-aE_cK_cE_c^\top)^{-1}` that belong to c as
:math:`P^{(c)}_{:,c}=P_{:,c}(I-aK_cP_{cc})^{-1}`, and block elimination of row k gives

.. math:: w_{-k}=e_k-\frac{p_k}{p_{kk}}+\frac{\alpha}{n_c-1}\Bigl(v_k-\frac{v_{kk}}{p_{kk}}p_k\Bigr),\qquad
          p_k=P^{(c)}_{:,k},\quad v_k=P^{(c)}_{:,c}K_{c,k}.

The inverse of the rescaled system must exist; where it does not, the left-out systems are solved one by one.
At the solution :math:`Kw` follows from the optimality conditions, so the dissimilarities need the products
with the class blocks of K only. Derivation: notebook ``drm/01_the_model``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from ..model.objective import class_slices, system_matrix, validate_parameters
from .direct import NotPositiveDefinite, closed_form, unit_diagonal


@dataclass(frozen=True)
class LeaveOneOut:
    """Dissimilarities of each example by the model that was trained on all others.

    Attributes
    ----------
    delta : (n, g) array
        Eq. (10); infinite in the column of a class that has vanished with its only example.
    kkt_residual : (n,) array, or shorter with `probes`
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
    probes: int | None = None,
    give_up: float = np.inf,
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
    probes : int, optional
        Certify about so many of the left-out fits, those with the most extreme pivots among them, instead of
        all: the certificate of all costs a product of two n x n matrices. One probe that misses makes it all.
    give_up : float
        Before all are refined, those certified are, and the worst of them is solved by itself. Where its
        residual exceeds this either way, the last one alone is returned, and `delta` is not refined.

    Raises
    ------
    ValueError
        As :func:`marginbook.drm.solvers.closed_form`, and for fewer than two examples.
    """
    validate_parameters(alpha, beta)
    n = K.shape[0]
    if n < 2:
        raise ValueError(f"leave-one-out needs at least two examples, got {n}")
    fits = _Fits(K, sizes, alpha, beta)
    downdate = _Downdate(K, sizes, alpha, beta)
    W = downdate.weights()
    own = fits.class_products(W)
    everyone = np.arange(n)
    checked = everyone if probes is None else downdate.most_extreme(probes)
    gap = fits.gap(W, own, everyone) if probes is None else fits.gap(W[checked], own[checked], checked)
    residual = fits.residual(gap, checked)
    if not (residual <= tol / 100).all():
        if np.isfinite(give_up):
            trial = W[checked] - downdate.solve(gap, checked)
            left = fits.residual(fits.gap(trial, fits.class_products(trial), checked), checked)
            farthest = int(checked[np.argmax(left)])  # the first NaN, if there is one
            if not left.max() <= give_up:
                worst = _direct_residual(K, sizes, farthest, alpha, beta)
                if not worst <= give_up:
                    return LeaveOneOut(fits.dissimilarity(W, own), np.array([worst]))
        W -= downdate.solve(gap if probes is None else fits.gap(W, own, everyone), everyone)
        own = fits.class_products(W)
        residual = fits.residual(fits.gap(W, own, everyone), everyone)
        missed = np.flatnonzero(~(residual <= tol))
        if 0 < len(missed) <= (n if fallback is True else int(fallback)):
            for k in missed:
                with contextlib.suppress(NotPositiveDefinite):  # the residual tells
                    W[k] = _left_out_directly(K, sizes, int(k), alpha, beta)
            own[missed] = fits.class_products(W[missed])
            residual[missed] = fits.residual(fits.gap(W[missed], own[missed], missed), missed)
    return LeaveOneOut(fits.dissimilarity(W, own), residual)


class _Downdate:
    """The inverses of all left-out systems, in the variables that give M a unit diagonal (see ClosedForm).

    ``rows[k]`` is the column k of the inverse of the system that is rescaled for the class of k.
    """

    def __init__(self, K: np.ndarray, sizes: Sequence[int] | np.ndarray, alpha: float, beta: float) -> None:
        M = system_matrix(K, sizes, alpha, beta)
        self.s = s = unit_diagonal(M, K, alpha, beta)
        self.K, self.blocks, self.alpha = K, class_slices(sizes), alpha
        M *= s
        M *= s[:, None]
        self.P = _inverse(M.copy(), alpha, beta, K)
        self.whole: dict[int, np.ndarray] = {}
        self.rows = self.P.copy()
        for c, block in enumerate(self.blocks):
            n_c = block.stop - block.start
            if n_c == 1 or alpha == 0:
                continue
            if 2 * n_c > len(K):  # a factorisation of its own costs less than Woodbury's identity
                with contextlib.suppress(NotPositiveDefinite):
                    rescaled = M.copy()
                    rescaled[block, block] -= self._weight(n_c) * self._class_kernel(block)
                    self.whole[c] = _inverse(rescaled, alpha, beta, K)
                    self.rows[block] = self.whole[c][block]
                    continue
            middle = np.eye(n_c) - self._weight(n_c) * (self._class_kernel(block) @ self.P[block, block])
            factor = lapack.dgetrf(middle)
            if factor[2] == 0:
                turned, _ = lapack.dgetrs(factor[0], factor[1], self.P[block], trans=1)
                self.rows[block] = turned
            else:  # the rescaled system is singular as a whole, though no left-out part of it is
                self.rows[block] = np.nan
        self.pivots = np.diagonal(self.rows).copy()

    def most_extreme(self, count: int) -> np.ndarray:
        """Return about `count` examples: evenly spread ones, ends of classes, largest and smallest pivots."""
        n = len(self.pivots)
        spread = np.linspace(0, n - 1, max(count // 2, 1)).astype(int)
        ends = [edge for block in self.blocks for edge in (block.start, block.stop - 1)]
        order = np.argsort(np.abs(self.pivots))  # NaN comes last
        extreme = max(count // 4, 1)
        return np.unique(np.concatenate([spread, ends, order[:extreme], order[-extreme:]]))

    def weights(self) -> np.ndarray:
        """Return w_{-k} as the rows of an (n, n) matrix: the formula in the module's docstring."""
        W = np.empty_like(self.rows)
        for block in self.blocks:
            n_c = block.stop - block.start
            own = self.rows[block]
            turned = -1.0 / (self.pivots[block] * self.s[block])
            if n_c > 1 and self.alpha > 0:
                V = self._class_kernel(block) @ own
                V *= self.alpha / (n_c - 1) / self.s[block][:, None]
                turned -= np.diagonal(V[:, block]) / self.pivots[block]
                V += own * turned[:, None]
                W[block] = V
            else:
                W[block] = own * turned[:, None]
        W *= self.s
        np.fill_diagonal(W, 0.0)
        return W

    def solve(self, right: np.ndarray, fits: np.ndarray) -> np.ndarray:
        """Return the solutions of the systems without the examples `fits`, ascending, for rows of `right`."""
        U = np.empty_like(right)
        for c, block in enumerate(self.blocks):
            n_c = block.stop - block.start
            at = slice(*np.searchsorted(fits, (block.start, block.stop)))
            out = fits[at]
            u = (right[at] * self.s) @ self.whole.get(c, self.P)
            if n_c > 1 and self.alpha > 0 and c not in self.whole:
                u += self._weight(n_c) * ((u[:, block] @ self._class_kernel(block)) @ self.rows[block])
            u -= self.rows[out] * (u[np.arange(len(out)), out] / self.pivots[out])[:, None]
            U[at] = u
        U *= self.s
        U[np.arange(len(fits)), fits] = 0.0
        return U

    def _weight(self, n_c: int) -> float:
        return self.alpha / (n_c * (n_c - 1))

    def _class_kernel(self, block: slice) -> np.ndarray:
        return self.K[block, block] * self.s[block] * self.s[block][:, None]


def _inverse(M: np.ndarray, alpha: float, beta: float, K: np.ndarray) -> np.ndarray:
    """Return the inverse of a positive definite matrix, which is overwritten."""
    factor, info = lapack.dpotrf(M.T, lower=0, overwrite_a=1)
    if info == 0:
        inverse, info = lapack.dpotri(factor, lower=0, overwrite_c=1)
    if info != 0:
        raise NotPositiveDefinite(K, alpha, beta)
    # LAPACK filled one triangle and left zeros in the other
    full: np.ndarray = inverse + inverse.T
    full[np.diag_indices_from(full)] /= 2
    return full.T


class _Fits:
    """What the n left-out problems are made of; weights of left-out fits are rows."""

    def __init__(self, K: np.ndarray, sizes: Sequence[int] | np.ndarray, alpha: float, beta: float) -> None:
        self.K, self.blocks = K, class_slices(sizes)
        self.ridge = alpha * np.diagonal(K) + beta
        n, g = len(K), len(self.blocks)
        #: weight of the block of class i in the fit without k
        self.share = np.repeat([[alpha / (block.stop - block.start) for block in self.blocks]], n, axis=0)
        self.shape = (n, g)
        for i, block in enumerate(self.blocks):
            if block.stop - block.start > 1:
                self.share[block, i] = alpha / (block.stop - block.start - 1)

    def class_products(self, W: np.ndarray) -> np.ndarray:
        """Return the rows whose part of class i is K_ii w_i."""
        own = np.empty_like(W)
        for block in self.blocks:
            own[:, block] = W[:, block] @ self.K[block, block]
        return own

    def gap(self, W: np.ndarray, own: np.ndarray, fits: np.ndarray) -> np.ndarray:
        """Return what is left of the optimality conditions without the examples `fits`; rows are theirs."""
        gap: np.ndarray = W @ self.K
        gap -= self.K if len(fits) == len(self.K) else self.K[fits]
        gap += self.ridge * W
        for i, block in enumerate(self.blocks):
            gap[:, block] -= own[:, block] * self.share[fits, i][:, None]
        gap[np.arange(len(fits)), fits] = 0.0
        return gap

    def residual(self, gap: np.ndarray, fits: np.ndarray) -> np.ndarray:
        """Return the largest entry of each gap relative to the kernel vector of the example left out."""
        Kx = np.abs(self.K if len(fits) == len(self.K) else self.K[fits])
        Kx[np.arange(len(fits)), fits] = 0.0
        right = Kx.max(axis=1)
        return np.maximum(gap.max(axis=1), -gap.min(axis=1)) / np.where(right > 0, right, 1.0)

    def dissimilarity(self, W: np.ndarray, own: np.ndarray) -> np.ndarray:
        """Return eq. (10) of the left-out fits, with K w from their optimality conditions."""
        quadratic, ridge, linear = np.empty(self.shape), np.empty(self.shape), np.empty(self.shape)
        for i, block in enumerate(self.blocks):
            part = W[:, block]
            quadratic[:, i] = np.einsum("kj,kj->k", part, own[:, block])
            linear[:, i] = np.einsum("kj,kj->k", part, self.K[:, block])  # entry k itself meets weight 0
            ridge[:, i] = (part * part) @ self.ridge[block]
        # w_i'(K w)_i: the optimality condition of class i, times w_i
        through = linear - ridge + self.share * quadratic
        # (w - w_i)'K(w - w_i) = w'Kw - 2 w_i'Kw + w_i'K w_i
        delta: np.ndarray = through.sum(axis=1, keepdims=True) + 2 * (quadratic - through - linear)
        for i, block in enumerate(self.blocks):
            if block.stop - block.start == 1:
                delta[block.start, i] = np.inf
        return delta


def _direct_residual(
    K: np.ndarray, sizes: Sequence[int] | np.ndarray, k: int, alpha: float, beta: float
) -> float:
    """Return the residual of the fit without example `k` that is solved by itself."""
    fits, at = _Fits(K, sizes, alpha, beta), np.array([k])
    try:
        w = _left_out_directly(K, sizes, k, alpha, beta)[None]
    except NotPositiveDefinite:
        return np.inf
    return float(fits.residual(fits.gap(w, fits.class_products(w), at), at)[0])


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

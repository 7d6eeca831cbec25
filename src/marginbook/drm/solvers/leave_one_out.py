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
with the class blocks of K only; that of a class with more than half of the rows follows from the others.
Derivation: notebook ``drm/01_the_model``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..model.objective import class_slices, validate_parameters
from .direct import NotPositiveDefinite, closed_form
from .downdate import FAR, Downdate, large_class


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
        Iterative refinement starts where a residual exceeds a hundredth of this; with `probes`, this.
    fallback : bool or int
        Solve those examples one by one, O(n^3) each, whose residual still exceeds `tol` after refinement. The
        fast formula inverts the rescaled system as a whole, which can be singular although each left-out part
        of it is positive definite. A number is the most that are solved so; where more are missed, none is.
    probes : int, optional
        Certify about so many of the left-out fits, those with the most extreme pivots among them, instead of
        all: the certificate of all costs a product of two n x n matrices. One probe that misses makes it all.
    give_up : float
        Before all are refined, those certified are, and the worst of them is solved by itself. Where its
        residual exceeds this either way, the last one alone is returned, and `delta` is NaN.

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
    downdate = Downdate(K, sizes, alpha, beta)
    W = downdate.weights()
    everyone = np.arange(n)
    checked = everyone if probes is None else downdate.most_extreme(probes)
    looked = W[checked]
    gap = fits.gap(looked, fits.class_products(looked), checked)
    residual = fits.residual(gap, checked)
    if (residual <= (tol / 100 if probes is None else tol)).all():
        own = fits.class_products(W) if probes is None else fits.class_products_at_optimum(W)
        return LeaveOneOut(fits.dissimilarity(W, own), residual)
    if np.isfinite(give_up):
        *_, left = _refined(fits, downdate, looked, checked, tol)
        if not left.max() <= give_up:
            farthest = int(checked[np.argmax(left)])  # the first NaN, if there is one
            worst = _direct_residual(K, sizes, farthest, alpha, beta)
            if not worst <= give_up:
                return LeaveOneOut(np.full((n, len(sizes)), np.nan), np.array([worst]))
    W, own, residual = _refined(fits, downdate, W, everyone, tol)
    missed = np.flatnonzero(~(residual <= tol))
    if 0 < len(missed) <= (n if fallback is True else int(fallback)):
        for k in missed:
            with contextlib.suppress(NotPositiveDefinite):  # the residual tells
                W[k] = _left_out_directly(K, sizes, int(k), alpha, beta)
        own[missed] = fits.class_products(W[missed])
        residual[missed] = fits.residual(fits.gap(W[missed], own[missed], missed), missed)
    return LeaveOneOut(fits.dissimilarity(W, own), residual)


def _refined(
    fits: _Fits, downdate: Downdate, W: np.ndarray, out: np.ndarray, tol: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return weights after iterative refinement, their products with the class blocks, and the residuals.

    Rows of W are the fits without the examples `out`. All take one step; those whose residual exceeds `tol`
    go on while it falls by half at least.
    """
    W = W - downdate.solve(fits.gap(W, fits.class_products(W), out), out)
    own = fits.class_products(W)
    residual = fits.residual(fits.gap(W, own, out), out)
    going = np.flatnonzero(~(residual <= tol))
    while len(going):
        after = W[going] - downdate.solve(fits.gap(W[going], own[going], out[going]), out[going])
        products = fits.class_products(after)
        left = fits.residual(fits.gap(after, products, out[going]), out[going])
        better = left <= residual[going] / 2
        going = going[better]
        W[going], own[going], residual[going] = after[better], products[better], left[better]
        going = going[residual[going] > tol]
    return W, own, residual


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

    def class_products_at_optimum(self, W: np.ndarray) -> np.ndarray:
        """Return the same for all fits, if they meet their optimality conditions; rows of W are all fits.

        For a class c with more than half of the rows, o being the others,
        (1 - share) K_cc w_c = K_c - K_co w_o - ridge_c w_c costs less. There entry k of fit k, which has no
        such condition and meets the weight 0, is not right.
        """
        large = large_class(self.blocks)
        if large is None or not (np.abs(1 - self.share[:, large]) >= FAR).all():
            return self.class_products(W)
        own = np.empty_like(W)
        for i, block in enumerate(self.blocks):
            if i != large:
                own[:, block] = W[:, block] @ self.K[block, block]
                continue
            part = self.K[:, block] - self.ridge[block] * W[:, block]
            for other in self.blocks:
                if other != block:
                    part -= W[:, other] @ self.K[other, block]
            part /= (1 - self.share[:, i])[:, None]
            own[:, block] = part
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

r"""Exact linear DRM in one pass over the data, with prediction that does not depend on n.

With :math:`D_i=\mathrm{diag}(\alpha\lVert x_k\rVert^2+\beta)` over class i, the closed form (13) gives the
class projections as linear maps of the test point (Woodbury's identity, once per class and once over all):

.. math::

   G_i=A_iD_i^{-1}A_i^\top,\quad C_i=G_i\bigl(I-\tfrac{\alpha}{n_i}G_i\bigr)^{-1},\quad
   Y=\bigl(I+\textstyle\sum_jC_j\bigr)^{-1},\quad \psi_i=A(w^\star|_{C_i})=T_ix,\ T_i=C_iY.

The paper calls Algorithm 2, which factorises the n x n system, impractical for large n (Remark 2); for
explicit features the same solution needs no such system.
Proof and experiments: notebook ``drm/01_the_model``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.sparse import csr_matrix, issparse
from sklearn.utils import assert_all_finite

from ...base.interruptible import LARGE, interruptible
from ..model.objective import validate_parameters

#: rows that are handled at a time: a chunk of 50 features stays in the cache of one core
CHUNK = 4096
EPS = float(np.finfo(float).eps)
TINY = float(np.finfo(float).tiny)


@dataclass
class ClassMoments:
    """What one pass keeps of the data: weighted second moments and sizes of the classes.

    Two of these, from two parts of the data, add up to those of the whole.

    Attributes
    ----------
    G : (g, p, p) array
        ``G_i`` of the module's docstring.
    sizes : (g,) array
        Class sizes, or the weights of the classes where rows have weights.
    deficit : (g,) array
        Sums of ``beta / (alpha * |x_k|**2 + beta)``: what the trace of ``alpha * G_i`` lacks to ``n_i``, kept
        because subtracting would lose it when beta is small.
    alpha, beta : float
    """

    G: np.ndarray
    sizes: np.ndarray
    deficit: np.ndarray
    alpha: float
    beta: float

    @classmethod
    def empty(cls, n_classes: int, n_features: int, alpha: float, beta: float) -> ClassMoments:
        validate_parameters(alpha, beta)
        G = np.zeros((n_classes, n_features, n_features))
        return cls(G, np.zeros(n_classes, dtype=np.int64), np.zeros(n_classes), alpha, beta)

    def add(
        self,
        X: np.ndarray | csr_matrix,
        y: np.ndarray,
        constant: bool = False,
        row_weights: np.ndarray | None = None,
    ) -> ClassMoments:
        """Take in rows `X`, (n, p), with class numbers `y` in 0..g-1; return self.

        With `constant`, a feature that is 1 everywhere is appended to each chunk. A row of weight k counts as
        k equal rows.
        """
        self.sizes = self.sizes + np.bincount(y, row_weights, minlength=len(self.sizes))
        for rows, label, own in _chunks(X, y, constant, row_weights):
            norms = np.einsum("ij,ij->i", rows, rows)
            weights = 1.0 / (self.alpha * norms + self.beta)
            if not (np.isfinite(norms).all() and np.isfinite(weights).all() and weights.all()):
                assert_all_finite(rows, input_name="X")  # NaN and infinity have a message of their own
                raise ValueError(
                    "the squared lengths of the examples, with these alpha and beta, leave the range of "
                    "double precision; scale the features"
                )
            if own is not None:
                weights *= own
            self.deficit[label] += self.beta * weights.sum()
            rows *= np.sqrt(weights)[:, None]
            self.G[label] += rows.T @ rows
        return self

    def __add__(self, other: ClassMoments) -> ClassMoments:
        if (self.alpha, self.beta, self.G.shape) != (other.alpha, other.beta, other.G.shape):
            raise ValueError("moments add up only for equal alpha, beta, number of classes and of features")
        sizes, deficit = self.sizes + other.sizes, self.deficit + other.deficit
        return ClassMoments(self.G + other.G, sizes, deficit, self.alpha, self.beta)


@dataclass(frozen=True)
class LinearMaps:
    """The maps of a fitted linear DRM.

    Attributes
    ----------
    T : (g, p, p) array
        ``psi_i = T[i] @ x``.
    R : (g, p, p) array
        Symmetric, ``delta_i(x) = x' R[i] x`` (claim ``drm/homogeneous``).
    kkt_residual : float
        Relative norm of what is left of the optimality conditions of (12) for all test points at once, or
        what rounding can hide in the moments where a class is nearly collinear, whichever is larger.
    """

    T: np.ndarray
    R: np.ndarray
    kkt_residual: float

    def dissimilarity(self, X: np.ndarray | csr_matrix, constant: bool = False) -> np.ndarray:
        """Return the (m, g) class dissimilarities (10) of the rows of `X`, (m, p)."""
        g, p, _ = self.R.shape
        wide = self.R.transpose(2, 0, 1).reshape(p, g * p)
        delta = np.empty((X.shape[0], g))
        for start in range(0, X.shape[0], CHUNK):
            rows = _dense(X[start : start + CHUNK], constant)
            product = (rows @ wide).reshape(len(rows), g, p)
            np.einsum("mgp,mp->mg", product, rows, out=delta[start : start + CHUNK])
        return delta


def linear_maps(moments: ClassMoments) -> LinearMaps:
    """Solve the linear DRM from its moments; O(g p^3), independent of n.

    A class without examples gets the zero map.
    """
    g, p, _ = moments.G.shape
    eye = np.eye(p)
    C = np.zeros((g, p, p))
    worst = 0.0
    for i in map(int, np.flatnonzero(moments.sizes)):
        G = moments.G[i]
        spectrum, U = interruptible(np.linalg.eigh, G) if p > LARGE else eigh(G)
        gap, rounding = _one_minus(moments, i, spectrum)
        C[i] = (U * (spectrum / gap)) @ U.T
        shrunk = eye - (moments.alpha / moments.sizes[i]) * moments.G[i]
        size = max(float(np.linalg.norm(moments.G[i])), TINY)
        step = float(np.linalg.norm(C[i] @ shrunk - moments.G[i])) / size
        # this product itself loses what the smallest gap loses: only more than that counts as an error
        worst = max(worst, rounding, step if step > 10 * p * EPS / gap.min() else 0.0)
    total = eye + C.sum(axis=0)
    try:
        Y = cho_solve(cho_factor(total), eye)
    except ValueError:
        raise ValueError(
            "the maps are singular to rounding: the rows are too long beside beta; scale the features, or "
            "raise beta"
        ) from None
    T = C @ Y
    S = T.sum(axis=0)
    rest = S - T
    T_transposed = T.transpose(0, 2, 1)
    R = T_transposed @ T - T - T_transposed + rest.transpose(0, 2, 1) @ rest
    # w*_k = x_k' z_i / d_k with z_i = (I - (alpha/n_i) G_i)^{-1} Y x, so the gradient of (12) at w* is
    # x_k' (sum_j psi_j + Y x - x): it vanishes for every x when this matrix does
    residual = max(worst, float(np.linalg.norm(S + Y - eye) / np.sqrt(p)))
    return LinearMaps(T, (R + R.transpose(0, 2, 1)) / 2, residual)


def _one_minus(moments: ClassMoments, i: int, spectrum: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the eigenvalues of I - (alpha/n_i) G_i, the smallest without cancellation, and its error.

    The trace of (alpha/n_i) G_i is 1 - deficit/n_i, so the gap of the largest eigenvalue is a sum of
    non-negative terms. It matters for classes of collinear examples, or of one.
    """
    scaled = np.clip(moments.alpha / moments.sizes[i] * spectrum, 0.0, 1.0)
    gap = 1.0 - scaled
    others = scaled[:-1]
    noise = len(scaled) * EPS * scaled[-1]
    real = others[others > noise]
    gap[-1] = moments.deficit[i] / moments.sizes[i] + real.sum()
    return gap, float(noise / gap[-1]) if real.size else EPS


def _dense(rows: Any, constant: bool) -> np.ndarray:
    dense: np.ndarray = np.asarray(rows.toarray() if issparse(rows) else rows, dtype=float)
    return np.hstack([dense, np.ones((len(dense), 1))]) if constant else dense


def _chunks(
    X: np.ndarray | csr_matrix, y: np.ndarray, constant: bool, row_weights: np.ndarray | None
) -> Iterator[tuple[np.ndarray, int, np.ndarray | None]]:
    """Yield rows of one class, chunk by chunk; the caller may overwrite them, and the next chunk does."""
    buffer = np.empty((min(CHUNK, len(y)), X.shape[1] + int(constant)))
    for start in range(0, len(y), CHUNK):
        labels = y[start : start + CHUNK]
        rows = buffer[: len(labels)]
        # sorted by class inside the chunk: it is read once from memory and stays in the cache
        order = np.argsort(labels, kind="stable")
        np.take(_dense(X[start : start + CHUNK], constant), order, axis=0, out=rows, mode="clip")
        own = None if row_weights is None else row_weights[start + order]
        ends = np.cumsum(np.bincount(labels))
        for label, end in enumerate(ends):
            first = int(ends[label - 1]) if label else 0
            if end > first:
                yield rows[first : int(end)], label, None if own is None else own[first : int(end)]

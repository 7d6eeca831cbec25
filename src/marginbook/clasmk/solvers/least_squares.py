r"""Regularised least squares with a free bias, and every row's leave-one-out prediction, in closed form.

For each column y of the targets

.. math:: \min_{w,b}\ \tfrac12\lVert w\rVert^2+\tfrac C2\sum_i(y_i-b-w^\top\phi(x_i))^2,\qquad
   \begin{pmatrix}0&1^\top\\1&K+I/C\end{pmatrix}\begin{pmatrix}b\\a\end{pmatrix}
   =\begin{pmatrix}0\\y\end{pmatrix},\qquad w=\sum_ia_i\phi(x_i).

With H the bordered matrix, the model without row i misses :math:`y_i` by :math:`a_i/(H^{-1})_{ii}` (Cawley &
Talbot 2004). As :math:`1^\top a=0`, nothing but the part of K orthogonal to the vector 1 enters, and what is
left of H is the positive definite :math:`Q^\top KQ+I/C`, the columns of Q a basis of that part.

Weights :math:`s_i>0` of the squared errors make it :math:`K+\operatorname{diag}(s)^{-1}/C`. With
:math:`r_i=\sqrt{s_i}`, :math:`a=r\tilde a`, these are the equations of :math:`r_iK_{ij}r_j` and of
:math:`r_iy_i` with r in the place of the vector 1. Leaving out a row takes all of its weight.

For many rows see :mod:`.least_squares_large`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import lapack, solve_triangular

from ...base.interruptible import LARGE, interruptible
from ...kernels.decomposition import eigh, svd

#: reciprocal condition number below which a Cholesky factor is not trusted and the spectrum is taken
TRUSTED = 1e-11
#: share of a row that its own fit leaves free, below which the Cholesky factor's value of it is not trusted
FREE = 1e-6
#: operations of one call, so that an interrupt is heard within a second or so
OPERATIONS = 10**10


@dataclass(frozen=True)
class LeastSquares:
    """One solution of n rows and m columns of targets.

    Attributes
    ----------
    dual : (n, m) array
        a, ``C`` times the weight times the residual of the fit; each column sums to 0.
    bias : (m,) array
    left_out : (n, m) array or None
        What the model of the other rows, with the same ``C``, predicts for each row; None if not computed.
    coef : (p, m) array or None
        w, if the features were given.
    """

    dual: np.ndarray
    bias: np.ndarray
    left_out: np.ndarray | None
    coef: np.ndarray | None = None


@dataclass(frozen=True)
class Spectrum:
    r"""The factorisation :math:`Q^\top KQ=V\operatorname{diag}(l)V^\top`, from which any C costs O(n^2 + nm).

    Attributes
    ----------
    vectors : (n, r) array
        Orthonormal, and orthogonal to ``root``: QV, or the left singular vectors of the centred features.
    values : (r,) array
        l >= 0; those in the rounding error of the largest are 0.
    targets : (n, m) array
    outside : (n,) array
        Squared distance of each unit vector to the span of ``vectors`` and ``root``.
    matrix : (n, n) array, K, or (n, p) array, the features
    root : (n,) array
        Roots of the weights; without weights 1.
    right : (p, r) array or None
        Right singular vectors of the centred features; None for a kernel.
    """

    vectors: np.ndarray
    values: np.ndarray
    targets: np.ndarray
    outside: np.ndarray
    matrix: np.ndarray
    root: np.ndarray
    right: np.ndarray | None = None

    @classmethod
    def of_kernel(cls, K: np.ndarray, targets: np.ndarray, weights: np.ndarray | None = None) -> Self:
        """Factor the Gram matrix `K`, (n, n), for `targets`, (n, m), by one eigendecomposition."""
        root = _root(len(K), weights)
        normal = _reflector(root)
        reduced = _reflect_both(_scaled(K, weights), normal)[1:, 1:]
        values, small = eigh(reduced)
        vectors = _reflect(np.vstack([np.zeros((1, len(values))), small]), normal)
        values[values <= len(K) * np.finfo(float).eps * np.abs(values).max(initial=0.0)] = 0.0
        return cls(vectors, values, targets, np.zeros(len(K)), K, root)

    @classmethod
    def of_features(cls, X: np.ndarray, targets: np.ndarray, weights: np.ndarray | None = None) -> Self:
        """Factor the (n, p) features `X` for `targets`, (n, m), by one singular value decomposition."""
        root = _root(len(X), weights)
        left, singular, right = svd((X - _mean(X, weights)) * root[:, None])
        kept = singular > max(X.shape) * np.finfo(float).eps * singular.max(initial=0.0)
        left, singular, right = left[:, kept], singular[kept], right[kept]
        outside = np.maximum(1 - root**2 / (root**2).sum() - (left**2).sum(axis=1), 0.0)
        return cls(left, singular**2, targets, outside, X, root, right.T)

    def solve(self, C: float) -> LeastSquares:
        """Return the solution with the weight `C` > 0 of the errors."""
        ridge, root = 1.0 / C, self.root[:, None]
        shares = ridge / (ridge + self.values)
        weights = None if (self.root == 1).all() else self.root**2
        centred = (self.targets - _mean(self.targets, weights)) * root
        parts = self.vectors.T @ centred
        beyond = 0.0 if self.right is None else centred - self.vectors @ parts
        residual = self.vectors @ (parts * shares[:, None]) + beyond
        scaled = self.vectors @ (parts / (ridge + self.values)[:, None])
        dual = (scaled if self.right is None else scaled + C * beyond) * root
        free = np.maximum(self.outside + self.vectors**2 @ shares, np.finfo(float).tiny)
        left_out = self.targets - residual / free[:, None] / root
        if self.right is None:
            fitted = self.matrix @ dual
            return LeastSquares(dual, _mean(self.targets - fitted, weights), left_out)
        coef = self.right @ (parts * (np.sqrt(self.values) / (ridge + self.values))[:, None])
        return LeastSquares(dual, _mean(self.targets - self.matrix @ coef, weights), left_out, coef)


def solve_kernel(
    K: np.ndarray, targets: np.ndarray, C: float, weights: np.ndarray | None = None
) -> LeastSquares:
    """Return the solution for one `C` by a Cholesky factor, or by the spectrum where that cannot be trusted.

    Parameters
    ----------
    K : (n, n) array
        Symmetric, positive semidefinite.
    targets : (n, m) array
    C : float
    weights : (n,) array of numbers > 0, optional
    """
    root = _root(len(K), weights)
    normal = _reflector(root)
    # the transpose of a symmetric matrix is itself, and in the order that LAPACK overwrites
    reduced = _reflect_both(_scaled(K, weights), normal)[1:, 1:].T
    reduced[np.diag_indices_from(reduced)] += 1.0 / C
    factor = _cholesky(reduced)
    if factor is None:
        return Spectrum.of_kernel(K, targets, weights).solve(C)
    turned = _reflect(targets * root[:, None], normal)
    turned[1:] = lapack.dpotrs(factor, turned[1:], lower=1)[0]
    turned[0] = 0.0
    scaled = _reflect(turned, normal)
    inverse = np.zeros_like(K)
    inverse[1:, 1:] = lapack.dpotri(factor, lower=1, overwrite_c=1)[0]
    inverse[1:, 1:] += np.tril(inverse[1:, 1:], -1).T
    moved = inverse @ normal
    free = inverse.diagonal() - 4 * normal * moved + 4 * normal**2 * (normal @ moved)
    left_out = targets - scaled / free[:, None] / root[:, None]
    dual = scaled * root[:, None]
    return LeastSquares(dual, _mean(targets - K @ dual, weights), left_out)


def solve_features(
    X: np.ndarray, targets: np.ndarray, C: float, weights: np.ndarray | None = None
) -> LeastSquares:
    """Return the solution for one `C` in the space of the features, as `solve_kernel` does for a kernel.

    Parameters
    ----------
    X : (n, p) array
    targets : (n, m) array
    C : float
    weights : (n,) array of numbers > 0, optional
    """
    mean, around = _mean(X, weights), targets - _mean(targets, weights)
    root, total = _root(len(X), weights), float(len(X) if weights is None else weights.sum())
    p = X.shape[1]
    rows = [slice(at, at + _height(p)) for at in range(0, len(X), _height(p))]
    moments, right = np.zeros((p, p)), np.zeros((p, targets.shape[1]))
    for part in rows:
        block = (X[part] - mean) * root[part, None]
        moments += block.T @ block
        right += block.T @ (around[part] * root[part, None])
    moments[np.diag_indices_from(moments)] += 1.0 / C
    factor = _cholesky(moments)
    if factor is not None:
        coef = lapack.dpotrs(factor, right, lower=1)[0]
        free, residual = 1 - root**2 / total, around
        for part in rows:
            block = X[part] - mean
            residual[part] -= block @ coef
            block = block * root[part, None]
            free[part] -= (solve_triangular(factor, block.T, lower=True, check_finite=False) ** 2).sum(axis=0)
        if free.min() > FREE:
            bias = _mean(targets, weights) - mean @ coef
            dual = C * residual * root[:, None] ** 2
            return LeastSquares(dual, bias, targets - residual / free[:, None], coef)
    return Spectrum.of_features(X, targets, weights).solve(C)


def _cholesky(matrix: np.ndarray) -> np.ndarray | None:
    """Return the lower factor of `matrix`, (k, k), in its place; None if it is not safely definite."""
    if len(matrix) == 0:
        return None
    scale = np.abs(matrix).sum(axis=0).max()
    if len(matrix) <= 2 * LARGE:
        factor, failed = lapack.dpotrf(matrix, lower=1, clean=1, overwrite_a=1)
    else:
        try:
            factor, failed = np.asfortranarray(interruptible(np.linalg.cholesky, matrix)), 0
        except np.linalg.LinAlgError:
            return None
    if failed or not np.isfinite(scale) or lapack.dpocon(factor, scale, uplo="L")[0] < TRUSTED:
        return None
    return factor


def _height(p: int) -> int:
    """Return how many rows of `p` features are multiplied at once: for about a second."""
    return max(1, OPERATIONS // (p * p + 1))


def _mean(A: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return the weighted mean of the rows of `A`."""
    return np.asarray(A.mean(axis=0) if weights is None else weights @ A / weights.sum())


def _root(n: int, weights: np.ndarray | None) -> np.ndarray:
    """Return the roots of the weights of `n` rows."""
    return np.ones(n) if weights is None else np.sqrt(weights)


def _scaled(K: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return `K` with rows and columns times the roots of the weights."""
    root = _root(len(K), weights)
    return K if weights is None else K * root * root[:, None]


def _reflector(root: np.ndarray) -> np.ndarray:
    """Return the unit vector u of the reflection I - 2uu' that takes `root` to a multiple of e_1."""
    normal = root / np.linalg.norm(root)
    normal[0] += 1.0
    return normal / np.linalg.norm(normal)


def _reflect(columns: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Return the reflected `columns`, (n, k)."""
    return columns - np.outer(2 * normal, normal @ columns)


def _reflect_both(K: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Return the symmetric `K`, (n, n), with rows and columns reflected."""
    moved = K @ normal
    moved -= (normal @ moved) * normal
    shift = np.outer(2 * normal, moved)
    return np.asarray(K - shift - shift.T)

r"""Regularised least squares with a free bias, and every row's leave-one-out prediction, in closed form.

For each column y of the targets

.. math:: \min_{w,b}\ \tfrac12\lVert w\rVert^2+\tfrac C2\sum_i(y_i-b-w^\top\phi(x_i))^2,\qquad
   \begin{pmatrix}0&1^\top\\1&K+I/C\end{pmatrix}\begin{pmatrix}b\\a\end{pmatrix}
   =\begin{pmatrix}0\\y\end{pmatrix},\qquad w=\sum_ia_i\phi(x_i).

With H the bordered matrix, the model without row i misses :math:`y_i` by :math:`a_i/(H^{-1})_{ii}` (Cawley &
Talbot 2004). As :math:`1^\top a=0`, nothing but the part of K orthogonal to the vector 1 enters, and what is
left of H is the positive definite :math:`Q^\top KQ+I/C`, the columns of Q a basis of that part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import eigh, lapack, solve_triangular, svd

#: reciprocal condition number below which a Cholesky factor is not trusted and the spectrum is taken
TRUSTED = 1e-11
#: share of a row that its own fit leaves free, below which the Cholesky factor's value of it is not trusted
FREE = 1e-6


@dataclass(frozen=True)
class LeastSquares:
    """One solution of n rows and m columns of targets.

    Attributes
    ----------
    dual : (n, m) array
        a, ``C`` times the residual of the fit; each column sums to 0.
    bias : (m,) array
    left_out : (n, m) array
        What the model of the other rows, with the same ``C``, predicts for each row.
    coef : (p, m) array or None
        w, if the features were given.
    """

    dual: np.ndarray
    bias: np.ndarray
    left_out: np.ndarray
    coef: np.ndarray | None = None


@dataclass(frozen=True)
class Spectrum:
    r"""The factorisation :math:`Q^\top KQ=V\operatorname{diag}(l)V^\top`, from which any C costs O(n^2 + nm).

    Attributes
    ----------
    vectors : (n, r) array
        Orthonormal, and orthogonal to the vector 1: QV, or the left singular vectors of the centred features.
    values : (r,) array
        l >= 0; those in the rounding error of the largest are 0.
    targets : (n, m) array
    outside : (n,) array
        Squared distance of each unit vector to the span of ``vectors`` and 1.
    matrix : (n, n) array, K, or (n, p) array, the features
    right : (p, r) array or None
        Right singular vectors of the centred features; None for a kernel.
    """

    vectors: np.ndarray
    values: np.ndarray
    targets: np.ndarray
    outside: np.ndarray
    matrix: np.ndarray
    right: np.ndarray | None = None

    @classmethod
    def of_kernel(cls, K: np.ndarray, targets: np.ndarray) -> Self:
        """Factor the Gram matrix `K`, (n, n), for `targets`, (n, m), by one eigendecomposition."""
        normal = _reflector(len(K))
        values, small = eigh(_reflect_both(K, normal)[1:, 1:], driver="evd", overwrite_a=True)
        vectors = _reflect(np.vstack([np.zeros((1, len(values))), small]), normal)
        values[values <= len(K) * np.finfo(float).eps * np.abs(values).max(initial=0.0)] = 0.0
        return cls(vectors, values, targets, np.zeros(len(K)), K)

    @classmethod
    def of_features(cls, X: np.ndarray, targets: np.ndarray) -> Self:
        """Factor the (n, p) features `X` for `targets`, (n, m), by one singular value decomposition."""
        left, singular, right = svd(X - X.mean(axis=0), full_matrices=False)
        kept = singular > max(X.shape) * np.finfo(float).eps * singular.max(initial=0.0)
        left, singular, right = left[:, kept], singular[kept], right[kept]
        outside = np.maximum(1 - 1 / len(X) - (left**2).sum(axis=1), 0.0)
        return cls(left, singular**2, targets, outside, X, right.T)

    def solve(self, C: float) -> LeastSquares:
        """Return the solution with the weight `C` > 0 of the errors."""
        ridge = 1.0 / C
        shares = ridge / (ridge + self.values)
        centred = self.targets - self.targets.mean(axis=0)
        parts = self.vectors.T @ centred
        beyond = 0.0 if self.right is None else centred - self.vectors @ parts
        residual = self.vectors @ (parts * shares[:, None]) + beyond
        scaled = self.vectors @ (parts / (ridge + self.values)[:, None])
        dual = scaled if self.right is None else scaled + C * beyond
        free = np.maximum(self.outside + self.vectors**2 @ shares, np.finfo(float).tiny)
        left_out = self.targets - residual / free[:, None]
        if self.right is None:
            fitted = self.matrix @ dual
            return LeastSquares(dual, (self.targets - fitted).mean(axis=0), left_out)
        coef = self.right @ (parts * (np.sqrt(self.values) / (ridge + self.values))[:, None])
        return LeastSquares(dual, (self.targets - self.matrix @ coef).mean(axis=0), left_out, coef)


def solve_kernel(K: np.ndarray, targets: np.ndarray, C: float) -> LeastSquares:
    """Return the solution for one `C` by a Cholesky factor, or by the spectrum where that cannot be trusted.

    Parameters
    ----------
    K : (n, n) array
        Symmetric, positive semidefinite.
    targets : (n, m) array
    C : float
    """
    normal = _reflector(len(K))
    # the transpose of a symmetric matrix is itself, and in the order that LAPACK overwrites
    reduced = _reflect_both(K, normal)[1:, 1:].T
    reduced[np.diag_indices_from(reduced)] += 1.0 / C
    factor = _cholesky(reduced)
    if factor is None:
        return Spectrum.of_kernel(K, targets).solve(C)
    turned = _reflect(targets, normal)
    turned[1:] = lapack.dpotrs(factor, turned[1:], lower=1)[0]
    turned[0] = 0.0
    dual = _reflect(turned, normal)
    inverse = np.zeros_like(K)
    inverse[1:, 1:] = lapack.dpotri(factor, lower=1, overwrite_c=1)[0]
    inverse[1:, 1:] += np.tril(inverse[1:, 1:], -1).T
    moved = inverse @ normal
    free = inverse.diagonal() - 4 * normal * moved + 4 * normal**2 * (normal @ moved)
    left_out = targets - dual / free[:, None]
    return LeastSquares(dual, (targets - K @ dual).mean(axis=0), left_out)


def solve_features(X: np.ndarray, targets: np.ndarray, C: float) -> LeastSquares:
    """Return the solution for one `C` in the space of the features, as `solve_kernel` does for a kernel.

    Parameters
    ----------
    X : (n, p) array
    targets : (n, m) array
    C : float
    """
    centred = X - X.mean(axis=0)
    moments = centred.T @ centred
    moments[np.diag_indices_from(moments)] += 1.0 / C
    factor = _cholesky(moments)
    if factor is not None:
        spread = solve_triangular(factor, centred.T, lower=True, check_finite=False)
        free = 1 - 1 / len(X) - (spread**2).sum(axis=0)
        if free.min() > FREE:
            around = targets - targets.mean(axis=0)
            coef = lapack.dpotrs(factor, centred.T @ around, lower=1)[0]
            residual = around - centred @ coef
            bias = targets.mean(axis=0) - X.mean(axis=0) @ coef
            return LeastSquares(C * residual, bias, targets - residual / free[:, None], coef)
    return Spectrum.of_features(X, targets).solve(C)


def kkt_residual(K: np.ndarray, targets: np.ndarray, C: float, found: LeastSquares) -> float:
    """Return the largest error of the bordered equations of `found`, relative to the largest target.

    Parameters
    ----------
    K : (n, n) array
    targets : (n, m) array
    C : float
    found : LeastSquares
    """
    rows = K @ found.dual + found.dual / C + found.bias - targets
    worst = max(np.abs(rows).max(), np.abs(found.dual.sum(axis=0)).max() / C)
    return float(worst / np.abs(targets).max())


def _cholesky(matrix: np.ndarray) -> np.ndarray | None:
    """Return the lower factor of `matrix`, (k, k), in its place; None if it is not safely definite."""
    if len(matrix) == 0:
        return None
    scale = np.abs(matrix).sum(axis=0).max()
    factor, failed = lapack.dpotrf(matrix, lower=1, clean=1, overwrite_a=1)
    if failed or not np.isfinite(scale) or lapack.dpocon(factor, scale, uplo="L")[0] < TRUSTED:
        return None
    return factor


def _reflector(n: int) -> np.ndarray:
    """Return the unit vector u of the reflection I - 2uu' that takes the vector 1 to a multiple of e_1."""
    normal = np.full(n, 1 / np.sqrt(n))
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

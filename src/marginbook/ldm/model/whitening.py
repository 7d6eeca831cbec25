r"""The matrix H of the dual: the Gram matrix, whitened by the variance term.

With :math:`c=4\lambda_1/m`, :math:`P=c(I-yy^\top/m)` and :math:`Y=\mathrm{diag}(y)`, the matrix of (12) is

.. math:: H=YG(I+PG)^{-1}Y .

The paper's :math:`GQ^{-1}G` is the same wherever :math:`Q=GPG+G` is invertible; this form needs no inverse
of G, so duplicates and linear kernels with more examples than features are no special case.
"""

from __future__ import annotations

from copy import copy

import numpy as np
from scipy.linalg import cho_solve
from scipy.linalg.blas import dsymv
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from ...base.compiled import njit
from ...base.interruptible import LARGE
from ...kernels.decomposition import cholesky_inverse, eigh, product
from .objective import validate_parameters, validate_signs

#: share of the largest eigenvalue that counts as zero
_ROUNDING = 8 * np.finfo(float).eps
#: c trace(G) beyond which the inverse of I + cG has lost too many digits
_HARD = 1e6
_TILE = 64


class WhitenedGram:
    r"""A Gram matrix with labels, ready to give H for every lambda1.

    With :math:`G=U\,\mathrm{diag}(s)\,U^\top` and :math:`M=(I+cG)^{-1}G=U\,\mathrm{diag}(s/(1+cs))\,U^\top`,
    P differs from cI by a matrix of rank one, hence

    .. math:: H=Y\bigl(M+\rho\,(My)(My)^\top\bigr)Y,\qquad
        \rho=\frac{c/m}{1-\frac cmy^\top My}=\frac c{y^\top(I+cG)^{-1}y} .

    The last form of the denominator is positive and nothing cancels in it. The first lambda1 is served by
    the inverse of I + cG, by Cholesky; a second one triggers the eigendecomposition, which then serves all,
    and so does a first one with a large c trace(G), where the inverse loses digits.

    Parameters
    ----------
    G : (m, m) array
        Symmetric and positive semidefinite.
    y : (m,) array of -1 and +1

    Raises
    ------
    ValueError
        If the shapes, the labels or the symmetry are wrong, or an entry is not finite.

    Examples
    --------
    >>> whitened = WhitenedGram(np.array([[1.0, 0], [0, 2]]), np.array([1.0, -1]))
    >>> whitened.hessian(0.0).tolist()
    [[1.0, -0.0], [-0.0, 2.0]]
    >>> whitened.hessian(1.0).round(3).tolist()
    [[0.75, 0.5], [0.5, 1.0]]
    """

    def __init__(self, G: np.ndarray, y: np.ndarray) -> None:
        gram = np.ascontiguousarray(G, dtype=float)
        if gram.ndim != 2 or gram.shape[0] != gram.shape[1] or not len(gram):
            raise ValueError(f"the Gram matrix must be square and not empty, got shape {gram.shape}")
        if not np.isfinite(gram).all():
            raise ValueError("the Gram matrix has entries that are not finite; scale the data or the kernel")
        size = np.abs(gram).max()
        if np.abs(gram - gram.T).max() > 1e-8 * size:
            raise ValueError("the Gram matrix is not symmetric; pass k(x_i, x_j) of the training examples")
        self.gram, self.y = gram, validate_signs(y, len(gram))
        self._eigen: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
        self._cached: tuple[float, np.ndarray] | None = None
        #: inverses of I + cG by c, which other labels share, once there are any
        self._inverses: dict[float, np.ndarray] | None = None

    def relabelled(self, y: np.ndarray) -> WhitenedGram:
        """Return the same matrix with other labels, (m,), which shares the inverse of I + cG.

        That takes m^2 numbers more, and spares all but O(m^2) of the price of its H.
        """
        if self._inverses is None:
            self._inverses = {}
        other = copy(self)
        other.y, other._cached = validate_signs(y, self.m), None
        if self._eigen is not None:
            other._eigen = (*self._eigen[:2], self._eigen[1].T @ other.y)
        return other

    @property
    def m(self) -> int:
        """Number of examples."""
        return len(self.y)

    def decompose(self) -> tuple[np.ndarray, np.ndarray]:
        """Return eigenvalues, (m,), and eigenvectors, (m, m), of G; computed once.

        Eigenvalues that rounding could have made are 0: a huge c would count them as much as the others.
        """
        if self._eigen is None:
            s, U = eigh(self.gram)
            s[s <= _ROUNDING * s[-1]] = 0.0
            self._eigen = (s, U, U.T @ self.y)
        return self._eigen[:2]

    def hessian(self, lambda1: float) -> np.ndarray:
        """Return H, (m, m), for one `lambda1`; treat it as read-only.

        Raises
        ------
        ValueError
            If `lambda1` is negative or not finite.
        """
        validate_parameters(lambda1, 0.0, 1.0)
        if self._cached is not None and self._cached[0] == lambda1:
            return self._cached[1]
        c = 4.0 * lambda1 / self.m
        stiffness = c * float(np.trace(self.gram))  # at least that of every eigenvalue
        if stiffness <= 0.5 * np.finfo(float).eps:  # I + cG is I, and a c that is not normal has no inverse
            H = self.gram * self.y
            H *= self.y[:, None]
        else:
            fitting_one = self._eigen is None and self._cached is None and stiffness <= _HARD
            found = self._by_cholesky(c) if fitting_one else None
            H = self._by_eigenvectors(c) if found is None else found
        self._cached = (float(lambda1), H)
        return H

    def _by_cholesky(self, c: float) -> np.ndarray | None:
        """Return H from the inverse of I + cG, or None if rounding and a huge c made that indefinite."""
        if self._inverses is not None and c in self._inverses:
            inverse = self._inverses[c]
            z = dsymv(1.0, inverse, self.y, lower=1)
            return self._from_inverse(inverse, z, c)
        shifted = c * self.gram
        shifted[np.diag_indices_from(shifted)] += 1.0
        if self.m <= 2 * LARGE:
            factor, failed = dpotrf(shifted.T, lower=1, overwrite_a=1, clean=0)
            if failed:
                return None
            z = dpotrs(factor, self.y, lower=1)[0]
            inverse, failed = dpotri(factor, lower=1, overwrite_c=1)
            if failed:
                return None
        else:
            try:
                factor, inverse = cholesky_inverse(shifted)
            except np.linalg.LinAlgError:
                return None
            z = cho_solve((factor, True), self.y, check_finite=False)
        if self._inverses is not None:
            self._inverses.clear()
            self._inverses[c] = inverse
        return self._from_inverse(inverse, z, c)

    def _from_inverse(self, inverse: np.ndarray, z: np.ndarray, c: float) -> np.ndarray:
        """Return H from the lower triangle of the inverse of I + cG and its product z with y."""
        H = np.empty_like(self.gram)
        _whiten_by_inverse(inverse.T, self.gram, self.y, np.sqrt(c / (self.y @ z)) * (self.gram @ z), c, H)
        return H

    def _by_eigenvectors(self, c: float) -> np.ndarray:
        self.decompose()
        assert self._eigen is not None
        s, U, p = self._eigen
        shrunk = s / (1.0 + c * s)
        half = U * np.sqrt(shrunk)
        half *= self.y[:, None]
        H = product(half, half.T)
        rho = c / np.sum(p * p / (1.0 + c * s))
        _add_outer(H, np.sqrt(rho) * self.y * (U @ (shrunk * p)))
        return H


@njit(error_model="numpy")
def _add_outer(H: np.ndarray, v: np.ndarray) -> None:
    """Add v v' to `H` in place."""
    for i in range(len(v)):
        row, factor = H[i], v[i]
        for j in range(len(v)):
            row[j] += factor * v[j]


@njit(error_model="numpy")
def _whiten_by_inverse(
    inverse: np.ndarray, G: np.ndarray, y: np.ndarray, v: np.ndarray, c: float, out: np.ndarray
) -> None:
    r"""Write :math:`H=Y(M+vv^\top)Y` to `out`, from the upper triangle of :math:`(I+cG)^{-1}=I-cM`.

    Off the diagonal M is read from it. On the diagonal of a small c the 1 hides M, which then follows from
    :math:`M=G-cGM`, that is :math:`(1+cG_{ii})M_{ii}=G_{ii}-c\sum_{j\ne i}G_{ij}M_{ji}`; the form that loses
    fewer digits is taken.
    """
    m = len(y)
    total, size = np.zeros(m), np.zeros(m)
    for top in range(0, m, _TILE):  # tiles, so that the transposed half is written while it is in the cache
        for left in range(top, m, _TILE):
            for i in range(top, min(top + _TILE, m)):
                for j in range(max(i + 1, left), min(left + _TILE, m)):
                    entry = -inverse[i, j] / c
                    product = G[i, j] * entry
                    total[i] += product
                    total[j] += product
                    size[i] += abs(product)
                    size[j] += abs(product)
                    entry = y[i] * y[j] * (entry + v[i] * v[j])
                    out[i, j] = entry
                    out[j, i] = entry
    for i in range(m):
        entry = (1.0 - inverse[i, i]) / c
        if c * (G[i, i] + c * size[i]) < 1.0 + c * G[i, i]:
            entry = (G[i, i] - c * total[i]) / (1.0 + c * G[i, i])
        out[i, i] = max(entry, 0.0) + v[i] * v[i]

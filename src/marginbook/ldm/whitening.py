r"""The matrix H of the dual: the Gram matrix, whitened by the variance term.

With :math:`c=4\lambda_1/m`, :math:`P=c(I-yy^\top/m)` and :math:`Y=\mathrm{diag}(y)`, the matrix of (12) is

.. math:: H=YG(I+PG)^{-1}Y .

The paper's :math:`GQ^{-1}G` is the same wherever :math:`Q=GPG+G` is invertible; this form needs no inverse
of G, so duplicates and linear kernels with more examples than features are no special case.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from .objective import check_parameters, check_signs


class WhitenedGram:
    r"""A Gram matrix with labels, ready to give H for every lambda1.

    With :math:`G=U\,\mathrm{diag}(s)\,U^\top` and :math:`M=(I+cG)^{-1}G=U\,\mathrm{diag}(s/(1+cs))\,U^\top`,
    P differs from cI by a matrix of rank one, hence

    .. math:: H=Y\bigl(M+\rho\,(My)(My)^\top\bigr)Y,\qquad
        \rho=\frac{c/m}{1-\frac cmy^\top My}=\frac c{y^\top(I+cG)^{-1}y} .

    The last form of the denominator is positive and nothing cancels in it. The first lambda1 is served by a
    Cholesky factor of I + cG; a second one triggers the eigendecomposition, which then serves all others.

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
        self.gram, self.y = gram, check_signs(y, len(gram))
        self._eigen: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
        self._cached: tuple[float, np.ndarray] | None = None

    @property
    def m(self) -> int:
        """Number of examples."""
        return len(self.y)

    def decompose(self) -> tuple[np.ndarray, np.ndarray]:
        """Return eigenvalues, (m,), clipped at 0, and eigenvectors, (m, m), of G; computed once."""
        if self._eigen is None:
            s, U = eigh(self.gram, driver="evd", check_finite=False)
            self._eigen = (np.maximum(s, 0.0), U, U.T @ self.y)
        return self._eigen[:2]

    def hessian(self, lambda1: float) -> np.ndarray:
        """Return H, (m, m), for one `lambda1`; treat it as read-only.

        Raises
        ------
        ValueError
            If `lambda1` is negative or not finite.
        """
        check_parameters(lambda1, 0.0, 1.0)
        if self._cached is not None and self._cached[0] == lambda1:
            return self._cached[1]
        c = 4.0 * lambda1 / self.m
        if c == 0.0:
            M, rank_one = self.gram.copy(), np.zeros(self.m)
        elif self._eigen is None and self._cached is None:
            M, rank_one = self._by_cholesky(c)
        else:
            M, rank_one = self._by_eigenvectors(c)
        M += np.outer(rank_one, rank_one)
        M *= self.y[:, None]
        M *= self.y
        self._cached = (float(lambda1), M)
        return M

    def _by_cholesky(self, c: float) -> tuple[np.ndarray, np.ndarray]:
        shifted = c * self.gram
        shifted[np.diag_indices_from(shifted)] += 1.0
        try:
            factor = cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:  # rounding made G indefinite and c is huge; the eigenvalues can be clipped
            return self._by_eigenvectors(c)
        M = cho_solve(factor, self.gram, check_finite=False)
        M = 0.5 * (M + M.T)
        z = cho_solve(factor, self.y, check_finite=False)
        return M, np.sqrt(c / (self.y @ z)) * (self.gram @ z)

    def _by_eigenvectors(self, c: float) -> tuple[np.ndarray, np.ndarray]:
        self.decompose()
        assert self._eigen is not None
        s, U, p = self._eigen
        shrunk = s / (1.0 + c * s)
        half = U * np.sqrt(shrunk)
        rho = c / np.sum(p * p / (1.0 + c * s))
        return half @ half.T, np.sqrt(rho) * (U @ (shrunk * p))

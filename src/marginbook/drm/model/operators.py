r"""The matrix :math:`Q=K+\alpha(H-B)` as an operator that counts its multiplications.

What Algorithms 3 to 6 of the paper need of a problem: products with Q, and a bound on its largest eigenvalue.
:class:`DenseSystem` holds Q; :class:`LinearSystem` holds only the features A (p x n) and multiplies by

.. math:: Qv=A^\top u+\alpha\,(h\circ v)-\alpha\,\Bigl[\tfrac1{n_i}A_i^\top u_i\Bigr]_i,\qquad
          u_i=A_iv_i,\quad u=\textstyle\sum_iu_i,\quad h_k=\lVert x_k\rVert^2

(equations 21 to 23). With the rows of a Nyström map as features, it serves any kernel (Proposition VI.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh
from scipy.sparse import csr_matrix, issparse

from .objective import class_products, system_matrix
from .system import System

__all__ = ["DenseSystem", "LinearSystem", "System"]

#: rows of K that are formed at a time for its row sums
ROWS = 512


class DenseSystem(System):
    """Q from a Gram matrix, for any kernel.

    Parameters
    ----------
    K : (n, n) Gram matrix, grouped by class
    sizes : (g,) class sizes
    alpha, beta : float
        ``alpha >= 0``, ``beta > 0``.
    weights : (n,) array of numbers > 0, optional

    Raises
    ------
    ValueError
        If a parameter is out of range, or the sizes do not sum to n.

    Examples
    --------
    >>> system = DenseSystem(np.array([[2.0, 1], [1, 2]]), [2], alpha=1.0, beta=0.5)
    >>> system.apply(np.ones((2, 1))).ravel().tolist()
    [3.5, 3.5]
    """

    def __init__(
        self,
        K: np.ndarray,
        sizes: Sequence[int] | np.ndarray,
        alpha: float,
        beta: float,
        weights: np.ndarray | None = None,
    ) -> None:
        super().__init__(len(K), sizes, alpha, beta, weights)
        self.K = K
        self.diagonal = np.diagonal(K)
        if self.root is None:
            self.Q = system_matrix(K, self.sizes, self.alpha)
        else:
            self.K = K * self.root * self.root[:, None]
            self.Q = self._weighted_matrix()
        # B divides the class blocks, alpha multiplies everything
        self.multiplications += int(np.sum(self.sizes**2)) + K.size

    def apply(self, V: np.ndarray) -> np.ndarray:
        self.multiplications += self.Q.size * V.shape[1]
        return self.Q @ V

    def class_terms(self, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        few = len(self.sizes) <= 3  # then class_products gets the blocks out of K W
        self.multiplications += (self.K.size + (0 if few else int(np.sum(self.sizes**2)))) * W.shape[1]
        return class_products(self.K, self.sizes, W)

    def row_sums(self) -> np.ndarray:
        sums: np.ndarray = np.abs(self.K).sum(axis=1)
        return sums

    def _weighted_matrix(self) -> np.ndarray:
        Q = np.zeros(self.K.shape)
        for block, total in zip(self.blocks, self.totals, strict=True):
            Q[block, block] = -self.K[block, block] / total
        Q[np.diag_indices_from(Q)] += self.diagonal
        for block in self.blocks:
            if block.stop - block.start == 1:  # nothing remains of the within-class term
                Q[block, block] = 0.0
        Q *= self.alpha
        Q += self.K
        return Q


class LinearSystem(System):
    r"""Q of the linear kernel without any n x n matrix: a product costs about 2 p n multiplications.

    The two products with :math:`A^\top` in (21) and (22) are one here,
    :math:`A_i^\top(u-\tfrac\alpha{n_i}u_i)`, and :math:`\lVert x_k\rVert^2` is computed once; the paper
    counts 4 p n for doing each of (21), (22) and (23) anew.

    Parameters
    ----------
    X : (n, p) array or CSR matrix
        The rows are the examples, grouped by class; explicit features of any kernel will do.
    sizes : (g,) class sizes
    alpha, beta : float
        ``alpha >= 0``, ``beta > 0``.
    as_printed : bool, default=False
        Do the products exactly as (21) to (23) print them: the same result, slower, to count.
    weights : (n,) array of numbers > 0, optional
        Not with `as_printed`.

    Raises
    ------
    ValueError
        If a parameter is out of range, or the sizes do not sum to n.

    Examples
    --------
    >>> system = LinearSystem(np.array([[1.0], [2.0], [3.0]]), [2, 1], alpha=1.0, beta=0.5)
    >>> system.apply(np.ones((3, 1))).ravel().tolist()
    [5.5, 13.0, 18.0]
    """

    def __init__(
        self,
        X: Any,
        sizes: Sequence[int] | np.ndarray,
        alpha: float,
        beta: float,
        as_printed: bool = False,
        weights: np.ndarray | None = None,
    ) -> None:
        if as_printed and weights is not None:
            raise ValueError("equations (21) to (23) know no weights of rows: leave out as_printed")
        super().__init__(X.shape[0], sizes, alpha, beta, weights)
        self.X: Any = csr_matrix(X, dtype=float) if issparse(X) else np.ascontiguousarray(X, dtype=float)
        self.as_printed = as_printed
        self.diagonal = self._squared_lengths()
        if self.root is not None:
            own: Any = self.X
            column = self.root[:, None]
            self.X = csr_matrix(own.multiply(column)) if issparse(X) else own * column
        self.parts = [self.X[block] for block in self.blocks]
        # exactly nothing remains of the within-class term in a class of one: no cancellation may blur it
        self._weights = np.where(self.sizes > 1, self.alpha / self.totals, 0.0)
        self._lengths = self.scale(self.diagonal[:, None], self.alpha)
        self._lengths[np.repeat(self.sizes == 1, self.sizes)] = 0.0

    @property
    def n_features(self) -> int:
        """The number p of features."""
        return int(self.X.shape[1])

    def apply(self, V: np.ndarray) -> np.ndarray:
        return self._apply_as_printed(V) if self.as_printed else self._apply_fused(V)

    def kernel_vectors(self, Z: Any) -> np.ndarray:
        """Return K_x, (n, m), for the rows of `Z`, (m, p)."""
        return self._product(self.X, np.asarray(Z.toarray() if issparse(Z) else Z, dtype=float).T)

    def class_terms(self, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        sums = self._class_sums(W)
        own = np.vstack([self._product(part, u) for part, u in zip(self.parts, sums, strict=True)])
        return self._product(self.X, sum(sums)), own

    def row_sums(self) -> np.ndarray:
        """Return the sums of the absolute values in the rows of K, (n,); O(n^2 p), never n x n in memory."""
        chunks = [self.X[start : start + ROWS] for start in range(0, self.n, ROWS)]
        return np.concatenate([np.abs(self.kernel_vectors(rows)).sum(axis=0) for rows in chunks])

    def feature_bound(self) -> float:
        r"""Return the bound of Section VI-D, :math:`\sigma_{\max}(AA^\top)+\alpha\max_i\lVert x_i\rVert^2`.

        From the p x p matrix; O(p^2 n).
        """
        C = self._product(self.X.T, self.X.toarray() if issparse(self.X) else self.X)
        return float(eigvalsh(C)[-1]) + self.alpha * float(self.diagonal.max())

    def _apply_fused(self, V: np.ndarray) -> np.ndarray:
        sums = self._class_sums(V)
        total = sum(sums)
        self.multiplications += V.size
        result = self._lengths * V
        for part, block, u, weight in zip(self.parts, self.blocks, sums, self._weights, strict=True):
            self.multiplications += u.size
            result[block] += self._product(part, total - weight * u)
        return result

    def _apply_as_printed(self, V: np.ndarray) -> np.ndarray:
        sums = self._class_sums(V)
        BV = np.empty_like(V)
        for part, block, u, size in zip(self.parts, self.blocks, sums, self.sizes, strict=True):
            BV[block] = self.scale(self._product(part, u), 1.0 / size)
        KV = self._product(self.X, sum(sums))
        HV = np.empty_like(V)
        for column in range(V.shape[1]):  # the paper treats one test point at a time
            lengths = self._squared_lengths()
            self.multiplications += self.n
            HV[:, column] = lengths * V[:, column]
        return KV + self.scale(HV - BV, self.alpha)

    def _class_sums(self, V: np.ndarray) -> list[np.ndarray]:
        """Return u_i = A_i V_i of each class, (p, m)."""
        return [self._product(part.T, V[block]) for part, block in zip(self.parts, self.blocks, strict=True)]

    def _product(self, left: Any, right: Any) -> np.ndarray:
        entries = left.nnz if issparse(left) else left.size
        self.multiplications += entries * right.shape[1]
        product: np.ndarray = left @ right
        return product

    def _squared_lengths(self) -> np.ndarray:
        if issparse(self.X):
            self.multiplications += self.X.nnz
            return np.asarray(self.X.multiply(self.X).sum(axis=1)).ravel()
        self.multiplications += self.X.size
        lengths: np.ndarray = np.einsum("np,np->n", self.X, self.X)
        return lengths

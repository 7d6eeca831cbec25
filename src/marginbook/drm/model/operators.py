r"""The matrix :math:`Q=K+\alpha(H-B)` as an operator that counts its multiplications.

What Algorithms 3 to 6 of the paper need of a problem: products with Q, and a bound on its largest eigenvalue.
:class:`DenseSystem` holds Q; :class:`LinearSystem` holds only the features A (p x n) and multiplies by

.. math:: Qv=A^\top u+\alpha\,(h\circ v)-\alpha\,\Bigl[\tfrac1{n_i}A_i^\top u_i\Bigr]_i,\qquad
          u_i=A_iv_i,\quad u=\textstyle\sum_iu_i,\quad h_k=\lVert x_k\rVert^2

(equations 21 to 23). With the rows of a Nyström map as features, it serves any kernel (Proposition VI.3).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh
from scipy.sparse import csr_matrix, issparse
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from .objective import class_products, class_slices, dissimilarity, system_matrix, validate_parameters

#: order up to which an eigenvalue is computed from the whole matrix
SMALL = 64
#: rows of K that are formed at a time for its row sums
ROWS = 512


class System(ABC):
    r"""The problem :math:`\min_w\frac12w^\top(Q+\beta I)w-w^\top K_x` behind products that are counted.

    Attributes
    ----------
    n : int
    sizes : (g,) array of class sizes; the examples are grouped by class
    alpha, beta : float
    multiplications : int
        Multiplications and divisions of scalars so far, each product adding what its shapes say: (a, b) times
        (b, m) is a * b * m, and a sparse factor of z stored entries is z * m. It starts with the cost of the
        set-up.
    """

    #: k(x_k, x_k), the diagonal H
    diagonal: np.ndarray

    def __init__(self, n: int, sizes: Sequence[int] | np.ndarray, alpha: float, beta: float) -> None:
        validate_parameters(alpha, beta)
        self.sizes = np.asarray(sizes, dtype=int)
        if self.sizes.sum() != n or (self.sizes < 1).any():
            raise ValueError(
                f"class sizes must be at least 1 and sum to the {n} examples, got {self.sizes.tolist()}"
            )
        self.n, self.alpha, self.beta = n, float(alpha), float(beta)
        self.blocks = class_slices(self.sizes)
        self.multiplications = 0

    @abstractmethod
    def apply(self, V: np.ndarray) -> np.ndarray:
        """Return Q V for the columns of `V`, (n, m)."""

    @abstractmethod
    def class_terms(self, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return K W, and the array whose rows of class i are K^i W^i; both (n, m)."""

    @abstractmethod
    def row_sums(self) -> np.ndarray:
        """Return the sums of the absolute values in the rows of K, (n,)."""

    def apply_ridged(self, V: np.ndarray) -> np.ndarray:
        """Return (Q + beta I) V."""
        return self.apply(V) + self.scale(V, self.beta)

    def gradient(self, W: np.ndarray, Kx: np.ndarray) -> np.ndarray:
        """Return the gradient (14), (Q + beta I) W - Kx."""
        return self.apply_ridged(W) - Kx

    def scale(self, V: np.ndarray, factor: float | np.ndarray) -> np.ndarray:
        """Return `V`, (n, m), times a number or one number a column."""
        self.multiplications += V.size
        return V * factor

    def inner(self, U: np.ndarray, V: np.ndarray) -> np.ndarray:
        """Return the inner products of the columns of `U` and `V`, (m,)."""
        self.multiplications += U.size
        product: np.ndarray = np.einsum("nm,nm->m", U, V)
        return product

    @contextmanager
    def uncounted(self) -> Iterator[None]:
        """Leave the counter as it is: for what only observes an algorithm."""
        before = self.multiplications
        try:
            yield
        finally:
            self.multiplications = before

    def dissimilarity(self, Kx: np.ndarray, W: np.ndarray) -> np.ndarray:
        """Return the (m, g) class dissimilarities (10) for kernel vectors and weights, both (n, m)."""
        return dissimilarity(self.sizes, Kx, W, *self.class_terms(W))

    def largest_eigenvalue(self, tol: float = 1e-3, seed: int = 0) -> float:
        """Return the largest eigenvalue of Q to relative accuracy `tol`, from below, by Lanczos.

        The restarted Lanczos method that the paper suggests after eq. (20); exact for ``n <= 64``. Where it
        does not converge, the upper bound of :meth:`trace_bound` is returned.
        """
        if self.n <= SMALL:
            return max(float(eigvalsh(self.apply(np.eye(self.n)))[-1]), 0.0)
        if not self.diagonal.any():
            return 0.0
        operator = LinearOperator((self.n, self.n), matvec=self._apply_vector, dtype=float)
        start = np.random.default_rng(seed).normal(size=self.n)
        try:
            return float(eigsh(operator, 1, which="LA", tol=tol, v0=start, return_eigenvectors=False)[0])
        except ArpackError:
            return self.trace_bound()

    def safe_eigenvalue(self, tol: float = 1e-3) -> float:
        r"""Return a constant :math:`c\ge\sigma_{\max}(Q)` close to it: what Algorithms 4 to 6 ask for.

        Lanczos approaches from below, so ten times its tolerance is added; never more than the trace bound.
        """
        return min(self.largest_eigenvalue(tol) * (1 + 10 * tol), self.trace_bound())

    def trace_bound(self) -> float:
        r"""Return :math:`\mathrm{Tr}(K)+\alpha\max_ik(x_i,x_i)`, the part of (20) that needs no K."""
        return float(self.diagonal.sum()) + self.alpha * float(self.diagonal.max())

    def bound(self) -> float:
        r"""Return the right-hand side of (20), an upper bound of the largest eigenvalue of Q.

        .. math:: \min\Bigl\{\sum_ik(x_i,x_i),\ \max_i\sum_j|k(x_i,x_j)|\Bigr\}+\alpha\max_ik(x_i,x_i)
        """
        smaller = min(float(self.diagonal.sum()), float(self.row_sums().max()))
        return smaller + self.alpha * float(self.diagonal.max())

    def _apply_vector(self, v: np.ndarray) -> np.ndarray:
        return self.apply(np.reshape(v, (self.n, 1)))[:, 0]


class DenseSystem(System):
    """Q from a Gram matrix, for any kernel.

    Parameters
    ----------
    K : (n, n) Gram matrix, grouped by class
    sizes : (g,) class sizes
    alpha, beta : float
        ``alpha >= 0``, ``beta > 0``.

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

    def __init__(self, K: np.ndarray, sizes: Sequence[int] | np.ndarray, alpha: float, beta: float) -> None:
        super().__init__(len(K), sizes, alpha, beta)
        self.K = K
        self.diagonal = np.diagonal(K)
        self.Q = system_matrix(K, self.sizes, self.alpha)
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
    ) -> None:
        super().__init__(X.shape[0], sizes, alpha, beta)
        self.X: Any = csr_matrix(X, dtype=float) if issparse(X) else np.ascontiguousarray(X, dtype=float)
        self.as_printed = as_printed
        self._parts = [self.X[block] for block in self.blocks]
        self.diagonal = self._squared_lengths()
        # exactly nothing remains of the within-class term in a class of one: no cancellation may blur it
        self._weights = np.where(self.sizes > 1, self.alpha / self.sizes, 0.0)
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
        own = np.vstack([self._product(part, u) for part, u in zip(self._parts, sums, strict=True)])
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
        for part, block, u, weight in zip(self._parts, self.blocks, sums, self._weights, strict=True):
            self.multiplications += u.size
            result[block] += self._product(part, total - weight * u)
        return result

    def _apply_as_printed(self, V: np.ndarray) -> np.ndarray:
        sums = self._class_sums(V)
        BV = np.empty_like(V)
        for part, block, u, size in zip(self._parts, self.blocks, sums, self.sizes, strict=True):
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
        return [self._product(part.T, V[block]) for part, block in zip(self._parts, self.blocks, strict=True)]

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

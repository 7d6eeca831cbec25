r"""A DRM problem behind products that are counted: what Algorithms 3 to 6 of the paper need of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from scipy.linalg import eigvalsh
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from .objective import class_slices, dissimilarity, validate_parameters

#: order up to which an eigenvalue is computed from the whole matrix
SMALL = 64


class System(ABC):
    r"""The problem :math:`\min_w\frac12w^\top(Q+\beta I)w-w^\top K_x` behind products that are counted.

    Attributes
    ----------
    n : int
    sizes : (g,) array of class sizes; the examples are grouped by class
    alpha, beta : float
    root : (n,) array or None
        Square roots of the weights of rows, None where all are 1. The problem is then that of
        :math:`u=v/\sqrt s` (see :class:`~marginbook.drm.DRMClassifier`): K stands for
        :math:`[\sqrt{s_is_j}\,k(x_i,x_j)]`, :math:`K_x` for :math:`[\sqrt{s_j}\,k(x,x_j)]`, H stays, and B
        divides by the weights of the classes, `totals`.
    multiplications : int
        Multiplications and divisions of scalars so far, each product adding what its shapes say: (a, b) times
        (b, m) is a * b * m, and a sparse factor of z stored entries is z * m. It starts with the cost of the
        set-up.
    """

    #: k(x_k, x_k), the diagonal H
    diagonal: np.ndarray

    def __init__(
        self,
        n: int,
        sizes: Sequence[int] | np.ndarray,
        alpha: float,
        beta: float,
        weights: np.ndarray | None = None,
    ) -> None:
        validate_parameters(alpha, beta)
        self.sizes = np.asarray(sizes, dtype=int)
        if self.sizes.sum() != n or (self.sizes < 1).any():
            raise ValueError(
                f"class sizes must be at least 1 and sum to the {n} examples, got {self.sizes.tolist()}"
            )
        self.n, self.alpha, self.beta = n, float(alpha), float(beta)
        self.blocks = class_slices(self.sizes)
        self.root = None if weights is None else np.sqrt(np.asarray(weights, dtype=float))
        self.totals: np.ndarray = self.sizes
        if weights is not None:
            self.totals = np.array([float(np.sum(weights[block])) for block in self.blocks])
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
        return self._trace() + self.alpha * float(self.diagonal.max())

    def bound(self) -> float:
        r"""Return the right-hand side of (20), an upper bound of the largest eigenvalue of Q.

        .. math:: \min\Bigl\{\sum_ik(x_i,x_i),\ \max_i\sum_j|k(x_i,x_j)|\Bigr\}+\alpha\max_ik(x_i,x_i)
        """
        smaller = min(self._trace(), float(self.row_sums().max()))
        return smaller + self.alpha * float(self.diagonal.max())

    def _trace(self) -> float:
        return float(np.sum(self.diagonal if self.root is None else self.root**2 * self.diagonal))

    def _apply_vector(self, v: np.ndarray) -> np.ndarray:
        return self.apply(np.reshape(v, (self.n, 1)))[:, 0]

r"""The exact DRM of any kernel in one n x n array, in tiles: for thousands of rows.

With weights :math:`s_j` of rows (1 without), :math:`S=\mathrm{diag}(s)`, and their sums :math:`N_i`,

.. math:: M=K+\alpha(HS^{-1}-B)+\beta S^{-1},\qquad B=\mathrm{blockdiag}(K^i/N_i),\qquad w=M^{-1}K_x.

The strict upper triangle of the array holds K, the lower one a Cholesky factor :math:`LL^\top` of M, which is
scaled to unit diagonal. A test point costs :math:`n^2` multiplications for w and
:math:`\frac12\sum_in_i^2` for the :math:`w_i^\top K^iw_i`; the rest of (10) follows from :math:`Mw=K_x`:

.. math:: \delta_i=\sum_j(\ell_j-t_j)+2(q_i+t_i-2\ell_i),\qquad \ell_i=w_i^\top(K_x)_i,\quad
          q_i=w_i^\top K^iw_i,\quad t_i=w_i^\top(\alpha(HS^{-1}-B)+\beta S^{-1})_iw_i.

**Two classes** need less. From :math:`(Mw)_i=(K_x)_i` follows
:math:`w_0^\top M_{00}w_0-w_0^\top k_0=w_1^\top M_{11}w_1-w_1^\top k_1`, hence with :math:`P=M^{-1}`

.. math:: \delta_0-\delta_1=2(w_1^\top k_1-w_0^\top k_0)=2(k_1^\top P_{11}k_1-k_0^\top P_{00}k_0):

each class scores a point by a positive definite form of its own kernel values, one triangle of :math:`n_i^2`
each. Both come out of the one factor by forward substitution,
:math:`k_1^\top P_{11}k_1=\lVert L_{11}^{-1}k_1\rVert^2` and
:math:`k_0^\top P_{00}k_0=\lVert y\rVert^2+\lVert L_{11}^{-1}L_{10}y\rVert^2` with :math:`y=L_{00}^{-1}k_0`:
:math:`\frac12(n^2+n_1^2)` multiplications. An exact prediction from n training rows cannot do with fewer than
the :math:`\frac12(n_0^2+n_1^2)` numbers of the two forms, where an SVM needs n.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy.linalg import lapack, solve_triangular

from ..model.objective import class_slices, validate_parameters
from .direct import NotPositiveDefinite
from .upper_gram import TILE

#: multiplications of one matrix product, at most: less than a second
PRODUCT = 1e10


class FactoredSystem:
    """K and a Cholesky factor of M in one array; see the module's docstring.

    Parameters
    ----------
    K : (n, n) array
        The Gram matrix, grouped by class; only its upper triangle is read. It is overwritten, and kept.
    sizes : (g,) class sizes
    alpha, beta : float
        ``alpha >= 0``, ``beta > 0``.
    weights : (n,) array of numbers > 0, optional
        Of rows, grouped by class; a row of weight k counts as k equal rows.
    refine : int, default=0
        Steps of iterative refinement of the weights.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    NotPositiveDefinite
        If `beta` is too small against `K` for double precision, or the kernel is indefinite.

    Examples
    --------
    >>> system = FactoredSystem(np.array([[2.0, 1], [1, 2]]), [1, 1], alpha=1.0, beta=1.0)
    >>> system.weights(np.array([[1.0], [2.0]])).ravel().round(3).tolist()
    [0.125, 0.625]
    """

    def __init__(
        self,
        K: np.ndarray,
        sizes: Sequence[int] | np.ndarray,
        alpha: float,
        beta: float,
        weights: np.ndarray | None = None,
        refine: int = 0,
    ) -> None:
        validate_parameters(alpha, beta)
        self.array, self.refine = K, refine
        self.blocks = class_slices(sizes)
        self.alpha, self.beta = float(alpha), float(beta)
        s = np.ones(len(K)) if weights is None else np.asarray(weights, dtype=float)
        #: N_i, the class sizes where all weights are 1
        self.totals = np.array([s[block].sum() for block in self.blocks])
        self.lengths = np.diagonal(K).copy()
        #: the diagonal of M without that of K: exactly beta / s in a class of one row
        own = np.zeros(len(K))
        for block, total in zip(self.blocks, self.totals, strict=True):
            if block.stop - block.start > 1:
                own[block] = self.alpha * self.lengths[block] * (1 / s[block] - 1 / total)
        self.ridge = own + self.beta / s
        #: H / s, which classes of one row lose to B
        self.shrunk = self.alpha * self.lengths / s + self.beta / s
        self.edges = self._edges(len(K))
        self._factor()

    def weights(self, Kx: np.ndarray) -> np.ndarray:
        """Return the optimal weights, (n, m), for kernel vectors `Kx`, (n, m)."""
        W = self._solve(Kx)
        for _ in range(self.refine):
            W += self._solve(Kx - self.multiply(W))
        return W

    def multiply(self, W: np.ndarray) -> np.ndarray:
        """Return M W for `W`, (n, m)."""
        product = self._kernel_product(slice(0, len(W)), W) + self.ridge[:, None] * W
        for block, total in zip(self.blocks, self.totals, strict=True):
            if block.stop - block.start > 1:
                part = W[block]
                within = self._kernel_product(block, part) - self.lengths[block, None] * part
                product[block] -= self.alpha / total * within
        return product

    def columns(self, examples: np.ndarray) -> np.ndarray:
        """Return the kernel vectors, (n, m), of training examples, (m,) numbers."""
        Kx = np.empty((len(self.array), len(examples)))
        for column, j in enumerate(examples):
            Kx[:j, column] = self.array[:j, j]
            Kx[j, column] = self.lengths[j]
            Kx[j + 1 :, column] = self.array[j, j + 1 :]
        return Kx

    def certificate(self, Kx: np.ndarray) -> float:
        """Return the largest share of the gradient of (12) that the weights for `Kx`, (n, m), leave."""
        scale = np.abs(Kx).max(axis=0)
        left = np.abs(self.multiply(self.weights(Kx)) - Kx).max(axis=0)
        return float(np.max(left / np.where(scale > 0, scale, 1.0), initial=0.0))

    def rounding(self) -> float:
        """Return about what share of the weights changes when kernel values are rounded; O(n^2)."""
        # the transpose of L is the upper triangle of the transposed array; the scaled M has entries up to 1
        inverse_of_norm, _ = lapack.dpocon(self.array.T, 1.0, uplo="U")
        return float(np.finfo(float).eps / max(inverse_of_norm, np.finfo(float).tiny))

    def dissimilarity(self, Kx: np.ndarray) -> np.ndarray:
        """Return the (m, g) class dissimilarities (10) for kernel vectors `Kx`, (n, m)."""
        W = self.weights(Kx)
        q, t, linear = (np.empty((Kx.shape[1], len(self.blocks))) for _ in range(3))
        for i, (block, total) in enumerate(zip(self.blocks, self.totals, strict=True)):
            part = W[block]
            q[:, i] = self._quadratic(block, part)
            linear[:, i] = np.einsum("nm,nm->m", part, Kx[block])
            if len(part) == 1:
                t[:, i] = self.ridge[block] @ part**2
            else:
                t[:, i] = self.shrunk[block] @ part**2 - self.alpha / total * q[:, i]
        delta: np.ndarray = (linear - t).sum(axis=1, keepdims=True) + 2 * (q + t - 2 * linear)
        return delta

    def difference(self, Kx: np.ndarray) -> np.ndarray:
        """Return delta_0 - delta_1 of two classes for kernel vectors `Kx`, (n, m), as (m,)."""
        first, second = self.blocks
        if self.refine:
            terms = self.weights(Kx) * Kx
            found: np.ndarray = 2 * (terms[second].sum(axis=0) - terms[first].sum(axis=0))
            return found
        m = Kx.shape[1]
        scaled = self.scale[:, None] * Kx
        y = scaled[first]
        self._forward(y, 0)
        both = np.empty((second.stop - second.start, 2 * m))
        both[:, :m] = scaled[second]
        np.matmul(self.array[second, first], y, out=both[:, m:])
        self._forward(both, second.start)
        scores = np.einsum("nm,nm->m", both, both)
        return 2 * (scores[:m] - scores[m:] - np.einsum("nm,nm->m", y, y))

    def _edges(self, n: int) -> list[int]:
        """Return where tiles begin, and n; for two classes, one begins with the second class."""
        parts = [(0, n)] if len(self.blocks) != 2 else [(b.start, b.stop) for b in self.blocks]
        return [edge for low, high in parts for edge in range(low, high, TILE)] + [n]

    def _tiles(self) -> list[tuple[int, int]]:
        return list(pairwise(self.edges))

    def _factor(self) -> None:
        A, n = self.array, len(self.array)
        diagonal = self.lengths + self.ridge
        if not ((diagonal > 0) & np.isfinite(diagonal)).all():
            raise self._refused()
        self.scale = 1.0 / np.sqrt(diagonal)
        for low, high in self._tiles():
            width = high - low
            panel = A[low:high, low:].T.copy()  # of K, by symmetry
            panel[:width] = self._tile(low, high)
            for block, total in zip(self.blocks, self.totals, strict=True):
                rows, columns = _common(block, low, n), _common(block, low, high)
                if rows.stop > rows.start and columns.stop > columns.start:
                    inside = panel[
                        rows.start - low : rows.stop - low, columns.start - low : columns.stop - low
                    ]
                    inside += self.alpha * (-inside / total)
            panel[np.diag_indices(width)] = diagonal[low:high]
            panel *= self.scale[low:, None]
            panel *= self.scale[low:high]
            step = max(TILE, int(PRODUCT / max(1, low * width)))
            for start in range(low, n, step):
                stop = min(start + step, n)
                panel[start - low : stop - low] -= A[start:stop, :low] @ A[low:high, :low].T
            corner, info = lapack.dpotrf(panel[:width], lower=1, clean=1)
            if info != 0:
                raise self._refused()
            inside = A[low:high, low:high]
            lower = np.tril_indices(width)
            inside[lower] = corner[lower]
            if high < n:
                A[high:, low:high] = solve_triangular(
                    corner, panel[width:].T, lower=True, overwrite_b=True, check_finite=False
                ).T

    def _refused(self) -> NotPositiveDefinite:
        return NotPositiveDefinite(np.atleast_2d(self.lengths), self.alpha, self.beta)

    def _tile(self, low: int, high: int) -> np.ndarray:
        """Return K of some rows and the same columns, from its upper triangle."""
        upper = np.triu(self.array[low:high, low:high], 1)
        tile = upper + upper.T
        tile[np.diag_indices(high - low)] = self.lengths[low:high]
        return tile

    def _inner_tiles(self, block: slice) -> list[tuple[int, int]]:
        edges = [*range(block.start, block.stop, TILE), block.stop]
        return list(pairwise(edges))

    def _kernel_product(self, block: slice, W: np.ndarray) -> np.ndarray:
        """Return K of the rows and columns `block` times `W`, (n of them, m)."""
        product = np.zeros(W.shape)
        start = block.start
        for low, high in self._inner_tiles(block):
            own, later = slice(low - start, high - start), slice(high - start, None)
            product[own] += self._tile(low, high) @ W[own]
            if high < block.stop:
                right = self.array[low:high, high : block.stop]
                product[own] += right @ W[later]
                product[later] += right.T @ W[own]
        return product

    def _quadratic(self, block: slice, W: np.ndarray) -> np.ndarray:
        """Return w'Kw of the rows and columns `block` for the columns of `W`, (m,)."""
        total = np.zeros(W.shape[1])
        start = block.start
        for low, high in self._inner_tiles(block):
            part = W[low - start : high - start]
            right = self._tile(low, high) @ part
            if high < block.stop:
                right += 2 * (self.array[low:high, high : block.stop] @ W[high - start :])
            total += np.einsum("nm,nm->m", part, right)
        return total

    def _solve(self, right: np.ndarray) -> np.ndarray:
        Z = self.scale[:, None] * right
        self._forward(Z, 0)
        for low, high in reversed(self._tiles()):
            if high < len(Z):
                Z[low:high] -= self.array[high:, low:high].T @ Z[high:]
            Z[low:high] = self._corner(low, high, Z[low:high], 1)
        Z *= self.scale[:, None]
        return Z

    def _forward(self, Z: np.ndarray, first: int) -> None:
        """Solve L z = z in place for rows `first` to ``first + len(Z)`` of L and the same columns."""
        for low, high in self._tiles():
            if low < first or low >= first + len(Z):
                continue
            own = slice(low - first, high - first)
            if low > first:
                Z[own] -= self.array[low:high, first:low] @ Z[: low - first]
            Z[own] = self._corner(low, high, Z[own], 0)

    def _corner(self, low: int, high: int, right: np.ndarray, trans: int) -> np.ndarray:
        corner = self.array[low:high, low:high]
        found: np.ndarray = solve_triangular(corner, right, lower=True, trans=trans, check_finite=False)
        return found


def _common(block: slice, low: int, high: int) -> slice:
    return slice(max(block.start, low), min(block.stop, high))

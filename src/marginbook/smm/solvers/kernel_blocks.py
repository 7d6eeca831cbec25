r"""The two blocks of a low-rank problem in a feature space of rows, by products with one big Gram matrix.

The matrices :math:`h(X_i)\in\mathbb R^{d_1\times D}` are known by :math:`\mathcal K`, whose block (i, j) is
:math:`h(X_i)h(X_j)^\top`. Whatever lives in the feature space is a combination of rows of the data,
:math:`V=\sum_jh(X_j)^\top C_j` with :math:`C\in\mathbb R^{nd_1\times r}`, so that

.. math::
    h(X_i)V=\mathcal K_{i,:}C,\qquad V^\top V=C^\top\mathcal KC,\qquad
    \langle h(X_i)^\top Q,h(X_j)^\top Q\rangle=\operatorname{tr}(Q^\top K(X_i,X_j)Q),\qquad
    MM^\top=\sum_{ij}c_ic_jy_iy_jK(X_i,X_j).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ...kernels.decomposition import svd
from ..model.row_kernels import PIECE
from .block_gram import GramFactor, factor_gram

#: squared length, relative to the longest, of a direction that rounding may have made
NOTHING = 1e-13
#: squared length, relative to the longest, from which one pass of orthonormalisation is exact enough
PLAIN = 1e-4


class RowBlocks:
    r"""Products with :math:`\mathcal K`, (n d1, n d1), that both blocks and the bound need."""

    def __init__(self, values: np.ndarray, d1: int) -> None:
        self.values, self.d1, self.n = values, d1, len(values) // d1

    def features(self, C: np.ndarray) -> np.ndarray:
        """Return ``h(X_i) V`` for each matrix, (n, d1, r)."""
        return np.asarray(self.values @ C).reshape(self.n, self.d1, C.shape[1])

    def inner(self, C: np.ndarray, P: np.ndarray, Z: np.ndarray) -> np.ndarray:
        r"""Return :math:`C^\top\mathcal KP`, given Z, the features in P."""
        return np.asarray(C.T @ Z.reshape(len(C), -1))

    def combine(self, signed: np.ndarray, Q: np.ndarray) -> np.ndarray:
        r"""Return the C, (n d1, r), of :math:`V=\sum_js_jh(X_j)^\top Q`."""
        return np.asarray(signed[:, None, None] * Q).reshape(self.n * self.d1, Q.shape[1])

    def projected(self, Q: np.ndarray) -> np.ndarray:
        r"""Return :math:`[\operatorname{tr}(Q^\top K(X_i,X_j)Q)]`, (n, n), for any Q of shape (d1, k).

        It takes :math:`(nd_1)^2k` multiplications and pieces of memory.
        """
        n, d1, k = self.n, self.d1, Q.shape[1]
        found = np.empty((n, n))
        step = max(1, PIECE // max(1, n * d1 * k))
        for first in range(0, n, step):
            last = min(n, first + step)
            piece = self.values[first * d1 : last * d1].reshape(-1, d1) @ Q
            found[first:last] = np.einsum("iajk,ak->ij", piece.reshape(last - first, d1, n, k), Q)
        return (found + found.T) / 2

    def traces(self) -> np.ndarray:
        r"""Return :math:`[\operatorname{tr}K(X_i,X_j)]`, (n, n): the kernel without a bound on the rank."""
        blocks = self.values.reshape(self.n, self.d1, self.n, self.d1)
        return np.asarray(np.einsum("iaja->ij", blocks))

    @cached_property
    def whole(self) -> GramFactor:
        """The factor of `traces`, for all labels and weights."""
        return factor_gram(self.traces())

    def outer(self, signed: np.ndarray) -> np.ndarray:
        r"""Return :math:`MM^\top=\sum_{ij}s_is_jK(X_i,X_j)`, (d1, d1), of :math:`M=\sum_is_ih(X_i)`."""
        used = np.flatnonzero(signed)
        blocks = self.values.reshape(self.n, self.d1, self.n, self.d1)
        half = np.zeros((self.d1, self.n, self.d1))
        step = max(1, PIECE // max(1, self.d1 * self.n * self.d1))
        for first in range(0, len(used), step):
            kept = used[first : first + step]
            half += np.tensordot(signed[kept], blocks[kept], axes=1)
        found = np.tensordot(half, signed, axes=([1], [0]))
        return np.asarray(found + found.T) / 2

    def basis(self, C: np.ndarray, signed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        r"""Return an orthonormal basis of the span of V, as a C of its own, and the features in it.

        Where V has no full rank, the basis is filled up with the longest right singular directions of
        :math:`M=\sum_is_ih(X_i)` outside the span, in which the objective falls at first order; where even
        they vanish, it has fewer columns.

        Parameters
        ----------
        C : (n d1, r) array
        signed : (n,) array
            :math:`s_i=c_iy_i`.

        Returns
        -------
        P : (n d1, k) array
            :math:`P^\top\mathcal KP=I`, k <= r.
        Z : (n, d1, k) array
            :math:`\mathcal KP`.
        """
        r = C.shape[1]
        P, KP = self._orthonormal(C)
        if P.shape[1] < r:
            missing = r - P.shape[1]
            everything = self.combine(signed, np.eye(self.d1))
            # twice, because what is left after one projection may be small
            for _ in range(2):
                everything = everything - P @ (KP.T @ everything)
            left = everything.T @ (self.values @ everything)
            sizes, directions = np.linalg.eigh((left + left.T) / 2)
            scale = float(np.abs(self.outer(signed)).max(initial=0.0))
            kept = np.flatnonzero(sizes > max(NOTHING * scale, 0.0))[::-1][:missing]
            if len(kept):
                added = everything @ (directions[:, kept] / np.sqrt(sizes[kept]))
                P, KP = self._orthonormal(np.concatenate([P, added], axis=1))
        return P, KP.reshape(self.n, self.d1, P.shape[1])

    def _orthonormal(self, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        r"""Return P with :math:`P^\top\mathcal KP=I` and the span of C, and :math:`\mathcal KP`."""
        image = self.values @ C
        for _ in range(3):
            square = C.T @ image
            sizes, directions = np.linalg.eigh((square + square.T) / 2)
            kept = np.flatnonzero(sizes > NOTHING * max(float(sizes.max(initial=0.0)), 0.0))[::-1]
            turn = directions[:, kept] / np.sqrt(sizes[kept])
            exact = len(kept) == 0 or sizes[kept[-1]] >= PLAIN * sizes[kept[0]]
            C, image = C @ turn, image @ turn
            if exact:
                break
            # a short direction lost digits when it was stretched: take its image anew
            image = self.values @ C
        return C, image


def complete(W: np.ndarray, outer: np.ndarray, r: int) -> np.ndarray:
    r"""Return a (d1, r) matrix of orthonormal columns whose span contains that of W, (d1, k) with k <= r.

    Columns that W does not determine are the longest left singular directions of M outside its span, given
    by :math:`MM^\top`, (d1, d1); where those vanish, any orthonormal ones.
    """
    left, sizes, _ = svd(W, full=True)
    rank = int(np.sum(sizes > np.sqrt(NOTHING) * sizes.max(initial=0.0)))
    inside, outside = left[:, : min(rank, r)], left[:, min(rank, r) :]
    if inside.shape[1] == r:
        return inside
    _, directions = np.linalg.eigh(outside.T @ outer @ outside)
    return np.concatenate([inside, outside @ directions[:, ::-1]], axis=1)[:, :r]

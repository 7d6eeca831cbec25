"""The inverses of all n left-out systems of the DRM, as one inverse and what each class changes in it.

See :mod:`marginbook.drm.solvers.leave_one_out`, whose formula this evaluates.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import lapack

from ..model.objective import class_slices, system_matrix
from .direct import NotPositiveDefinite, unit_diagonal

#: products follow from optimality conditions where the factor that divides them is at least this
FAR = 0.05


def large_class(blocks: Sequence[slice]) -> int | None:
    """Return the class that has more than half of the rows, if there is one."""
    n = blocks[-1].stop
    return next((c for c, block in enumerate(blocks) if 2 * (block.stop - block.start) > n), None)


class Downdate:
    """The inverses of all left-out systems, in the variables that give M a unit diagonal (see ClosedForm).

    ``rows[k]`` is the column k of the inverse of the system that is rescaled for the class of k. A class with
    more than half of the rows has a factorisation of its own, which costs less than Woodbury's identity, and
    of the inverse of M only the few columns of the others are computed.
    """

    def __init__(self, K: np.ndarray, sizes: Sequence[int] | np.ndarray, alpha: float, beta: float) -> None:
        M = system_matrix(K, sizes, alpha, beta)
        self.s = s = unit_diagonal(M, K, alpha, beta)
        self.K, self.blocks, self.alpha = K, class_slices(sizes), alpha
        self.ridge = (alpha * np.diagonal(K) + beta) * s * s
        M *= s
        M *= s[:, None]
        self.large, self.whole = self._own_inverse(M, beta)
        self.factor = _cholesky(M, alpha, beta, K)
        self.P: np.ndarray | None = None
        if self.large is None or self.whole is None:
            self.P = _inverse(self.factor, alpha, beta, K)
            self.rows = self.P.copy()
        else:
            self.rows = self.whole.copy()
            others = np.concatenate([np.arange(self.large.start), np.arange(self.large.stop, len(K))])
            unit = np.zeros((len(K), len(others)), order="F")
            unit[others, np.arange(len(others))] = 1.0
            self.rows[others] = lapack.dpotrs(self.factor, unit, lower=0, overwrite_b=1)[0].T
        for block in self.blocks:
            n_c = block.stop - block.start
            if n_c == 1 or alpha == 0 or block == self.large:
                continue
            middle = np.eye(n_c) - self._weight(n_c) * (self._class_kernel(block) @ self.rows[block, block])
            factor = lapack.dgetrf(middle)
            if factor[2] == 0:
                turned, _ = lapack.dgetrs(factor[0], factor[1], self.rows[block], trans=1)
                self.rows[block] = turned
            else:  # the rescaled system is singular as a whole, though no left-out part of it is
                self.rows[block] = np.nan
        self.pivots = np.diagonal(self.rows).copy()

    def _own_inverse(self, M: np.ndarray, beta: float) -> tuple[slice | None, np.ndarray | None]:
        """Return the class with more than half of the rows, and the inverse that is rescaled for it."""
        c = large_class(self.blocks)
        if c is None or self.alpha == 0:
            return None, None
        block, rescaled = self.blocks[c], M.copy()
        rescaled[block, block] -= self._weight(block.stop - block.start) * self._class_kernel(block)
        try:
            factor = _cholesky(rescaled, self.alpha, beta, self.K)
            return block, _inverse(factor, self.alpha, beta, self.K)
        except NotPositiveDefinite:
            return None, None

    def most_extreme(self, count: int) -> np.ndarray:
        """Return about `count` examples: evenly spread ones, ends of classes, largest and smallest pivots."""
        n = len(self.pivots)
        spread = np.linspace(0, n - 1, max(count // 2, 1)).astype(int)
        ends = [edge for block in self.blocks for edge in (block.start, block.stop - 1)]
        order = np.argsort(np.abs(self.pivots))  # NaN comes last
        extreme = max(count // 4, 1)
        return np.unique(np.concatenate([spread, ends, order[:extreme], order[-extreme:]]))

    def weights(self) -> np.ndarray:
        """Return w_{-k} as the rows of an (n, n) matrix: the formula of the module on leave-one-out."""
        W = np.empty_like(self.rows)
        for block in self.blocks:
            n_c = block.stop - block.start
            own = self.rows[block]
            turned = -1.0 / (self.pivots[block] * self.s[block])
            if n_c > 1 and self.alpha > 0:
                V = self._class_product(block, own)
                V *= self.alpha / (n_c - 1) / self.s[block][:, None]
                turned -= np.diagonal(V[:, block]) / self.pivots[block]
                V += own * turned[:, None]
                W[block] = V
            else:
                W[block] = own * turned[:, None]
        W *= self.s
        np.fill_diagonal(W, 0.0)
        return W

    def _class_product(self, block: slice, own: np.ndarray) -> np.ndarray:
        """Return K_cc times the rows of a class; for a large one from M P = I, whose other rows are few."""
        far = 1 - self.alpha / max(block.stop - block.start - 1, 1)
        if self.whole is None or block != self.large or abs(far) < FAR:
            return self._class_kernel(block) @ own
        product = own * -self.ridge[block][:, None]
        for other in self.blocks:
            if other != block:
                scaled = self.K[block, other] * self.s[block][:, None] * self.s[other]
                product -= scaled @ self.whole[other]
        product[:, block][np.diag_indices(block.stop - block.start)] += 1.0
        product /= far
        return product

    def solve(self, right: np.ndarray, fits: np.ndarray) -> np.ndarray:
        """Return the solutions of the systems without the examples `fits`, ascending, for rows of `right`."""
        U = np.empty_like(right)
        for block in self.blocks:
            n_c = block.stop - block.start
            at = slice(*np.searchsorted(fits, (block.start, block.stop)))
            out = fits[at]
            u = self._solved(right[at] * self.s, block)
            if n_c > 1 and self.alpha > 0 and block != self.large:
                u += self._weight(n_c) * ((u[:, block] @ self._class_kernel(block)) @ self.rows[block])
            u -= self.rows[out] * (u[np.arange(len(out)), out] / self.pivots[out])[:, None]
            U[at] = u
        U *= self.s
        U[np.arange(len(fits)), fits] = 0.0
        return U

    def _solved(self, right: np.ndarray, block: slice) -> np.ndarray:
        if self.whole is not None and block == self.large:
            return right @ self.whole
        if self.P is not None:
            return right @ self.P
        solved: np.ndarray = lapack.dpotrs(self.factor, right.T, lower=0)[0].T
        return np.ascontiguousarray(solved)

    def _weight(self, n_c: int) -> float:
        return self.alpha / (n_c * (n_c - 1))

    def _class_kernel(self, block: slice) -> np.ndarray:
        return self.K[block, block] * self.s[block] * self.s[block][:, None]


def _cholesky(M: np.ndarray, alpha: float, beta: float, K: np.ndarray) -> np.ndarray:
    """Return the upper factor, in Fortran's order, of a positive definite matrix, which is overwritten."""
    factor, info = lapack.dpotrf(M.T, lower=0, overwrite_a=1)
    if info != 0:
        raise NotPositiveDefinite(K, alpha, beta)
    return factor


def _inverse(factor: np.ndarray, alpha: float, beta: float, K: np.ndarray) -> np.ndarray:
    """Return the inverse of the matrix that has this factor, which is kept."""
    inverse, info = lapack.dpotri(factor, lower=0)
    if info != 0:
        raise NotPositiveDefinite(K, alpha, beta)
    # LAPACK filled one triangle and left the factor's zeros in the other
    full: np.ndarray = inverse + inverse.T
    full[np.diag_indices_from(full)] /= 2
    return full.T

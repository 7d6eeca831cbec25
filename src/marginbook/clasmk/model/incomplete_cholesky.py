r"""An incomplete Cholesky factor of a normalised Gram matrix that grows sample by sample, or block by block.

The transposed factor has a row for each chosen sample and a column for each sample. What is left of sample i,
:math:`1-\sum_kL_{ik}^2`, is its squared distance to the span of the chosen ones in feature space.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from ...kernels import Kernel
from ...kernels.decomposition import eigh
from .normalised_kernels import SharedPairs

#: smallest squared residual that counts, and smallest eigenvalue of :math:`K_{BB}` that is inverted: below it
#: rounding would leave the columns of U farther than 1e-8 from orthonormal
FLOOR = 1e-6
#: up to so many rows the whole matrix is cheaper than its columns one by one
SMALL = 512
#: above so many rows, columns always come one by one: the whole matrix would be too big
LARGE = 12_000
#: rows that the sequential order looks at together
PANEL = 64


class GrowingFactor:
    """A growing incomplete Cholesky factor; `store` holds its transpose, one row for each chosen sample."""

    def __init__(self, pairs: SharedPairs, kernel: Kernel, cap: int) -> None:
        self.pairs, self.kernel, self.cap, self.n = pairs, kernel, cap, pairs.shape[0]
        self.store = np.empty((0, self.n))
        self.chosen: list[int] = []
        self.residual = np.ones(self.n)

    @property
    def indices(self) -> np.ndarray:
        return np.array(self.chosen, dtype=np.intp)

    @property
    def factor(self) -> np.ndarray:
        return self.store[: len(self.chosen)]

    def append(self, new: np.ndarray, block: np.ndarray) -> None:
        """Add the chosen samples `new`, whose rows of the transposed factor are `block`."""
        k = len(self.chosen)
        wanted = k + len(new)
        if wanted > len(self.store):
            grown = np.empty((min(self.cap, max(wanted, 2 * len(self.store), 32)), self.n))
            grown[:k] = self.factor
            self.store = grown
        # what was chosen earlier has no part outside the span of its time
        block[:, self.chosen] = 0.0
        self.store[k:wanted] = block
        self.residual -= np.einsum("ij,ij->j", block, block)
        self.chosen.extend(new.tolist())
        self.residual[new] = 0.0

    def pivoted(self, tol: float) -> None:
        """Take the sample with the largest residual while it exceeds `tol`, the first sample in any case."""
        n = self.n
        # one column at a time costs little while few are needed; the dense factorisation is faster for many
        self.columns(tol, self.cap if n > LARGE else 0 if n <= SMALL else n // 8)
        self.rest(tol)

    def columns(self, tol: float, limit: int) -> None:
        """Take the samples with the largest residuals one by one, at most `limit` or the cap."""
        while len(self.chosen) < min(limit, self.cap):
            j = int(np.argmax(self.residual))
            if self.chosen and self.residual[j] <= tol:
                return
            column = self.pairs.values(self.kernel, np.array([j]))
            column -= self.factor[:, j] @ self.factor
            column /= np.sqrt(self.residual[j])
            self.append(np.array([j]), column)

    def rest(self, tol: float) -> None:
        """Take all others by LAPACK's pivoted factorisation of what the residuals above `tol` leave."""
        left = self.cap - len(self.chosen)
        active = np.flatnonzero(self.residual > tol)
        if left == 0 or (self.chosen and len(active) == 0):
            return
        if not self.chosen and len(active) == 0:
            active = np.array([0])
        schur = self.schur(active, active)
        lower, pivots, rank, _ = dpstrf(schur.T, tol=tol, lower=1, overwrite_a=1)
        rank = min(rank, left)
        order = pivots - 1
        new = active[order[:rank]]
        corner = np.tril(lower[:rank, :rank])
        block = np.zeros((rank, self.n))
        block[:, new] = corner.T
        block[:, active[order[rank:]]] = lower[rank:, :rank].T
        others = np.setdiff1d(np.flatnonzero(self.residual > 0), active, assume_unique=True)
        if len(others):
            block[:, others] = solve_triangular(
                corner, self.schur(new, others), lower=True, check_finite=False
            )
        self.append(new, block)

    def sequential(self, tol: float) -> None:
        """Take samples in the order of the data, those above `tol` in panels."""
        at = 0
        while at < self.n and len(self.chosen) < self.cap:
            panel = at + np.flatnonzero(self.residual[at:] > tol)[:PANEL]
            if not self.chosen and (len(panel) == 0 or panel[0] != 0):
                panel = np.array([0])
            if len(panel) == 0:
                return
            at = int(panel[-1]) + 1
            kept = _in_order(self.schur(panel, panel), tol, first=not self.chosen)
            new = panel[kept[: self.cap - len(self.chosen)]]
            corner = np.linalg.cholesky(self.schur(new, new))
            everything = self.schur(new, np.arange(self.n))
            block = solve_triangular(corner, everything, lower=True, check_finite=False)
            block[:, new] = corner.T
            self.append(new, block)

    def schur(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return inner products of what the span leaves of the samples `rows` and `columns`."""
        found = self.pairs.values(self.kernel, rows, columns)
        if self.chosen:
            found -= self.factor[:, rows].T @ self.factor[:, columns]
        return found


def _in_order(schur: np.ndarray, tol: float, *, first: bool) -> np.ndarray:
    """Return which rows of a small matrix are farther than `tol` from the span of those taken before."""
    schur, kept = schur.copy(), []
    for i in range(len(schur)):
        if schur[i, i] > tol or (first and i == 0):
            kept.append(i)
            column = schur[i:, i] / np.sqrt(schur[i, i])
            schur[i:, i:] -= np.outer(column, column)
    return np.array(kept, dtype=np.intp)


def well_conditioned(
    pairs: SharedPairs, kernel: Kernel, indices: np.ndarray, tol: float, max_rank: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""Make an orthonormal basis from chosen samples of which some nearly depend on the others.

    The directions in which :math:`K_{BB}` has eigenvalues up to :data:`FLOOR` are left out. No chosen sample
    loses more than that by it, but another sample may lie far out in such a direction: then it is chosen too.

    Returns
    -------
    indices : (m,) array of int
        The chosen samples, new ones last.
    B : (m, r) array
        :math:`B^\top K_{BB}B=I`.
    factor : (r, n) array
        Coordinates of all samples: their squared residuals are at most 10 times :data:`FLOOR` and `tol`,
        whichever is larger, unless there are `max_rank` chosen ones.
    """
    cap, limit = pairs.shape[0] if max_rank is None else int(max_rank), max(float(tol), 10 * FLOOR)
    while True:
        gram = pairs.values(kernel, indices)
        values, vectors = eigh(gram[:, indices])
        kept = values > FLOOR
        B = vectors[:, kept] / np.sqrt(values[kept])
        factor = B.T @ gram
        active = np.flatnonzero(1 - np.einsum("ij,ij->j", factor, factor) > limit)
        left = cap - len(indices)
        if left <= 0 or len(active) == 0:
            return indices, B, factor
        schur = pairs.values(kernel, active, active) - factor[:, active].T @ factor[:, active]
        _, pivots, rank, _ = dpstrf(schur.T, tol=limit, lower=1, overwrite_a=1)
        indices = np.concatenate([indices, active[pivots[: min(max(rank, 1), left)] - 1]])

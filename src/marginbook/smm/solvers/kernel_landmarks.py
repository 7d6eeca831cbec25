r"""The same problem with explicit features of landmark rows: linear, with m columns in place of d2.

With :math:`\varphi(X_i)\in\mathbb R^{d_1\times m}` (:mod:`marginbook.smm.model.row_features`) the
coefficients C of the other files are V itself, (m, r), and no matrix has more than :math:`nd_1m` or
:math:`n^2` entries.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.linalg import solve_triangular

from ...kernels.decomposition import svd
from ..model.row_features import RowFeatures
from ..model.row_kernels import row_values
from .block_gram import GramFactor, factor_gram
from .kernel_problem import KernelProblem, Settings, State
from .kernel_solution import KernelSolution
from .starts import completed


class FeatureBlocks:
    """What :class:`~marginbook.smm.solvers.kernel_blocks.RowBlocks` offers, from (n, d1, m) features."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values
        self.n, self.d1, self.m = values.shape

    def features(self, V: np.ndarray) -> np.ndarray:
        """Return the features times V, (n, d1, r)."""
        return np.asarray(self.values.reshape(-1, self.m) @ V).reshape(self.n, self.d1, -1)

    def right(self, Q: np.ndarray) -> np.ndarray:
        """Return the features of the V-step: ``Q'`` times each matrix, (n, k m)."""
        return np.asarray(np.matmul(Q.T, self.values)).reshape(self.n, -1)

    def inner(self, C: np.ndarray, P: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Return ``C'P``."""
        return np.asarray(C.T @ P)

    def combine(self, signed: np.ndarray, Q: np.ndarray) -> np.ndarray:
        r"""Return :math:`V=\sum_js_j\varphi(X_j)^\top Q`, (m, r)."""
        return np.asarray(np.tensordot(signed, self.values, axes=1).T @ Q)

    def projected(self, Q: np.ndarray) -> np.ndarray:
        """Return the inner products of the V-step, (n, n)."""
        found = self.right(Q)
        return np.asarray(found @ found.T)

    def traces(self) -> np.ndarray:
        """Return the inner products of the whole matrices, (n, n)."""
        found = self.values.reshape(self.n, -1)
        return np.asarray(found @ found.T)

    @cached_property
    def whole(self) -> GramFactor:
        """The factor of `traces`, for all labels and weights."""
        return factor_gram(self.traces())

    def outer(self, signed: np.ndarray) -> np.ndarray:
        r"""Return :math:`MM^\top`, (d1, d1), of :math:`M=\sum_is_i\varphi(X_i)`."""
        M = np.tensordot(signed, self.values, axes=1)
        return np.asarray(M @ M.T)

    def basis(self, V: np.ndarray, signed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return orthonormal columns that span those of V, filled up by M, and the features in them."""
        P = completed(V, np.tensordot(signed, self.values, axes=1))
        return P, self.features(P)


class FeatureProblem(KernelProblem):
    """The problem for (n, d1, m) features; a convex step takes those where they are fewer than samples."""

    blocks: FeatureBlocks

    def __init__(self, values: np.ndarray | FeatureBlocks, y: np.ndarray, settings: Settings) -> None:
        blocks = values if isinstance(values, FeatureBlocks) else FeatureBlocks(values)
        super().__init__(blocks, y, settings)

    def full(self) -> State:
        blocks = self.blocks
        if blocks.n <= blocks.d1 * blocks.m:
            return super().full()
        found = self.linear(blocks.values.reshape(blocks.n, -1), None, None, coarse=True)
        self.offer(found.multipliers)
        left, sigma, right = svd(found.weights.reshape(blocks.d1, blocks.m), full=True)
        k = min(self.rank, len(sigma))
        U, V = left[:, : self.rank], np.zeros((blocks.m, self.rank))
        V[:, :k] = right[:k].T * sigma[:k]
        objective = self.value(U, V, found.intercept)
        return State(U, V, found.intercept, found.multipliers, objective, np.inf)

    def step_right(
        self,
        Q: np.ndarray,
        before: State | None = None,
        multipliers: np.ndarray | None = None,
        ridge: float = 0.0,
    ) -> State:
        blocks = self.blocks
        if ridge > 0 or blocks.n <= Q.shape[1] * blocks.m:
            return super().step_right(Q, before, multipliers, ridge)
        start = None
        if before is not None:
            start = ((Q.T @ before.U) @ before.C.T).ravel(), before.intercept
            multipliers = before.multipliers
        found = self.linear(blocks.right(Q), start, multipliers)
        V = found.weights.reshape(Q.shape[1], blocks.m).T
        return State(Q, V, found.intercept, found.multipliers, found.objective, found.dual_gap)


def start_in_features(found: RowFeatures, start: KernelSolution) -> np.ndarray:
    """Return the V, (m, r), of a solution in rows, projected on the span of the landmarks."""
    between = row_values(found.kernel, found.rows, found.places, start.rows, start.places)
    return np.asarray(solve_triangular(found.factor, between @ start.C, lower=True, check_finite=False))


def in_landmarks(found: RowFeatures, V: np.ndarray) -> np.ndarray:
    """Return the coefficients C, (m, r), of the landmarks whose combination V, (m, r), is in features."""
    return np.asarray(solve_triangular(found.factor, V, lower=True, trans="T", check_finite=False))

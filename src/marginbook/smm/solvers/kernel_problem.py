r"""One low-rank problem with row kernels: its objective, its two blocks, its lower bound, and the descent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ..model.objective import conjugate_sum, feasible, loss_values
from .block import solve_inner
from .block_gram import GramFactor, gram_machine
from .kernel_blocks import complete
from .solution import InnerSolution

#: gap of a block relative to the tolerance of the whole, and the least one
INNER, LEAST = 0.01, 1e-9
#: gap of the solution without a bound on the rank, of which only the leading directions are used
COARSE = 1e-3
#: gap of the last block above which a descent has not converged: the least, relative to the objective or,
#: where that is tiny, to ``FLOOR`` times the risk at B = 0
OPEN, FLOOR = 1e-5, 1e-5


@dataclass
class State:
    """A point, B = U V' with V given by C, and what certifies it."""

    U: np.ndarray
    C: np.ndarray
    intercept: float
    multipliers: np.ndarray
    objective: float
    block_gap: float


@dataclass
class Run:
    """Where a start led, and on which way."""

    state: State
    path: list[float]
    n_iter: int
    converged: bool
    name: str


@dataclass(frozen=True)
class Settings:
    """What a problem is beside its data, as ``low_rank_kernel_svm`` explains."""

    rank: int
    lam: float
    loss: str
    sample_weight: np.ndarray
    fit_intercept: bool
    tol: float


class Blocks(Protocol):
    """Matrices in a feature space by the products that the two steps and the bound need."""

    n: int
    d1: int

    def features(self, C: np.ndarray) -> np.ndarray: ...
    def inner(self, C: np.ndarray, P: np.ndarray, Z: np.ndarray) -> np.ndarray: ...
    def combine(self, signed: np.ndarray, Q: np.ndarray) -> np.ndarray: ...
    def projected(self, Q: np.ndarray) -> np.ndarray: ...
    def traces(self) -> np.ndarray: ...
    @property
    def whole(self) -> GramFactor: ...
    def outer(self, signed: np.ndarray) -> np.ndarray: ...
    def basis(self, C: np.ndarray, signed: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...


class KernelProblem:
    """The objective, its two blocks and its bound for one training set.

    Parameters
    ----------
    blocks : RowBlocks or FeatureBlocks
    y : (n,) array of -1 and +1
    settings : Settings
    """

    def __init__(self, blocks: Blocks, y: np.ndarray, settings: Settings) -> None:
        self.blocks, self.y, self.settings = blocks, y, settings
        self.rank, self.lam, self.loss = settings.rank, settings.lam, settings.loss
        self.sample_weight, self.fit_intercept = settings.sample_weight, settings.fit_intercept
        self.tol = settings.tol
        self.lower_bound = -np.inf
        #: the objective at B = 0 and b = 0
        self.trivial = float(self.sample_weight @ loss_values(np.zeros(len(y)), self.loss)) / len(y)

    def value(self, U: np.ndarray, C: np.ndarray, intercept: float) -> float:
        """Return the objective at B = U V'."""
        images = self.blocks.features(C)
        decisions = np.einsum("nak,ak->n", images, U) + intercept
        square = float(np.sum((U.T @ U) * self.blocks.inner(C, C, images)))
        losses = loss_values(self.y * decisions, self.loss)
        return float(self.sample_weight @ losses) / len(self.y) + self.lam * square

    def offer(self, multipliers: np.ndarray) -> np.ndarray:
        r"""Raise the lower bound to :math:`D_r(c)` if that is larger; return :math:`MM^\top`, (d1, d1)."""
        allowed = feasible(
            multipliers,
            self.y,
            loss=self.loss,
            sample_weight=self.sample_weight,
            fit_intercept=self.fit_intercept,
        )
        outer = self.blocks.outer(allowed * self.y)
        squares = np.maximum(np.linalg.eigvalsh(outer)[::-1][: self.rank], 0.0)
        value = conjugate_sum(allowed, loss=self.loss, sample_weight=self.sample_weight)
        self.lower_bound = max(self.lower_bound, value - float(squares.sum()) / (4 * self.lam))
        return outer

    def full(self) -> State:
        """Return the solution without a bound on the rank, truncated to the rank."""
        found = self._gram(self.blocks.whole, None, None, COARSE)
        self.offer(found.multipliers)
        directions = np.linalg.eigh(self.blocks.outer(found.weights))[1][:, ::-1]
        U = np.ascontiguousarray(directions[:, : self.rank])
        C = self.blocks.combine(found.weights, U)
        objective = self.value(U, C, found.intercept)
        return State(U, C, found.intercept, found.multipliers, objective, np.inf)

    def complete(self, U: np.ndarray, outer: np.ndarray) -> np.ndarray:
        """Return orthonormal columns, (d1, r), whose span contains that of U; see :func:`complete`."""
        return complete(U, outer, self.rank)

    def step_right(
        self,
        Q: np.ndarray,
        before: State | None = None,
        multipliers: np.ndarray | None = None,
        ridge: float = 0.0,
    ) -> State:
        """Return the best V for U = Q, orthonormal columns; a state `before` in their span is a start.

        A `ridge` times the identity is added to the kernel, which makes multipliers unique.
        """
        start = None
        if before is not None:
            images = self.blocks.features(before.C)
            start = np.einsum("nak,ak->n", images, before.U), before.intercept
            multipliers = before.multipliers
        values = self.blocks.projected(Q)
        if ridge > 0:
            values.flat[:: len(values) + 1] += ridge
        found = self._gram(values, start, multipliers, max(INNER * self.tol, LEAST))
        C = self.blocks.combine(found.weights, Q)
        return State(Q, C, found.intercept, found.multipliers, found.objective, found.dual_gap)

    def step_left(self, before: State) -> State:
        """Return the best U for the V of `before`, in an orthonormal basis of its span."""
        P, Z = self.blocks.basis(before.C, before.multipliers * self.y)
        if P.shape[1] == 0:  # neither V nor M has a direction: only the intercept is left
            P, Z = np.zeros((len(before.C), 1)), np.zeros((len(self.y), self.blocks.d1, 1))
        k = P.shape[1]
        start = (before.U @ self.blocks.inner(before.C, P, Z)).ravel(), before.intercept
        found = self.linear(Z.reshape(len(self.y), -1), start, before.multipliers)
        W = found.weights.reshape(self.blocks.d1, k)
        return State(W, P, found.intercept, found.multipliers, found.objective, found.dual_gap)

    def descend(self, state: State, *, max_iter: int, name: str) -> Run:
        """Solve for U and V in turn from `state`; a step that would raise the objective is not taken."""
        path, converged, n_iter = [state.objective], False, 0
        outer = self.offer(state.multipliers)
        while n_iter < max_iter and not converged:
            n_iter += 1
            before = state.objective
            for left in (True, False):
                if left:
                    found = self.step_left(state)
                else:
                    found = self.step_right(self.complete(state.U, outer), state)
                outer = self.offer(found.multipliers)
                if found.objective <= state.objective:
                    state = found
                else:  # the block contains the state, so that its bound and its multipliers hold there too
                    gap = max(0.0, found.block_gap + state.objective - found.objective)
                    state = replace(state, multipliers=found.multipliers, block_gap=gap)
                path.append(state.objective)
            converged = before - state.objective <= self.tol * abs(state.objective)
        open_gap = max(self.tol, OPEN) * max(abs(state.objective), FLOOR * self.trivial)
        return Run(state, path, n_iter, converged and state.block_gap <= open_gap, name)

    def linear(
        self,
        Z: np.ndarray,
        start: tuple[np.ndarray, float] | None,
        multipliers: np.ndarray | None,
        coarse: bool = False,
    ) -> InnerSolution:
        """Return the solution for features Z, (n, p)."""
        return solve_inner(
            Z,
            self.y,
            lam=self.lam,
            loss=self.loss,
            sample_weight=self.sample_weight,
            fit_intercept=self.fit_intercept,
            tol=COARSE if coarse else max(INNER * self.tol, LEAST),
            start=start,
            multipliers=multipliers,
        )

    def _gram(
        self,
        values: np.ndarray | GramFactor,
        start: tuple[np.ndarray, float] | None,
        multipliers: np.ndarray | None,
        tol: float,
    ) -> InnerSolution:
        return gram_machine(
            values,
            self.y,
            lam=self.lam,
            loss=self.loss,
            sample_weight=self.sample_weight,
            fit_intercept=self.fit_intercept,
            tol=tol,
            start=start,
            multipliers=multipliers,
        )

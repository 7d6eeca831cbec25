r"""One low-rank problem with row kernels: its objective, its two blocks, its lower bound, and the descent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..objective import conjugate_sum, feasible, loss_values
from .gram_machine import gram_machine
from .inner import solve_inner
from .kernel_blocks import RowBlocks, complete
from .solution import InnerSolution

#: gap of a block relative to the tolerance of the whole, and the least one
INNER, LEAST = 0.01, 1e-9
#: gap of the solution without a bound on the rank, of which only the leading directions are used
COARSE = 1e-3


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


class KernelProblem:
    """The objective, its two blocks and its bound for one training set.

    Parameters
    ----------
    values : (n d1, n d1) array
        The Gram matrix of all rows.
    y : (n,) array of -1 and +1
    rank, lam, loss, sample_weight, fit_intercept, tol
        As in :func:`low_rank_kernel_svm`.
    """

    def __init__(
        self,
        values: np.ndarray,
        y: np.ndarray,
        *,
        rank: int,
        lam: float,
        loss: str,
        sample_weight: np.ndarray,
        fit_intercept: bool,
        tol: float,
    ) -> None:
        self.blocks = RowBlocks(values, len(values) // len(y))
        self.y, self.rank, self.lam, self.loss = y, rank, lam, loss
        self.sample_weight, self.fit_intercept, self.tol = sample_weight, fit_intercept, tol
        self.lower_bound = -np.inf

    def value(self, U: np.ndarray, C: np.ndarray, intercept: float) -> float:
        """Return the objective at B = U V'."""
        images = self.blocks.features(C)
        decisions = np.einsum("nak,ak->n", images, U) + intercept
        square = float(np.sum((U.T @ U) * (C.T @ images.reshape(len(C), -1))))
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
        found = self._gram(self.blocks.traces(), None, None, COARSE)
        self.offer(found.multipliers)
        directions = np.linalg.eigh(self.blocks.outer(found.weights))[1][:, ::-1]
        U = np.ascontiguousarray(directions[:, : self.rank])
        C = self.blocks.combine(found.weights, U)
        objective = self.value(U, C, found.intercept)
        return State(U, C, found.intercept, found.multipliers, objective, np.inf)

    def step_right(self, Q: np.ndarray, before: State | None = None) -> State:
        """Return the best V for U = Q, orthonormal columns whose span contains the columns of `before`."""
        start, multipliers = None, None
        if before is not None:
            images = self.blocks.features(before.C)
            start = np.einsum("nak,ak->n", images, before.U), before.intercept
            multipliers = before.multipliers
        found = self._gram(self.blocks.projected(Q), start, multipliers, max(INNER * self.tol, LEAST))
        C = self.blocks.combine(found.weights, Q)
        return State(Q, C, found.intercept, found.multipliers, found.objective, found.dual_gap)

    def step_left(self, before: State) -> State:
        """Return the best U for the V of `before`, in an orthonormal basis of its span."""
        P, Z = self.blocks.basis(before.C, before.multipliers * self.y)
        k = P.shape[1]
        inside = before.C.T @ Z.reshape(len(before.C), k)
        found = solve_inner(
            Z.reshape(len(self.y), -1),
            self.y,
            lam=self.lam,
            loss=self.loss,
            sample_weight=self.sample_weight,
            fit_intercept=self.fit_intercept,
            tol=max(INNER * self.tol, LEAST),
            start=((before.U @ inside).ravel(), before.intercept),
            multipliers=before.multipliers,
        )
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
                    found = self.step_right(complete(state.U, outer, self.rank), state)
                outer = self.offer(found.multipliers)
                if found.objective <= state.objective:
                    state = found
                path.append(state.objective)
            converged = before - state.objective <= self.tol * abs(state.objective)
        return Run(state, path, n_iter, converged, name)

    def _gram(
        self,
        values: np.ndarray,
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

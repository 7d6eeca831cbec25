r"""One descent of Algorithm 1 over the blocks U and V of :math:`B=UV^\top`, from one start.

With the rows of B in the span of orthonormal columns P (d2 x r), :math:`B=WP^\top` has
:math:`\langle B,X_i\rangle=\langle W,X_iP\rangle` and :math:`\lVert B\rVert_F=\lVert W\rVert_F`: the U-step
is a linear machine on the :math:`d_1r` features :math:`X_iP`, equation (2) with V fixed. From :math:`W=QR`
the V-step has the features :math:`Q^\top X_i`. No step can increase the objective.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...kernels.decomposition import svd
from ..model.objective import combination, conjugate_sum, objective
from .block import solve_inner
from .newton_joint import Factors, factors
from .sequential_qp import quadratic_programs
from .solution import InnerSolution, LowRankSolution
from .starts import completed
from .starts_smoothed import hinge_continuation, smooth_descent

#: relative duality gap of a block: the largest, and the smallest that rounding lets one ask for
INNER, ROUNDING = 1e-9, 1e-12
#: relative duality gap of a block before both move together
ROUGH = 1e-3
#: stages of the smoothed hinge loss from far away, and reciprocal width of its bands where programs fail
FAR, NARROW = 2, 64.0
#: samples for each coordinate of both blocks above which a start nearby is taken as one from far away
CROWDED = 100


@dataclass
class State:
    """A point of the descent: B, b, its objective, the span P of its rows, and multipliers if known."""

    coef: np.ndarray
    b: float
    objective: float
    P: np.ndarray
    c: np.ndarray | None = None


@dataclass(frozen=True)
class Descent:
    """The problem, and the steps of both blocks."""

    X: np.ndarray
    y: np.ndarray
    rank: int
    lam: float
    loss: str
    sample_weight: np.ndarray
    fit_intercept: bool

    def value(self, coef: np.ndarray, b: float) -> float:
        """Return F(B, b)."""
        return objective(
            coef, b, self.X, self.y, lam=self.lam, loss=self.loss, sample_weight=self.sample_weight
        )

    def bound(self, multipliers: np.ndarray) -> float:
        """Return the lower bound of feasible multipliers over all matrices of the rank."""
        sigma = np.linalg.svd(combination(multipliers, self.X, self.y), compute_uv=False)
        value = conjugate_sum(multipliers, loss=self.loss, sample_weight=self.sample_weight)
        return value - float(np.sum(sigma[: self.rank] ** 2)) / (4.0 * self.lam)

    def block(self, at: State, *, rows: bool, tol: float) -> tuple[State, InnerSolution]:
        """Minimise over U with the span of the rows fixed (``rows``), or over V with that of the columns."""
        n, d1, d2 = self.X.shape
        if rows:
            basis, warm = at.P, at.coef @ at.P
            Z = self.X.reshape(n * d1, d2) @ basis
        else:
            c = np.zeros(n) if at.c is None else at.c
            basis = completed(at.coef @ at.P, combination(c, self.X, self.y).T)
            warm = at.coef.T @ basis
            Z = np.matmul(basis.T, self.X).transpose(0, 2, 1)
        found = solve_inner(
            Z.reshape(n, -1),
            self.y,
            lam=self.lam,
            loss=self.loss,
            sample_weight=self.sample_weight,
            fit_intercept=self.fit_intercept,
            tol=tol,
            start=(warm.ravel(), at.b),
            multipliers=at.c,
        )
        at = replace(at, c=found.multipliers)
        if found.objective <= at.objective:
            W = found.weights.reshape(-1, self.rank)
            coef = W @ basis.T if rows else basis @ W.T
            at = replace(at, coef=coef, b=found.intercept, objective=found.objective)
            if not rows:
                at.P = completed(W, combination(found.multipliers, self.X, self.y))
        return at, found

    def together(self, at: State, tol: float, near: bool) -> State:
        """Move both blocks until they are nearly optimal together; return `at` if that is no better."""
        found = factors(at.coef, at.P, at.b, self.X, self.y)
        problem: dict[str, Any] = {
            "lam": self.lam,
            "sample_weight": self.sample_weight,
            "fit_intercept": self.fit_intercept,
            "tol": tol,
        }
        if self.loss == "hinge":
            found, c = self._at_kinks(found, at.c, near, problem)
        else:
            found, c, _ = smooth_descent(self.X, self.y, found, loss=self.loss, **problem)
        coef = found.coef
        value = self.value(coef, found.b)
        return State(coef, found.b, value, found.P, c) if value <= at.objective else at

    def _at_kinks(
        self, found: Factors, c: np.ndarray | None, near: bool, problem: dict[str, Any]
    ) -> tuple[Factors, np.ndarray]:
        """Return factors for the hinge loss: wide bands if far, programs, narrow bands if needed."""
        X, y = self.X, self.y
        # between two levels so many samples cross the margin that the programs' changes do not suffice
        crowded = len(y) > CROWDED * self.rank * (sum(X.shape[1:]) - self.rank)
        if not near or crowded or c is None:
            found, c, _ = hinge_continuation(X, y, found, multipliers=c, stages=FAR, **problem)
        programs = {**problem, "tol": 0.1 * problem["tol"]}
        found, c, settled = quadratic_programs(X, y, found, c, **programs)
        if not settled:
            found, c, _ = hinge_continuation(X, y, found, multipliers=c, first=NARROW, **problem)
        return found, c

    def run(
        self, at: State, *, tol: float, max_iter: int, name: str, method: str, near: bool
    ) -> LowRankSolution:
        """Descend from a state.

        Parameters
        ----------
        at : State
            Without multipliers the first step is over U.
        tol : float
            Relative change of the objective by a sweep at which to stop.
        max_iter : int
            Sweeps.
        name : str
            Of the start.
        method : {"joint", "alternation"}
        near : bool
            Whether the state is a solution of a problem nearby.
        """
        path = [at.objective]
        if method == "joint":
            if at.c is None:
                at, _ = self.block(at, rows=True, tol=ROUGH)
                path.append(at.objective)
            at = self.together(at, tol, near)
            path.append(at.objective)
        lower, gap, sweep, settled = -np.inf, np.inf, 0, False
        inner_tol = max(min(0.01 * tol, INNER), ROUNDING)
        while not settled and sweep < max_iter:
            before = at.objective
            sweep += 1
            shared = at.c
            for rows in (True, False):
                if method == "joint" and shared is not None:
                    at = replace(at, c=shared)  # where both blocks are stationary, these belong to either
                at, found = self.block(at, rows=rows, tol=inner_tol)
                lower = max(lower, self.bound(found.multipliers))
                gap = found.objective - found.dual_gap
                path.append(at.objective)
            settled = before - at.objective <= tol * abs(at.objective)
        # the blocks are asked for more than the whole needs, which rounding may refuse
        solved = found.converged or found.dual_gap <= tol * abs(found.objective)
        U, V = balanced(at.coef, self.rank)
        return LowRankSolution(
            U,
            V,
            U @ V.T,
            at.b,
            found.multipliers,
            at.objective,
            lower,
            max(0.0, at.objective - gap),
            np.array(path),
            sweep,
            settled and solved,
            name,
        )


def balanced(coef: np.ndarray, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """Return U and V with U V' = coef and columns of equal lengths in each pair."""
    left, sigma, right = svd(coef)
    root = np.sqrt(sigma[:rank])
    return left[:, :rank] * root, right[:rank].T * root

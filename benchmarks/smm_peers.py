"""The problems that the benchmarks of low-rank margins solve, and the peers; imported only.

Matrices are Gaussian; the class has a logistic probability in their product with a matrix of low rank.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import cvxpy as cp
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC

from marginbook.datasets import make_low_rank
from marginbook.quality.benchmarking import CPU, clock
from marginbook.smm.model.objective import objective
from marginbook.smm.solvers.nuclear_norm import NuclearProblem

#: scale of the log odds, as in the experiments on the number of samples
SCALE = 4.0
#: steps of solvers that must not stop early
MANY = 1_000_000
#: CPU seconds after which no tighter tolerance of a peer is tried
PATIENCE = 3.0


@dataclass(frozen=True, eq=False)
class Problem:
    """Matrices (n, d1, d2), labels -1 and 1, rank and penalty; what is minimised by name."""

    X: np.ndarray
    y: np.ndarray
    rank: int
    lam: float
    loss: str = "hinge"
    fit_intercept: bool = True

    @property
    def settings(self) -> dict[str, Any]:
        """The options that our solvers and the one by cvxpy share."""
        names = ("rank", "lam", "loss", "fit_intercept")
        return {name: getattr(self, name) for name in names}

    @property
    def rows(self) -> np.ndarray:
        """The matrices as rows of d1 d2 numbers."""
        return self.X.reshape(len(self.X), -1)

    def value(self, coef: np.ndarray, intercept: float) -> float:
        """Return the objective of coefficients, (d1, d2)."""
        return objective(coef, intercept, self.X, self.y, lam=self.lam, loss=self.loss)

    def __str__(self) -> str:
        free = "b free" if self.fit_intercept else "b = 0"
        return f"{self.loss.replace('_', ' ')}, {free}, lambda={self.lam:g}"


@cache
def sample(n: int, d1: int, d2: int, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """Return matrices and labels, the same for the same sizes."""
    drawn = make_low_rank(n, shape=(d1, d2), rank=rank, scale=SCALE, random_state=0)
    return drawn.X, drawn.y.astype(float)


def problem(n: int, d1: int, d2: int, rank: int, lam: float, **options: Any) -> Problem:
    """Return a problem whose rank is that of the truth."""
    return Problem(*sample(n, d1, d2, rank), rank, lam, **options)


def by_sklearn(
    Z: np.ndarray, y: np.ndarray, p: Problem, tol: float | None = None
) -> tuple[np.ndarray, float]:
    """Return w, (p,), and b of the convex problem of one block by LIBSVM, LIBLINEAR or LogisticRegression.

    Without a tolerance each has its default.
    """
    C = 1 / (2 * p.lam * len(y))
    machine: Any
    if p.loss == "logistic":
        machine = LogisticRegression(C=C, fit_intercept=p.fit_intercept, max_iter=MANY)
    elif p.loss == "hinge" and p.fit_intercept:
        machine = SVC(kernel="linear", C=C, cache_size=400)
    elif p.fit_intercept:
        raise ValueError("LinearSVC penalises the intercept; give a problem without one, or another loss")
    else:
        machine = LinearSVC(C=C, loss=p.loss, fit_intercept=False, max_iter=MANY, random_state=0)
    if tol is not None:
        machine.set_params(tol=tol)
    machine.fit(Z, y)
    return machine.coef_.ravel(), float(np.ravel(machine.intercept_)[0]) if p.fit_intercept else 0.0


def alternation_by_sklearn(p: Problem, tol: float = 1e-6) -> tuple[float, int]:
    """Return the last objective and the sweeps of Algorithm 1 with every block by `by_sklearn`."""
    n, d1, d2 = p.X.shape
    w, _ = by_sklearn(p.rows, p.y, p)
    V = np.linalg.svd(w.reshape(d1, d2))[2][: p.rank].T
    last, sweeps = np.inf, 0
    while sweeps < 200:
        sweeps += 1
        P = np.linalg.qr(V)[0]
        w, _ = by_sklearn((p.X @ P).reshape(n, -1), p.y, p)
        Q = np.linalg.qr(w.reshape(d1, p.rank))[0]
        w, b = by_sklearn((p.X.transpose(0, 2, 1) @ Q).reshape(n, -1), p.y, p)
        V = w.reshape(d2, p.rank)
        value = p.value(Q @ V.T, b)
        if last - value <= tol * value:
            break
        last = value
    return value, sweeps


def nuclear_by_cvxpy(p: NuclearProblem, tau: float) -> float:
    """Return the least objective of the nuclear-norm machine by a semidefinite program."""
    B, b = cp.Variable(p.X.shape[1:]), cp.Variable()
    margins = cp.multiply(p.y, p.rows @ cp.vec(B, order="C") + b)
    cost = cp.sum_squares(B) / 2 + tau * cp.normNuc(B) + p.costs @ cp.pos(1 - margins)
    program = cp.Problem(cp.Minimize(cost))
    program.solve(solver=cp.CLARABEL, max_threads=1)
    return float(program.value)


def loosest(
    solver: Callable[[float], Any], excess: Callable[[Any], float], wanted: float, last: int = 12
) -> tuple[float, float]:
    """Return the largest power of ten with excess at most `wanted`, or the last tried; and its excess."""
    for power in range(1, last + 1):
        taken, found = clock(lambda power=power: solver(10.0**-power))
        reached = excess(found)
        if reached <= wanted or taken[CPU] > PATIENCE:
            break
    return 10.0**-power, reached

"""The problems that the benchmarks of kFDA_q solve, and the peers; imported only.

Features are standardised; a width is a multiple of sqrt(2p), the root mean square distance of two rows of p
features. Every solver starts at the kernel matrix: the column of ones, the Gram matrix and all
else that a method needs is part of its time. Only the calls that compare lassos have the design at hand.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from celer import Lasso as Celer
from skglm import GeneralizedLinearEstimator
from skglm.datafits import Quadratic
from skglm.experimental import IterativeReweightedL1
from skglm.penalties import L0_5
from skglm.solvers import AndersonCD
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import Lasso
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import scale

from marginbook.datasets import available, load, make_waveform
from marginbook.kfda.model.objective import Problem, objective, targets
from marginbook.kfda.solvers.irls import ridge_start, step_stable
from marginbook.quality.benchmarking import Times, clock

#: relative excess over the same J that the comparisons with the iteration (8) ask for, and the paper's rule
SAME = 1e-5
#: excess over the optimum that the comparisons of lassos ask for
NEAR = 1e-4
#: at most so many working sets of skglm, and passes over each; its own 50,000 passes may take minutes
BOUNDS = {"max_iter": 50, "max_epochs": 500}
#: CPU seconds after which (8) ends without the same J
LIMIT = 3.0

#: width of the kernel for each set, which the cross-validations of the tables choose or lie near to
WIDTHS = {"banana": 0.25, "german": 0.5, "image": 0.25, "splice": 0.5, "waveform": 0.5}
WIDTHS |= {"breast cancer": 0.5, "digits, odd or even": 0.5}
BROUGHT = ("waveform", "breast cancer", "digits, odd or even")


@dataclass(frozen=True, eq=False)
class Data:
    """Standardised rows X (n, p), which are positive (n,), the kernel matrix, and its width."""

    name: str
    X: np.ndarray
    positive: np.ndarray
    K: np.ndarray
    sigma: float

    def fresh(self, *, design: bool = False) -> Problem:
        """Return the problem with nothing computed in advance, or with the design only."""
        problem = Problem(self.K, targets(self.positive))
        if design:
            _ = problem.design
        return problem

    def __str__(self) -> str:
        return f"{self.name}, N={len(self.X)}"


def can_load(name: str) -> bool:
    """Whether scikit-learn or a generator brings a set, or it is fetched."""
    return name in BROUGHT or name in available()


def rows_of(name: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return all rows of a set and their labels; `n` rows where they are generated."""
    if name == "breast cancer":
        return load_breast_cancer(return_X_y=True)
    if name == "digits, odd or even":
        X, y = load_digits(return_X_y=True)
        return X, y % 2
    if name == "waveform":
        return make_waveform(n, random_state=0)
    found = load(name)
    return np.asarray(found.X, dtype=float), np.asarray(found.y)


def data(name: str, n: int) -> Data:
    """Return `n` rows of a set in random order."""
    X, labels = rows_of(name, n)
    if n > len(X):
        raise ValueError(f"{name} has {len(X)} rows, {n} are asked for; take fewer")
    rows = np.random.default_rng(0).permutation(len(X))[:n]
    X = scale(X[rows])
    sigma = WIDTHS[name] * np.sqrt(2.0 * X.shape[1])
    squared = euclidean_distances(X, squared=True)
    K = np.exp((squared + squared.T) * (-0.25 / sigma**2))
    return Data(name, X, labels[rows] == labels.max(), K, sigma)


@dataclass(frozen=True)
class Descent:
    """J and the seconds, (k, 2), since the call, at the ridge start and after each step of (8)."""

    values: np.ndarray
    seconds: Times

    def at_rule(self) -> int:
        """Return the step at which the paper's rule stops, or the last one."""
        small = np.abs(np.diff(self.values)) <= SAME * self.values[1:]
        return int(np.argmax(small)) + 1 if small.any() else len(self.values) - 1

    def at(self, value: float) -> int | None:
        """Return the first step at which J is at most `value`, if there is one."""
        below = self.values <= value
        return int(np.argmax(below)) if below.any() else None


def plain_descent(problem: Problem, q: float, rho: float, value: float, limit: float = LIMIT) -> Descent:
    """Iterate (8) as `majorize_minimize` does, past the paper's rule and to J <= `value`, or to the limit."""
    wall, cpu = time.perf_counter(), time.process_time()
    values, seconds = [], []

    def note() -> None:
        values.append(objective(problem, omega, q, rho))
        seconds.append((time.perf_counter() - wall, time.process_time() - cpu))

    omega = ridge_start(problem, rho)
    note()
    while seconds[-1][1] < limit:
        omega = step_stable(problem, omega, q, rho)
        note()
        if values[-1] <= value and abs(values[-2] - values[-1]) <= SAME * values[-1]:
            break
    return Descent(np.array(values), np.array(seconds))


def celer(problem: Problem, rho: float, tol: float) -> np.ndarray:
    """Return celer's coefficients for q = 1; its objective is ours over N."""
    model = Celer(alpha=rho, fit_intercept=False, tol=tol, max_iter=200)
    return np.asarray(model.fit(problem.design, problem.yhat).coef_)


def scikit_learn(problem: Problem, rho: float, tol: float, max_iter: int = 1500) -> np.ndarray:
    """Return scikit-learn's coefficients for q = 1; its objective is ours over N."""
    model = Lasso(alpha=rho, fit_intercept=False, tol=tol, max_iter=max_iter)
    return np.asarray(model.fit(problem.design, problem.yhat).coef_)


def loosest(
    solver: Callable[[float], np.ndarray], excess: Callable[[np.ndarray], float], last: int
) -> tuple[float, float]:
    """Return the largest power of ten with an excess of at most `NEAR`, or the last tried, and its excess."""
    for power in range(1, last + 1):
        (_, cpu), omega = clock(lambda power=power: solver(10.0**-power))
        reached = excess(omega)
        if reached <= NEAR or cpu > 2 * LIMIT:
            break
    return 10.0**-power, reached


def skglm_half(
    problem: Problem, rho: float, start: np.ndarray | None = None, tol: float = 1e-6
) -> np.ndarray:
    """Return skglm's coefficients for q = 1/2; its objective is ours over N."""
    # the other strategy of its working sets, the subdifferential, is satisfied with all zeros for q < 1
    solver = AndersonCD(fit_intercept=False, tol=tol, ws_strategy="fixpoint", **BOUNDS)
    if start is None:
        model = GeneralizedLinearEstimator(Quadratic(), L0_5(rho), solver)
        return np.asarray(model.fit(problem.design, problem.yhat).coef_)
    fitted = problem.design @ start
    return np.asarray(
        solver.solve(problem.design, problem.yhat, Quadratic(), L0_5(rho), start.copy(), fitted)[0]
    )


def skglm_reweighted(problem: Problem, rho: float) -> np.ndarray:
    """Return the coefficients of skglm's lasso, reweighted five times for q = 1/2."""
    solver = AndersonCD(fit_intercept=False, tol=1e-6, **BOUNDS)
    model = IterativeReweightedL1(Quadratic(), L0_5(rho), solver)
    return np.asarray(model.fit(problem.design, problem.yhat).coef_)


def refitting_selection(problem: Problem, terms: int) -> list[int]:
    """Return the columns that forward selection takes after the bias: a least-squares fit per candidate."""
    chosen = [0]
    for _ in range(terms):
        left = np.full(problem.n_coefficients, np.inf)
        for column in set(range(problem.n_coefficients)) - set(chosen):
            columns = problem.design[:, [*chosen, column]]
            fitted = columns @ np.linalg.lstsq(columns, problem.yhat)[0]
            left[column] = np.sum((problem.yhat - fitted) ** 2)
        chosen.append(int(np.argmin(left)))
    return chosen[1:]


def textbook_selection(problem: Problem, terms: int) -> list[int]:
    """Return the same columns: each candidate is made orthogonal to the chosen ones, again for every term."""
    basis, chosen = [problem.design[:, 0] / np.sqrt(problem.n)], [0]
    for _ in range(terms):
        best, ratio = 0, -1.0
        for column in set(range(problem.n_coefficients)) - set(chosen):
            w = problem.design[:, column].copy()
            for direction in basis:
                w -= (direction @ w) * direction
            square = w @ w
            if square > 0 and (w @ problem.yhat) ** 2 / square > ratio:
                best, ratio, part = column, (w @ problem.yhat) ** 2 / square, w / np.sqrt(square)
        chosen.append(best)
        basis.append(part)
    return chosen[1:]

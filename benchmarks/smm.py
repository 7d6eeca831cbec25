"""Time low-rank margins beside alternations by cvxpy and LIBSVM, cold paths, ADMM, and explicit features.

Run: python benchmarks/smm.py [--quick]
Writes benchmarks/results/smm.csv (ratios) and smm-ends.csv (who ends at which objective F, after how long).

A ratio is that of median CPU times of one thread, peers in turns, call by call; that of the wall times is
stored too. All alternations start at the truncated solution without a rank, as ours does, and that solution
is part of their time; they stop at the same relative decrease by a sweep, 1e-6. "To its F": both stop as soon
as F is at most 1e-4 above the limit of the alternation. Blocks by LIBSVM, LIBLINEAR and LogisticRegression
have their default tolerances.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from smm_cases import nuclear_against_cvxpy, nuclear_norm, one_block, rank_over_vectors, row_kernels
from smm_peers import Problem, alternation_by_sklearn, loosest, nuclear_by_cvxpy, problem, sample

from marginbook.quality.benchmarking import CPU, Ratio, Record, clock, compare, in_turns, main
from marginbook.smm.estimators.level_sets import LevelSetClassifier
from marginbook.smm.estimators.regression import RegressionFunctionEstimator
from marginbook.smm.model.objective import LOSSES
from marginbook.smm.solvers.block_descent import low_rank_svm
from marginbook.smm.solvers.nuclear_norm import NuclearProblem
from marginbook.smm.solvers.oracle import alternation_by_cvxpy

LAMS = (0.1, 0.03, 0.01)
#: relative excess over the limit of the alternation by cvxpy
NEAR = 1e-4
#: H, the levels of a path are one less
LEVELS = 20


def against_alternations(p: Problem, runs: int) -> Iterator[Ratio | Record]:
    """A fit against Algorithm 1 with blocks by cvxpy, and by scikit-learn where it solves the problem."""
    size = f"{p}, n={len(p.X)}, {p.X.shape[1]}x{p.X.shape[2]}, r={p.rank}"
    last: dict[str, Any] = {}

    def ours(tol: float = 1e-6) -> Any:
        last["ours"] = low_rank_svm(p.X, p.y, tol=tol, **p.settings)
        return last["ours"]

    def general() -> None:
        last["cvxpy"] = alternation_by_cvxpy(p.X, p.y, **p.settings)[2]

    def usual() -> None:
        last["sklearn"] = alternation_by_sklearn(p)

    times = in_turns(ours, general, runs=runs)
    found, path = last["ours"], last["cvxpy"]
    limit = float(path[-1])
    yield Ratio(f"fit against alternation by cvxpy, {size}", *times)
    yield Ratio(f"F over that of alternation by cvxpy (at most), {size}", value=found.objective / limit)
    sweeps = int(np.argmax(path <= limit * (1 + NEAR))) // 2 + 1
    tol, _ = loosest(ours, lambda end: end.objective / limit - 1, NEAR)
    yield compare(
        f"fit against alternation by cvxpy, to its F, {sweeps} sweeps, {size}",
        lambda: ours(tol),
        lambda: alternation_by_cvxpy(p.X, p.y, max_iter=sweeps, tol=0.0, **p.settings),
        runs,
    )
    (_, own), alternated = clock(lambda: low_rank_svm(p.X, p.y, method="alternation", **p.settings))
    ends = [
        ("ours", median_cpu(times[0]), found.objective, found.n_iter),
        ("ours, blocks in turns", own, alternated.objective, alternated.n_iter),
        ("cvxpy, blocks in turns", median_cpu(times[1]), limit, len(path) // 2),
    ]
    if p.loss != "squared_hinge" or not p.fit_intercept:
        beside = in_turns(ours, usual, runs=runs)
        who = "LogisticRegression" if p.loss == "logistic" else "LIBSVM" if p.fit_intercept else "LIBLINEAR"
        yield Ratio(f"fit against alternation by {who}, {size}", *beside)
        ends.append((f"{who}, blocks in turns", median_cpu(beside[1]), *last["sklearn"]))
    least = min(end[2] for end in ends)
    for solver, seconds, value, swept in ends:
        end = {"problem": str(p), "solver": solver, "seconds": f"{seconds:.4g}", "objective": f"{value:.8g}"}
        yield Record("smm-ends", end | {"excess": f"{value / least - 1:.2e}", "sweeps": swept})


def median_cpu(times: np.ndarray) -> float:
    """Return the median CPU seconds of (runs, 2) times."""
    return float(np.median(times[:, CPU]))


def level_path(p: Problem, runs: int) -> Iterator[Ratio]:
    """Twenty levels, each from its neighbour, beside one cold fit and beside as many."""
    options = {**p.settings, "random_state": 0}
    path = RegressionFunctionEstimator(LEVELS, **options)
    middle = LevelSetClassifier(0.5, **options)
    ends: dict[str, np.ndarray] = {}

    def warm() -> None:
        ends["warm"] = path.fit(p.X, p.y).objective_

    def cold() -> None:
        fits = [LevelSetClassifier(h / LEVELS, **options).fit(p.X, p.y) for h in range(1, LEVELS)]
        ends["cold"] = np.array([fit.objective_ for fit in fits])

    size = f"{p}, n={len(p.X)}, {p.X.shape[1]}x{p.X.shape[2]}, r={p.rank}"
    what = f"H={LEVELS} levels by warm starts"
    one_fit = f"{what} over one cold fit (at most), {size}"
    yield compare(one_fit, warm, lambda: middle.fit(p.X, p.y), runs)
    yield compare(f"{what} against cold fits, {size}", warm, cold, runs)
    quotient = ends["warm"].mean() / ends["cold"].mean()
    yield Ratio(f"mean F of {what} over that of cold fits, {size}", value=quotient)


def warm_up() -> None:
    """Call once what is imported or compiled at the first call."""
    for loss, free in product(LOSSES, (False, True)):
        p = problem(60, 6, 6, 2, 0.05, loss=loss, fit_intercept=free)
        RegressionFunctionEstimator(4, **p.settings).fit(p.X, p.y)
        alternation_by_cvxpy(p.X, p.y, max_iter=1, **p.settings)
    X, y = sample(40, 4, 4, 1)
    nuclear_by_cvxpy(NuclearProblem(X, y, np.ones(40)), 1.0)
    for _ in nuclear_norm(40, 4, 1):
        pass


def measure(quick: bool) -> Iterator[Ratio | Record]:
    """Yield the ratios and the ends."""
    n, d, rank, runs = (100, 8, 2, 1) if quick else (500, 20, 3, 5)
    warm_up()
    for loss, free, lam in product(LOSSES, (True, False), LAMS[:1] if quick else LAMS[::2]):
        yield from against_alternations(problem(n, d, d, rank, lam, loss=loss, fit_intercept=free), runs)
    for loss, free, lam in product(LOSSES, (True, False), LAMS[:1] if quick else LAMS):
        yield from level_path(problem(n, d, d, rank, lam, loss=loss, fit_intercept=free), min(runs, 3))
    yield from nuclear_norm(n, d, runs)
    yield from nuclear_against_cvxpy(((50, 5),) if quick else ((100, 8), (200, 10), (200, 15)), min(runs, 3))
    yield from row_kernels(1 if quick else 3)
    yield from one_block((n,) if quick else (n, 10 * n), d, rank, runs)
    yield from one_block((n,), d, d, runs, "vectors")
    yield from rank_over_vectors(n, d, runs)


if __name__ == "__main__":
    main(measure)

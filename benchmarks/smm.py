"""Time low-rank margins beside alternations by cvxpy and LIBSVM, cold paths, ADMM, and explicit features.

Run: python benchmarks/smm.py [--quick]
Writes benchmarks/results/smm.csv (ratios) and smm-ends.csv (who ends at which objective F, after how long).

A ratio is that of median CPU times of one thread, peers in turns, call by call; that of the wall times is
stored too. All alternations start at the truncated solution without a rank, as ours does, and that solution
is part of their time; they stop at the same relative decrease by a sweep, 1e-6. "To its F": both stop as soon
as F is at most 1e-4 above the limit of the alternation. Blocks by LIBSVM, LIBLINEAR and LogisticRegression
have their default tolerances. A peer that takes more than a second is not repeated.
"""

from __future__ import annotations

import argparse
import csv
import platform
import sys
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from kfda_peers import CPU, WALL, Row, clock, side_by_side
from rich.console import Console
from rich.table import Table
from smm_cases import nuclear_against_cvxpy, nuclear_norm, one_block, rank_over_vectors, row_kernels
from smm_peers import Problem, alternation_by_sklearn, loosest, nuclear_by_cvxpy, problem, sample
from threadpoolctl import threadpool_info, threadpool_limits

from marginbook.smm.level_sets import LevelSetClassifier
from marginbook.smm.objective import LOSSES
from marginbook.smm.oracle import alternation_by_cvxpy
from marginbook.smm.regression import RegressionFunctionEstimator
from marginbook.smm.solvers.block_descent import low_rank_svm
from marginbook.smm.solvers.nuclear_norm import NuclearProblem

OUT = Path(__file__).parent / "results"
LAMS = (0.1, 0.03, 0.01)
#: relative excess over the limit of the alternation by cvxpy
NEAR = 1e-4
GOAL, LEVELS, LEVEL_GOAL = 50.0, 20, 8.0
HEADS = "what ratio goal met ours ours_least peer peer_least wall_ratio runs python numpy machine blas"
#: kinds of rows, as they are stored
ORDER = (
    "fit against alternation by cvxpy, to",
    "fit against alternation by cvxpy",
    "F over",
    "fit against",
    f"H={LEVELS} levels by warm starts over",
    f"H={LEVELS} levels by warm starts against",
    "mean F",
)
Ends = list[dict[str, Any]]


def against_alternations(p: Problem, runs: int) -> tuple[list[Row], Ends]:
    """A fit against Algorithm 1 with blocks by cvxpy, and by scikit-learn where it solves the problem."""
    size = f"{p}, n={len(p.X)}, {p.X.shape[1]}x{p.X.shape[2]}, r={p.rank}"
    last: dict[str, Any] = {}

    def ours(_: object, tol: float = 1e-6) -> Any:
        last["ours"] = low_rank_svm(p.X, p.y, tol=tol, **p.settings)
        return last["ours"]

    def general(_: object) -> None:
        last["cvxpy"] = alternation_by_cvxpy(p.X, p.y, **p.settings)[2]

    def usual(_: object) -> None:
        last["sklearn"] = alternation_by_sklearn(p)

    times = side_by_side(ours, general, runs)
    found, path = last["ours"], last["cvxpy"]
    limit = float(path[-1])
    rows = [
        Row(f"fit against alternation by cvxpy, {size}", *times, GOAL),
        Row(
            f"F over that of alternation by cvxpy (at most), {size}",
            None,
            None,
            1 + NEAR,
            found.objective / limit,
        ),
    ]
    sweeps = int(np.argmax(path <= limit * (1 + NEAR))) // 2 + 1
    tol, _ = loosest(lambda tol: ours(None, tol), lambda end: end.objective / limit - 1, NEAR)
    near = side_by_side(
        lambda _: ours(None, tol),
        lambda _: alternation_by_cvxpy(p.X, p.y, max_iter=sweeps, tol=0.0, **p.settings),
        runs,
    )
    rows.append(Row(f"fit against alternation by cvxpy, to its F, {sweeps} sweeps, {size}", *near))
    (_, own), alternated = clock(lambda: low_rank_svm(p.X, p.y, method="alternation", **p.settings))
    ends = [
        ("ours", median_cpu(times[0]), found.objective, found.n_iter),
        ("ours, blocks in turns", own, alternated.objective, alternated.n_iter),
        ("cvxpy, blocks in turns", median_cpu(times[1]), limit, len(path) // 2),
    ]
    if p.loss != "squared_hinge" or not p.fit_intercept:
        beside = side_by_side(ours, usual, runs)
        who = "LogisticRegression" if p.loss == "logistic" else "LIBSVM" if p.fit_intercept else "LIBLINEAR"
        rows.append(Row(f"fit against alternation by {who}, {size}", *beside))
        ends.append((f"{who}, blocks in turns", median_cpu(beside[1]), *last["sklearn"]))
    least = min(end[2] for end in ends)
    return rows, [
        {
            "problem": str(p),
            "solver": solver,
            "seconds": f"{seconds:.4g}",
            "objective": f"{value:.8g}",
            "excess": f"{value / least - 1:.2e}",
            "sweeps": swept,
        }
        for solver, seconds, value, swept in ends
    ]


def median_cpu(times: np.ndarray) -> float:
    """Return the median CPU seconds of (runs, 2) times."""
    return float(np.median(times[:, CPU]))


def level_path(p: Problem, runs: int) -> list[Row]:
    """Twenty levels, each from its neighbour, beside one cold fit and beside as many."""
    options = {**p.settings, "random_state": 0}
    path = RegressionFunctionEstimator(LEVELS, **options)
    middle = LevelSetClassifier(0.5, **options)
    ends: dict[str, np.ndarray] = {}

    def warm(_: object) -> None:
        ends["warm"] = path.fit(p.X, p.y).objective_

    def cold(_: object) -> None:
        fits = [LevelSetClassifier(h / LEVELS, **options).fit(p.X, p.y) for h in range(1, LEVELS)]
        ends["cold"] = np.array([fit.objective_ for fit in fits])

    size = f"{p}, n={len(p.X)}, {p.X.shape[1]}x{p.X.shape[2]}, r={p.rank}"
    what = f"H={LEVELS} levels by warm starts"
    one = side_by_side(warm, lambda _: middle.fit(p.X, p.y), runs)
    return [
        Row(f"{what} over one cold fit (at most), {size}", *one, LEVEL_GOAL),
        Row(f"{what} against cold fits, {size}", *side_by_side(warm, cold, 1)),
        Row(
            f"mean F of {what} over that of cold fits, {size}",
            value=ends["warm"].mean() / ends["cold"].mean(),
        ),
    ]


def warm_up() -> None:
    """Call once what is imported or compiled at the first call."""
    for loss, free in product(LOSSES, (False, True)):
        p = problem(60, 6, 6, 2, 0.05, loss=loss, fit_intercept=free)
        RegressionFunctionEstimator(4, **p.settings).fit(p.X, p.y)
        alternation_by_cvxpy(p.X, p.y, max_iter=1, **p.settings)
    X, y = sample(40, 4, 4, 1)
    nuclear_by_cvxpy(NuclearProblem(X, y, np.ones(40)), 1.0)
    nuclear_norm(40, 4, 1)


def measure(quick: bool) -> tuple[list[Row], Ends]:
    """Return the ratios, those with a goal first within each kind, and the ends."""
    n, d, rank, runs = (100, 8, 2, 1) if quick else (500, 20, 3, 5)
    warm_up()
    found: list[Row] = []
    ends: Ends = []
    for loss, free, lam in product(LOSSES, (True, False), LAMS[:1] if quick else LAMS[::2]):
        rows, ended = against_alternations(problem(n, d, d, rank, lam, loss=loss, fit_intercept=free), runs)
        found += rows
        ends += ended
    for loss, free, lam in product(LOSSES, (True, False), LAMS[:1] if quick else LAMS):
        found += level_path(problem(n, d, d, rank, lam, loss=loss, fit_intercept=free), min(runs, 3))
    found.sort(key=lambda row: next(i for i, start in enumerate(ORDER) if row.what.startswith(start)))
    found += nuclear_norm(n, d, runs)
    found += nuclear_against_cvxpy(((50, 5),) if quick else ((100, 8), (200, 10), (200, 15)), min(runs, 3))
    found += row_kernels(1 if quick else 3)
    found += one_block((n,) if quick else (n, 10 * n), d, rank, runs)
    found += one_block((n,), d, d, runs, "vectors")
    found += rank_over_vectors(n, d, runs)
    return found, ends


def write(found: list[Row], ends: Ends, blas: str) -> None:
    """Store the two tables; the environment is in the last columns of the first."""
    OUT.mkdir(exist_ok=True)
    place = (platform.python_version(), np.__version__, platform.machine(), blas)
    with (OUT / "smm.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADS.split())
        for row in found:
            seconds, runs = [""] * 5, ""
            if row.ours is not None and row.peer is not None:
                seconds = [f"{f(t[:, CPU]):.4g}" for t in (row.ours, row.peer) for f in (np.median, np.min)]
                seconds.append(f"{row.ratio(WALL):.4g}")
                runs = str(len(row.peer))
            goal = "" if row.goal is None else f"{row.goal:g}"
            writer.writerow([row.what, f"{row.ratio():.6g}", goal, row.met, *seconds, runs, *place])
    with (OUT / "smm-ends.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(ends[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(ends)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, for a look; nothing is written")
    quick = parser.parse_args().quick
    warnings.filterwarnings("ignore", message="(?s).*converge")  # the ends say how far a peer came
    warnings.filterwarnings("ignore", message="Solution may be inaccurate")  # so does cvxpy's objective
    with threadpool_limits(1):
        found, ends = measure(quick)
        blas = ", ".join(f"{lib['internal_api']} {lib['version']}, 1 thread" for lib in threadpool_info())
    table = Table("what", "ratio", "wall", "goal", "met", title="low-rank margins: medians, peers in turns")
    for row in found:
        shown = f"{row.ratio():,.4g}", f"{row.ratio(WALL):,.3g}", "" if row.goal is None else f"{row.goal:g}"
        table.add_row(row.what, *shown, row.met)
    Console(width=150).print(table)
    if not quick:
        write(found, ends, blas)


if __name__ == "__main__":
    sys.exit(main())

"""Excess of J against time, and time against N, of the solvers of kFDA_q with an rbf kernel.

Run: python benchmarks/kfda_curves.py [--quick]
Writes benchmarks/results/kfda-curves.csv (how far a solver is above the optimum, for q = 1/2 above the lowest
J that any of them found, after how many CPU seconds) and kfda-scaling.csv (CPU seconds at each N). All start
at the kernel matrix.
"""

from __future__ import annotations

import argparse
import csv
import platform
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from kfda_cases import solvers
from kfda_peers import (
    CPU,
    NEAR,
    SLOW,
    Data,
    can_load,
    celer,
    clock,
    data,
    plain_descent,
    scikit_learn,
    skglm_half,
)
from rich.console import Console
from rich.table import Table
from sklearn.linear_model import lars_path_gram
from threadpoolctl import threadpool_limits

from marginbook.kfda.objective import Problem, objective
from marginbook.kfda.oracle import oracle
from marginbook.kfda.solvers.accelerated import over_relaxed, squarem
from marginbook.kfda.solvers.lasso import lasso
from marginbook.kfda.solvers.plain import majorize_minimize
from marginbook.kfda.solvers.shrinking import shrinking_mm

OUT = Path(__file__).parent / "results"
CASES = (("image", 1e-2), ("waveform", 1e-3))
#: of the curves of single iterations at most so many points are stored
POINTS = 40
Solver = Callable[[Problem], np.ndarray]


def median_cpu(action: Callable[[], Any], runs: int = 3) -> tuple[float, Any]:
    """Return the median CPU time of `runs` calls and the last result; the first call counts if it is slow."""
    (_, first), result = clock(action)
    if first > SLOW:
        return first, result
    return float(np.median([clock(action)[0][CPU] for _ in range(runs)])), result


def sweeps(q: float, rho: float) -> dict[str, list[Solver]]:
    """Return the solvers that have a tolerance, each with a row of them, and those that have none."""

    def row(solver: Callable[[Problem, float], np.ndarray], first: int, last: int) -> list[Solver]:
        return [lambda p, tol=10.0**-k: solver(p, tol) for k in range(first, last + 1)]

    found = {
        "shrinking": [lambda p: shrinking_mm(p, q, rho).omega],
        "squarem": row(lambda p, tol: squarem(p, q, rho, tol=tol).omega, 2, 8),
        "over-relaxed": row(lambda p, tol: over_relaxed(p, q, rho, tol=tol).omega, 2, 7),
    }
    if q == 1:
        return found | {
            "lasso": row(lambda p, tol: lasso(p, rho, tol=tol).omega, 1, 10),
            "celer": row(lambda p, tol: celer(p, rho, tol), 1, 10),
            "scikit-learn": row(lambda p, tol: scikit_learn(p, rho, tol, 20_000), 1, 8),
            "lars": [lambda p: homotopy(p, rho)],
        }
    others = solvers(rho)
    return found | {
        "shrinking, from the lasso": [others["shrinking, from the lasso"]],
        "skglm L0.5": row(lambda p, tol: skglm_half(p, rho, tol=tol), 1, 8),
        "skglm L0.5, from the lasso": [others["skglm L0.5, from the lasso"]],
    }


def homotopy(problem: Problem, rho: float) -> np.ndarray:
    """Return the end at `rho` of the path that least angle regression follows."""
    found = lars_path_gram(
        problem.correlations, problem.gram, n_samples=problem.n, alpha_min=rho, method="lasso", max_iter=5000
    )
    return np.asarray(found[2][:, -1])


def curves(each: Data, q: float, rho: float, limit: float) -> list[tuple[str, float, float]]:
    """Return solver, CPU seconds and J of all points on one problem."""
    problem, points = each.fresh(), []
    for name, calls in sweeps(q, rho).items():
        for call in calls:
            seconds, omega = median_cpu(lambda call=call: call(each.fresh()))
            points.append((name, seconds, objective(problem, omega, q, rho)))
            if seconds > limit:
                break
    descent = plain_descent(each.fresh(), q, rho, 0.0, limit)
    last = len(descent.values) - 1
    for step in np.unique(np.geomspace(1, last + 1, POINTS).astype(int)) - 1:
        points.append(("(8)", descent.seconds[step, CPU], float(descent.values[step])))
    return points


def excesses(each: Data, q: float, rho: float, limit: float) -> Iterator[tuple[str, str, str, str, str, str]]:
    """Yield the rows of the first table for one problem."""
    points = curves(each, q, rho, limit)
    least = min(value for _, _, value in points)
    if q == 1:
        best = lasso(each.fresh(), rho, tol=1e-13)
        least = float(best.objective - (best.dual_gap or 0.0))
    for name, seconds, value in points:
        excess = max(value / least - 1, 0.0)
        yield each.name, f"{q:g}", f"{rho:g}", name, f"{seconds:.4g}", f"{excess:.3g}"


def lines(n: int, rho: float) -> Iterator[tuple[str, int, Callable[[Data], object]]]:
    """Yield what is timed against N, if not slow at that size."""
    yield "(8) by its rule, q=1", n, lambda d: majorize_minimize(d.fresh(), 1.0, rho)
    yield "(8) by its rule, q=0.5", n, lambda d: majorize_minimize(d.fresh(), 0.5, rho)
    yield "shrinking, q=1", n, lambda d: shrinking_mm(d.fresh(), 1.0, rho)
    yield "shrinking, q=0.5", n, lambda d: shrinking_mm(d.fresh(), 0.5, rho)
    yield "lasso", n, lambda d: lasso(d.fresh(), rho)
    yield "celer", n, lambda d: celer(d.fresh(), rho, NEAR)
    if n <= 500:
        yield "cvxpy, q=1", n, lambda d: oracle(d.fresh(), 1.0, rho, max_threads=1)


def written(name: str, columns: str, rows: list[tuple]) -> None:
    """Write a table, with the environment in its last columns."""
    place = (platform.python_version(), np.__version__, platform.machine())
    with (OUT / name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*columns.split(), "python", "numpy", "machine"])
        writer.writerows([*row, *place] for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, for a look; nothing is written")
    quick = parser.parse_args().quick
    warnings.filterwarnings("ignore", message="(?s).*converge")  # the height of the point says it
    warnings.filterwarnings("ignore", message="Passing in a compiled")  # skglm, of what it compiles itself
    warnings.filterwarnings("ignore", message="Regressors in active set|Early stopping the lars path")
    n, limit = (150, 0.1) if quick else (1000, 3.0)
    sizes = (125, 250) if quick else (250, 500, 1000, 2000)
    found, timed = [], []
    with threadpool_limits(1):
        small = data("breast cancer", 100)
        for warm in (celer, lambda p, rho, tol: skglm_half(p, rho, tol=tol)):  # compiled at the first call
            warm(small.fresh(), 0.01, 1e-2)
        for name, rho in CASES[1:] if quick else CASES:
            if not can_load(name):
                print(f"not fetched, left out: {name}")
                continue
            for q in (1.0, 0.5):
                found += excesses(data(name, n), q, rho, limit)
        for size in sizes:
            each = data("waveform", size)
            for what, value, action in lines(size, 1e-2):
                seconds = median_cpu(lambda action=action, each=each: action(each))[0]
                timed.append((what, "N", value, f"{seconds:.4g}"))
    heads = ("set q rho solver seconds excess", "what x value seconds")
    for title, columns, rows in zip(("excess", "time"), heads, (found, timed), strict=True):
        table = Table(*columns.split(), title=f"kFDA_q, rbf kernel, {title}: CPU time, one thread")
        for row in rows:
            table.add_row(*map(str, row))
        Console(width=130).print(table)
    if not quick:
        OUT.mkdir(exist_ok=True)
        written("kfda-curves.csv", heads[0], found)
        written("kfda-scaling.csv", heads[1], timed)


if __name__ == "__main__":
    sys.exit(main())

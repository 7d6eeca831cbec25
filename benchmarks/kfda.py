"""Time kFDA_q beside its iteration as printed, lasso solvers, skglm's L0.5 penalty, cvxpy and naive loops.

Run: python benchmarks/kfda.py [--quick]
Writes benchmarks/results/kfda.csv (ratios) and kfda-minima.csv (for q = 1/2, who ends at which J).

A ratio is that of median CPU times of one thread, peers in turns, call by call; that of the wall times is
stored too. "To the same J": the first step of (8) whose J is at most 1e-5 above that of ours; "by its rule":
the step at which the paper stops, wherever that is. A ratio "at least" is of an iteration that was ended
without having come there. Lassos are timed from the design on, with the loosest tolerance (a power of ten)
that brings them to an excess of 1e-4 over the optimum. skglm has at most 500 passes over a working set.
A peer that takes more than a second is called once.
"""

from __future__ import annotations

import argparse
import csv
import platform
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from kfda_cases import accelerations, general_solver, minima, orthogonal, prediction, solvers, whole_paths
from kfda_peers import (
    CPU,
    LIMIT,
    NEAR,
    SAME,
    SLOW,
    WALL,
    Data,
    Row,
    can_load,
    celer,
    clock,
    data,
    loosest,
    plain_descent,
    scikit_learn,
    side_by_side,
)
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_info, threadpool_limits

from marginbook.kfda.objective import objective
from marginbook.kfda.solvers.lasso import lasso
from marginbook.kfda.solvers.shrinking import shrinking_mm

OUT = Path(__file__).parent / "results"
#: from some tens to most of the samples retained; lassos and skglm on the first two, lest they take minutes
RHOS, FEW = (1e-2, 1e-3, 1e-4), 2
SETS = ("banana", "german", "image", "splice", "waveform")
HEADS = "what ratio goal met ours ours_least peer peer_least wall_ratio runs python numpy machine blas"


def against_plain(each: Data, q: float, rho: float, runs: int) -> list[Row]:
    """The shrinking iteration against (8) as printed, both from K: to the same J, and by the paper's rule."""
    least = shrinking_mm(each.fresh(), q, rho).objective
    ours, there, stopped, late = [], [], [], ""
    for _ in range(runs):
        ours.append(clock(lambda: shrinking_mm(each.fresh(), q, rho))[0])
        if there and there[0][CPU] > SLOW:
            continue
        descent = plain_descent(each.fresh(), q, rho, least * (1 + SAME))
        step = descent.at(least * (1 + SAME))
        if step is None:
            late = f", at least: (8) is {descent.values[-1] / least - 1:.0e} above after {LIMIT:g} s"
        there.append(descent.seconds[-1 if step is None else step])
        stopped.append(descent.seconds[descent.at_rule()])
    excess = descent.values[descent.at_rule()] / least - 1
    where = f"{abs(excess):.0e} {'above' if excess > 0 else 'below'}"
    size = f"q={q:g}, rho={rho:g}, {each}"
    times = np.array(ours)
    return [
        Row(f"shrinking against (8), to the same J, {size}{late}", times, np.array(there), 5.0),
        Row(f"shrinking against (8) by its rule, {where}, {size}", times, np.array(stopped)),
    ]


def against_lasso(each: Data, rho: float, who: str, names: tuple[str, ...], runs: int) -> list[Row]:
    """Ours for q = 1 against celer or scikit-learn, all to `NEAR`, all from the design."""
    problem = each.fresh()
    best = lasso(problem, rho, tol=1e-12)
    least = float(best.objective - (best.dual_gap or 0.0))
    solver, last = {"celer": (celer, 8), "scikit-learn": (scikit_learn, 6)}[who]
    mine = {
        "lasso": lambda p: lasso(p, rho, tol=NEAR).omega,
        "shrinking": lambda p: shrinking_mm(p, 1.0, rho).omega,
    }

    def excess(omega: np.ndarray) -> float:
        return objective(problem, omega, 1.0, rho) / least - 1

    tol, reached = loosest(lambda tol: solver(problem, rho, tol), excess, last)
    late = "" if reached <= NEAR else f", which ended {reached:.0e} above"
    share, rows = f"{len(best.retained) / problem.n:.0%} retained", []
    for name in names:
        if not (ends := excess(mine[name](each.fresh()))) <= NEAR:
            raise RuntimeError(f"{name} stopped {ends:.1e} above the optimum, wanted {NEAR:g}")
        times = side_by_side(mine[name], lambda p: solver(p, rho, tol), runs, lambda: each.fresh(design=True))
        goal = 3.0 if (name, who) == ("lasso", "celer") else None
        rows.append(
            Row(f"{name} over {who} (at most), q=1, rho={rho:g}, {each}, {share}{late}", *times, goal)
        )
    return rows


def measure(quick: bool) -> tuple[list[Row], list[dict[str, Any]]]:
    """Return the ratios and the ends; of the real sets those that are fetched."""
    n, runs = (150, 1) if quick else (1000, 3)
    missing = [name for name in SETS if not can_load(name)]
    if missing:
        print(f"not fetched, left out: {', '.join(missing)}")
    sets = [data(name, n) for name in SETS if name not in missing][-1 if quick else 0 :]
    waveform, cancer = data("waveform", n), data("breast cancer", 100 if quick else 300)
    for call in (lasso, celer, scikit_learn):  # what is compiled at the first call
        call(cancer.fresh(), 0.01, tol=1e-2)
    for solver in solvers(0.01).values():
        solver(cancer.fresh())
    rows, ends = [], []
    pairs = [against_plain(each, q, rho, runs) for each in sets for q in (1.0, 0.5) for rho in RHOS]
    for kind in zip(*pairs, strict=True):
        rows += kind
    few = [(each, rho) for each in sets for rho in RHOS[: 1 if quick else FEW]]
    for who, names in (("celer", ("lasso", "shrinking")), ("scikit-learn", ("lasso",))):
        for kind in zip(*[against_lasso(*case, who, names, 2 * runs + 1) for case in few], strict=True):
            rows += kind
    for each, rho in few:
        times, found = minima(each, rho, runs)
        rows += times
        ends += found
    for q in (1.0, 0.5):
        rows += whole_paths(waveform, q, runs) + accelerations(waveform, q, runs)
        rows.append(prediction(waveform, q, 2 * runs + 1))
    return [*rows, general_solver(cancer, runs), *orthogonal(cancer, runs)], ends


def write(rows: list[Row], ends: list[dict[str, Any]], blas: str) -> None:
    """Store the two tables; the environment is in the last columns of the first."""
    OUT.mkdir(exist_ok=True)
    place = (platform.python_version(), np.__version__, platform.machine(), blas)
    with (OUT / "kfda.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADS.split())
        for row in rows:
            seconds, runs = [""] * 5, ""
            if row.ours is not None and row.peer is not None:
                seconds = [f"{f(t[:, CPU]):.4g}" for t in (row.ours, row.peer) for f in (np.median, np.min)]
                seconds.append(f"{row.ratio(WALL):.4g}")
                runs = str(len(row.peer))
            goal = "" if row.goal is None else f"{row.goal:g}"
            writer.writerow([row.what, f"{row.ratio():.4g}", goal, row.met, *seconds, runs, *place])
    with (OUT / "kfda-minima.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(ends[0]), lineterminator="\n")
        table.writeheader()
        table.writerows({**end, "objective": f"{end['objective']:.7g}"} for end in ends)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, for a look; nothing is written")
    quick = parser.parse_args().quick
    warnings.filterwarnings("ignore", message="(?s).*converge")  # a row says how far a peer came
    warnings.filterwarnings("ignore", message="Passing in a compiled")  # skglm, of what it compiles itself
    with threadpool_limits(1):
        rows, ends = measure(quick)
        blas = ", ".join(f"{lib['internal_api']} {lib['version']}, 1 thread" for lib in threadpool_info())
    table = Table("what", "ratio", "wall", "goal", "met", title="kFDA_q, rbf kernel: medians, peers in turns")
    for row in rows:
        shown = f"{row.ratio():,.3g}", f"{row.ratio(WALL):,.3g}", "" if row.goal is None else f"{row.goal:g}"
        table.add_row(row.what, *shown, row.met)
    Console(width=150).print(table)
    if not quick:
        write(rows, ends, blas)


if __name__ == "__main__":
    sys.exit(main())

"""Time CLASMK-ML's weights and bases beside SLSQP and one basis for all data; also choice, LS-SVM and MKL.

Run: python benchmarks/clasmk.py [--quick]
Writes benchmarks/results/clasmk.csv (ratios) and clasmk-ends.csv (who ends at which ratio F).

A ratio is that of median CPU times of one thread, peers in turns, call by call; that of the wall times is
stored too. SLSQP differentiates numerically unless a row says otherwise, as fmincon does, and starts at equal
weights; a peer that takes more than a second is not repeated.
"""

from __future__ import annotations

import argparse
import csv
import platform
import sys
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from clasmk_cases import against_cvxpy, kernel_choice, leave_one_out, several_kernels, warm
from clasmk_peers import TRUNCATIONS, Forms, can_load, random_forms, real_forms, rows
from kfda_peers import CPU, WALL, Row, clock, side_by_side
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_info, threadpool_limits

from marginbook.clasmk.embedding import greedy_embedding
from marginbook.clasmk.kernel_sets import paper_kernels, poly, rbf
from marginbook.clasmk.solvers.dinkelbach import dinkelbach
from marginbook.clasmk.solvers.slsqp import slsqp
from marginbook.clasmk.subspaces import fit_subspaces
from marginbook.kernels import Kernel

OUT = Path(__file__).parent / "results"
SETS = ("optdigits", "pendigits")
CLASSES, KERNELS = 10, 17
KINDS = ("rank 2", "rank 17", "wishart", "diagonal")
#: relative rounding up to which an objective is no worse
ROUNDING = 1e-9
#: squared distance to the span that both embeddings reach
TOL = 1e-3
HEADS = "what ratio goal met ours ours_least peer peer_least wall_ratio runs python numpy machine blas"


def median_cpu(action: Callable[[], object], runs: int) -> float:
    """Return the median CPU seconds of `runs` calls."""
    return float(np.median([clock(action)[0][CPU] for _ in range(runs)]))


def against_slsqp(forms: Forms, runs: int) -> tuple[list[Row], list[dict[str, Any]]]:
    """The weights against SLSQP in the weights and in their roots: time, and F; and the ends of all."""
    pair = forms.numerator, forms.denominator
    best, local = dinkelbach(*pair), dinkelbach(*pair, max_nodes=0)
    ends = [
        ("Dinkelbach", median_cpu(lambda: dinkelbach(*pair), runs), best),
        ("Dinkelbach, local steps", median_cpu(lambda: dinkelbach(*pair, max_nodes=0), runs), local),
    ]
    found = []
    size = f"{forms.name}, C={len(pair[0])}, K={pair[0].shape[1]}"
    for variable in ("weights", "roots"):
        (_, seconds), exactly = clock(lambda v=variable: slsqp(*pair, variable=v, gradient_by="analytic"))
        ends.append((f"SLSQP, {variable}, exact gradient", seconds, exactly))
        other = slsqp(*pair, variable=variable)
        times = side_by_side(
            lambda _: dinkelbach(*pair), lambda _, v=variable: slsqp(*pair, variable=v), runs
        )
        ends.append((f"SLSQP, {variable}, differences", float(np.median(times[1][:, CPU])), other))
        found.append(Row(f"weights against SLSQP in the {variable}, {size}", *times, 100.0))
        quotient = best.objective / other.objective
        found.append(
            Row(
                f"F over that of SLSQP in the {variable} (at most), {size}", goal=1 + ROUNDING, value=quotient
            )
        )
    least = min(end.objective for _, _, end in ends)
    return found, [
        {
            "problem": forms.name,
            "solver": solver,
            "seconds": f"{seconds:.3g}",
            "objective": f"{end.objective:.7g}",
            "excess": f"{end.objective / least - 1:.2e}",
            "gap": "" if end.gap is None else f"{end.gap:.1e}",
            "converged": "yes" if end.converged else "no",
        }
        for solver, seconds, end in ends
    ]


def names_of(kernel: Kernel) -> str:
    """Return a kernel in few letters."""
    name, parameters = kernel
    if name == "rbf":
        return f"rbf sigma={parameters['gamma'] ** -0.5:g}"
    return f"poly d={parameters['degree']}"


def by_classes(name: str, n: int, runs: int) -> list[Row]:
    """Embeddings class by class against one of all rows, to the same tolerance, kernel by kernel."""
    X, codes = rows(name, n)
    blocks = [X[codes == c] for c in range(codes.max() + 1)]
    found = []
    for kernel in rbf((2.0, 4.0, 8.0, 16.0)) + poly((2, 8, 32)):
        ranks = [len(greedy_embedding(kernel, block, tol=TOL).indices) for block in blocks]
        whole = len(greedy_embedding(kernel, X, tol=TOL).indices)
        times = side_by_side(
            lambda _, k=kernel: [greedy_embedding(k, block, tol=TOL) for block in blocks],
            lambda _, k=kernel: greedy_embedding(k, X, tol=TOL),
            runs,
        )
        size = f"dimension {np.mean(ranks):.0f} against {whole}, {names_of(kernel)}, {name}, N={n}"
        found.append(Row(f"embedding by classes against all data, {size}", *times, len(blocks) / 2))
    return found


def all_kernels(name: str, n: int, runs: int) -> Row:
    """Bases of 17 kernels with their principal axes, class by class against all rows at once."""
    X, codes = rows(name, n)
    kernels = paper_kernels("figures")
    times = side_by_side(
        lambda _: fit_subspaces(X, codes, kernels, tol=TOL),
        lambda _: fit_subspaces(X, np.zeros(n, dtype=int), kernels, tol=TOL),
        runs,
    )
    what = f"bases by classes against all data, {len(kernels)} kernels with principal axes, {name}, N={n}"
    return Row(what, *times, (codes.max() + 1) / 2)


def measure(quick: bool) -> tuple[list[Row], list[dict[str, Any]]]:
    """Return the ratios and the ends; of the real sets those that are at hand."""
    n, runs = (300, 1) if quick else (1600, 5)
    sets = [name for name in SETS if can_load(name)]
    if len(sets) < len(SETS):
        print(f"not fetched, left out: {', '.join(set(SETS) - set(sets))}")
    if quick:
        sets = sets[:1]
    warm()
    problems = [real_forms(name, n, KERNELS, how) for name, how in product(sets, TRUNCATIONS)]
    problems += [random_forms(kind, CLASSES, KERNELS) for kind in (KINDS[:1] if quick else KINDS)]
    found: list[Row] = []
    ends = []
    for forms in problems:
        ratios, ended = against_slsqp(forms, runs)
        found += ratios
        ends += ended
    found.sort(key=lambda row: row.what.startswith("F over"))  # times first
    for name in sets:
        found += by_classes(name, n, runs)
    for name in sets:
        found.append(all_kernels(name, 300 if quick else 1000, 1))
    found += kernel_choice("optdigits", n, 13, runs)
    found += leave_one_out("optdigits", 60 if quick else 300, 1 if quick else 3)
    found += several_kernels("breast cancer", 100 if quick else 400, 10.0, 1 if quick else 3)
    found += several_kernels("optdigits", 80 if quick else 300, 10.0, 1)
    found += against_cvxpy(40 if quick else 120, 1 if quick else 3)
    return found, ends


def write(found: list[Row], ends: list[dict[str, Any]], blas: str) -> None:
    """Store the two tables; the environment is in the last columns of the first."""
    OUT.mkdir(exist_ok=True)
    place = (platform.python_version(), np.__version__, platform.machine(), blas)
    with (OUT / "clasmk.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADS.split())
        for row in found:
            seconds, runs = [""] * 5, ""
            if row.ours is not None and row.peer is not None:
                seconds = [f"{f(t[:, CPU]):.4g}" for t in (row.ours, row.peer) for f in (np.median, np.min)]
                seconds.append(f"{row.ratio(WALL):.4g}")
                runs = str(len(row.peer))
            goal = "" if row.goal is None else f"{row.goal:g}"
            writer.writerow([row.what, f"{row.ratio():.4g}", goal, row.met, *seconds, runs, *place])
    with (OUT / "clasmk-ends.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(ends[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(ends)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, for a look; nothing is written")
    quick = parser.parse_args().quick
    warnings.filterwarnings("ignore", message="(?s).*converge")  # the stored ends say it
    with threadpool_limits(1):
        found, ends = measure(quick)
        blas = ", ".join(f"{lib['internal_api']} {lib['version']}, 1 thread" for lib in threadpool_info())
    table = Table("what", "ratio", "wall", "goal", "met", title="CLASMK-ML: medians, peers in turns")
    for row in found:
        shown = f"{row.ratio():,.3g}", f"{row.ratio(WALL):,.3g}", "" if row.goal is None else f"{row.goal:g}"
        table.add_row(row.what, *shown, row.met)
    Console(width=150).print(table)
    if not quick:
        write(found, ends, blas)


if __name__ == "__main__":
    sys.exit(main())

"""Gap against time, and time against m, of the solvers of the LDM with an rbf kernel.

Run: python benchmarks/ldm_curves.py [--quick]
Writes benchmarks/results/ldm-curves.csv (how far a solver is above the optimum after how many CPU seconds)
and ldm-scaling.csv (CPU seconds at each m). A curve starts at the Gram matrix: forming H, or its printed
form, is part of every time. "SVC" minimises the SVM of the same kernel, and its excess is its own gap.
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
from ldm_peers import (
    CLARABEL,
    GAP,
    LAMBDA,
    LARGE,
    Problem,
    clarabel_dual,
    clock,
    fit,
    printed_matrix,
    problem,
    svc_gap,
)
from rich.console import Console
from rich.table import Table
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from marginbook.ldm.grid import solve_grid
from marginbook.ldm.hard_margin import gram_features
from marginbook.ldm.loo import bracket
from marginbook.ldm.objective import primal_objective, squared_norm
from marginbook.ldm.oracle import soft_margin_oracle
from marginbook.ldm.solvers import Solution, coordinate_descent
from marginbook.ldm.whitening import WhitenedGram

OUT = Path(__file__).parent / "results"
C = 10.0
GRID = 2.0 ** np.arange(-8, -1)
TOLERANCES = 10.0 ** -np.arange(0, 13)
#: calls that take more CPU seconds are made once
SLOW = 0.5
#: CPU seconds, relative excess over the optimum
Point = tuple[float, float]


def median_cpu(action: Callable[[], Any], runs: int = 3) -> tuple[float, Any]:
    """Return the median CPU time of `runs` calls and the last result; the first call counts if it is slow."""
    results: list[Any] = []
    first = clock(lambda: results.append(action()))[1]
    if first > SLOW:
        return first, results[-1]
    times = [clock(lambda: results.append(action()))[1] for _ in range(runs)]
    return float(np.median(times)), results[-1]


def descend(
    G: np.ndarray, y: np.ndarray, lambda1: float, tol: float, H: np.ndarray | None = None
) -> Solution:
    """Run Algorithm 1, from the printed matrix unless another is given."""
    H = printed_matrix(G, y, lambda1) if H is None else H
    return coordinate_descent(H, y, lambda1, LAMBDA, C, tol=tol, max_iter=200_000)


def curves(data: Problem, lambda1: float, step: int) -> Iterator[tuple[str, Point]]:
    """Yield the points of all solvers on one problem, for every `step`-th power of ten as tolerance."""
    G, y = data.gram, data.y
    H = WhitenedGram(G, y).hessian(lambda1)
    best = fit(G, y, lambda1, C, 1e-13)
    bound = best.objective - best.dual_gap

    def excess(shifted: np.ndarray) -> float:
        margins = H @ shifted
        norm = squared_norm(shifted, margins, lambda1)
        return float(primal_objective(margins, norm, lambda1, LAMBDA, C)) / bound - 1

    def whitened() -> np.ndarray:
        return WhitenedGram(G, y).hessian(lambda1)

    def primal(tol: float) -> float:
        options = {**CLARABEL, "tol_gap_rel": tol}
        found = soft_margin_oracle(gram_features(G), y, lambda1, LAMBDA, C, **options)
        return primal_objective(found.margins, found.coef @ found.coef, lambda1, LAMBDA, C)

    small = len(y) <= 500
    loose = np.array([1e-2, 1e-4, 1e-6, 1e-8]) if small else np.array([1e-6])
    solvers: dict[str, tuple[np.ndarray, Callable[[float], np.ndarray]]] = {
        "active set": (TOLERANCES[::step], lambda tol: fit(G, y, lambda1, C, tol).shifted),
        "Algorithm 1 as printed": (TOLERANCES[:9:step], lambda tol: descend(G, y, lambda1, tol).shifted),
        "Algorithm 1, no inverse": (
            TOLERANCES[:9:step],
            lambda tol: descend(G, y, lambda1, tol, whitened()).shifted,
        ),
        "cvxpy, dual with our H": (
            loose,
            lambda tol: clarabel_dual(whitened(), LAMBDA, C, tol_gap_rel=tol),
        ),
    }
    for name, (tolerances, solver) in solvers.items():
        for tol in tolerances:
            seconds, shifted = median_cpu(lambda solver=solver, tol=tol: solver(tol))
            yield name, (seconds, excess(shifted))
    for tol in loose if small else ():
        seconds, value = median_cpu(lambda tol=tol: primal(tol))
        yield "cvxpy, primal", (seconds, float(value) / bound - 1)
    for tol in 10.0 ** -np.arange(1, 7):
        model = SVC(C=C, kernel="precomputed", tol=tol, cache_size=1000)
        seconds, _ = median_cpu(lambda model=model: model.fit(G, y))
        yield "SVC, its own problem", (seconds, svc_gap(model, G, y))


def lines(quick: bool) -> list[tuple[str, int, Callable[[np.ndarray, np.ndarray], Callable[[], object]]]]:
    """Return what is timed against m: name, largest m, and the action for a Gram matrix and signs."""
    top = 4 if quick else 1

    def bound(G: np.ndarray, y: np.ndarray) -> Callable[[], object]:
        solution = fit(G, y, LAMBDA, C)
        return lambda: bracket(G, y, solution)

    return [
        ("active set", 4000 // top, lambda G, y: lambda: fit(G, y, LAMBDA, C)),
        ("Algorithm 1 as printed", 2000 // top, lambda G, y: lambda: descend(G, y, LAMBDA, GAP)),
        (
            "cvxpy, primal",
            500 // top,
            lambda G, y: lambda: soft_margin_oracle(gram_features(G), y, LAMBDA, LAMBDA, C, **CLARABEL),
        ),
        (
            "cvxpy, dual with our H",
            1000 // top,
            lambda G, y: lambda: clarabel_dual(WhitenedGram(G, y).hessian(LAMBDA), LAMBDA, C),
        ),
        (
            "SVC, its own problem",
            4000 // top,
            lambda G, y: lambda: SVC(C=C, kernel="precomputed", tol=1e-5, cache_size=1000).fit(G, y),
        ),
        (
            "grid of 147 machines",
            2000 // top,
            lambda G, y: lambda: solve_grid(WhitenedGram(G, y), GRID, GRID, [10.0, 50.0, 100.0], tol=GAP),
        ),
        ("leave-one-out bound", 2000 // top, bound),
    ]


def written(name: str, columns: tuple[str, ...], rows: list[tuple]) -> None:
    """Write a table, with the environment in its last columns."""
    place = (platform.python_version(), np.__version__, platform.machine())
    with (OUT / name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*columns, "python", "numpy", "machine"])
        writer.writerows([*row, *place] for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, for a look; nothing is written")
    quick = parser.parse_args().quick
    warnings.filterwarnings("ignore", message="Solution may be inaccurate")  # the point says how much
    console, found, timed = Console(width=130), [], []
    sizes = (100, 200) if quick else (500, 2000)
    with threadpool_limits(1):
        for m in sizes:
            for lambda1 in (LAMBDA, LARGE):
                for solver, (seconds, excess) in curves(problem("waveform", m), lambda1, 3 if quick else 1):
                    found.append((m, f"{lambda1:g}", solver, f"{seconds:.4g}", f"{max(excess, 0.0):.3g}"))
        for m in 125 * 2 ** np.arange(6):
            data = problem("waveform", int(m))
            G = data.gram
            for what, most, action in lines(quick):
                if m <= most:
                    timed.append((f"{what}, m", "m", m, f"{median_cpu(action(G, data.y))[0]:.4g}"))
    for title, heads, rows in (
        ("gap", "m lambda1 solver seconds excess", found),
        ("time", "what x value seconds", timed),
    ):
        table = Table(*heads.split(), title=f"LDM, rbf kernel, {title}: CPU time, one thread")
        for row in rows:
            table.add_row(*map(str, row))
        console.print(table)
    if quick:
        return
    OUT.mkdir(exist_ok=True)
    written("ldm-curves.csv", ("m", "lambda1", "solver", "seconds", "excess"), found)
    written("ldm-scaling.csv", ("what", "x", "value", "seconds"), timed)


if __name__ == "__main__":
    sys.exit(main())

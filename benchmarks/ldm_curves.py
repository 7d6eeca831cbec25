"""Gap against time, and time against m, of the solvers of the LDM with an rbf kernel.

Run: python benchmarks/ldm_curves.py [--quick]
Writes benchmarks/results/ldm-curves.csv (how far a solver is above the optimum after how many CPU seconds)
and ldm-scaling.csv (CPU seconds at each m). A curve starts at the Gram matrix: forming H, or its printed
form, is part of every time. "SVC" minimises the SVM of the same kernel, and its excess is its own gap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from ldm_peers import (
    CLARABEL,
    GAP,
    LAMBDA,
    LARGE,
    Problem,
    clarabel_dual,
    fit,
    printed_matrix,
    problem,
    svc_gap,
)
from sklearn.svm import SVC

from marginbook.ldm.model.objective import primal_objective, squared_norm
from marginbook.ldm.model.whitening import WhitenedGram
from marginbook.ldm.solvers import Solution, coordinate_descent
from marginbook.ldm.solvers.grid import solve_grid
from marginbook.ldm.solvers.hard_margin import gram_features
from marginbook.ldm.solvers.leave_one_out_bound import bracket
from marginbook.ldm.solvers.oracle import soft_margin_oracle
from marginbook.quality.benchmarking import CPU, Line, Record, main, sampled

C = 10.0
GRID = 2.0 ** np.arange(-8, -1)
TOLERANCES = 10.0 ** -np.arange(0, 13)
#: CPU seconds, relative excess over the optimum
Point = tuple[float, float]


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
            times, shifted = sampled(lambda solver=solver, tol=tol: solver(tol))
            yield name, (np.median(times[:, CPU]), excess(shifted))
    for tol in loose if small else ():
        times, value = sampled(lambda tol=tol: primal(tol))
        yield "cvxpy, primal", (np.median(times[:, CPU]), float(value) / bound - 1)
    for tol in 10.0 ** -np.arange(1, 7):
        model = SVC(C=C, kernel="precomputed", tol=tol, cache_size=1000)
        times, _ = sampled(lambda model=model: model.fit(G, y))
        yield "SVC, its own problem", (np.median(times[:, CPU]), svc_gap(model, G, y))


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


def measure(quick: bool) -> Iterator[Record | Line]:
    """Yield the points of all curves, then the lines."""
    for m in (100, 200) if quick else (500, 2000):
        for lambda1 in (LAMBDA, LARGE):
            for solver, (seconds, excess) in curves(problem("waveform", m), lambda1, 3 if quick else 1):
                point = {"m": m, "lambda1": f"{lambda1:g}", "solver": solver, "seconds": f"{seconds:.4g}"}
                yield Record("ldm-curves", point | {"excess": f"{max(excess, 0.0):.3g}"})
    for m in 125 * 2 ** np.arange(6):
        data = problem("waveform", int(m))
        G = data.gram
        for what, most, action in lines(quick):
            if m <= most:
                yield Line(f"{what}, m", "m", int(m), action(G, data.y))


if __name__ == "__main__":
    main(measure)

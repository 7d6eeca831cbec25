"""Time the LDM with a kernel beside cvxpy, SVC, the algorithm as printed, and plain retraining.

Run: python benchmarks/ldm.py [--quick]
Writes benchmarks/results/ldm.csv. A ratio, not a time, is what to compare between machines.

A ratio is that of median CPU times of one thread. Wall times flatter the shorter of two peers when the
machine has other work, because a short call fits between two turns of the scheduler; their ratio is stored
too, and equals the other on an idle machine. Peers take turns, call by call. lambda1 is 2^-5, the middle of
the paper's grid, or 100, which halves the spread of the margins. Beside SVC a fit is what LDMClassifier does;
everywhere else it forms H.
"""

from __future__ import annotations

import argparse
import csv
import platform
import sys
import warnings
from pathlib import Path

import cvxpy as cp
import numpy as np
from ldm_peers import (
    CLARABEL,
    GAP,
    LAMBDA,
    LARGE,
    Clocked,
    Problem,
    accurate_svc,
    clarabel_dual,
    comparable,
    fit,
    fit_as_estimator,
    printed_matrix,
    problem,
    side_by_side,
)
from rich.console import Console
from rich.table import Table
from scipy.linalg.lapack import dpotrf
from sklearn.svm import SVC
from threadpoolctl import threadpool_info, threadpool_limits

from marginbook.datasets import available
from marginbook.ldm.grid import solve_grid
from marginbook.ldm.hard_margin import gram_features, solve_hard_margin
from marginbook.ldm.km_omd_weights import solve_km_omd
from marginbook.ldm.loo import bracket
from marginbook.ldm.objective import dual_gap, primal_objective
from marginbook.ldm.oracle import hard_margin_oracle, soft_margin_oracle
from marginbook.ldm.retraining import exact_leave_one_out
from marginbook.ldm.solvers import Solution, active_set, coordinate_descent
from marginbook.ldm.whitening import WhitenedGram

OUT = Path(__file__).parent / "results" / "ldm.csv"
WALL, CPU = 0, 1
GRID = 2.0 ** np.arange(-8, -1)

#: what is compared, its times, and the goal, if one was set
Row = tuple[str, Clocked, float | None]


def against_cvxpy(data: Problem, runs: int) -> list[Row]:
    """The same problem by Clarabel: the primal (5), and the dual with our H."""
    G, y, C, rows = data.gram, data.y, 10.0, []
    for lambda1 in (LAMBDA, LARGE):
        H = WhitenedGram(G, y).hessian(lambda1)
        exact = active_set(H, y, lambda1, LAMBDA, C, tol=1e-10)
        oracle = soft_margin_oracle(gram_features(G), y, lambda1, LAMBDA, C, **CLARABEL)
        value = primal_objective(oracle.margins, oracle.coef @ oracle.coef, lambda1, LAMBDA, C)
        comparable(float(value / (exact.objective - exact.dual_gap) - 1), "cvxpy on the primal")
        point = clarabel_dual(H, LAMBDA, C)
        comparable(float(dual_gap(point, H @ point, LAMBDA, C) / exact.objective), "cvxpy on the dual")

        def ours(lambda1: float = lambda1) -> object:
            return fit(G, y, lambda1, C)

        def primal(lambda1: float = lambda1) -> object:
            return soft_margin_oracle(gram_features(G), y, lambda1, LAMBDA, C, **CLARABEL)

        def dual(lambda1: float = lambda1) -> object:
            return clarabel_dual(WhitenedGram(G, y).hessian(lambda1), LAMBDA, C)

        size = f"{data}, lambda1={lambda1:g}"
        rows += [
            (f"fit against cvxpy on the primal, both from G, {size}", side_by_side(ours, primal, runs), 50),
            (
                f"fit against cvxpy on the dual with our H, both from G, {size}",
                side_by_side(ours, dual, runs),
                50,
            ),
        ]
    return rows


def against_svc(data: Problem, Cs: tuple[float, ...], runs: int) -> list[Row]:
    """The SVM of the same kernel, each to the same relative gap of its own problem."""
    G, y, rows = data.gram, data.y, []
    goal = 5 if len(y) == 2000 else None
    for C in Cs:
        model, gap = accurate_svc(data, G, C)
        tol = max(GAP, gap)
        share = 100 * model.n_support_.sum() / len(y)
        size = f"{data}, C={C:g}, gap {tol:.0e}, {share:.0f} % support vectors"

        def ours(C: float = C, tol: float = tol) -> object:
            return fit_as_estimator(data.gram, y, LAMBDA, C, tol)

        def theirs(model: SVC = model) -> object:
            return model.fit(data.X, y)

        rows.append((f"fit over SVC (at most), both from X, {size}", side_by_side(ours, theirs, runs), goal))
    if goal is None:
        return rows
    # the last case once more: with the Gram matrix given, and what no solver that factorises goes below
    given = SVC(C=C, kernel="precomputed", tol=model.tol, cache_size=1000)
    times = side_by_side(lambda: fit_as_estimator(G, y, LAMBDA, C, tol), lambda: given.fit(G, y), runs)
    rows.append((f"fit over SVC (at most), both from G, {size}", times, goal))
    times = side_by_side(lambda: factor(data.gram), theirs, runs)
    return [
        *rows,
        (f"Gram matrix and one Cholesky factor over SVC (at most), both from X, {size}", times, None),
    ]


def factor(G: np.ndarray) -> object:
    """Factorise I + cG, the first step of every fit with H."""
    shifted = (4 * LAMBDA / len(G)) * G
    shifted[np.diag_indices_from(shifted)] += 1.0
    return dpotrf(shifted.T, lower=1, overwrite_a=1, clean=0)


def against_printed(data: Problem, lambda1s: tuple[float, ...], runs: int) -> list[Row]:
    """Algorithm 1 to the same gap, by our compiled loop, which skips coordinates that stay."""
    G, y, C, rows = data.gram, data.y, 10.0, []
    for lambda1 in lambda1s:

        def printed(lambda1: float = lambda1) -> Solution:
            H = printed_matrix(G, y, lambda1)
            return coordinate_descent(H, y, lambda1, LAMBDA, C, tol=GAP, max_iter=200_000)

        found, H = printed(), WhitenedGram(G, y).hessian(lambda1)
        gap = dual_gap(found.shifted, H @ found.shifted, LAMBDA, C) / found.objective
        comparable(float(gap), "Algorithm 1 as printed")
        times = side_by_side(lambda lambda1=lambda1: fit(G, y, lambda1, C), printed, runs)
        size = f"{data}, lambda1={lambda1:g}, {found.n_iter:,} passes"
        rows.append((f"fit against Algorithm 1 as printed, both from G, {size}", times, None))
    return rows


def whole_grid(data: Problem, runs: int) -> list[Row]:
    """The 7 x 7 x 3 machines of one width, to the gap that a fit has."""
    G, y, Cs = data.gram, data.y, [10.0, 50.0, 100.0]

    def grid() -> object:
        return solve_grid(WhitenedGram(G, y), GRID, GRID, Cs, tol=GAP)

    def by_eigenvectors() -> object:
        whitened = WhitenedGram(G, y)
        whitened.decompose()
        return active_set(whitened.hessian(LAMBDA), y, LAMBDA, LAMBDA, 10.0, tol=GAP)

    if not solve_grid(WhitenedGram(G, y), GRID, GRID, Cs, tol=GAP).converged.all():
        raise RuntimeError(f"a machine of the grid misses the gap on {data}")
    what = f"all 147 machines of the 7 x 7 x 3 grid over one fit (at most), {data}"
    return [
        (f"{what}, both with the eigendecomposition", side_by_side(grid, by_eigenvectors, runs), 10),
        (f"{what}, the fit by Cholesky", side_by_side(grid, lambda: fit(G, y, LAMBDA, 10.0), runs), 10),
        (
            f"all 147 machines of the grid against 147 fits, {data}",
            side_by_side(
                grid, lambda: [fit(G, y, l1, C) for l1 in GRID for _ in GRID for C in Cs], min(runs, 3)
            ),
            None,
        ),
    ]


def leave_one_out(data: Problem, few: int, runs: int) -> list[Row]:
    """The bound for all left-out examples beside one fit, and beside training without each example."""
    G, y, C = data.gram, data.y, 10.0
    solution, m = fit(G, y, LAMBDA, C), len(y)
    left_out = np.linspace(0, m - 1, few).astype(int)

    def from_scratch() -> None:
        for i in left_out:
            keep = np.delete(np.arange(m), i)
            fit(G[np.ix_(keep, keep)], y[keep], LAMBDA, C)

    def warm() -> object:
        return exact_leave_one_out(G, y, LAMBDA, LAMBDA, C, tol=GAP, solution=solution, indices=left_out)

    def bound() -> object:
        return bracket(G, y, solution)

    one = side_by_side(bound, lambda: fit(G, y, LAMBDA, C), runs)
    rows: list[Row] = [(f"leave-one-out bound over one fit (at most), {data}", one, None)]
    for peer, what in ((from_scratch, "training m times"), (warm, "our exact leave-one-out, warm starts")):
        ours, theirs = side_by_side(bound, peer, runs)
        what = f"leave-one-out bound against {what} (from {few}), {data}"
        rows.append((what, (ours, theirs * m / few), None))
    return rows


def other_problems(data: Problem, runs: int) -> list[Row]:
    """The hard margin, and the quadratic programme of KM-OMD, by cvxpy."""
    G, y, lam = data.gram, data.y, 0.1
    YGY, positive = y[:, None] * G * y, y > 0

    def km_omd() -> float:
        gamma = cp.Variable(len(y), nonneg=True)
        value = cp.quad_form(gamma, cp.psd_wrap(YGY)) + lam * cp.sum_squares(gamma)
        sums = [cp.sum(gamma[positive]) == 1, cp.sum(gamma[~positive]) == 1]
        return float(cp.Problem(cp.Minimize(value), sums).solve(**CLARABEL))

    hard = solve_hard_margin(WhitenedGram(G, y), LAMBDA, LAMBDA, tol=GAP).objective
    comparable(
        abs(hard_margin_oracle(gram_features(G), y, LAMBDA, LAMBDA, **CLARABEL).objective / hard - 1), "cvxpy"
    )
    comparable(abs(km_omd() / solve_km_omd(G, y, lam, tol=GAP).objective - 1), "cvxpy on KM-OMD")
    pairs = {
        "hard margin against cvxpy on the primal, both from G": (
            lambda: solve_hard_margin(WhitenedGram(G, y), LAMBDA, LAMBDA, tol=GAP),
            lambda: hard_margin_oracle(gram_features(G), y, LAMBDA, LAMBDA, **CLARABEL),
        ),
        f"KM-OMD, lambda={lam:g}, against cvxpy, both from G": (
            lambda: solve_km_omd(G, y, lam, tol=GAP),
            km_omd,
        ),
    }
    return [(f"{what}, {data}", side_by_side(*pair, runs), None) for what, pair in pairs.items()]


def measure(quick: bool) -> list[Row]:
    """Return all rows; the larger real sets only where they are fetched."""
    small, middle, large, runs = (120, 200, 300, 2) if quick else (500, 1000, 2000, 7)
    cancer, digits = problem("breast cancer", small), problem("digits, odd or even", middle)
    rows = against_cvxpy(cancer, min(runs, 5))
    sizes = {"german-24": min(middle, 1000), "splice": large, "image": large}
    sets = [problem(name, m) for name, m in sizes.items() if name in available()]
    for data in [digits, *sets, problem("waveform", large), problem("twonorm", large)]:
        rows += against_svc(data, (100.0, 10.0), runs)
    rows += against_printed(problem("breast cancer", 60 if quick else 200), (LAMBDA, LARGE), runs)
    rows += against_printed(cancer, (LAMBDA, LARGE), runs)
    rows += against_printed(digits, (LAMBDA, LARGE), min(runs, 3))
    for data in (problem("breast cancer", 60 if quick else 200), cancer):
        rows += whole_grid(data, runs)
    for data in (cancer, digits):
        rows += leave_one_out(data, 10 if quick else 25, min(runs, 5))
    return rows + other_problems(cancer, min(runs, 5))


def ratio(what: str, times: Clocked, clock: int = CPU) -> float:
    """Return the ratio of the medians: ours to the peer where the row says "at most", else peer to ours."""
    ours, peer = (float(np.median(each[:, clock])) for each in times)
    return ours / peer if "at most" in what else peer / ours


def met(what: str, value: float, goal: float | None) -> str:
    """Say whether a ratio reaches its goal; nothing where none was set."""
    if goal is None:
        return ""
    return "yes" if (value <= goal if "at most" in what else value >= goal) else "no"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, for a look; nothing is written")
    quick = parser.parse_args().quick
    warnings.filterwarnings("ignore", message="Solution may be inaccurate")  # `comparable` decides that
    with threadpool_limits(1):
        rows = measure(quick)
        blas = ", ".join(f"{lib['internal_api']} {lib['version']}, 1 thread" for lib in threadpool_info())
    table = Table("what", "ratio", "wall", "goal", "met", title="LDM, rbf kernel: medians, peers in turns")
    for what, times, goal in rows:
        value = ratio(what, times)
        shown = f"{value:,.1f}", f"{ratio(what, times, WALL):,.1f}"
        table.add_row(what, *shown, "" if goal is None else f"{goal:g}", met(what, value, goal))
    Console(width=150).print(table)
    if quick:
        return
    OUT.parent.mkdir(exist_ok=True)
    seconds = ("ours", "ours_least", "peer", "peer_least", "wall_ratio")
    with OUT.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(
            ["what", "ratio", "goal", "met", *seconds, "runs", "python", "numpy", "machine", "blas"]
        )
        for what, times, goal in rows:
            value = ratio(what, times)
            seconds_of = [f"{f(each[:, CPU]):.4g}" for each in times for f in (np.median, np.min)]
            place = (platform.python_version(), np.__version__, platform.machine(), blas)
            shown = (f"{value:.4g}", "" if goal is None else f"{goal:g}", met(what, value, goal))
            writer.writerow(
                [what, *shown, *seconds_of, f"{ratio(what, times, WALL):.4g}", len(times[0]), *place]
            )


if __name__ == "__main__":
    sys.exit(main())

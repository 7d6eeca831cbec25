"""Time the LDM with a kernel beside cvxpy, SVC, the algorithm as printed, and plain retraining.

Run: python benchmarks/ldm.py [--quick]
Writes benchmarks/results/ldm.csv. A ratio, not a time, is what to compare between machines.

A ratio is that of median CPU times of one thread. Wall times flatter the shorter of two peers when the
machine has other work, because a short call fits between two turns of the scheduler; their ratio is stored
too, and equals the other on an idle machine. Peers take turns, call by call. lambda1 is 2^-5, the middle of
the paper's grid, or 100, which halves the spread of the margins. Beside SVC and cvxpy a fit is what
LDMClassifier does; everywhere else it forms H.
"""

from __future__ import annotations

from collections.abc import Iterator

import cvxpy as cp
import numpy as np
from ldm_peers import (
    CLARABEL,
    GAP,
    LAMBDA,
    LARGE,
    Problem,
    accurate_svc,
    clarabel_dual,
    comparable,
    fit,
    fit_as_estimator,
    printed_matrix,
    problem,
)
from scipy.linalg.lapack import dpotrf
from sklearn.svm import SVC

from marginbook.datasets import available
from marginbook.ldm.model.objective import dual_gap, primal_objective
from marginbook.ldm.model.whitening import WhitenedGram
from marginbook.ldm.peers.km_omd_solver import solve_km_omd
from marginbook.ldm.solvers import Solution, active_set, coordinate_descent
from marginbook.ldm.solvers.grid import solve_grid
from marginbook.ldm.solvers.hard_margin import gram_features, solve_hard_margin
from marginbook.ldm.solvers.leave_one_out_bound import bracket
from marginbook.ldm.solvers.leave_one_out_exact import exact_leave_one_out
from marginbook.ldm.solvers.oracle import hard_margin_oracle, soft_margin_oracle
from marginbook.quality.benchmarking import Ratio, compare, in_turns, main

GRID = 2.0 ** np.arange(-8, -1)


def against_cvxpy(data: Problem, runs: int) -> Iterator[Ratio]:
    """The same problem by Clarabel: the primal (5), and the dual with our H."""
    G, y, C = data.gram, data.y, 10.0
    for lambda1 in (LAMBDA, LARGE):
        H = WhitenedGram(G, y).hessian(lambda1)
        exact = active_set(H, y, lambda1, LAMBDA, C, tol=1e-10)
        oracle = soft_margin_oracle(gram_features(G), y, lambda1, LAMBDA, C, **CLARABEL)
        value = primal_objective(oracle.margins, oracle.coef @ oracle.coef, lambda1, LAMBDA, C)
        comparable(float(value / (exact.objective - exact.dual_gap) - 1), "cvxpy on the primal")
        point = clarabel_dual(H, LAMBDA, C)
        comparable(float(dual_gap(point, H @ point, LAMBDA, C) / exact.objective), "cvxpy on the dual")

        def ours(lambda1: float = lambda1) -> object:
            return fit_as_estimator(G, y, lambda1, C)

        def primal(lambda1: float = lambda1) -> object:
            return soft_margin_oracle(gram_features(G), y, lambda1, LAMBDA, C, **CLARABEL)

        def dual(lambda1: float = lambda1) -> object:
            return clarabel_dual(WhitenedGram(G, y).hessian(lambda1), LAMBDA, C)

        size = f"{data}, lambda1={lambda1:g}"
        yield compare(f"fit against cvxpy on the primal, both from G, {size}", ours, primal, runs)
        yield compare(f"fit against cvxpy on the dual with our H, both from G, {size}", ours, dual, runs)


def against_svc(data: Problem, Cs: tuple[float, ...], runs: int) -> Iterator[Ratio]:
    """The SVM of the same kernel, each to the same relative gap of its own problem."""
    G, y = data.gram, data.y
    for C in Cs:
        model, gap = accurate_svc(data, G, C)
        tol = max(GAP, gap)
        share = 100 * model.n_support_.sum() / len(y)
        size = f"{data}, C={C:g}, gap {tol:.0e}, {share:.0f} % support vectors"

        def ours(C: float = C, tol: float = tol) -> object:
            return fit_as_estimator(data.gram, y, LAMBDA, C, tol)

        def theirs(model: SVC = model) -> object:
            return model.fit(data.X, y)

        yield compare(f"fit over SVC (at most), both from X, {size}", ours, theirs, runs)
    if len(y) < 2000:
        return
    # the last case once more: with the Gram matrix given, and what no solver that factorises goes below
    given = SVC(C=C, kernel="precomputed", tol=model.tol, cache_size=1000)
    yield compare(
        f"fit over SVC (at most), both from G, {size}",
        lambda: fit_as_estimator(G, y, LAMBDA, C, tol),
        lambda: given.fit(G, y),
        runs,
    )
    what = f"Gram matrix and one Cholesky factor over SVC (at most), both from X, {size}"
    yield compare(what, lambda: factor(data.gram), theirs, runs)


def factor(G: np.ndarray) -> object:
    """Factorise I + cG, the first step of every fit with H."""
    shifted = (4 * LAMBDA / len(G)) * G
    shifted[np.diag_indices_from(shifted)] += 1.0
    return dpotrf(shifted.T, lower=1, overwrite_a=1, clean=0)


def against_printed(data: Problem, lambda1s: tuple[float, ...], runs: int) -> Iterator[Ratio]:
    """Algorithm 1 to the same gap, by our compiled loop, which skips coordinates that stay."""
    G, y, C = data.gram, data.y, 10.0
    for lambda1 in lambda1s:

        def printed(lambda1: float = lambda1) -> Solution:
            H = printed_matrix(G, y, lambda1)
            return coordinate_descent(H, y, lambda1, LAMBDA, C, tol=GAP, max_iter=200_000)

        found, H = printed(), WhitenedGram(G, y).hessian(lambda1)
        gap = dual_gap(found.shifted, H @ found.shifted, LAMBDA, C) / found.objective
        comparable(float(gap), "Algorithm 1 as printed")
        what = f"fit against Algorithm 1 as printed, both from G, {data}, lambda1={lambda1:g}"
        what += f", {found.n_iter:,} passes"
        yield compare(what, lambda lambda1=lambda1: fit(G, y, lambda1, C), printed, runs)


def whole_grid(data: Problem, runs: int) -> Iterator[Ratio]:
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
    yield compare(f"{what}, both with the eigendecomposition", grid, by_eigenvectors, runs)
    yield compare(f"{what}, the fit by Cholesky", grid, lambda: fit(G, y, LAMBDA, 10.0), runs)
    yield compare(
        f"all 147 machines of the grid against 147 fits, {data}",
        grid,
        lambda: [fit(G, y, l1, C) for l1 in GRID for _ in GRID for C in Cs],
        min(runs, 3),
    )


def leave_one_out(data: Problem, few: int, runs: int) -> Iterator[Ratio]:
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

    what = f"leave-one-out bound over one fit (at most), {data}"
    yield compare(what, bound, lambda: fit(G, y, LAMBDA, C), runs)
    for peer, what in ((from_scratch, "training m times"), (warm, "our exact leave-one-out, warm starts")):
        ours, theirs = in_turns(bound, peer, runs=runs)
        yield Ratio(f"leave-one-out bound against {what} (from {few}), {data}", ours, theirs * m / few)


def other_problems(data: Problem, runs: int) -> Iterator[Ratio]:
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
    yield compare(
        f"hard margin against cvxpy on the primal, both from G, {data}",
        lambda: solve_hard_margin(WhitenedGram(G, y), LAMBDA, LAMBDA, tol=GAP),
        lambda: hard_margin_oracle(gram_features(G), y, LAMBDA, LAMBDA, **CLARABEL),
        runs,
    )
    what = f"KM-OMD, lambda={lam:g}, against cvxpy, both from G, {data}"
    yield compare(what, lambda: solve_km_omd(G, y, lam, tol=GAP), km_omd, runs)


def measure(quick: bool) -> Iterator[Ratio]:
    """Yield all ratios; the larger real sets only where they are fetched."""
    small, middle, large, runs = (120, 200, 300, 2) if quick else (500, 1000, 2000, 7)
    cancer, digits = problem("breast cancer", small), problem("digits, odd or even", middle)
    tiny = problem("breast cancer", 60 if quick else 200)
    yield from against_cvxpy(cancer, min(runs, 5))
    sizes = {"german-24": min(middle, 1000), "splice": large, "image": large}
    sets = [problem(name, m) for name, m in sizes.items() if name in available()]
    for data in [digits, *sets, problem("waveform", large), problem("twonorm", large)]:
        yield from against_svc(data, (100.0, 10.0), runs)
    for data in (tiny, cancer, digits):
        yield from against_printed(data, (LAMBDA, LARGE), runs)
    for data in (tiny, cancer):
        yield from whole_grid(data, runs)
    for data in (cancer, digits):
        yield from leave_one_out(data, 10 if quick else 25, min(runs, 5))
    yield from other_problems(cancer, min(runs, 5))


if __name__ == "__main__":
    main(measure)

"""Time kFDA_q beside its iteration as printed, lasso solvers, skglm's L0.5 penalty, cvxpy and naive loops.

Run: python benchmarks/kfda.py [--quick]
Writes benchmarks/results/kfda.csv (ratios) and kfda-minima.csv (for q = 1/2, who ends at which J).

A ratio is that of median CPU times of one thread, peers in turns, call by call; that of the wall times is
stored too. "To the same J": the first step of (8) whose J is at most 1e-5 above that of ours; "by its rule":
the step at which the paper stops, wherever that is. A ratio "at least" is of an iteration that was ended
without having come there. Lassos are timed from the design on, with the loosest tolerance (a power of ten)
that brings them to an excess of 1e-4 over the optimum. skglm has at most 500 passes over a working set.
A peer that takes more than a second is called twice, (8) that was ended once.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from kfda_cases import accelerations, general_solver, minima, orthogonal, prediction, solvers, whole_paths
from kfda_peers import LIMIT, NEAR, SAME, Data, can_load, celer, data, loosest, plain_descent, scikit_learn

from marginbook.kfda.model.objective import objective
from marginbook.kfda.solvers.lasso import lasso
from marginbook.kfda.solvers.majorise_minimise import shrinking_mm
from marginbook.quality.benchmarking import CPU, Ratio, Record, clock, in_turns, main

#: from some tens to most of the samples retained; lassos and skglm on the first two, lest they take minutes
RHOS, FEW = (1e-2, 1e-3, 1e-4), 2
SETS = ("banana", "german", "image", "splice", "waveform")


def against_plain(each: Data, q: float, rho: float, runs: int) -> Iterator[Ratio]:
    """The shrinking iteration against (8) as printed, both from K: to the same J, and by the paper's rule."""
    least = shrinking_mm(each.fresh(), q, rho).objective
    ours, there, stopped, late = [], [], [], ""
    for _ in range(runs):
        ours.append(clock(lambda: shrinking_mm(each.fresh(), q, rho))[0])
        if late or (len(there) > 1 and sum(seconds[CPU] for seconds in there) > LIMIT):
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
    yield Ratio(f"shrinking against (8), to the same J, {size}{late}", times, np.array(there))
    yield Ratio(f"shrinking against (8) by its rule, {where}, {size}", times, np.array(stopped))


def against_lasso(each: Data, rho: float, who: str, names: tuple[str, ...], runs: int) -> Iterator[Ratio]:
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
    share = f"{len(best.retained) / problem.n:.0%} retained"
    for name in names:
        if not (ends := excess(mine[name](each.fresh()))) <= NEAR:
            raise RuntimeError(f"{name} stopped {ends:.1e} above the optimum, wanted {NEAR:g}")
    *ours, theirs = in_turns(
        *(mine[name] for name in names),
        lambda p: solver(p, rho, tol),
        runs=runs,
        prepare=lambda: each.fresh(design=True),
    )
    for name, times in zip(names, ours, strict=True):
        what = f"{name} over {who} (at most), q=1, rho={rho:g}, {each}, {share}{late}"
        yield Ratio(what, times, theirs)


def measure(quick: bool) -> Iterator[Ratio | Record]:
    """Yield the ratios and the ends; of the real sets those that are fetched."""
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
    for each, q, rho in product(sets, (1.0, 0.5), RHOS):
        yield from against_plain(each, q, rho, runs)
    few = list(product(sets, RHOS[: 1 if quick else FEW]))
    for each, rho in few:
        yield from against_lasso(each, rho, "celer", ("lasso", "shrinking"), 2 * runs + 1)
        yield from against_lasso(each, rho, "scikit-learn", ("lasso",), 2 * runs + 1)
        yield from minima(each, rho, runs)
    for q in (1.0, 0.5):
        yield from whole_paths(waveform, q, runs)
        yield from accelerations(waveform, q, runs)
        yield prediction(waveform, q, 2 * runs + 1)
    yield general_solver(cancer, runs)
    yield from orthogonal(cancer, runs)


if __name__ == "__main__":
    main(measure)

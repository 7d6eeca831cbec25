"""Time of low-rank margins against samples n, sides d, rank r and levels H.

Run: python benchmarks/smm_curves.py [--quick]
Writes benchmarks/results/smm-scaling.csv: CPU seconds of one thread, medians; slow calls are made once. The
sizes that do not vary are n = 500, d = 20, r = 3; lambda = 0.03, b free.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from smm_peers import Problem, by_sklearn, problem, sample

from marginbook.quality.benchmarking import Line, main
from marginbook.smm.estimators.level_sets import LevelSetClassifier
from marginbook.smm.estimators.regression import RegressionFunctionEstimator
from marginbook.smm.model.objective import LOSSES
from marginbook.smm.solvers.block_descent import low_rank_svm
from marginbook.smm.solvers.nuclear_newton import nuclear_newton
from marginbook.smm.solvers.nuclear_norm import NuclearProblem, nuclear_limit
from marginbook.smm.solvers.oracle import alternation_by_cvxpy

LAM, N, D, R = 0.03, 500, 20, 3
#: sizes up to which the alternation by cvxpy and what needs all pairs of samples are timed
CVXPY_N, PAIRS_N = 1000, 2000


def fits(x: str, value: int, n: int, d: int, r: int, losses: tuple[str, ...] = LOSSES) -> Iterator[Line]:
    """A fit with each loss at one size."""
    for loss in losses:
        p = problem(n, d, d, r, LAM, loss=loss)
        name = f"rank r, {loss.replace('_', ' ')}"
        yield Line(name, x, value, lambda p=p: low_rank_svm(p.X, p.y, **p.settings))


def nuclear(p: Problem) -> object:
    """Solve the nuclear-norm machine of the same losses."""
    sized = NuclearProblem(p.X, p.y, np.full(len(p.y), 1 / (2 * p.lam * len(p.y))))
    return nuclear_newton(sized, 0.2 * nuclear_limit(sized))


def against_samples(sizes: tuple[int, ...]) -> Iterator[Line]:
    """Fits, and the peers as far as they come."""
    for n in sizes:
        yield from fits("n", n, n, D, R)
        p = problem(n, D, D, R, LAM)
        if n <= PAIRS_N:
            yield Line("LIBSVM on vectors", "n", n, lambda p=p: by_sklearn(p.rows, p.y, p, 1e-4))
            yield Line("nuclear norm", "n", n, lambda p=p: nuclear(p))
        if n <= CVXPY_N:
            yield Line("rank r, by cvxpy", "n", n, lambda p=p: alternation_by_cvxpy(p.X, p.y, **p.settings))


def against_sides(sizes: tuple[int, ...]) -> Iterator[Line]:
    """Square matrices of d x d."""
    for d in sizes:
        yield from fits("d", d, N, d, R)
        p = problem(N, d, d, R, LAM)
        yield Line("LIBSVM on vectors", "d", d, lambda p=p: by_sklearn(p.rows, p.y, p, 1e-4))
        if d <= 2 * D:
            yield Line("nuclear norm", "d", d, lambda p=p: nuclear(p))


def against_ranks(ranks: tuple[int, ...]) -> Iterator[Line]:
    """The rank that is fitted; that of the truth stays."""
    X, y = sample(N, D, D, R)
    for r in ranks:
        for loss in LOSSES:
            p = Problem(X, y, r, LAM, loss)
            name = f"rank r, {loss.replace('_', ' ')}"
            yield Line(name, "r", r, lambda p=p: low_rank_svm(p.X, p.y, **p.settings))


def against_levels(counts: tuple[int, ...], n: int, d: int) -> Iterator[Line]:
    """Paths of H - 1 levels, and the same levels one by one."""
    for H in counts:
        for loss in LOSSES:
            p = problem(n, d, d, R, LAM, loss=loss)
            path = RegressionFunctionEstimator(H, **p.settings)

            def apart(p: Problem = p, H: int = H) -> None:
                for h in range(1, H):
                    LevelSetClassifier(h / H, **p.settings).fit(p.X, p.y)

            name = loss.replace("_", " ")
            yield Line(f"warm, {name}", "H", H, lambda path=path, p=p: path.fit(p.X, p.y))
            if H <= 20:
                yield Line(f"cold, {name}", "H", H, apart)


def measure(quick: bool) -> Iterator[Line]:
    """Yield all lines."""
    for line in (*against_samples((60,)), *against_levels((4,), 60, 6)):
        line.action()  # what is compiled or imported at the first call
    yield from against_samples((125, 250, 500) if quick else tuple(125 * 2**i for i in range(8)))
    yield from against_sides((5, 10, 20) if quick else (5, 10, 20, 40, 80))
    yield from against_ranks((1, 2, 4) if quick else (1, 2, 4, 8, 16))
    levels = (5, 10, 20) if quick else (2, 5, 10, 20, 50, 100)
    yield from against_levels(levels, *((200, 10) if quick else (N, D)))


if __name__ == "__main__":
    main(measure)

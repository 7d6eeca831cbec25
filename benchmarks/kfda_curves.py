"""Excess of J against time, and time against N, of the solvers of kFDA_q with an rbf kernel.

Run: python benchmarks/kfda_curves.py [--quick]
Writes benchmarks/results/kfda-curves.csv (how far a solver is above the optimum, for q = 1/2 above the lowest
J that any of them found, after how many CPU seconds) and kfda-scaling.csv (CPU seconds at each N). All start
at the kernel matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from kfda_cases import solvers
from kfda_peers import NEAR, Data, can_load, celer, data, plain_descent, scikit_learn, skglm_half
from sklearn.linear_model import lars_path_gram

from marginbook.kfda.model.objective import Problem, objective
from marginbook.kfda.solvers.irls import majorize_minimize
from marginbook.kfda.solvers.irls_accelerated import over_relaxed, squarem
from marginbook.kfda.solvers.lasso import lasso
from marginbook.kfda.solvers.majorise_minimise import shrinking_mm
from marginbook.kfda.solvers.oracle import oracle
from marginbook.quality.benchmarking import CPU, Line, Record, main, sampled

CASES = (("image", 1e-2), ("waveform", 1e-3))
#: of the curves of single iterations at most so many points are stored
POINTS = 40
Solver = Callable[[Problem], np.ndarray]


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
            times, omega = sampled(lambda call=call: call(each.fresh()))
            seconds = float(np.median(times[:, CPU]))
            points.append((name, seconds, objective(problem, omega, q, rho)))
            if seconds > limit:
                break
    descent = plain_descent(each.fresh(), q, rho, 0.0, limit)
    last = len(descent.values) - 1
    for step in np.unique(np.geomspace(1, last + 1, POINTS).astype(int)) - 1:
        points.append(("(8)", descent.seconds[step, CPU], float(descent.values[step])))
    return points


def excesses(each: Data, q: float, rho: float, limit: float) -> Iterator[Record]:
    """Yield the points of one problem."""
    points = curves(each, q, rho, limit)
    least = min(value for _, _, value in points)
    if q == 1:
        best = lasso(each.fresh(), rho, tol=1e-13)
        least = float(best.objective - (best.dual_gap or 0.0))
    for name, seconds, value in points:
        point = {"set": each.name, "q": f"{q:g}", "rho": f"{rho:g}", "solver": name}
        excess = max(value / least - 1, 0.0)
        yield Record("kfda-curves", point | {"seconds": f"{seconds:.4g}", "excess": f"{excess:.3g}"})


def lines(each: Data, n: int, rho: float) -> Iterator[Line]:
    """Yield what is timed against N, if not slow at that size."""
    found: dict[str, Callable[[], object]] = {
        "(8) by its rule, q=1": lambda: majorize_minimize(each.fresh(), 1.0, rho),
        "(8) by its rule, q=0.5": lambda: majorize_minimize(each.fresh(), 0.5, rho),
        "shrinking, q=1": lambda: shrinking_mm(each.fresh(), 1.0, rho),
        "shrinking, q=0.5": lambda: shrinking_mm(each.fresh(), 0.5, rho),
        "lasso": lambda: lasso(each.fresh(), rho),
        "celer": lambda: celer(each.fresh(), rho, NEAR),
    }
    if n <= 500:
        found["cvxpy, q=1"] = lambda: oracle(each.fresh(), 1.0, rho, max_threads=1)
    for what, action in found.items():
        yield Line(what, "N", n, action)


def measure(quick: bool) -> Iterator[Record | Line]:
    """Yield the points of all curves, then the lines."""
    n, limit = (150, 0.1) if quick else (1000, 3.0)
    small = data("breast cancer", 100)
    celer(small.fresh(), 0.01, 1e-2)  # compiled at the first call
    skglm_half(small.fresh(), 0.01, tol=1e-2)
    for name, rho in CASES[1:] if quick else CASES:
        if not can_load(name):
            print(f"not fetched, left out: {name}")
            continue
        for q in (1.0, 0.5):
            yield from excesses(data(name, n), q, rho, limit)
    for size in (125, 250) if quick else (250, 500, 1000, 2000):
        yield from lines(data("waveform", size), size, 1e-2)


if __name__ == "__main__":
    main(measure)

"""What share of the samples counts as retained, by the cut below which a coefficient is called zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.parameters import validate_choice
from ...experiments.fold import Fold, Row, Settings
from ..model.certificates import magnitude_bound
from ..model.objective import Problem, targets
from ..solvers.irls import majorize_minimize
from ..solvers.lasso import lasso_path
from ..solvers.majorise_minimise import shrinking_mm
from ..solvers.solution import Solution
from .grids import Standard, finite, listed, positives, rbf, squared_distances, width_unit

#: the exponents of the tables
EXPONENTS = {"kFDA-1": 1.0, "kFDA-0.5": 0.5}
#: share of the largest coefficient below which one is irrelevant to all cuts, and how often that is looked at
NEGLIGIBLE, STRIDE = 1e-16, 25


def measure_cuts(fold: Fold, method: str, settings: Settings) -> Row:
    """Count the coefficients above relative cuts after the paper's iteration, and those that are not zero.

    Parameters
    ----------
    method : str
        One of `EXPONENTS`.
    settings : mapping
        ``width``, one multiple of the unit; ``rho``, a list; ``cuts``, relative to the largest coefficient;
        ``stop``, the paper's relative change of J, and ``max_iter``; ``long_stop`` and ``long_max_iter``, of
        the run to the limit; ``tol`` of the solver with exact zeros.

    Returns
    -------
    dict
        JSON lists over rho: ``rho``; ``nrs_stopped`` and ``nrs_long``, in %, each with one list over the
        cuts per rho, after `stop` and after `long_stop`; ``nrs_exact``, of the solver with exact zeros;
        ``nrs_bound``, of the long run with the magnitude bound of local minima as its cut (q < 1, else
        null); ``iterations_stopped``, ``iterations_long``, ``converged_long``; ``excess_stopped``,
        ``excess_long``: relative excess of J over that of the solver with exact zeros;
        ``certificate`` and ``curvature`` of the latter. ``cuts`` (JSON), ``nrs``: mean of ``nrs_exact``.
    """
    validate_choice("method", method, EXPONENTS)
    q, rows = EXPONENTS[method], Standard.of(fold.X_train)(fold.X_train)
    K = rbf(squared_distances(rows), float(settings["width"]) * width_unit(rows.shape[1]))
    problem = Problem(K, targets(positives(fold.y_train)))
    rhos = sorted((float(rho) for rho in settings["rho"]), reverse=True)
    lists: dict[str, list[Any]] = {}
    for rho, exact in zip(rhos, _exact(problem, q, rhos, settings), strict=True):
        stopped = iterate(problem, q, rho, None, settings["stop"], settings["max_iter"])
        # from where the paper stops: the same iterates go on
        long = iterate(problem, q, rho, stopped.omega, settings["long_stop"], settings["long_max_iter"])
        bound = None
        if q < 1:
            alive = np.abs(long.omega) >= magnitude_bound(problem, q, rho)
            bound = 100 * float(np.mean(alive[1:]))
        gap = None if exact.dual_gap is None else exact.dual_gap / exact.objective
        for name, value in {
            "rho": rho,
            "nrs_stopped": _by_cut(stopped, settings["cuts"]),
            "nrs_long": _by_cut(long, settings["cuts"]),
            "nrs_exact": 100 * len(exact.retained) / problem.n,
            "nrs_bound": bound,
            "iterations_stopped": stopped.n_iter,
            "iterations_long": stopped.n_iter + long.n_iter,
            "converged_long": long.converged,
            "excess_stopped": stopped.objective / exact.objective - 1,
            "excess_long": long.objective / exact.objective - 1,
            "certificate": exact.stationarity if gap is None else gap,
            "curvature": finite(exact.curvature),
        }.items():
            lists.setdefault(name, []).append(value)
    row: Row = {name: listed(values) for name, values in lists.items()}
    return row | {
        "nrs": float(np.mean(lists["nrs_exact"])),
        "cuts": listed(settings["cuts"]),
        "n_train": problem.n,
    }


def retained_at_cuts(
    K: np.ndarray, positive: np.ndarray, q: float, rho: float, settings: Settings
) -> list[int]:
    """Return how many samples are above each of the ``cuts`` where the paper's iteration stops.

    Parameters
    ----------
    K : (n, n) array
    positive : (n,) array of bool
    q, rho : float
    settings : mapping
        ``cuts``, ``stop`` and ``max_iter``, as for `measure_cuts`.
    """
    problem = Problem(K, targets(positive))
    size = np.abs(iterate(problem, q, rho, None, settings["stop"], settings["max_iter"]).omega[1:])
    return [int(np.count_nonzero(size > cut * size.max())) for cut in settings["cuts"]]


@dataclass(frozen=True)
class Reached:
    """Where the iteration ended: coefficients (n + 1,), J, number of steps, and whether it stopped itself."""

    omega: np.ndarray
    objective: float
    n_iter: int
    converged: bool


def iterate(
    problem: Problem, q: float, rho: float, start: np.ndarray | None, tol: float, max_iter: int
) -> Reached:
    """Run the paper's iteration (8), without the columns that have become irrelevant to any cut.

    Every `STRIDE` steps the kernel columns whose coefficients are below `NEGLIGIBLE` times the largest leave:
    the systems shrink, and the others go as they would have gone to that precision.
    """
    kept, reduced = np.arange(problem.n_coefficients), problem
    steps = 0
    while True:
        found = majorize_minimize(
            reduced, q, rho, start=start, tol=tol, max_iter=min(STRIDE, max_iter - steps)
        )
        steps += found.n_iter
        if found.converged or steps >= max_iter:
            break
        size = np.abs(found.omega)
        alive = size > NEGLIGIBLE * size[1:].max()
        alive[0] = True
        start = found.omega[alive]
        if not alive.all():
            kept = kept[alive]
            reduced = Problem(problem.K[:, kept[1:] - 1], problem.yhat)
    omega = np.zeros(problem.n_coefficients)
    omega[kept] = found.omega
    return Reached(omega, found.objective, steps, found.converged)


def _exact(problem: Problem, q: float, rhos: list[float], settings: Settings) -> list[Solution]:
    if q == 1:
        return list(lasso_path(problem, rhos))
    return [shrinking_mm(problem, q, rho, tol=settings["tol"]) for rho in rhos]


def _by_cut(found: Reached, cuts: list[float]) -> list[float]:
    size = np.abs(found.omega[1:])
    return [100 * float(np.mean(size > cut * size.max())) for cut in cuts]

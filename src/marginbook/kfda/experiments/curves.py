"""How error and retained samples go with q and rho, and what the start of the iteration does for q < 1."""

from __future__ import annotations

import json
from functools import lru_cache

import numpy as np

from ...base.parameters import validate_choice
from ...experiments.fold import Fold, Row, Settings
from ..model.objective import Problem, targets
from ..solvers.lasso import lasso_path
from ..solvers.majorise_minimise import shrinking_mm
from ..solvers.solution import Solution
from .grids import (
    Standard,
    choosing_folds,
    cross_validate,
    finite,
    listed,
    positives,
    rbf,
    squared_distances,
    width_unit,
)
from .methods import MACHINES, threshold
from .partitions import pool

#: the exponents of the curves
EXPONENTS = {"q=0.25": 0.25, "q=0.5": 0.5, "q=0.75": 0.75, "q=1": 1.0}


def measure_curves(fold: Fold, method: str, settings: Settings) -> Row:
    """Measure kFDA_q along rho on one partition, with the width that suits the ridge machine of the set.

    Parameters
    ----------
    method : str
        One of `EXPONENTS`.
    settings : mapping
        ``rho``; ``width``, ``ridge`` and ``folds`` of the choice of the width, see `width_of`; ``tol``.

    Returns
    -------
    dict
        JSON lists over rho, the largest first: ``rho``, ``mcr`` of the test rows and ``nrs`` in %,
        ``objective``, ``certificate``, ``curvature``, of the iteration from the ridge solution of the same
        rho; for q < 1 also ``mcr_warm``, ``nrs_warm``, ``objective_warm`` of the iteration that starts from
        the solution at the rho below, densest first. ``mcr_middle``: of the rho in the middle of the list;
        ``width``, ``n_train``, ``n_test``.
    """
    validate_choice("method", method, EXPONENTS)
    q, standard = EXPONENTS[method], Standard.of(fold.X_train)
    multiple = width_of(
        fold.dataset, json.dumps({name: settings[name] for name in ("width", "ridge", "folds")})
    )
    sigma, X, positive = (
        multiple * width_unit(fold.X_train.shape[1]),
        standard(fold.X_train),
        positives(fold.y_train),
    )
    problem = Problem(rbf(squared_distances(X), sigma), targets(positive))
    across = rbf(squared_distances(standard(fold.X_test), X), sigma)
    truth = fold.y_test == np.unique(fold.y_train)[1]
    rhos = sorted((float(rho) for rho in settings["rho"]), reverse=True)

    def errors(found: list[Solution]) -> list[float]:
        omega = np.array([one.omega for one in found])
        decisions = across @ omega[:, 1:].T + omega[:, 0] - threshold(positive)
        return [float(value) for value in 100 * np.mean((decisions > 0) != truth[:, None], axis=0)]

    def retained(found: list[Solution]) -> list[float]:
        return [100 * len(one.retained) / problem.n for one in found]

    if q == 1:
        cold = list(lasso_path(problem, rhos))
        certificates: list[float | None] = [float(one.dual_gap or 0.0) / one.objective for one in cold]
    else:
        cold = [shrinking_mm(problem, q, rho, tol=settings["tol"]) for rho in rhos]
        certificates = [one.stationarity for one in cold]
    row: Row = {
        "rho": listed(rhos),
        "mcr": listed(errors(cold)),
        "nrs": listed(retained(cold)),
        "objective": listed([one.objective for one in cold]),
        "certificate": listed(certificates),
        "curvature": listed([finite(one.curvature) for one in cold]),
    }
    if q < 1:
        warm = warm_path(problem, q, rhos, settings["tol"])
        row |= {
            "mcr_warm": listed(errors(warm)),
            "nrs_warm": listed(retained(warm)),
            "objective_warm": listed([one.objective for one in warm]),
        }
    return row | {
        "mcr_middle": errors(cold)[len(rhos) // 2],
        "width": multiple,
        "n_train": problem.n,
        "n_test": len(fold.y_test),
    }


def warm_path(problem: Problem, q: float, rhos: list[float], tol: float) -> list[Solution]:
    """Return solutions for decreasing `rhos`, computed from the last to the first, each from the one before.

    The densest comes first, because a coefficient that is zero at the start stays zero.
    """
    found: list[Solution] = []
    for rho in reversed(rhos):
        start = found[-1].omega if found else None
        found.append(shrinking_mm(problem, q, rho, start=start, tol=tol))
    return found[::-1]


@lru_cache(maxsize=64)
def width_of(dataset: str, settings: str) -> float:
    """Return the width of a set, a multiple of its unit: the ridge machine's choice on partition 1.

    Parameters
    ----------
    dataset : str
    settings : str
        JSON with ``width``, ``ridge`` and ``folds``.
    """
    stated, found = json.loads(settings), pool(dataset)
    train = found.official_splits[0][0]
    X, positive = found.X[train], positives(found.y)[train]
    folds = choosing_folds(positive, stated["folds"], dataset, 1)
    return cross_validate(MACHINES["kFDA"], Standard.of(X)(X), positive, folds, stated).multiple

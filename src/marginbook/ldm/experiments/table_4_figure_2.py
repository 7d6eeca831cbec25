"""How the large data sets are measured: linear machines on sparse or dense rows (Table 4, Figure 2)."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from ...base.parameters import validate_choice
from ...base.splits import Split
from ...experiments.candidates import Candidates, Expansions, right_held_out, row_parts
from ...experiments.fold import Fold, Method, Point, Row, Settings, Trained
from ..peers.mamc import solve_mamc
from ..solvers.asgd import averaged_sgd
from ..solvers.asgd_grid import averaged_sgd_of_grid
from ..solvers.linear_cd import solve_linear
from .halves import Decisions, Rows, choosing_folds, mdo, measured, prepared, seed_of_name


def measure_large(fold: Fold, method: str, settings: Settings) -> Row:
    """Measure one method on one split of a large data set (Table 4).

    Parameters
    ----------
    method : str
        One of `METHODS`: "SVM" is LIBLINEAR, hinge loss, no constant feature; "LDM" Algorithm 2, in the folds
        too; "LDM(4)" the same with the double sum on the left of (4) as its variance; "LDM(exact)" the exact
        solution at the parameters that "LDM" chooses.
    settings : mapping
        Grids ``C``, ``lambda1``, ``lambda2``; ``folds``; ``n_passes`` of Algorithm 2; ``svm_tol``,
        ``svm_max_iter``; ``exact_tol`` (relative duality gap), ``exact_max_iter`` (passes).

    Returns
    -------
    dict
        The columns of :func:`marginbook.ldm.experiments.tables_2_3.measure_linear`, where ``dual_gap`` is the
        relative gap of the exact solution; ``iterations`` and ``converged`` (0 or 1) of SVM and exact
        solution.
    """
    return {"iterations": None, "converged": None} | measured(METHODS, fold, method, settings)


def linear_svms(seed: int, X: Rows, y: np.ndarray, settings: Settings) -> Expansions:
    """Return LIBLINEAR's weights for each C of the settings."""
    grid = [float(C) for C in settings["C"]]
    weights = np.array([linear_svm(X, y, C, settings, seed).coef_[0] for C in settings["C"]])
    return Expansions([{"C": C} for C in grid], weights, np.zeros(len(grid)))


def ldm_by_sgd(seed: int, X: Rows, y: np.ndarray, settings: Settings) -> Expansions:
    """Return the weights of Algorithm 2 at each point of C x lambda1 x lambda2, C slowest.

    All points meet the same sequence of examples, so that their scores differ by their parameters only.
    """
    grid = list(product(settings["C"], settings["lambda1"], settings["lambda2"]))
    points: list[Point] = [
        {"C": float(C), "lambda1": float(lambda1), "lambda2": float(lambda2)} for C, lambda1, lambda2 in grid
    ]
    passes = settings["n_passes"]
    at = [(lambda1, lambda2, C) for C, lambda1, lambda2 in grid]
    weights = averaged_sgd_of_grid(X, y, at, n_passes=passes, random_state=seed)
    return Expansions(points, weights, np.zeros(len(points)))


def ldm_of_4_by_sgd(seed: int, X: Rows, y: np.ndarray, settings: Settings) -> Expansions:
    """Return what `ldm_by_sgd` does with the double sum on the left of (4): m squared times the right."""
    grid = [float(lambda1) for lambda1 in settings["lambda1"]]
    found = ldm_by_sgd(seed, X, y, {**settings, "lambda1": [_heavy(value, y) for value in grid]})
    own = {_heavy(value, y): value for value in grid}
    return replace(found, points=[{**point, "lambda1": own[point["lambda1"]]} for point in found.points])


def _heavy(lambda1: float, y: np.ndarray) -> float:
    return lambda1 * len(y) ** 2


def choose(
    candidates: Candidates, X: Rows, y: np.ndarray, folds: list[Split], settings: Settings
) -> tuple[Point, float, int]:
    """Return the first of the points that predict best over all folds, its score, and how many tie."""
    points, right, _ = right_held_out(candidates, X, y, folds, settings, row_parts)
    best = int(np.argmax(right))
    score = int(right[best]) / sum(len(test) for _, test in folds)
    return points[best], score, int(np.sum(right == right[best]))


def linear_svm(X: Rows, y: np.ndarray, C: float, settings: Settings, seed: int) -> LinearSVC:
    """Return LIBLINEAR's dual coordinate descent for the hinge loss, fitted without a constant feature."""
    model = LinearSVC(
        loss="hinge", C=C, fit_intercept=False, tol=settings["svm_tol"], max_iter=settings["svm_max_iter"],
        random_state=seed,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the iteration limit is part of the protocol
        return model.fit(X, y)


def mamc_direction(X: Rows, y: np.ndarray) -> np.ndarray:
    """Return the weights of MAMC, (p,)."""
    squares = X.multiply(X).sum() if hasattr(X, "multiply") else np.sum(X * X)
    coefficients = solve_mamc(X @ (X.T @ y), y, float(squares) / len(y)).coefficients
    return np.asarray(X.T @ coefficients)


def _linear(coef: np.ndarray, fold: Fold) -> Decisions:
    return Decisions(fold.X_train @ coef, fold.X_test @ coef)


def _mamc(fold: Fold, settings: Settings) -> Trained:
    return Trained(_linear(mamc_direction(fold.X_train, fold.y_train), fold), {})


def _chosen(
    candidates: Callable[..., Expansions],
    fit: Callable[[Fold, Point, Settings], tuple[np.ndarray, Row]],
    fold: Fold,
    settings: Settings,
) -> Trained:
    """Choose a point of the grid by cross-validation, and fit the whole half there."""
    X, y = fold.X_train, fold.y_train
    folds = choosing_folds(y, int(settings["folds"]), fold.dataset)
    seeded = partial(candidates, seed_of_name(fold.dataset, "descent"))
    point, score, ties = choose(seeded, X, y, folds, settings)
    coef, told = fit(fold, point, settings)
    chosen = {"cv_score": score, "ties": ties, "parameters": json.dumps(point, sort_keys=True)}
    return Trained(_linear(coef, fold), chosen | told)


def _liblinear(fold: Fold, at: Point, settings: Settings) -> tuple[np.ndarray, Row]:
    model = linear_svm(fold.X_train, fold.y_train, at["C"], settings, fold.seed)
    return model.coef_[0], {"iterations": _passes(model), "converged": int(_passes(model) < model.max_iter)}


def _descent(fold: Fold, at: Point, settings: Settings) -> tuple[np.ndarray, Row]:
    passes = int(settings["n_passes"])
    weights = at["lambda1"], at["lambda2"], at["C"]
    found = averaged_sgd(fold.X_train, fold.y_train, *weights, n_passes=passes, random_state=fold.seed)
    return found.coef, {}


def _descent_of_4(fold: Fold, at: Point, settings: Settings) -> tuple[np.ndarray, Row]:
    return _descent(fold, {**at, "lambda1": _heavy(at["lambda1"], fold.y_train)}, settings)


def _exact(fold: Fold, at: Point, settings: Settings) -> tuple[np.ndarray, Row]:
    limits = {"tol": settings["exact_tol"], "max_iter": settings["exact_max_iter"]}
    weights = at["lambda1"], at["lambda2"], at["C"]
    found = solve_linear(fold.X_train, fold.y_train, *weights, **limits, random_state=fold.seed)
    told = {"iterations": found.n_iter, "converged": int(found.converged)}
    return found.coef, told | {"dual_gap": float(found.relative_gap)}


#: the methods of Table 4
METHODS: dict[str, Method] = {
    "SVM": partial(_chosen, linear_svms, _liblinear),
    "MDO": mdo,
    "MAMC": _mamc,
    "LDM": partial(_chosen, ldm_by_sgd, _descent),
    "LDM(exact)": partial(_chosen, ldm_by_sgd, _exact),
    "LDM(4)": partial(_chosen, ldm_of_4_by_sgd, _descent_of_4),
}


def measure_time(fold: Fold, method: str, settings: Settings) -> Row:
    """Measure the CPU seconds of one fit on the training rows of one split (Figure 2).

    Parameters
    ----------
    method : {"SVMl", "SVMa", "LDM", "LDM(exact)"}
        LIBLINEAR; averaged stochastic gradients without and with the terms of the mean and the variance;
        the exact solution, by an interior point or coordinate descent as suits the size.
    settings : mapping
        One value of ``C``, ``lambda1``, ``lambda2``; the rest as for `measure_large`.

    Returns
    -------
    dict
        ``seconds`` of CPU of this process; ``accuracy`` on the test rows; ``iterations``: passes over the
        training rows; ``converged`` (0 or 1; None for a fixed number of passes); ``dual_gap`` (relative) of
        the exact solution; ``n_train``, ``n_features``, ``nonzeros`` of the training rows.
    """
    validate_choice("method", method, TIMED)
    fold = prepared(fold)
    at = {name: float(settings[name]) for name in ("C", "lambda1", "lambda2")}
    X, y = fold.X_train, fold.y_train
    few = np.r_[np.flatnonzero(y > 0)[:5], np.flatnonzero(y < 0)[:5]]
    TIMED[method](replace(fold, X_train=X[few], y_train=y[few]), at, settings)  # compilation is not timed
    began = time.process_time()
    coef, told = TIMED[method](fold, at, settings)
    seconds = time.process_time() - began
    return {
        "seconds": seconds,
        "accuracy": float(np.mean((fold.X_test @ coef > 0) == (fold.y_test > 0))),
        "n_train": len(y),
        "n_features": X.shape[1],
        "nonzeros": int(X.nnz if hasattr(X, "nnz") else np.count_nonzero(X)),
        "converged": None,
        "dual_gap": None,
    } | told


def _averaged(with_distribution: bool, fold: Fold, at: Point, settings: Settings) -> tuple[np.ndarray, Row]:
    weights = at if with_distribution else {**at, "lambda1": 0.0, "lambda2": 0.0}
    coef, _ = _descent(fold, weights, settings)
    return coef, {"iterations": int(settings["n_passes"])}


#: the fits of Figure 2
TIMED: dict[str, Callable[[Fold, Point, Settings], tuple[np.ndarray, Row]]] = {
    "SVMl": _liblinear,
    "SVMa": partial(_averaged, False),
    "LDM": partial(_averaged, True),
    "LDM(exact)": _exact,
}


def _passes(model: LinearSVC) -> int:
    return int(np.max(model.n_iter_))

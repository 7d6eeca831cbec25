"""How the large data sets are measured: linear machines on sparse or dense rows (Table 4, Figure 2)."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from ...base.parameters import validate_choice
from ..peers.mamc import solve_mamc
from ..solvers.asgd import averaged_sgd
from ..solvers.linear_cd import solve_linear
from .halves import Fold, Row, Rows, decided, fit_mdo, prepared, stratified_folds

Point = dict[str, float]

METHODS = ("SVM", "MDO", "MAMC", "LDM", "LDM(exact)")


def measure_large(
    X_train: Rows,
    y_train: np.ndarray,
    X_test: Rows,
    y_test: np.ndarray,
    *,
    method: str,
    settings: Mapping[str, Any],
    seed: int,
    dataset: str,
) -> Row:
    """Measure one method on one split of a large data set (Table 4).

    Parameters
    ----------
    X_train, y_train, X_test, y_test : (m, p), (m,), (n, p), (n,) arrays; the rows may be CSR
    method : str
        "SVM" (LIBLINEAR, hinge loss, no constant feature), "MDO", "MAMC", "LDM" (Algorithm 2, in the folds
        too), "LDM(exact)" (the exact solution at the parameters that "LDM" chooses).
    settings : mapping
        Grids ``C``, ``lambda1``, ``lambda2``; ``folds``; ``n_passes`` of Algorithm 2; ``svm_tol``,
        ``svm_max_iter``; ``exact_tol`` (relative duality gap), ``exact_max_iter`` (passes).
    seed : int
        Of the random numbers of the last fit; those in the folds, and the folds, go by `dataset`.
    dataset : str

    Returns
    -------
    dict
        The columns of :func:`marginbook.ldm.experiments.tables_2_3.measure_linear`, where ``dual_gap`` is the
        relative gap of the exact solution; ``iterations`` and ``converged`` (0 or 1) of SVM and exact
        solution.
    """
    validate_choice("method", method, METHODS)
    X, y, Z, truth = prepared(X_train, y_train, X_test, y_test)
    extra: Row = {"iterations": None, "converged": None}
    if method == "MDO":
        model = fit_mdo(X, y, seed)
        inside, outside = model.decision_function(X), model.decision_function(Z)
        extra["parameters"] = json.dumps({"a": model.a, "b": model.b})
        return decided(inside, y, outside, truth) | extra
    if method == "MAMC":
        coef = mamc_direction(X, y)
        return decided(X @ coef, y, Z @ coef, truth) | extra
    folds = stratified_folds(y, int(settings["folds"]), dataset)
    fit = linear_svms if method == "SVM" else ldm_by_sgd
    seed_in_folds = int(np.random.default_rng(list(f"{dataset}|descent".encode())).integers(2**31))
    point, score, ties = choose(fit, X, y, folds, settings, seed_in_folds)
    extra |= {"cv_score": score, "ties": ties, "parameters": json.dumps(point, sort_keys=True)}
    if method == "SVM":
        svm = linear_svm(X, y, point["C"], settings, seed)
        coef = svm.coef_[0]
        extra |= {"iterations": _passes(svm), "converged": int(_passes(svm) < svm.max_iter)}
    elif method == "LDM":
        at = point["lambda1"], point["lambda2"], point["C"]
        coef = averaged_sgd(X, y, *at, n_passes=settings["n_passes"], random_state=seed).coef
    else:
        at = point["lambda1"], point["lambda2"], point["C"]
        limits = {"tol": settings["exact_tol"], "max_iter": settings["exact_max_iter"]}
        exact = solve_linear(X, y, *at, **limits, random_state=seed)
        coef = exact.coef
        extra |= {"iterations": exact.n_iter, "converged": int(exact.converged)}
        extra["dual_gap"] = float(exact.relative_gap)
    return decided(X @ coef, y, Z @ coef, truth) | extra


def linear_svms(
    X: Rows, y: np.ndarray, settings: Mapping[str, Any], seed: int
) -> Iterator[tuple[Point, np.ndarray]]:
    """Yield LIBLINEAR's weights for each C of the settings."""
    for C in settings["C"]:
        yield {"C": float(C)}, linear_svm(X, y, C, settings, seed).coef_[0]


def ldm_by_sgd(
    X: Rows, y: np.ndarray, settings: Mapping[str, Any], seed: int
) -> Iterator[tuple[Point, np.ndarray]]:
    """Yield the weights of Algorithm 2 at each point of C x lambda1 x lambda2, C slowest.

    All points meet the same sequence of examples, so that their scores differ by their parameters only.
    """
    for C, lambda1, lambda2 in product(settings["C"], settings["lambda1"], settings["lambda2"]):
        found = averaged_sgd(X, y, lambda1, lambda2, C, n_passes=settings["n_passes"], random_state=seed)
        yield {"C": float(C), "lambda1": float(lambda1), "lambda2": float(lambda2)}, found.coef


def choose(
    fit: Callable[..., Iterator[tuple[Point, np.ndarray]]],
    X: Rows,
    y: np.ndarray,
    folds: list[Fold],
    settings: Mapping[str, Any],
    seed: int,
) -> tuple[Point, float, int]:
    """Return the first of the points that predict best over all folds, its score, and how many tie."""
    points: list[Point] = []
    right: np.ndarray | int = 0
    for train, test in folds:
        found = list(fit(X[train], y[train], settings, seed))
        points = [point for point, _ in found]
        decisions = X[test] @ np.array([coef for _, coef in found]).T
        right = right + np.sum((decisions > 0) == (y[test, None] > 0), axis=0)
    counts = np.asarray(right)
    best = int(np.argmax(counts))
    score = int(counts[best]) / sum(len(test) for _, test in folds)
    return points[best], score, int(np.sum(counts == counts[best]))


def linear_svm(X: Rows, y: np.ndarray, C: float, settings: Mapping[str, Any], seed: int) -> LinearSVC:
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


def measure_time(
    X_train: Rows,
    y_train: np.ndarray,
    X_test: Rows,
    y_test: np.ndarray,
    *,
    method: str,
    settings: Mapping[str, Any],
    seed: int,
    dataset: str,
) -> Row:
    """Measure the CPU seconds of one fit on the training rows of one split (Figure 2).

    Parameters
    ----------
    X_train, y_train, X_test, y_test : (m, p), (m,), (n, p), (n,) arrays; the rows may be CSR
    method : {"SVMl", "SVMa", "LDM", "LDM(exact)"}
        LIBLINEAR; averaged stochastic gradients without and with the terms of the mean and the variance;
        the exact solution, by an interior point or coordinate descent as suits the size.
    settings : mapping
        One value of ``C``, ``lambda1``, ``lambda2``; the rest as for `measure_large`.
    seed : int
        Of the order of the examples.
    dataset : not used; every measure takes it

    Returns
    -------
    dict
        ``seconds`` of CPU of this process; ``accuracy`` on the test rows; ``iterations``: passes over the
        training rows; ``converged`` (0 or 1; None for a fixed number of passes); ``dual_gap`` (relative) of
        the exact solution; ``n_train``, ``n_features``, ``nonzeros`` of the training rows.
    """
    X, y, Z, truth = prepared(X_train, y_train, X_test, y_test)
    fit = _timed(method, settings, seed)
    few = np.r_[np.flatnonzero(y > 0)[:5], np.flatnonzero(y < 0)[:5]]
    fit(X[few], y[few])  # compilation is not timed
    began = time.process_time()
    coef, measured = fit(X, y)
    seconds = time.process_time() - began
    return {
        "seconds": seconds,
        "accuracy": float(np.mean((Z @ coef > 0) == (truth > 0))),
        "n_train": len(y),
        "n_features": X.shape[1],
        "nonzeros": int(X.nnz if hasattr(X, "nnz") else np.count_nonzero(X)),
    } | measured


def _timed(
    method: str, settings: Mapping[str, Any], seed: int
) -> Callable[[Rows, np.ndarray], tuple[np.ndarray, Row]]:
    C, lambda1, lambda2 = (float(settings[name]) for name in ("C", "lambda1", "lambda2"))

    def liblinear(X: Rows, y: np.ndarray) -> tuple[np.ndarray, Row]:
        model = linear_svm(X, y, C, settings, seed)
        ended = int(_passes(model) < model.max_iter)
        return model.coef_[0], {"iterations": _passes(model), "converged": ended, "dual_gap": None}

    def descent(with_distribution: bool) -> Callable[[Rows, np.ndarray], tuple[np.ndarray, Row]]:
        def run(X: Rows, y: np.ndarray) -> tuple[np.ndarray, Row]:
            weights = (lambda1, lambda2) if with_distribution else (0.0, 0.0)
            passes = int(settings["n_passes"])
            coef = averaged_sgd(X, y, *weights, C, n_passes=passes, random_state=seed).coef
            return coef, {"iterations": passes, "converged": None, "dual_gap": None}

        return run

    def exact(X: Rows, y: np.ndarray) -> tuple[np.ndarray, Row]:
        limits = {"tol": settings["exact_tol"], "max_iter": settings["exact_max_iter"]}
        found = solve_linear(X, y, lambda1, lambda2, C, **limits, random_state=seed)
        gap = float(found.relative_gap)
        return found.coef, {
            "iterations": found.n_iter, "converged": int(found.converged), "dual_gap": gap,
        }  # fmt: skip

    known = {"SVMl": liblinear, "SVMa": descent(False), "LDM": descent(True), "LDM(exact)": exact}
    validate_choice("method", method, known)
    return known[method]


def _passes(model: LinearSVC) -> int:
    return int(np.max(model.n_iter_))

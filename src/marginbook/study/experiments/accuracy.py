"""How one entry of the bench is measured: scale, tune within the budget, refit, score."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from ...base.parameters import validate_choice
from ...clasmk.model.truncation import AllTruncated
from ...experiments.splits import seed_of
from .candidates import points
from .methods import METHODS, Method, Point

Row = dict[str, float | int | str | None]


def measure_bench(
    X_train: np.ndarray,
    y_train: np.ndarray,
    X_test: np.ndarray,
    y_test: np.ndarray,
    *,
    method: str,
    settings: Mapping[str, Any],
    seed: int,
    dataset: str,
) -> Row:
    """Tune one method on standardised training rows, refit it to all of them, and score the test rows.

    Parameters
    ----------
    X_train, y_train, X_test, y_test : (n, p), (n,), (m, p), (m,) arrays
    method : str
        One of :data:`marginbook.study.experiments.methods.METHODS`.
    settings : mapping
        ``candidates`` and ``folds``.
    seed : not used; folds, and what a method itself draws, go by data set and training rows: all methods
        share them
    dataset : str

    Returns
    -------
    dict
        ``accuracy`` and ``g_mean`` of the test rows in %; ``needed``, the share of training rows in % that
        prediction needs, None where there is no such notion; processor seconds ``tune_seconds``,
        ``fit_seconds`` of the refit, ``predict_seconds`` of all test rows; ``n_fits``; ``missed_fits``, how
        many of them warned that a tolerance was missed, and ``missed``, whether the refit did;
        ``failed_fits``, how many had nothing to fit; ``inner_accuracy`` in % and ``parameters`` (JSON) of the
        choice; ``n_train``, ``n_test``, ``n_features``.
    """
    validate_choice("method", method, METHODS)
    scaler = StandardScaler().fit(X_train)
    A, B = scaler.transform(X_train), scaler.transform(X_test)
    candidates = points(METHODS[method].ranges, int(settings["candidates"]))
    shared = rows_seed(dataset, X_train)
    folds = inner_folds(y_train, int(settings["folds"]), shared)
    log = FitLog()
    began = time.process_time()
    best, inner = tune(METHODS[method], candidates, A, y_train, folds, shared, log)
    tuned = time.process_time()
    missed_before = log.missed
    model = fit_at(METHODS[method], best, A, y_train, shared, log)
    fitted = time.process_time()
    predicted = model.predict(B)
    done = time.process_time()
    needed = METHODS[method].used(model, len(A))
    return {
        "accuracy": 100 * float(np.mean(predicted == y_test)),
        "g_mean": 100 * geometric_mean(y_test, predicted),
        "needed": 100 * needed / len(A) if np.isfinite(needed) else None,
        "tune_seconds": round(tuned - began, 4),
        "fit_seconds": round(fitted - tuned, 6),
        "predict_seconds": round(done - fitted, 6),
        "n_fits": log.fits,
        "missed_fits": log.missed,
        "missed": log.missed - missed_before,
        "failed_fits": log.failed,
        "inner_accuracy": 100 * inner,
        "parameters": json.dumps({name: float(f"{value:.6g}") for name, value in best.items()}),
        "n_train": len(A),
        "n_test": len(B),
        "n_features": A.shape[1],
    }


@dataclass
class FitLog:
    """Counts of fits: all, those that warned of a missed tolerance, those that had nothing to fit."""

    fits: int = 0
    missed: int = 0
    failed: int = 0


def rows_seed(dataset: str, X: np.ndarray) -> int:
    """Return a seed that all methods on one split share: it depends on the set and its training rows."""
    return seed_of("study", dataset, hashlib.sha256(np.ascontiguousarray(X).tobytes()).hexdigest())


def inner_folds(y: np.ndarray, n_folds: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return (fit, held out) positions of stratified folds."""
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    return list(splitter.split(y, y))


def tune(
    method: Method,
    candidates: list[dict[str, float]],
    X: np.ndarray,
    y: np.ndarray,
    folds: list[tuple[np.ndarray, np.ndarray]],
    seed: int,
    log: FitLog,
) -> tuple[Point, float]:
    """Return the candidate with the best accuracy over the folds, the first of equals, and that accuracy.

    A candidate that cannot be fitted to one of the folds counts as wrong on its rows, and as a fit.
    """
    right = np.zeros(len(candidates))
    for k, point in enumerate(candidates):
        for train, held in folds:
            try:
                model = fit_at(method, point, X[train], y[train], seed, log)
            except AllTruncated:
                continue
            right[k] += np.count_nonzero(model.predict(X[held]) == y[held])
    best = int(np.argmax(right))
    return candidates[best], float(right[best] / len(y))


def fit_at(
    method: Method, point: Point, X: np.ndarray, y: np.ndarray, seed: int, log: FitLog
) -> ClassifierMixin:
    """Fit a method at a point to rows `X`, (n, p), and labels `y`, (n,), and count it in `log`."""
    log.fits += 1
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            model: ClassifierMixin = method.make(point, X.shape, seed).fit(X, y)
        except AllTruncated:
            log.failed += 1
            raise
    log.missed += any(issubclass(one.category, ConvergenceWarning) for one in told)
    return model


def geometric_mean(y: np.ndarray, predicted: np.ndarray) -> float:
    """Return the root of the product of both classes' recalls, as the DRM's paper has it, (28).

    >>> round(geometric_mean(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])), 3)
    0.707
    """
    recalls = [np.mean(predicted[y == label] == label) for label in np.unique(y)]
    return float(np.prod(recalls) ** (1 / len(recalls)))

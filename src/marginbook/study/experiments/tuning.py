"""Tuning within the budget: every method tries its candidates on the same folds, and is refitted once."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

from ...base.splits import Split, stratified_folds
from ...clasmk.model.truncation import AllTruncated
from ...experiments.fold import Fold, Point, Settings, Trained
from .candidates import Range, points


@dataclass(frozen=True)
class Tuned:
    """A compared method, which tunes itself when it is called.

    Attributes
    ----------
    ranges : dict
        Parameter -> `Range`.
    make : callable
        (point, shape of the training rows, seed) -> classifier.
    used : callable
        (fitted classifier, n) -> how many of the n training rows prediction needs; NaN where a fitted
        machine does not refer to training rows at all.
    paper : str
        The paper's short name, "" for the others.
    """

    ranges: Mapping[str, Range]
    make: Callable[[Point, tuple[int, int], int], Any]
    used: Callable[[Any, int], float] = field(default=lambda model, n: float("nan"))
    paper: str = ""

    def __call__(self, fold: Fold, settings: Settings) -> Trained:
        """Choose among ``candidates`` of the settings by ``folds``, and fit all rows."""
        X, y, seed = fold.X_train, fold.y_train, fold.seed
        candidates = points(self.ranges, int(settings["candidates"]))
        folds = stratified_folds(y, int(settings["folds"]), seed)
        log = FitLog()
        began = time.process_time()
        best, inner = tune(self, candidates, X, y, folds, seed, log)
        tuned, missed_before = time.process_time(), log.missed
        model = fit_at(self, best, X, y, seed, log)
        fitted = time.process_time()
        needed = self.used(model, len(X))
        told = {
            "needed": 100 * needed / len(X) if np.isfinite(needed) else None,
            "tune_seconds": round(tuned - began, 4),
            "fit_seconds": round(fitted - tuned, 6),
            "n_fits": log.fits,
            "missed_fits": log.missed,
            "missed": log.missed - missed_before,
            "failed_fits": log.failed,
            "inner_accuracy": 100 * inner,
            "parameters": json.dumps({name: float(f"{value:.6g}") for name, value in best.items()}),
        }
        return Trained(model, told)


@dataclass
class FitLog:
    """Counts of fits: all, those that warned of a missed tolerance, those that had nothing to fit."""

    fits: int = 0
    missed: int = 0
    failed: int = 0


def tune(
    method: Tuned,
    candidates: list[Point],
    X: np.ndarray,
    y: np.ndarray,
    folds: list[Split],
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
    method: Tuned, point: Point, X: np.ndarray, y: np.ndarray, seed: int, log: FitLog
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

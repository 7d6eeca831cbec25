"""How one entry of the study of ten classes is measured: one machine for each class against the rest."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier

from ...base.parameters import validate_choice
from ...base.splits import stratified_folds
from ...experiments.candidates import one_by_one, right_held_out, row_parts
from ...experiments.fold import Fold, Method, Point, Row, Settings, Trained
from ..estimators.low_rank import LowRankSVMClassifier
from ..peers.vector import VectorLogisticClassifier, VectorSVMClassifier
from .methods import flat, grid, possible
from .real_pairs import scaled_fold


def measure_classes(fold: Fold, method: str, settings: Settings) -> Row:
    """Choose by the error of cross-validation, fit to all training samples, count wrong test labels.

    Parameters
    ----------
    method : str
        One of `METHODS`.
    settings : mapping
        ``ranks``, ``lams``, ``logistic_lams``, ``folds``, ``trial_tol``, ``tol``, and ``test_rows``, at most
        so many test samples.

    Returns
    -------
    dict
        ``error`` and ``cv_error`` in %; ``chosen``, JSON; ``n_train``, ``n_test``; processor ``seconds`` and
        ``seconds_choice``.
    """
    validate_choice("method", method, METHODS)
    fold = scaled_fold(fold, settings["test_rows"])
    model, told = METHODS[method](fold, settings)
    return {
        "error": 100 * float(np.mean(model.predict(flat(fold.X_test)) != fold.y_test)),
        **told,
        "n_train": len(fold.y_train),
        "n_test": len(fold.y_test),
    }


def _train(
    points: Callable[[Settings, tuple[int, int]], list[Point]],
    make: Callable[[Point, tuple[int, int], float], Any],
    fold: Fold,
    settings: Settings,
) -> Trained:
    """Choose the point with the fewest errors in cross-validation, and fit all rows there."""
    X, y, shape = flat(fold.X_train), fold.y_train, fold.X_train.shape[1:]
    began, candidates = time.process_time(), points(settings, shape)
    with warnings.catch_warnings():
        # a point at which a machine stops early loses by its errors
        warnings.simplefilter("ignore", ConvergenceWarning)
        folds = stratified_folds(y, settings["folds"], fold.seed)
        tried = one_by_one(candidates, lambda point: make(point, shape, settings["trial_tol"]))
        _, right, _ = right_held_out(tried, X, y, folds, settings, row_parts)
        best = int(np.argmax(right))
        chosen_in, began = time.process_time() - began, time.process_time()
        model = make(candidates[best], shape, settings["tol"]).fit(X, y)
    told = {
        "cv_error": 100 * float(len(y) - right[best]) / len(y),
        "chosen": json.dumps(candidates[best], sort_keys=True),
        "seconds": time.process_time() - began,
        "seconds_choice": chosen_in,
    }
    return Trained(model, told)


#: one machine for all classes each
METHODS: dict[str, Method] = {
    "low-rank SVM": partial(
        _train,
        lambda settings, shape: grid(settings, "lams", rank=possible(settings["ranks"], min(shape))),
        lambda point, shape, tol: LowRankSVMClassifier(**point, shape=shape, tol=tol),
    ),
    "vector SVM": partial(
        _train,
        lambda settings, shape: grid(settings, "lams"),
        lambda point, shape, tol: OneVsRestClassifier(VectorSVMClassifier(**point)),
    ),
    "vector logistic": partial(
        _train,
        lambda settings, shape: grid(settings, lam=settings["logistic_lams"]),
        lambda point, shape, tol: OneVsRestClassifier(VectorLogisticClassifier(**point)),
    ),
}

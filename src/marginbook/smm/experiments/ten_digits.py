"""How one entry of the study of ten classes is measured: one machine for each class against the rest."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier

from ...base.parameters import validate_choice
from ...experiments.splits import seed_of
from ..estimators.low_rank import LowRankSVMClassifier
from ..peers.vector import VectorLogisticClassifier, VectorSVMClassifier
from .methods import Point, flat, grid, possible
from .real_pairs import scaled
from .simulation import Row

#: method -> machine for all classes from (point, shape of the matrices, tolerance)
MACHINES: dict[str, Callable[[Point, tuple[int, int], float], Any]] = {
    "low-rank SVM": lambda point, shape, tol: LowRankSVMClassifier(**point, shape=shape, tol=tol),
    "vector SVM": lambda point, shape, tol: OneVsRestClassifier(VectorSVMClassifier(**point)),
    "vector logistic": lambda point, shape, tol: OneVsRestClassifier(VectorLogisticClassifier(**point)),
}


def measure_classes(
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
    """Choose by the error of cross-validation, fit to all training samples, count wrong test labels.

    Parameters
    ----------
    X_train, y_train, X_test, y_test : (n, d1, d2), (n,), (m, d1, d2), (m,) arrays
    method : str
        One of `MACHINES`.
    settings : mapping
        ``ranks``, ``lams``, ``logistic_lams``, ``folds``, ``trial_tol``, ``tol``, and ``test_rows``, at most
        so many test samples.
    seed : not used; what is random goes by set and training samples, so that all methods share it
    dataset : str

    Returns
    -------
    dict
        ``error`` and ``cv_error`` in %; ``chosen``, JSON; ``n_train``, ``n_test``; processor ``seconds`` and
        ``seconds_choice``.
    """
    validate_choice("method", method, MACHINES)
    A, B = scaled(X_train, X_test[: settings["test_rows"]])
    shape, truth = (A.shape[1], A.shape[2]), y_test[: len(B)]
    shared = seed_of("smm", dataset, hashlib.sha256(np.ascontiguousarray(A).tobytes()).hexdigest())
    folds = StratifiedKFold(settings["folds"], shuffle=True, random_state=shared)
    parts = list(folds.split(flat(A), y_train))
    began, points = time.process_time(), _points(method, settings, shape)
    with warnings.catch_warnings():
        # a point at which a machine stops early loses by its errors
        warnings.simplefilter("ignore", ConvergenceWarning)
        wrong = []
        for point in points:
            machine = MACHINES[method](point, shape, settings["trial_tol"])
            guesses = [
                machine.fit(flat(A[train]), y_train[train]).predict(flat(A[held])) for train, held in parts
            ]
            wrong.append(sum(np.sum(g != y_train[held]) for g, (_, held) in zip(guesses, parts, strict=True)))
        best = int(np.argmin(wrong))
        chosen_in, began = time.process_time() - began, time.process_time()
        model = MACHINES[method](points[best], shape, settings["tol"]).fit(flat(A), y_train)
    seconds = time.process_time() - began
    return {
        "error": 100 * float(np.mean(model.predict(flat(B)) != truth)),
        "cv_error": 100 * float(wrong[best]) / len(y_train),
        "chosen": json.dumps(points[best], sort_keys=True),
        "n_train": len(y_train),
        "n_test": len(truth),
        "seconds": seconds,
        "seconds_choice": chosen_in,
    }


def _points(method: str, settings: Mapping[str, Any], shape: tuple[int, int]) -> list[Point]:
    if method == "vector logistic":
        return grid(settings, lam=settings["logistic_lams"])
    if method == "vector SVM":
        return grid(settings, "lams")
    return grid(settings, "lams", rank=possible(settings["ranks"], min(shape)))

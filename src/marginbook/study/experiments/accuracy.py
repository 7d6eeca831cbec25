"""How one entry of the bench is measured: scale, tune within the budget, refit, score."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from sklearn.preprocessing import StandardScaler

from ...base.parameters import validate_choice
from ...experiments.fold import Fold, Row, Settings, rows_seed
from .methods import METHODS


def measure_bench(fold: Fold, method: str, settings: Settings) -> Row:
    """Tune one method on standardised training rows, refit it to all of them, and score the test rows.

    Parameters
    ----------
    method : str
        One of :data:`marginbook.study.experiments.methods.METHODS`.
    settings : mapping
        ``candidates`` and ``folds``.

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
    scaler = StandardScaler().fit(fold.X_train)
    A, B = scaler.transform(fold.X_train), scaler.transform(fold.X_test)
    seed = rows_seed("study", fold.dataset, fold.X_train)
    model, told = METHODS[method](replace(fold, X_train=A, X_test=B, seed=seed), settings)
    began = time.process_time()
    predicted = model.predict(B)
    seconds = time.process_time() - began
    return {
        "accuracy": 100 * float(np.mean(predicted == fold.y_test)),
        "g_mean": 100 * geometric_mean(fold.y_test, predicted),
        **told,
        "predict_seconds": round(seconds, 6),
        "n_train": len(A),
        "n_test": len(B),
        "n_features": A.shape[1],
    }


def geometric_mean(y: np.ndarray, predicted: np.ndarray) -> float:
    """Return the root of the product of both classes' recalls, as the DRM's paper has it, (28).

    >>> round(geometric_mean(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])), 3)
    0.707
    """
    recalls = [np.mean(predicted[y == label] == label) for label in np.unique(y)]
    return float(np.prod(recalls) ** (1 / len(recalls)))

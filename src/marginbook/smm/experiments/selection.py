r"""The choice of rank, lam and the like: the lowest Brier score, for every method.

Of a level path the Brier score of the count is the mean over the levels of the weighted errors that its
machines are trained for, so that one criterion suits all methods.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from .methods import Method, Point, Settings

#: of a tuning draw, each scored by the calibrator that the others teach
TUNING_FOLDS = 5


class Choice(NamedTuple):
    """The chosen parameters, their Brier score, and how many points had been tried."""

    point: Point
    brier: float
    n_points: int


def choose_on_draw(
    method: Method, X: np.ndarray, y: np.ndarray, X_tune: np.ndarray, y_tune: np.ndarray, settings: Settings
) -> Choice:
    """Choose by the Brier score on an independent draw; of equal ones the first, most regularised point.

    Parameters
    ----------
    method : Method
    X, y : (n, d1, d2), (n,) arrays
        To train with; labels -1 and 1.
    X_tune, y_tune : (k, d1, d2), (k,) arrays
    settings : mapping
    """
    points = method.points(settings, X.shape[1:])
    folds = list(StratifiedKFold(TUNING_FOLDS, shuffle=True, random_state=0).split(y_tune, y_tune))
    scores = []
    for point in points:
        with warnings.catch_warnings():
            # a point at which a machine stops early loses by its score
            warnings.simplefilter("ignore", ConvergenceWarning)
            outputs = method.trial(X, y, X_tune, point, settings)
        scores.append(cross_fitted_brier(method, outputs, y_tune, folds))
    return _best(points, scores)


def choose_by_folds(method: Method, X: np.ndarray, y: np.ndarray, settings: Settings, seed: int) -> Choice:
    """Choose by the Brier score of the pooled predictions of stratified folds; ties as `choose_on_draw`.

    Parameters
    ----------
    method : Method
    X, y : (n, d1, d2), (n,) arrays
    settings : mapping
        ``folds`` and those of the method.
    seed : int
        Of the folds.
    """
    points = method.points(settings, X.shape[1:])
    folds = list(
        StratifiedKFold(settings["folds"], shuffle=True, random_state=seed).split(np.zeros(len(y)), y)
    )
    scores = []
    for point in points:
        outputs = np.empty(len(y))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            for train, held in folds:
                outputs[held] = method.trial(X[train], y[train], X[held], point, settings)
        scores.append(cross_fitted_brier(method, outputs, y, folds))
    return _best(points, scores)


def cross_fitted_brier(
    method: Method, outputs: np.ndarray, y: np.ndarray, folds: list[tuple[np.ndarray, np.ndarray]]
) -> float:
    """Return the Brier score of a candidate's outputs, those of each fold calibrated by the other folds.

    A calibrator that knows the labels that it is scored on prefers useless outputs to none, and calls outputs
    perfect that happen to separate few samples.

    Parameters
    ----------
    method : Method
    outputs, y : (n,) arrays
    folds : list of (rows that teach, rows that are scored)
    """
    probability = np.empty(len(y))
    for others, held in folds:
        probability[held] = method.trial_probability(outputs[others], y[others], outputs[held])
    return brier(probability, y)


def brier(probability: np.ndarray, y: np.ndarray) -> float:
    """Return the mean squared distance of probabilities (n,) from labels -1 and 1, as 0 and 1."""
    return float(np.mean((probability - (y == 1)) ** 2))


def _best(points: list[Point], scores: list[float]) -> Choice:
    best = int(np.argmin(np.round(scores, 12)))
    return Choice(points[best], scores[best], len(points))

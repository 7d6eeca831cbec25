r"""The choice of rank, lam and the like: the lowest Brier score, for every method.

Of a level path the Brier score of the count is the mean over the levels of the weighted errors that its
machines are trained for, so that one criterion suits all methods.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...base.folds import stratified_folds
from ...experiments.fold import Fold, Point, Settings

if TYPE_CHECKING:
    from .methods import Chooser


@dataclass(frozen=True)
class DrawnFold(Fold):
    """A fold with an independent draw to choose on, whose size is that of the training draw."""

    X_tune: np.ndarray
    y_tune: np.ndarray


class Choice(NamedTuple):
    """The chosen parameters, their Brier score, and how many points had been tried."""

    point: Point
    brier: float
    n_points: int


def choose(method: Chooser, fold: Fold, settings: Settings) -> Choice:
    """Choose on the tuning draw of a fold that has one, else by cross-validation in its training part."""
    X, y = fold.X_train, fold.y_train
    if isinstance(fold, DrawnFold):
        return choose_on_draw(method, X, y, fold.X_tune, fold.y_tune, settings)
    return choose_by_folds(method, X, y, settings, fold.seed)


def choose_on_draw(
    method: Chooser,
    X: np.ndarray,
    y: np.ndarray,
    X_tune: np.ndarray,
    y_tune: np.ndarray,
    settings: Settings,
) -> Choice:
    """Choose by the Brier score on an independent draw; of equal ones the first, most regularised point.

    Parameters
    ----------
    method : Chooser
    X, y : (n, d1, d2), (n,) arrays
        To train with; labels -1 and 1.
    X_tune, y_tune : (k, d1, d2), (k,) arrays
    settings : mapping
    """
    points = method.points(settings, X.shape[1:])
    scores = []
    for point in points:
        with warnings.catch_warnings():
            # a point at which a machine stops early loses by its score
            warnings.simplefilter("ignore", ConvergenceWarning)
            outputs = method.trial(X, y, X_tune, point, settings)
        scores.append(brier(method.trial_probability(outputs, y_tune), y_tune))
    return _best(points, scores)


def choose_by_folds(method: Chooser, X: np.ndarray, y: np.ndarray, settings: Settings, seed: int) -> Choice:
    """Choose by the Brier score of the pooled predictions of stratified folds; ties as `choose_on_draw`.

    Parameters
    ----------
    method : Chooser
    X, y : (n, d1, d2), (n,) arrays
    settings : mapping
        ``folds`` and those of the method.
    seed : int
        Of the folds.
    """
    points = method.points(settings, X.shape[1:])
    folds = stratified_folds(y, settings["folds"], seed)
    scores = []
    for point in points:
        outputs = np.empty(len(y))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            for train, held in folds:
                outputs[held] = method.trial(X[train], y[train], X[held], point, settings)
        scores.append(brier(method.trial_probability(outputs, y), y))
    return _best(points, scores)


def brier(probability: np.ndarray, y: np.ndarray) -> float:
    """Return the mean squared distance of probabilities (n,) from labels -1 and 1, as 0 and 1."""
    return float(np.mean((probability - (y == 1)) ** 2))


def _best(points: list[Point], scores: list[float]) -> Choice:
    best = int(np.argmin(np.round(scores, 12)))
    return Choice(points[best], scores[best], len(points))

r"""The choice of rank, lam and the like: the lowest Brier score, for every method.

Of a level path the Brier score of the count is the mean over the levels of the weighted errors that its
machines are trained for, so that one criterion suits all methods.
"""

from __future__ import annotations

import json
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...base.splits import Split, stratified_folds
from ...experiments.fold import Fold, Point, Settings, Trained
from .trials import Tried, fingerprint, scored


@dataclass(frozen=True)
class DrawnFold(Fold):
    """A fold with an independent draw to choose on, whose size is that of the training draw."""

    X_tune: np.ndarray
    y_tune: np.ndarray


class Judged(NamedTuple):
    """What a machine says of m samples.

    Attributes
    ----------
    probability : (m,) array
        Of the positive class.
    decision : (m,) array
        Above 0 where the machine itself, at level 1/2, says positive.
    levels : (m, H-1) array or None
        Decision values of a level path.
    """

    probability: np.ndarray
    decision: np.ndarray
    levels: np.ndarray | None = None


class Judge(Protocol):
    """A fitted machine."""

    def judge(self, X: np.ndarray) -> Judged:
        """Judge matrices `X`, (m, d1, d2)."""

    @property
    def gap(self) -> float | None:
        """Share of the objective by which it may be above the optimum; the mean over the levels of a path."""


class Chooser(ABC):
    """A compared method, with the candidates that it chooses among when it is called."""

    @abstractmethod
    def points(self, settings: Settings, shape: tuple[int, int]) -> list[Point]:
        """Return the parameters to try for matrices of `shape`, the most regularised first."""

    @abstractmethod
    def trial(
        self, X: np.ndarray, y: np.ndarray, new: np.ndarray, point: Point, settings: Settings
    ) -> np.ndarray:
        """Fit to `X`, `y`; return probabilities, or decision values to calibrate, of matrices `new`."""

    def tries(self, settings: Settings) -> Hashable:
        """Return what a trial depends on besides samples and point: methods of equal answers share scores."""
        return type(self), self, json.dumps(dict(settings), sort_keys=True, default=str)

    def trial_probability(self, outputs: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
        """Return the probabilities of `new` outputs of `trial`, as `outputs` with labels `y` teach them."""
        return new

    @abstractmethod
    def fit(self, X: np.ndarray, y: np.ndarray, point: Point, settings: Settings, seed: int) -> Judge:
        """Fit to all of `X`, `y` at a point."""

    def __call__(self, fold: Fold, settings: Settings) -> Trained:
        """Choose by the Brier score, on the fold's tuning draw or by cross-validation, and fit."""
        choice = choose(self, fold, settings)
        began = time.process_time()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            machine = self.fit(fold.X_train, fold.y_train, choice.point, settings, fold.seed)
        seconds = time.process_time() - began
        told = {
            "chosen": json.dumps(choice.point, sort_keys=True),
            "brier": choice.brier,
            "gap": machine.gap,
            "converged": int(not any(issubclass(each.category, ConvergenceWarning) for each in caught)),
            "seconds": seconds,
            "seconds_choice": choice.seconds,
        }
        return Trained(machine, told)


#: of a tuning draw, each scored by the calibrator that the others teach
TUNING_FOLDS = 5


class Choice(NamedTuple):
    """The chosen parameters, their Brier score, and the processor seconds of the choice."""

    point: Point
    brier: float
    seconds: float


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
    folds = stratified_folds(y_tune, TUNING_FOLDS, seed=0)

    def score(point: Point) -> float:
        outputs = method.trial(X, y, X_tune, point, settings)
        return cross_fitted_brier(method, outputs, y_tune, folds)

    of = ("draw", fingerprint(X, y, X_tune, y_tune), method.tries(settings))
    return _best(method.points(settings, X.shape[1:]), of, score)


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
    folds = stratified_folds(y, settings["folds"], seed)

    def score(point: Point) -> float:
        outputs = np.empty(len(y))
        for train, held in folds:
            outputs[held] = method.trial(X[train], y[train], X[held], point, settings)
        return cross_fitted_brier(method, outputs, y, folds)

    of = ("folds", settings["folds"], seed, fingerprint(X, y), method.tries(settings))
    return _best(method.points(settings, X.shape[1:]), of, score)


def cross_fitted_brier(method: Chooser, outputs: np.ndarray, y: np.ndarray, folds: list[Split]) -> float:
    """Return the Brier score of a candidate's outputs, those of each fold calibrated by the other folds.

    A calibrator that knows the labels that it is scored on prefers useless outputs to none, and calls outputs
    perfect that happen to separate few samples.

    Parameters
    ----------
    method : Chooser
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


def _best(points: list[Point], of: Hashable, score: Callable[[Point], float]) -> Choice:
    with warnings.catch_warnings():
        # a point at which a machine stops early loses by its score
        warnings.simplefilter("ignore", ConvergenceWarning)
        tried: list[Tried] = [scored(of, point, partial(score, point)) for point in points]
    best = int(np.argmin(np.round([each.score for each in tried], 12)))
    return Choice(points[best], tried[best].score, sum(each.seconds for each in tried))

"""Scores of decision values: what a grid is chosen by."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer

#: labels, decision values -> score, larger is better
Score: TypeAlias = Callable[[np.ndarray, np.ndarray], float]


def scores(scoring: str | Score, classes: np.ndarray, y: np.ndarray, decisions: np.ndarray) -> np.ndarray:
    """Return the scores of many machines on the same rows, (...).

    Parameters
    ----------
    scoring : "accuracy", name of a scikit-learn scorer, or callable of labels and decision values
    classes : (2,) array
    y : (n,) labels
    decisions : (..., n) array
        Positive for the second class.
    """
    if scoring == "accuracy":
        return np.asarray(np.mean((decisions > 0) == (y == classes[1]), axis=-1))
    score = _by_name(scoring, classes) if isinstance(scoring, str) else scoring
    return np.apply_along_axis(lambda values: float(score(y, values)), -1, decisions)


def _by_name(name: str, classes: np.ndarray) -> Score:
    scorer = get_scorer(name)
    if getattr(scorer, "_response_method", "predict") == "predict_proba":
        raise ValueError(f"scoring={name!r} needs probabilities, and the machine has only decision values")
    return lambda y, values: scorer(_Decided(values, classes), np.arange(len(y)), y)


class _Decided(ClassifierMixin, BaseEstimator):
    """Stands for a machine in front of a scorer: row k asks for its own decision value."""

    def __init__(self, values: np.ndarray, classes: np.ndarray) -> None:
        self.values, self.classes_ = values, classes

    def decision_function(self, index: np.ndarray) -> np.ndarray:
        return self.values[index]

    def predict(self, index: np.ndarray) -> np.ndarray:
        return self.classes_[(self.values[index] > 0).astype(int)]

"""Scores of decision values: what a grid is chosen by."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer

#: labels, decision values -> score, larger is better
Score: TypeAlias = Callable[[np.ndarray, np.ndarray], float]


def scores(
    scoring: str | Score,
    classes: np.ndarray,
    y: np.ndarray,
    decisions: np.ndarray,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Return the scores of many machines on the same rows, (...).

    Parameters
    ----------
    scoring : "accuracy", name of a scikit-learn scorer, or callable of labels and decision values
    classes : (2,) array
    y : (n,) labels
    decisions : (..., n) array
        Positive for the second class.
    weights : (n,) array, optional
        Of the rows; a scorer that takes no ``sample_weight`` counts all rows alike.
    """
    if scoring == "accuracy":
        right = (decisions > 0) == (y == classes[1])
        return np.asarray(right.mean(axis=-1) if weights is None else right @ weights / weights.sum())
    score, metric = scoring, scoring
    if isinstance(scoring, str):
        score, metric = _by_name(scoring, classes)
    assert callable(score)
    options = {} if weights is None or not takes_weights(metric) else {"sample_weight": weights}
    return np.apply_along_axis(lambda values: float(score(y, values, **options)), -1, decisions)


def takes_weights(score: Any) -> bool:
    """Return whether a function of labels and decision values has a parameter ``sample_weight``."""
    try:
        return "sample_weight" in signature(score).parameters
    except (TypeError, ValueError):  # of some callables in C it is not known
        return False


def _by_name(name: str, classes: np.ndarray) -> tuple[Callable[..., float], Any]:
    """Return the scorer of that name as a function of labels and decision values, and the metric in it."""
    scorer = get_scorer(name)
    if getattr(scorer, "_response_method", "predict") == "predict_proba":
        raise ValueError(f"scoring={name!r} needs probabilities, and the machine has only decision values")

    def score(y: np.ndarray, values: np.ndarray, **options: Any) -> float:
        return float(scorer(_Decided(values, classes), np.arange(len(y)), y, **options))

    return score, getattr(scorer, "_score_func", scorer)


class _Decided(ClassifierMixin, BaseEstimator):
    """Stands for a machine in front of a scorer: row k asks for its own decision value."""

    def __init__(self, values: np.ndarray, classes: np.ndarray) -> None:
        self.values, self.classes_ = values, classes

    def decision_function(self, index: np.ndarray) -> np.ndarray:
        return self.values[index]

    def predict(self, index: np.ndarray) -> np.ndarray:
        return self.classes_[(self.values[index] > 0).astype(int)]

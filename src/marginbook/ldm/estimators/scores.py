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
#: arguments of what scores: our own take labels and values, those of scikit-learn machine, rows and labels
_OWN, _SCORER = 2, 3


def scores(
    scoring: str | Callable[..., float] | None,
    classes: np.ndarray,
    y: np.ndarray,
    decisions: np.ndarray,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Return the scores of many machines on the same rows, (...).

    Parameters
    ----------
    scoring : "accuracy", a scorer or its name, callable of labels and decision values, or None
        None is accuracy.
    classes : (2,) array
    y : (n,) labels
    decisions : (..., n) array
        Positive for the second class.
    weights : (n,) array, optional
        Of the rows; a scorer that takes no ``sample_weight`` counts all rows alike.
    """
    if scoring is None or scoring == "accuracy":
        right = (decisions > 0) == (y == classes[1])
        return np.asarray(right.mean(axis=-1) if weights is None else right @ weights / weights.sum())
    score, metric = scoring, scoring
    if isinstance(scoring, str) or is_scorer(scoring):
        score, metric = _by_scorer(scoring, classes)
    assert callable(score)
    options = {} if weights is None or not takes_weights(metric) else {"sample_weight": weights}
    return np.apply_along_axis(lambda values: float(score(y, values, **options)), -1, decisions)


def score_machine(scorer: Any, machine: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Return the score of a fitted machine on rows `X`, (n, d), with labels `y`, (n,), and weights or None.

    Parameters
    ----------
    scorer : scorer of scikit-learn, callable of labels and decision values, or "loo-bound"
        The last has nothing to say of new rows, and accuracy is in its place.
    machine
    X, y
    sample_weight : (n,) array, optional
    """
    options = {} if sample_weight is None else {"sample_weight": sample_weight}
    scorer = scorer if callable(scorer) else get_scorer("accuracy")
    if is_scorer(scorer):
        return float(scorer(machine, X, y, **options))
    return float(scorer(y, machine.decision_function(X), **options))


def takes_weights(score: Any) -> bool:
    """Return whether a function of labels and decision values has a parameter ``sample_weight``."""
    try:
        return "sample_weight" in signature(score).parameters
    except (TypeError, ValueError):  # of some callables in C it is not known
        return False


def is_scorer(scoring: Any) -> bool:
    """Return whether a callable is called as scikit-learn's scorers are, by a machine, rows and labels.

    It is not where it takes labels and decision values alone, as a function of ``sklearn.metrics`` does.

    >>> from sklearn.metrics import make_scorer, roc_auc_score
    >>> is_scorer(make_scorer(roc_auc_score)), is_scorer(roc_auc_score)
    (True, False)
    """
    return not _takes(scoring, _OWN) and _takes(scoring, _SCORER)


def validate_scoring(scoring: Any) -> None:
    """Raise ValueError unless `scoring` is what :func:`scores` takes, or "loo-bound"."""
    if isinstance(scoring, str):
        if scoring not in ("accuracy", "loo-bound"):
            get_scorer(scoring)  # names the choices
    elif scoring is not None and not callable(scoring):
        raise ValueError(
            f"scoring must be 'accuracy', 'loo-bound', a scorer's name, a callable or None, got {scoring!r}"
        )
    elif scoring is not None and not (_takes(scoring, _OWN) or _takes(scoring, _SCORER)):
        raise ValueError(
            f"scoring={scoring!r} must take (labels, decision values), or as a scorer of scikit-learn "
            "(estimator, X, y)"
        )


def _takes(score: Any, count: int) -> bool:
    """Return whether `score` can be called with `count` arguments by their places."""
    try:
        signature(score).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # of some callables in C it is not known
        return count == _OWN
    return True


def _by_scorer(scoring: Any, classes: np.ndarray) -> tuple[Callable[..., float], Any]:
    """Return a scorer, or that of a name, as a function of labels and decision values, and its metric."""
    scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
    if getattr(scorer, "_response_method", "predict") == "predict_proba":
        raise ValueError(f"scoring={scoring!r} needs probabilities, and the machine has only decision values")

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

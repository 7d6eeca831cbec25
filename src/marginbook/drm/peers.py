"""The methods that the paper compares the DRM with, each with its parameters chosen as the protocol asks for.

Every selection pools the held-out predictions over all folds and scores them once, so that a score like the
G-mean, which one left-out example does not have, is defined for leave-one-out too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import LeaveOneOut, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from .model_selection import NothingSolvable

Score = Callable[[np.ndarray, np.ndarray], float]
Candidate = tuple[dict[str, Any], ClassifierMixin]

NAMES = ("SVM(R)", "SVM(P)", "KNN(E)", "KNN(C)", "RF", "NB")

#: methods whose predictions do not change when features are multiplied by positive numbers
SCALE_FREE = ("RF", "NB")


def select(
    name: str, X: np.ndarray, y: np.ndarray, score: Score, settings: Mapping[str, Any], seed: int
) -> tuple[ClassifierMixin, dict[str, Any], float]:
    """Choose the parameters of a peer by cross-validation and fit it to all rows.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    X, y : (n, p) array and (n,) labels
    score : callable
        ``score(y_true, y_pred)``, higher is better; the first of equal ones wins.
    settings : mapping
        Grids ``C``, ``sigma2``, ``degree``, ``n_neighbors``, ``n_trees``; ``loo_limit``, the largest n for
        leave-one-out (10 stratified folds above); ``svm_max_iter``.
    seed : int
        Of the folds and the forest.

    Returns
    -------
    model, parameters, cross-validation score

    Raises
    ------
    NothingSolvable
        Every candidate failed; one that fails alone is left out.
    """
    if name not in NAMES:
        raise ValueError(f"unknown peer {name!r}; choose from {', '.join(NAMES)}")
    folds = LeaveOneOut() if len(y) <= settings["loo_limit"] else _stratified(y, seed)
    best: tuple[float, dict[str, Any], ClassifierMixin] | None = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the iteration limit is part of the protocol
        for parameters, model in _candidates(name, len(y), settings, seed):
            try:
                value = score(y, cross_val_predict(model, X, y, cv=folds))
                if best is None or value > best[0]:
                    best = (value, parameters, clone(model).fit(X, y))
            except ValueError:  # LIBSVM's answer when a kernel overflows: this candidate is out
                continue
    if best is None:
        raise NothingSolvable(f"{name} could not be fitted with any parameters of the grid; scale the data")
    value, parameters, model = best
    return model, parameters, float(value)


def _stratified(y: np.ndarray, seed: int) -> StratifiedKFold:
    return StratifiedKFold(
        min(10, int(np.unique(y, return_counts=True)[1].min())), shuffle=True, random_state=seed
    )


def _candidates(name: str, n: int, settings: Mapping[str, Any], seed: int) -> Iterator[Candidate]:
    kind, _, variant = name.rstrip(")").partition("(")
    if kind == "SVM":
        for C in settings["C"]:
            for parameters, fixed in _svm_kernels(variant, settings):
                yield {"C": C, **parameters}, SVC(C=C, max_iter=settings["svm_max_iter"], **fixed)
    elif kind == "KNN":
        metric = {"E": "euclidean", "C": "cosine"}[variant]
        for k in settings["n_neighbors"]:
            # no training part of a fold is smaller than half of the rows
            yield {"n_neighbors": k}, KNeighborsClassifier(min(k, n // 2), metric=metric)
    elif kind == "RF":
        for trees in settings["n_trees"]:
            yield {"n_trees": trees}, RandomForestClassifier(trees, random_state=seed)
    else:
        yield {}, GaussianNB()


def _svm_kernels(
    variant: str, settings: Mapping[str, Any]
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    if variant == "R":
        for sigma2 in settings["sigma2"]:
            yield {"sigma2": sigma2}, {"kernel": "rbf", "gamma": 1 / (2 * sigma2)}
    else:
        for degree in settings["degree"]:
            yield {"degree": degree}, {"kernel": "poly", "degree": degree, "gamma": 1.0, "coef0": 1.0}

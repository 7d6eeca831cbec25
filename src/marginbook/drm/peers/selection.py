"""The methods that the paper compares the DRM with, each with its parameters chosen as the protocol asks for.

Every selection pools the held-out predictions over all folds and scores them once, so that a score like the
G-mean, which one left-out example does not have, is defined for leave-one-out too.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import LeaveOneOut
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from ...base.parameters import validate_choice
from ...base.splits import Split, stratified_folds
from ..estimators.selection import NothingSolvable
from .grids import Forests, GridCandidates, Neighbours, Refitted, SupportVectors, leaf_size
from .j48 import J48Classifier
from .racing import Score, race
from .slda import SparseLDA

NAMES = ("SVM(R)", "SVM(P)", "KNN(E)", "KNN(C)", "RF", "C4.5", "entropy tree", "NB", "SLDA")

#: methods whose predictions do not depend on the units of the features; those of NB do where a feature is
#: constant in a class, because the floor of its variances is one for all features
SCALE_FREE = ("RF", "C4.5", "SLDA")

#: methods whose fits grow with the number of features, whatever is computed once
FITTED_ANEW = ("RF", "C4.5", "entropy tree", "SLDA")


def select(
    name: str, X: np.ndarray, y: np.ndarray, score: Score, settings: Mapping[str, Any], seed: int
) -> tuple[ClassifierMixin, dict[str, Any], float]:
    """Choose the parameters of a peer by cross-validation and fit it to all rows.

    Leave-one-out up to ``loo_limit`` rows, 10 stratified folds above (fewer where no class has 10 rows); for
    RF, the trees and SLDA 10 folds also where n p exceeds ``loo_cells``. Candidates that cannot win any more
    are not followed to the end, see `race`: the choice is that of the full search.

    C4.5 is Weka's J48, which needs Java; "entropy tree" is what scikit-learn has nearest to it (no gain
    ratio, no pruning), for machines without. The leaves of both hold at least a share ``node_share`` of the
    training rows.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    X, y : (n, p) array and (n,) labels
    score : callable
        ``score(y_true, y_pred)``, higher is better, never lower when a wrong prediction is put right; the
        first of equal candidates wins (C runs slower than the kernel's parameter, the ridge slower than
        the number of kept variables).
    settings : mapping
        Grids ``C``, ``sigma2``, ``degree``, ``n_neighbors``, ``n_trees``, ``node_share``, ``slda_ridge``,
        ``slda_kept``, as far as the method needs them; ``loo_limit``, the largest n for leave-one-out;
        ``loo_cells``, the largest n p for leave-one-out of the methods above (no limit by default);
        ``svm_max_iter``.
    seed : int
        Of the folds, the forest and the tree.

    Returns
    -------
    model, parameters, cross-validation score

    Raises
    ------
    NothingSolvable
        Every candidate failed; one that fails alone is left out.
    WekaMissing
        For C4.5 where Java, Weka or JPype is not there.
    """
    validate_choice("peer", name, NAMES)
    with warnings.catch_warnings():
        # the iteration limit and classes smaller than the number of folds are part of the protocol
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        folds = _folds(name, X, y, settings, seed)
        grid = _grid(name, X, y, folds, settings, seed)
        for candidate, value in race(len(grid.parameters), folds, y, score, grid.predict):
            try:
                return grid.fit(candidate), grid.parameters[candidate], value
            except ValueError:  # LIBSVM's answer when a kernel overflows: the next best
                continue
    raise NothingSolvable(f"{name} could not be fitted with any parameters of the grid; scale the data")


def _folds(name: str, X: np.ndarray, y: np.ndarray, settings: Mapping[str, Any], seed: int) -> list[Split]:
    too_wide = name in FITTED_ANEW and X.size > settings.get("loo_cells", np.inf)
    if len(y) <= settings["loo_limit"] and not too_wide:
        return list(LeaveOneOut().split(X))
    # a class smaller than that misses in some test parts, which pooled predictions do not mind
    n_splits = min(10, int(np.unique(y, return_counts=True)[1].max()))
    return stratified_folds(y, n_splits, seed)


def _grid(
    name: str, X: np.ndarray, y: np.ndarray, folds: list[Split], settings: Mapping[str, Any], seed: int
) -> GridCandidates:
    match name:
        case "SVM(R)":
            kernels = [
                ({"sigma2": sigma2}, {"kernel": "rbf", "gamma": 1 / (2 * sigma2)})
                for sigma2 in settings["sigma2"]
            ]
            return SupportVectors(X, y, folds, settings["C"], kernels, settings["svm_max_iter"])
        case "SVM(P)":
            kernels = [
                ({"degree": degree}, {"kernel": "poly", "degree": degree, "gamma": 1.0, "coef0": 1.0})
                for degree in settings["degree"]
            ]
            return SupportVectors(X, y, folds, settings["C"], kernels, settings["svm_max_iter"])
        case "KNN(E)" | "KNN(C)":
            metric = {"E": "euclidean", "C": "cosine"}[name[4]]
            return Neighbours(X, y, folds, settings["n_neighbors"], metric)
        case "RF":
            return Forests(X, y, folds, settings["n_trees"], seed)
        case "C4.5" | "entropy tree":
            entropy = partial(DecisionTreeClassifier, criterion="entropy", random_state=seed)
            tree = J48Classifier if name == "C4.5" else entropy
            trees = [
                ({"node_share": share}, partial(tree, min_samples_leaf=share))
                for share in settings["node_share"]
            ]
            return Refitted(X, y, folds, trees, lambda chosen, n: leaf_size(chosen["node_share"], n))
        case "SLDA":
            sparse = [
                ({"ridge": ridge, "n_kept": kept}, partial(SparseLDA, ridge=ridge, n_kept=kept))
                for ridge in settings["slda_ridge"]
                for kept in settings["slda_kept"]
            ]
            p = X.shape[1]
            return Refitted(
                X, y, folds, sparse, lambda chosen, _: (chosen["ridge"], min(chosen["n_kept"], p))
            )
        case _:
            return Refitted(X, y, folds, [({}, GaussianNB)])

"""What every measure does with the two halves of a data set: labels, scaling, folds, the columns of a row."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.exceptions import ConvergenceWarning

from ...base.parameters import validate_choice
from ...base.splits import Split, fillable_folds
from ...experiments.fold import Fold, Method, Row, Settings, Trained, rng
from ..peers.mdo import MDOClassifier

Rows: TypeAlias = np.ndarray | csr_matrix


class Decisions(NamedTuple):
    """What the tables read of a trained model: its decision values on the training and the test rows."""

    train: np.ndarray
    test: np.ndarray


def prepared(fold: Fold) -> Fold:
    """Return the fold with scaled rows and signs for labels: see `unit_interval` and `signs`."""
    X, Z = unit_interval(fold.X_train, fold.X_test)
    y, truth = signs(fold.y_train, fold.y_test)
    return replace(fold, X_train=X, y_train=y, X_test=Z, y_test=truth)


def signs(y_train: np.ndarray, y_test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels as -1.0 and +1.0; the larger of the two training labels is +1.

    Raises
    ------
    ValueError
        Unless the training rows have two classes.
    """
    classes = np.unique(y_train)
    if len(classes) != 2:
        raise ValueError(f"wanted training rows of 2 classes, got {len(classes)}: {classes[:5].tolist()}")
    return np.where(y_train == classes[1], 1.0, -1.0), np.where(y_test == classes[1], 1.0, -1.0)


def unit_interval(X_train: Rows, X_test: Rows) -> tuple[Rows, Rows]:
    """Map each feature of the training rows onto [0, 1], and the test rows by the same map, without clipping.

    A feature that is constant in training becomes zero in both parts. Sparse rows keep their zeros: their
    features are divided by the largest absolute value, which is the same map where none is negative.
    """
    if issparse(X_train):
        top = abs(X_train).max(axis=0).toarray().ravel()
        scale = np.divide(1.0, top, out=np.zeros_like(top), where=top > 0)
        return _scaled_columns(X_train, scale), _scaled_columns(X_test, scale)
    low, high = X_train.min(axis=0), X_train.max(axis=0)
    width = high - low
    scale = np.divide(1.0, width, out=np.zeros_like(width), where=width > 0)
    return (X_train - low) * scale, (X_test - low) * scale


def _scaled_columns(X: csr_matrix, scale: np.ndarray) -> csr_matrix:
    X = csr_matrix(X)
    scaled = csr_matrix((X.data * scale[X.indices], X.indices, X.indptr), shape=X.shape)
    scaled.eliminate_zeros()
    return scaled


def choosing_folds(y: np.ndarray, n_folds: int, dataset: str) -> list[Split]:
    """Return the folds that choose, the same for every method: their seed is the data set's name.

    Raises
    ------
    ValueError
        A class has a single row.
    """
    try:
        return fillable_folds(y, n_folds, seed_of_name(dataset, "folds"))
    except ValueError as error:
        raise ValueError(f"{dataset}: {error}") from None


def seed_of_name(dataset: str, purpose: str) -> int:
    """Return a seed that depends on the data set and on what is drawn, whatever the method."""
    return int(rng(dataset, purpose).integers(2**31))


def mdo(fold: Fold, settings: Settings) -> Trained:
    """Train MDO with its usual constants; its random starts are drawn with the fold's seed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # its descents are limited, as the protocol says
        model = MDOClassifier(random_state=fold.seed).fit(fold.X_train, fold.y_train)
    found = Decisions(model.decision_function(fold.X_train), model.decision_function(fold.X_test))
    return Trained(found, {"parameters": json.dumps({"a": model.a, "b": model.b})})


def measured(methods: Mapping[str, Method], fold: Fold, method: str, settings: Settings) -> Row:
    """Train one of the `methods` on the prepared fold; return the columns of the tables."""
    validate_choice("method", method, methods)
    fold = prepared(fold)
    model, told = methods[method](fold, settings)
    y, truth = fold.y_train, fold.y_test
    margins = y * model.train
    return {
        "accuracy": float(np.mean((model.test > 0) == (truth > 0))),
        "cv_score": None,
        "parameters": "{}",
        "ties": None,
        "dual_gap": None,
        "margin_mean": float(margins.mean()),
        "margin_variance": float(margins.var()),
        "majority": float(np.mean(truth == (1.0 if y.mean() > 0 else -1.0))),
        "n_train": len(y),
        "n_test": len(truth),
    } | told

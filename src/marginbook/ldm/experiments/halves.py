"""What every measure does with the two halves of a data set: labels, scaling, folds, the columns of a row."""

from __future__ import annotations

import warnings
from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from ..peers.mdo import MDOClassifier

Rows: TypeAlias = np.ndarray | csr_matrix
Fold: TypeAlias = tuple[np.ndarray, np.ndarray]
Row = dict[str, float | int | str | None]


def prepared(
    X_train: Rows, y_train: np.ndarray, X_test: Rows, y_test: np.ndarray
) -> tuple[Rows, np.ndarray, Rows, np.ndarray]:
    """Return training rows and signs, test rows and signs: see `unit_interval` and `signs`."""
    X, Z = unit_interval(X_train, X_test)
    y, truth = signs(y_train, y_test)
    return X, y, Z, truth


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


def stratified_folds(y: np.ndarray, n_folds: int, dataset: str) -> list[Fold]:
    """Return the (train, test) positions of stratified folds, shuffled with the data set's name as the seed.

    Every method of a split so meets the same folds. With fewer than `n_folds` rows in the smaller class
    there are as many folds as that class has rows.

    Raises
    ------
    ValueError
        A class has a single row.
    """
    smallest = min(int(np.sum(y > 0)), int(np.sum(y < 0)))
    if smallest < 2:
        raise ValueError(f"{dataset}: {smallest} row in a class is too few for folds; at least 2 are needed")
    random = np.random.default_rng(list(f"{dataset}|folds".encode()))
    splitter = StratifiedKFold(min(n_folds, smallest), shuffle=True, random_state=int(random.integers(2**31)))
    return list(splitter.split(y, y))


def fit_mdo(X: Rows, y: np.ndarray, seed: int) -> MDOClassifier:
    """Fit MDO with its usual constants; its random starts are drawn with `seed`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # its descents are limited, as the protocol says
        return MDOClassifier(random_state=seed).fit(X, y)


def decided(inside: np.ndarray, y: np.ndarray, outside: np.ndarray, truth: np.ndarray) -> Row:
    """Return the columns that every method has, from the decisions on training and test rows."""
    margins = y * inside
    return {
        "accuracy": float(np.mean((outside > 0) == (truth > 0))),
        "cv_score": None,
        "parameters": "{}",
        "ties": None,
        "dual_gap": None,
        "margin_mean": float(margins.mean()),
        "margin_variance": float(margins.var()),
        "majority": float(np.mean(truth == (1.0 if y.mean() > 0 else -1.0))),
        "n_train": len(y),
        "n_test": len(truth),
    }

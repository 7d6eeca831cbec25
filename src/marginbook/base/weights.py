"""Weights of rows: those that a user gives, and those of classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from sklearn.utils import compute_sample_weight
from sklearn.utils.validation import _check_sample_weight

ClassWeight: TypeAlias = Mapping[Any, float] | str | None


def row_weights(
    X: Any, y: np.ndarray, sample_weight: Any = None, class_weight: ClassWeight = None
) -> np.ndarray | None:
    """Return the weight of each row, or None where all are 1.

    A row of weight k counts as k equal rows; weight 0 leaves the row out.

    Parameters
    ----------
    X : (n, p) array or CSR matrix
    y : (n,) array
        Classes, for `class_weight`.
    sample_weight : (n,) array of numbers >= 0, a number or None
    class_weight : {class: number}, "balanced" or None
        Times the weight of each row of the class. "balanced" is n / (number of classes * rows of the class),
        with rows counted by `sample_weight`, so that weights still are repeated rows.

    Returns
    -------
    (n,) float64 array or None

    Raises
    ------
    ValueError
        For weights that are negative or not finite, of another length, or all zero, or a class without
        any weight.
    """
    if sample_weight is None and class_weight is None:
        return None
    weights = np.array(_check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True))
    if class_weight is not None:
        if not (isinstance(class_weight, Mapping) or class_weight == "balanced"):
            raise ValueError(
                f"class_weight must be a dictionary of classes, 'balanced' or None, got {class_weight!r}"
            )
        if isinstance(class_weight, Mapping):
            weights *= compute_sample_weight(dict(class_weight), y)
        else:
            classes, place = np.unique(y, return_inverse=True)
            total = np.bincount(place, weights)
            weights *= (weights.sum() / (len(classes) * np.where(total > 0, total, 1.0)))[place]
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError("class_weight must give finite numbers >= 0")
    empty = [str(label) for label in np.unique(y) if not weights[y == label].any()]
    if empty:
        raise ValueError(f"every class needs a row of positive weight; {', '.join(empty)} has none")
    return None if (weights == 1).all() else weights

"""Weights of rows that come by parts, where a part may lack rows of a class, or weight on all of them."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from ...base.weights import ClassWeight, row_weights

#: scikit-learn has come to refuse weights that are all zero, which in one part of the rows they may be
_ZEROS: dict[str, Any] = {
    name: True for name in signature(_check_sample_weight).parameters if name == "allow_all_zero_weights"
}


def chunk_weights(
    X: Any, codes: np.ndarray, classes: np.ndarray, sample_weight: Any, class_weight: ClassWeight
) -> np.ndarray | None:
    """Return what :func:`~marginbook.base.weights.row_weights` gives these rows among all, or None for 1.

    Parameters
    ----------
    X : (m, p) array or CSR matrix
    codes : (m,) numbers of the rows' classes
    classes : (g,) array
        All classes, whether they are among these rows or not.
    sample_weight : (m,) array of numbers >= 0, a number or None
    class_weight : {class: number} or None

    Raises
    ------
    ValueError
        For weights that are negative or not finite, or of another length, and a `class_weight` that is 0 or
        names what is no class.
    """
    if sample_weight is None and class_weight is None:
        return None
    options = {"dtype": np.float64, "ensure_non_negative": True, **_ZEROS}
    weights = np.array(_check_sample_weight(sample_weight, X, **options))
    # one row of each class: what is wrong with `class_weight` is not for the rows of one part to say
    factors = row_weights(classes, classes, class_weight=class_weight)
    if factors is not None:
        weights *= factors[codes]
    if not np.isfinite(weights).all():
        raise ValueError("sample_weight times class_weight must be finite")
    return None if (weights == 1).all() else weights

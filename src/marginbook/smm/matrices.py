"""What the room's estimators take as X: n matrices in an array, or n rows that are matrices once reshaped."""

from __future__ import annotations

from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array, check_consistent_length, validate_data

#: d1 rows and d2 columns
Shape: TypeAlias = tuple[int, int]


def parse_shape(shape: Any) -> Shape | None:
    """Return `shape` as two whole numbers >= 1, or None.

    Raises
    ------
    ValueError
        Unless it is None or a pair of whole numbers >= 1.
    """
    if shape is None:
        return None
    sides = tuple(shape) if isinstance(shape, tuple | list | np.ndarray) else ()
    whole = all(isinstance(side, Integral) and not isinstance(side, bool) and side >= 1 for side in sides)
    if len(sides) != 2 or not whole:
        raise ValueError(f"shape must be None or two whole numbers >= 1 such as (8, 8), got {shape!r}")
    return int(sides[0]), int(sides[1])


def check_matrices(
    estimator: Any, X: Any, y: Any = None, *, shape: Any = None, reset: bool = True
) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
    """Return `X` as n matrices of finite float64 numbers, (n, d1, d2), and the labels if `y` is given.

    Parameters
    ----------
    estimator : BaseEstimator
        Gets ``n_features_in_`` = d1 d2, ``matrix_shape_`` = (d1, d2), and ``feature_names_in_`` of a data
        frame; with ``reset=False`` these say what `X` must look like.
    X : (n, d1, d2) array, or (n, p) array or data frame
        Two axes are n matrices whose rows stand one after the other: of `shape`, else, in a fit, of p rows
        and one column, else of the shape that was fitted.
    y : (n,) array, optional
    shape : (int, int), optional
        d1 and d2.
    reset : bool
        True in a fit.

    Raises
    ------
    ValueError
        For sparse `X`, other than two or three axes, numbers that are not finite, no samples, or a shape that
        does not fit.
    """
    wanted = parse_shape(shape) if reset else tuple(estimator.matrix_shape_)
    if sparse.issparse(X):
        raise ValueError(f"{type(estimator).__name__} does not take sparse data; call X.toarray()")
    found: Shape | None = None
    if _axes(X) >= 3:
        X = check_array(X, dtype=np.float64, allow_nd=True, input_name="X", estimator=estimator)
        if X.ndim != 3:
            raise ValueError(f"X has shape {X.shape}, wanted (n, d1, d2), or (n, p) with shape=(d1, d2)")
        found = (X.shape[1], X.shape[2])
        if 0 in found:
            raise ValueError(f"X has shape {X.shape}: 0 feature(s) in a matrix, while a minimum of 1 is required")
        if wanted is not None and found != wanted:
            origin = f"shape={wanted}" if reset else f"matrices of {wanted}, as in fit"
            raise ValueError(f"X holds matrices of {found}, wanted {origin}; transpose them if they are turned")
        if y is not None:  # before rows are counted twice
            check_consistent_length(X, y)
        X = X.reshape(len(X), -1)
    if y is None:
        X = validate_data(estimator, X, dtype=np.float64, reset=reset)
    else:
        X, y = validate_data(estimator, X, y, dtype=np.float64, reset=reset)
    found = found or wanted or (X.shape[1], 1)
    if found[0] * found[1] != X.shape[1]:
        raise ValueError(
            f"X has {X.shape[1]} columns, which are no matrices of {found[0]} x {found[1]}; "
            f"shape must multiply to {X.shape[1]}"
        )
    if reset:
        estimator.matrix_shape_ = found
    X = X.reshape(len(X), *found)
    return X if y is None else (X, y)


def _axes(X: Any) -> int:
    """Return how many axes `X` has, an array or nested lists; 2 if its rows have no common length."""
    if hasattr(X, "ndim"):
        return int(X.ndim)
    if hasattr(X, "shape") or hasattr(X, "columns"):
        return len(getattr(X, "shape", (0, 0)))
    try:
        return int(np.ndim(X))
    except ValueError:  # ragged: validation says so
        return 2

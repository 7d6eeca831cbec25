"""What the room's estimators take as X: n matrices in an array, or n rows that are matrices once reshaped."""

from __future__ import annotations

from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array, validate_data

from ...kernels.validation import in_one_line

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
    sides = tuple(shape) if isinstance(shape, tuple | list | np.ndarray) and np.ndim(shape) == 1 else ()
    whole = all(
        isinstance(side, Integral) and not isinstance(side, bool) and int(side) >= 1 for side in sides
    )
    if len(sides) != 2 or not whole:
        raise ValueError(f"shape must be None or two whole numbers >= 1 such as (8, 8), got {shape!r}")
    return int(sides[0]), int(sides[1])


def validate_training(estimator: Any, X: Any, y: Any, shape: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Return `X` as n matrices of finite float64 numbers, (n, d1, d2), and the labels `y`, (n,), of a fit.

    Parameters
    ----------
    estimator : BaseEstimator
        Gets ``n_features_in_`` = d1 d2, ``matrix_shape_`` = (d1, d2), and ``feature_names_in_`` of a data
        frame.
    X : (n, d1, d2) array, or (n, p) array or data frame
        Two axes are n matrices whose rows stand one after the other: of `shape`, or of p rows and one column.
    y : (n,) array
    shape : (int, int), optional
        d1 and d2.

    Raises
    ------
    ValueError
        For sparse `X`, other than two or three axes, numbers that are not finite or whose squares overflow,
        no samples, or a shape that does not fit.
    """
    wanted = parse_shape(shape)
    X, found = _flattened(estimator, X)
    if found is not None and wanted is not None and found != wanted:
        raise ValueError(
            f"X holds matrices of {found}, but shape={wanted}; transpose them if they are turned"
        )
    with in_one_line():
        X, y = validate_data(estimator, X, y, dtype=np.float64)
    with np.errstate(over="ignore"):
        squares = float(np.vdot(X, X))
    if not np.isfinite(squares):
        raise ValueError(
            f"X has entries up to {np.abs(X).max():.0e}, whose squares overflow; scale the features"
        )
    found = found or wanted or (X.shape[1], 1)
    if found[0] * found[1] != X.shape[1]:
        raise ValueError(
            f"X has {X.shape[1]} columns, which are no matrices of {found[0]} x {found[1]}; "
            f"shape must multiply to {X.shape[1]}"
        )
    estimator.matrix_shape_ = found
    return X.reshape(len(X), *found), y


def validate_matrices(estimator: Any, X: Any, single: bool = False) -> np.ndarray:
    """Return `X`, (m, d1, d2) or (m, d1 d2), as matrices of the shape that `estimator` was fitted to.

    Where `single`, float32 numbers stay so; all others become float64.

    Raises
    ------
    ValueError
        As :func:`validate_training`, and for matrices of another shape.
    """
    wanted = tuple(estimator.matrix_shape_)
    types = (np.float64, np.float32) if single else np.float64
    X, found = _flattened(estimator, X, types)
    if found is not None and found != wanted:
        raise ValueError(f"X holds matrices of {found}, wanted {wanted} as in fit; transpose them if turned")
    with in_one_line():
        X = validate_data(estimator, X, dtype=types, reset=False)
    return np.asarray(X).reshape(len(X), *wanted)


def linear_values(coef: np.ndarray, intercept: float, X: np.ndarray) -> np.ndarray:
    r"""Return :math:`\langle B,X_i\rangle+b` of the matrices `X`, (n, d1, d2), in their precision: (n,).

    Raises
    ------
    ValueError
        Where a value overflows.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        values = X.reshape(len(X), -1) @ coef.ravel().astype(X.dtype) + X.dtype.type(intercept)
    if not np.isfinite(values).all():
        raise ValueError("decision values of these matrices overflow; scale the features as in fit")
    return np.asarray(values)


def _flattened(estimator: Any, X: Any, types: Any = np.float64) -> tuple[Any, Shape | None]:
    """Return matrices, (n, d1, d2), as rows and their shape; what has two axes as it is, and None."""
    if sparse.issparse(X):
        raise ValueError(f"{type(estimator).__name__} does not take sparse data; call X.toarray()")
    if _axes(X) < 3:
        return X, None
    with in_one_line():
        X = check_array(X, dtype=types, allow_nd=True, input_name="X", estimator=estimator)
    if X.ndim != 3:
        raise ValueError(f"X has shape {X.shape}, wanted (n, d1, d2), or (n, p) with shape=(d1, d2)")
    if 0 in X.shape:
        raise ValueError(f"X has shape {X.shape}, 0 feature(s), while a minimum of 1 is required")
    return X.reshape(len(X), -1), (X.shape[1], X.shape[2])


def _axes(X: Any) -> int:
    """Return how many axes `X` has, an array or nested lists; 2 if its rows have no common length."""
    if hasattr(X, "ndim"):
        return int(X.ndim)
    try:
        return int(np.asarray(X).ndim)
    except ValueError:  # ragged: validation says so
        return 2

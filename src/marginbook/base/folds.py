"""The folds of a cross-validation, as users give them: a number, a splitter or pairs of rows."""

from __future__ import annotations

import reprlib
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from .splits import Split


def validate_folds(cv: Any, n: int, name: str = "cv", of: str = "X", tested: bool = True) -> Any:
    """Return `cv` as it is, or where it holds pairs of rows a list of them, which can be gone through again.

    Parameters
    ----------
    cv : None, int, splitter or iterable of (train, test)
    n : int
        Rows that there are.
    name, of : str
        The parameter and what its rows are of, for messages.
    tested : bool
        Whether the second of each pair needs a row.

    Raises
    ------
    ValueError
        For anything else, fewer than two folds, and pairs with an empty part or with rows beyond `n`.

    Examples
    --------
    >>> validate_folds([([0, 1], [5])], 4)
    Traceback (most recent call last):
        ...
    ValueError: cv names rows beyond the 4 of X, got [([0, 1], [5])]
    """
    if cv is None or (hasattr(cv, "split") and not isinstance(cv, str | bytes)):
        return cv
    wanted = f"{name} must be None, a number of folds >= 2, a splitter or pairs (train, test) of rows"
    if isinstance(cv, Integral) and not isinstance(cv, bool):
        if int(cv) < 2:
            raise ValueError(f"{wanted}, got {reprlib.repr(cv)}")
        if int(cv) > n:
            raise ValueError(f"{name} must be at most the {n} rows of {of}, got {reprlib.repr(cv)} folds")
        return cv
    try:
        pairs = [(np.asarray(train), np.asarray(test)) for train, test in cv]
    except (TypeError, ValueError):
        raise ValueError(f"{wanted}, got {reprlib.repr(cv)}") from None
    if not pairs:
        raise ValueError(f"{name} is empty, got {reprlib.repr(cv)}; give at least one pair (train, test)")
    for train, test in pairs:
        if not (_are_rows(train) and _are_rows(test)) or not (train.size and (test.size or not tested)):
            raise ValueError(f"{wanted}, each part with at least one row, got {reprlib.repr(cv)}")
        if any(part.size and not -n <= part.min() <= part.max() < n for part in (train, test)):
            raise ValueError(f"{name} names rows beyond the {n} of {of}, got {reprlib.repr(cv)}")
    return pairs


def folds(cv: Any, X: Any, y: np.ndarray) -> list[Split]:
    """Return the pairs that `cv` makes of the rows `X` with labels `y`, (n,), validated."""
    splitter = check_cv(validate_folds(cv, len(y)), y, classifier=True)
    pairs: list[Split] = validate_folds(list(splitter.split(X, y)), len(y))
    return pairs


def _are_rows(part: np.ndarray) -> bool:
    return part.ndim == 1 and (part.dtype.kind in "iu" or not part.size)

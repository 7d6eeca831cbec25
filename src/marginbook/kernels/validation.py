"""scikit-learn's validation of rows, with messages of one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils import validation


@contextmanager
def in_one_line() -> Iterator[None]:
    """Keep of scikit-learn's message for numbers that are not finite what says so, without the advice."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # of sums that look for what is not finite
            yield
    except ValueError as error:
        first = str(error).partition("\n")[0]
        if not first.startswith("Input X contains"):
            raise
        raise ValueError(f"{first.rstrip('.')}; impute or remove such samples first") from None


def validate_square(K: Any) -> None:
    """Raise ValueError unless the rows of a fit with kernel="precomputed" are a square matrix `K`."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"kernel='precomputed' needs a square matrix, got shape {K.shape}")


def validate_data(estimator: Any, /, *rows: Any, **options: Any) -> Any:
    """Return what :func:`sklearn.utils.validation.validate_data` returns; what it refuses is one line.

    Parameters
    ----------
    estimator : BaseEstimator
    *rows, **options
        As there.

    Raises
    ------
    ValueError
        As there.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> validate_data(BaseEstimator(), [[0.0, float("nan")]])
    Traceback (most recent call last):
        ...
    ValueError: Input X contains NaN; impute or remove such samples first
    """
    with in_one_line():
        return validation.validate_data(estimator, *rows, **options)

"""Validation of rows, scikit-learn's with messages of one line, and of the Gram matrices that users give."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils import validation

#: how far a Gram matrix may be from its transpose, as a share of its largest entry: single precision
ASYMMETRY = 1e-6


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


def validate_symmetric(G: np.ndarray) -> None:
    """Raise ValueError if the square matrix `G`, (n, n), differs from its transpose beyond rounding."""
    apart = np.abs(G - G.T)
    if float(apart.max(initial=0.0)) > ASYMMETRY * float(np.abs(G).max(initial=0.0)):
        i, j = np.unravel_index(int(apart.argmax()), G.shape)
        raise ValueError(
            f"the precomputed Gram matrix is not symmetric: entry ({i}, {j}) is {G[i, j]:.6g} and "
            f"({j}, {i}) is {G[j, i]:.6g}; give k(x_i, x_j) of the training rows, or (G + G.T) / 2"
        )


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

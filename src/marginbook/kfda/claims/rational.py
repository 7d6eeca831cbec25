"""Linear algebra in exact rational numbers, for the claims that hold exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike


def rationals(values: ArrayLike | Sequence[Fraction]) -> np.ndarray:
    """Return an array of Fractions, of dtype object; floats are taken as the binary fractions they are."""
    array = np.asarray(values)
    flat = np.array([Fraction(v) for v in array.ravel().tolist()] + [None], dtype=object)[:-1]
    return flat.reshape(array.shape)


def solve_exactly(matrix: np.ndarray, right: np.ndarray) -> np.ndarray | None:
    """Solve a square system by elimination in rationals.

    Parameters
    ----------
    matrix : (n, n) array of Fractions
    right : (n,) array of Fractions

    Returns
    -------
    (n,) array of Fractions, or None where the matrix is singular

    Examples
    --------
    >>> solve_exactly(rationals([[2, 1], [1, 3]]), rationals([1, 1]))
    array([Fraction(2, 5), Fraction(1, 5)], dtype=object)
    """
    n = len(right)
    rows = np.column_stack([matrix, right])
    for column in range(n):
        pivot = next((r for r in range(column, n) if rows[r, column] != 0), None)
        if pivot is None:
            return None
        rows[[column, pivot]] = rows[[pivot, column]]
        rows[column] = rows[column] / rows[column, column]
        for r in range(n):
            if r != column and rows[r, column] != 0:
                rows[r] = rows[r] - rows[r, column] * rows[column]
    return np.asarray(rows[:, n])

"""Folds of rows of which some have the weight 0: these are left out of every part."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .splits import Split


def without_weightless(splits: Iterable[Split], weights: np.ndarray) -> list[Split]:
    """Return splits of all rows as splits of those with a weight, numbered among these.

    Parameters
    ----------
    splits : iterable of (train, test)
        Positions among the n rows.
    weights : (n,) array of numbers >= 0

    Raises
    ------
    ValueError
        Where no row of a part has a weight.

    Examples
    --------
    >>> splits = [(np.array([0, 1]), np.array([2, 3])), (np.array([2, 3]), np.array([1, 0]))]
    >>> without_weightless(splits, np.array([1.0, 0.0, 2.0, 1.0]))
    [(array([0]), array([1, 2])), (array([1, 2]), array([0]))]
    """
    positive = weights > 0
    places = np.cumsum(positive) - 1
    found: list[Split] = []
    for number, split in enumerate(splits):
        train, test = (places[part[positive[part]]] for part in map(np.asarray, split))
        for name, part in (("training", train), ("test", test)):
            if not len(part):
                raise ValueError(
                    f"no {name} row of fold {number} has a positive weight; choose folds by the rows that "
                    "have one"
                )
        found.append((train, test))
    return found

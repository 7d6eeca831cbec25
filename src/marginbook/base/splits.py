"""Which rows train and which test, as positions: what folds, splits and partitions are made of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: positions of rows
Indices = NDArray[np.intp]
#: those that train, those that test
Split = tuple[Indices, Indices]


def stratified_folds(y: np.ndarray, n_folds: int, seed: int | None) -> list[Split]:
    """Return shuffled folds that keep the shares of the labels `y`, (n,)."""
    from sklearn.model_selection import StratifiedKFold  # late: who only names rows needs no scikit-learn

    return list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(y, y))


def fillable_folds(y: np.ndarray, n_folds: int, seed: int | None) -> list[Split]:
    """Return `stratified_folds`, no more than the smallest class can fill with a row each.

    Raises
    ------
    ValueError
        A class has a single row.
    """
    smallest = int(np.unique(y, return_counts=True)[1].min())
    if smallest < 2:
        raise ValueError(f"{smallest} row in a class is too few for folds; at least 2 are needed")
    return stratified_folds(y, min(n_folds, smallest), seed)

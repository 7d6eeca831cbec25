"""The words of every experiment: a measure turns a fold, a method's name and settings into a row."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..base.splits import Split
from .splits import seed_of

#: one result of a method on a fold: columns of a table
Row: TypeAlias = dict[str, float | int | str | None]
#: what the protocol states
Settings: TypeAlias = Mapping[str, Any]
#: parameters of one candidate
Point: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Fold:
    """One split of a data set.

    Attributes
    ----------
    X_train, X_test : (n, ...), (m, ...) arrays, or CSR matrices
    y_train, y_test : (n,), (m,) arrays
    dataset : str
        With the training rows it seeds what all methods must share.
    seed : int
        Differs from method to method: of what a method draws for itself.
    """

    X_train: Any
    y_train: np.ndarray
    X_test: Any
    y_test: np.ndarray
    dataset: str
    seed: int

    @classmethod
    def of(cls, data: Any, rows: Split, dataset: str, seed: int = 0) -> Fold:
        """Return the fold of a data set that has those rows to train and to test."""
        (train, test), y = rows, np.asarray(data.y)
        return cls(data.X[train], y[train], data.X[test], y[test], dataset, seed)


class Trained(NamedTuple):
    """A trained method.

    Attributes
    ----------
    model : object
        What the measures of the room ask: it predicts, or it is what was said of the fold's rows.
    told : dict
        What the method tells of itself, as columns: chosen parameters, certificates, seconds.
    """

    model: Any
    told: dict[str, Any]


#: what ``experiments.EXPERIMENTS`` of a room holds: called with a fold, the method's name and the settings
Measure: TypeAlias = Callable[[Fold, str, Settings], Row]
#: a compared method: trains on a fold and chooses its own parameters there, without a look at ``y_test``
Method: TypeAlias = Callable[[Fold, Settings], Trained]


def rng(dataset: str, purpose: str) -> np.random.Generator:
    """Return the random numbers of a data set for one purpose: the same whatever the method."""
    return np.random.default_rng(list(f"{dataset}|{purpose}".encode()))


def rows_seed(room: str, dataset: str, X: np.ndarray) -> int:
    """Return a seed that all methods of a split share: it depends on the data set and its training rows."""
    return seed_of(room, dataset, hashlib.sha256(np.ascontiguousarray(X).tobytes()).hexdigest())

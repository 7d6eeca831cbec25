"""The rows that a fit is about, with their weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Rows:
    """The rows that a fit is about: those of positive weight.

    Attributes
    ----------
    X : (n, d) array or CSR matrix, or the (n, n) matrix of a precomputed kernel
    positive : (n,) array of bool
        Of the second class; of several, of any but the first.
    weights : (n,) array or None
        Of their terms of the loss: their own weight times that of their class. None where all are 1.
    own : (n,) array or None
        Their own weights, how often each of them is there: what the targets, N and thresholds go by.
    places : (n,) array of int or None
        Their numbers among the N rows given; None where these are all.
    n_given : int
        N.
    codes : (n,) array of int or None
        The number of each row's class, where there are more than two.
    """

    X: Any
    positive: np.ndarray
    weights: np.ndarray | None
    own: np.ndarray | None
    places: np.ndarray | None
    n_given: int
    codes: np.ndarray | None = None

    @property
    def root(self) -> np.ndarray | None:
        """The square roots of the weights, or None."""
        return None if self.weights is None else np.sqrt(self.weights)

    @property
    def count(self) -> float:
        """The number N of rows, each as often as its own weight says."""
        return float(len(self.positive)) if self.own is None else float(self.own.sum())

    def names(self, some: np.ndarray) -> np.ndarray:
        """Return the numbers, among the rows given, of `some` of these rows."""
        return some if self.places is None else self.places[some]

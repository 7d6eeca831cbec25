"""Equal samples as one that weighs as much as all, so that a weight of two is the same as a second copy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Copies:
    """Which of n samples are solved for, m of them, and whom they stand for.

    Attributes
    ----------
    kept : (m,) array of int
        The samples that are solved for.
    weights : (m,) array
        The weight of each and its copies, above 0.
    stands : (n,) array of int
        For each of the n samples the place in `kept` of its copy; 0 for those without weight.
    share : (n,) array
        The share that each of the n samples has in the weight of its copy; 0 without weight.
    """

    kept: np.ndarray
    weights: np.ndarray
    stands: np.ndarray
    share: np.ndarray

    @property
    def of_samples(self) -> np.ndarray:
        """For each of the n samples of positive weight the place of its copy in `kept`."""
        return self.stands[self.share > 0]

    def spread(self, multipliers: np.ndarray) -> np.ndarray:
        """Return multipliers of all n samples, those of copies in proportion to their weights."""
        return multipliers[self.stands] * self.share


def find_copies(X: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> Copies:
    """Return which samples count, once each. Without copies and zeros these are all, in their order.

    Otherwise they are sorted, so that weights and repetitions give the same problem to the last bit.

    Parameters
    ----------
    X : (n, d1, d2) array
    codes : (n,) array of int
        Samples of two classes are never equal.
    weights : (n,) array

    Examples
    --------
    >>> X = np.array([[[3.0]], [[1.0]], [[3.0]]])
    >>> found = find_copies(X, np.zeros(3, int), np.array([1.0, 1.0, 3.0]))
    >>> found.kept.tolist(), found.weights.tolist(), found.spread(np.array([0.1, 0.8])).tolist()
    ([1, 0], [1.0, 4.0], [0.2, 0.1, 0.6000000000000001])
    """
    positive = np.flatnonzero(weights > 0)
    rows = np.column_stack([codes[positive], X.reshape(len(X), -1)[positive]])
    _, first, place = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    if len(first) == len(X):
        return Copies(np.arange(len(X)), weights, np.arange(len(X)), np.ones(len(X)))
    stands, share = np.zeros(len(X), dtype=int), np.zeros(len(X))
    sums = np.bincount(place.ravel(), weights=weights[positive])
    stands[positive] = place.ravel()
    share[positive] = weights[positive] / sums[place.ravel()]
    return Copies(positive[first], sums, stands, share)

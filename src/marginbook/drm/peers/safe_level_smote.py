"""Safe-Level-SMOTE (Bunkhumpornpat, Sinapiromsaran and Lursinsap, 2009) for imbalanced-learn."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from imblearn.over_sampling.base import BaseOverSampler
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_random_state

from ...base.user_line import user_level


class SafeLevelSMOTE(BaseOverSampler):
    r"""SMOTE whose new examples stay closer to the parent with more neighbours of the own class.

    The safe level :math:`s_p` of an example p is how many of its k nearest neighbours, among all rows, belong
    to its class. A new example lies at :math:`p + u\,(n - p)`, where n is one of the k nearest neighbours of
    p within the class, drawn at random, and u is drawn for each feature on its own:

    ========================  =======================================
    :math:`s_p = s_n = 0`     no new example
    :math:`s_p > 0 = s_n`     :math:`u = 0`: a copy of p
    :math:`s_p = s_n`         :math:`u \in [0, 1]`
    :math:`s_p > s_n`         :math:`u \in [0, s_n / s_p]`
    :math:`s_p < s_n`         :math:`u \in [1 - s_p / s_n, 1]`
    ========================  =======================================

    One pass takes each example of the class once as p. The printed algorithm is one pass; here passes go on,
    each in a new order, until the wanted number of examples is there.

    Parameters
    ----------
    sampling_strategy : float, str, dict or callable, default="auto"
        As everywhere in imbalanced-learn; by default every class grows to the size of the largest.
    random_state : int, RandomState or None, default=None
    k_neighbors : int, default=5
        k, both for safe levels and for n.

    Examples
    --------
    >>> from collections import Counter
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(weights=[0.9], random_state=0)
    >>> Counter(SafeLevelSMOTE(random_state=0).fit_resample(X, y)[1].tolist())
    Counter({0: 91, 1: 91})
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseOverSampler._parameter_constraints,
        "k_neighbors": [Integral],
        "random_state": ["random_state"],
    }

    def __init__(
        self, *, sampling_strategy: Any = "auto", random_state: Any = None, k_neighbors: int = 5
    ) -> None:
        super().__init__(sampling_strategy=sampling_strategy)
        self.random_state = random_state
        self.k_neighbors = k_neighbors

    def _fit_resample(self, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if self.k_neighbors < 1:
            raise ValueError(f"k_neighbors must be at least 1, got {self.k_neighbors}")
        rng = check_random_state(self.random_state)
        rows, labels = [X], [y]
        for label, wanted in self.sampling_strategy_.items():
            own = X[y == label]
            if wanted and len(own) <= self.k_neighbors:
                raise ValueError(
                    f"class {label} has {len(own)} examples, too few for k_neighbors={self.k_neighbors}: "
                    f"lower it below {len(own)}"
                )
            if wanted:
                new = self._grow(own, safe_levels(X, y, label, self.k_neighbors), wanted, rng)
                rows.append(new)
                labels.append(np.full(len(new), label, dtype=y.dtype))
        return np.vstack(rows), np.concatenate(labels)

    def _grow(
        self, own: np.ndarray, levels: np.ndarray, wanted: int, rng: np.random.RandomState
    ) -> np.ndarray:
        partners = nearest_others(own, own, np.arange(len(own)), self.k_neighbors)
        if not levels.any():
            warnings.warn(
                f"none of the {len(own)} examples has a neighbour of its own class among its "
                f"{self.k_neighbors} nearest: nothing was added",
                UserWarning,
                stacklevel=user_level(),
            )
            return np.empty((0, own.shape[1]))
        made: list[np.ndarray] = []
        missing = wanted  # an example with a level is in every pass, so that each pass makes some
        while missing:
            p = rng.permutation(len(own))
            n = partners[p, rng.randint(self.k_neighbors, size=len(p))]
            new = new_examples(own[p], own[n], levels[p], levels[n], rng.uniform(size=own.shape))[:missing]
            made.append(new)
            missing -= len(new)
        return np.vstack(made)


def safe_levels(X: np.ndarray, y: np.ndarray, label: Any, k: int) -> np.ndarray:
    """Return how many of the k nearest rows have the label, for each row that has it: (n_label,) integers."""
    own = np.flatnonzero(y == label)
    return (y[nearest_others(X, X[own], own, k)] == label).sum(axis=1)


def nearest_others(X: np.ndarray, rows: np.ndarray, at: np.ndarray, k: int) -> np.ndarray:
    """Return the k nearest rows of `X`, (m, k) row numbers, of `rows`, which stand in X at `at`."""
    found = NearestNeighbors(n_neighbors=k + 1).fit(X).kneighbors(rows, return_distance=False)
    itself = found == at[:, None]
    # among duplicates the row itself need not come first, nor at all: then the farthest gives way
    itself[~itself.any(axis=1), -1] = True
    return found[~itself].reshape(len(rows), k)


def new_examples(
    p: np.ndarray, n: np.ndarray, level_p: np.ndarray, level_n: np.ndarray, u: np.ndarray
) -> np.ndarray:
    """Return the new examples between the rows of `p` and `n`, without those of pairs of level zero.

    Parameters
    ----------
    p, n : (m, d) arrays
    level_p, level_n : (m,) integers
        Safe levels.
    u : (m, d) array
        Uniform on [0, 1).
    """
    keep = (level_p > 0) | (level_n > 0)
    p, n, u = p[keep], n[keep], u[keep]
    s, t = level_p[keep, None].astype(float), level_n[keep, None].astype(float)
    low = np.where(s < t, 1 - s / np.maximum(t, 1), 0.0)
    high = np.where(s > t, t / np.maximum(s, 1), 1.0)
    return p + (low + u * (high - low)) * (n - p)

"""The grids of the peers, each with the cheapest way to an exact held-out prediction.

A grid knows its candidates' parameters, predicts a fold with one of them, and fits one to all rows. What
several candidates need (Gram matrices, distances, trees) is computed once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics.pairwise import cosine_distances, euclidean_distances
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from ...base.interruptible import interruptible
from ...base.splits import Split
from ...kernels import KernelOverflow, gram

Parameters = dict[str, Any]


class GridCandidates(Protocol):
    """Candidates that race for the best cross-validation score; the order of `parameters` breaks ties.

    Each is fitted in each fold only when it is asked to predict, so that a race leaves out what cannot win;
    `Candidates` of :mod:`marginbook.experiments.candidates` fit a whole grid at once, and would lose that.
    """

    parameters: list[Parameters]

    def predict(self, candidate: int, fold: int) -> np.ndarray:
        """Return the labels of a fold's test rows, from the candidate fitted to its training rows."""

    def fit(self, candidate: int) -> ClassifierMixin:
        """Return the candidate fitted to all rows."""


class Refitted:
    """Candidates that are fitted anew in every fold.

    Parameters
    ----------
    X, y : (n, p) array and (n,) labels
    folds : sequence of (train, test) pairs of row numbers
    candidates : sequence of (parameters, make)
        ``make()`` returns an unfitted model.
    same : callable, optional
        ``same(parameters, n_train)``: candidates with equal values are the same model on n_train rows, so
        that one fit serves them.
    """

    def __init__(
        self,
        X: np.ndarray,
        y: np.ndarray,
        folds: Sequence[Split],
        candidates: Sequence[tuple[Parameters, Callable[[], ClassifierMixin]]],
        same: Callable[[Parameters, int], Hashable] | None = None,
    ) -> None:
        self.X, self.y, self.folds = X, y, folds
        self.parameters = [parameters for parameters, _ in candidates]
        self._make = [make for _, make in candidates]
        self._same = same or (lambda parameters, _: tuple(parameters.items()))
        self._known: dict[Hashable, np.ndarray] = {}

    def predict(self, candidate: int, fold: int) -> np.ndarray:
        """As `GridCandidates.predict`."""
        train, test = self.folds[fold]
        if len(np.unique(self.y[train])) == 1:  # a class of one was left out: nothing to learn
            return np.full(len(test), self.y[train[0]])
        key = (fold, self._same(self.parameters[candidate], len(train)))
        if key not in self._known:
            model = self._make[candidate]().fit(self.X[train], self.y[train])
            self._known[key] = model.predict(self.X[test])
        return self._known[key]

    def fit(self, candidate: int) -> ClassifierMixin:
        """As `GridCandidates.fit`."""
        return self._make[candidate]().fit(self.X, self.y)


class SupportVectors:
    """SVMs over C and the parameter of one kernel, on Gram matrices that all folds share.

    Kernels that give the same Gram matrix (narrow ones on large numbers: the identity) are one candidate. The
    model that is returned has the kernel itself, so that it can meet new rows. A Gram matrix with an
    infinite entry puts its candidates out of the race, as LIBSVM's own kernel does.

    Parameters
    ----------
    X, y : (n, p) array and (n,) labels
    folds : sequence of (train, test) pairs of row numbers
    C : sequence of float
        Runs slowest in the grid.
    kernels : sequence of (parameters, kernel)
        ``kernel`` as scikit-learn's SVC takes it: ``{"kernel": "rbf", "gamma": 0.5}``.
    max_iter : int
    """

    def __init__(
        self,
        X: np.ndarray,
        y: np.ndarray,
        folds: Sequence[Split],
        C: Sequence[float],
        kernels: Sequence[tuple[Parameters, Mapping[str, Any]]],
        max_iter: int,
    ) -> None:
        self.X, self.y, self.folds, self.max_iter = X, y, folds, max_iter
        self._grid = [(c, k) for c in C for k in range(len(kernels))]
        self._kernels = [kernel for _, kernel in kernels]
        self.parameters = [{"C": c, **kernels[k][0]} for c, k in self._grid]
        self._grams: dict[int, np.ndarray | None] = {}
        self._twin: dict[int, int] = {}
        self._known: dict[tuple[float, int, int], np.ndarray] = {}

    def predict(self, candidate: int, fold: int) -> np.ndarray:
        """As `GridCandidates.predict`; KernelOverflow, a ValueError, where the Gram matrix is infinite."""
        train, test = self.folds[fold]
        if len(np.unique(self.y[train])) == 1:  # a class of one was left out: nothing to learn
            return np.full(len(test), self.y[train[0]])
        C, k = self._grid[candidate]
        K = self._gram(k)
        key = (C, self._twin[k], fold)
        if key not in self._known:
            model = SVC(C=C, kernel="precomputed", max_iter=self.max_iter)
            interruptible(model.fit, K[np.ix_(train, train)], self.y[train])
            self._known[key] = model.predict(K[np.ix_(test, train)])
        return self._known[key]

    def fit(self, candidate: int) -> ClassifierMixin:
        """As `GridCandidates.fit`."""
        C, k = self._grid[candidate]
        return SVC(C=C, max_iter=self.max_iter, **self._kernels[k]).fit(self.X, self.y)

    def _gram(self, k: int) -> np.ndarray:
        if k not in self._grams:
            kernel = dict(self._kernels[k])
            self._twin[k] = k
            try:
                K = gram((kernel.pop("kernel"), kernel), self.X)
            except KernelOverflow:
                self._grams[k] = None
            else:
                for other, known in self._grams.items():
                    if known is not None and np.array_equal(K, known):
                        K, self._twin[k] = known, self._twin[other]
                        break
                self._grams[k] = K
        found = self._grams[k]
        if found is None:
            raise KernelOverflow(f"kernel {self._kernels[k]} is infinite on these data; scale the features")
        return found


class Neighbours:
    """Nearest neighbours: one distance matrix, and the votes of every number of neighbours at once.

    Of equally distant rows the one that stands first counts as nearer; of equally many votes the first
    class wins, as in scikit-learn.

    Parameters
    ----------
    X, y : (n, p) array and (n,) labels
    folds : sequence of (train, test) pairs of row numbers
    n_neighbors : sequence of int
    metric : {"euclidean", "cosine"}
    """

    def __init__(
        self,
        X: np.ndarray,
        y: np.ndarray,
        folds: Sequence[Split],
        n_neighbors: Sequence[int],
        metric: str,
    ) -> None:
        self.X, self.y, self.folds, self.metric = X, y, folds, metric
        self.parameters = [{"n_neighbors": k} for k in n_neighbors]
        # no training part of a fold is smaller than half of the rows
        self._k = [min(k, len(y) // 2) for k in n_neighbors]
        self._votes = self._all_votes()

    def predict(self, candidate: int, fold: int) -> np.ndarray:
        """As `GridCandidates.predict`."""
        return self._votes[candidate][self.folds[fold][1]]

    def fit(self, candidate: int) -> ClassifierMixin:
        """As `GridCandidates.fit`."""
        return KNeighborsClassifier(self._k[candidate], metric=self.metric).fit(self.X, self.y)

    def _all_votes(self) -> list[np.ndarray]:
        classes, codes = np.unique(self.y, return_inverse=True)
        distances = _distances(self.X, self.metric)
        for _, test in self.folds:
            distances[np.ix_(test, test)] = np.inf
        near = np.argsort(distances, axis=1, kind="stable")[:, : max(self._k)]
        votes = np.zeros((len(codes), len(classes)), dtype=np.intp)
        at = {}
        for k in range(near.shape[1]):
            votes[np.arange(len(codes)), codes[near[:, k]]] += 1
            if k + 1 in self._k:
                at[k + 1] = classes[votes.argmax(axis=1)]
        return [at[k] for k in self._k]


def _distances(X: np.ndarray, metric: str) -> np.ndarray:
    if metric == "cosine":
        return cosine_distances(X)
    # as scikit-learn's search: differences where features are few, products (fast, less exact) beyond
    return cdist(X, X) if X.shape[1] <= 15 else euclidean_distances(X)


class Forests:
    """Random forests of several sizes: the small ones are the first trees of the largest.

    scikit-learn draws the seeds of the trees one after another, so that with the same `seed` a forest of
    10 trees is the beginning of one of 40.

    Parameters
    ----------
    X, y : (n, p) array and (n,) labels
    folds : sequence of (train, test) pairs of row numbers
    n_trees : sequence of int
    seed : int
    """

    def __init__(
        self, X: np.ndarray, y: np.ndarray, folds: Sequence[Split], n_trees: Sequence[int], seed: int
    ) -> None:
        self.X, self.y, self.folds, self.seed = X.astype(np.float32), y, folds, seed
        self.parameters = [{"n_trees": trees} for trees in n_trees]
        self._n_trees = list(n_trees)
        self._known: dict[int, list[np.ndarray]] = {}

    def predict(self, candidate: int, fold: int) -> np.ndarray:
        """As `GridCandidates.predict`."""
        if fold not in self._known:
            train, test = self.folds[fold]
            forest = RandomForestClassifier(max(self._n_trees), random_state=self.seed)
            forest.fit(self.X[train], self.y[train])
            self._known[fold] = self._prefixes(forest, self.X[test])
        return self._known[fold][candidate]

    def fit(self, candidate: int) -> ClassifierMixin:
        """As `GridCandidates.fit`."""
        return RandomForestClassifier(self._n_trees[candidate], random_state=self.seed).fit(self.X, self.y)

    def _prefixes(self, forest: RandomForestClassifier, rows: np.ndarray) -> list[np.ndarray]:
        shares = np.zeros((len(rows), len(forest.classes_)))
        at = {}
        for trees, tree in enumerate(forest.estimators_, start=1):
            shares += tree.predict_proba(rows, check_input=False)
            if trees in self._n_trees:
                at[trees] = forest.classes_[(shares / trees).argmax(axis=1)]
        return [at[trees] for trees in self._n_trees]


def leaf_size(share: float, n: int) -> int:
    """Return the rows that a leaf must hold at least, of n, as scikit-learn rounds a share."""
    return math.ceil(share * n)

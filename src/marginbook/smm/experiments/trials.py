"""What the trials of candidates need once, and what methods share that try the same ones.

Two methods that differ in the final fit alone have the same candidates: numbers of levels H, a fixed rank and
one that is chosen, a sigmoid and an isotonic calibrator. The score of a candidate depends on the samples and
on the point, so that it is kept with its processor seconds, which every method that asks is charged with.

Candidates of low rank are solved without an estimator around them, whose search for equal samples, checks and
certificates take up to half of the time on wide matrices: the problem and its start are the same.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np

from ...experiments.fold import Point
from ..estimators.regression import outwards
from ..model.aggregation import levels
from ..model.objective import decision_values, weights_for
from ..model.row_features import RowFeatures, row_features
from ..solvers.block_descent import low_rank_svm
from ..solvers.solution import LowRankSolution

#: scores that are kept, and features of rows
MOST_SCORES, MOST_FEATURES = 100_000, 8


class Tried(NamedTuple):
    """The score of a candidate, and the processor seconds that it took."""

    score: float
    seconds: float


class Shared(NamedTuple):
    """Training matrices in features of their rows, (n, d1, k), and the map to them."""

    features: RowFeatures
    values: np.ndarray


_SCORES: dict[Hashable, Tried] = {}
_FEATURES: dict[Hashable, Any] = {}


def fingerprint(*arrays: np.ndarray) -> str:
    """Return a hash of arrays, with their shapes."""
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(f"{array.shape}{array.dtype.str}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def scored(of: Hashable, point: Point, score: Callable[[], float]) -> Tried:
    """Return the score of a candidate: the kept one, or a new one.

    Parameters
    ----------
    of : hashable
        All that a score depends on besides the point: samples, folds, machine, settings.
    point : dict
    score : callable
    """

    def timed() -> Tried:
        began = time.process_time()
        value = score()
        return Tried(value, time.process_time() - began)

    found: Tried = _kept(_SCORES, (of, json.dumps(point, sort_keys=True)), timed, MOST_SCORES)
    return found


def in_row_features(X: np.ndarray, gamma: float, count: int, missed: float) -> Shared:
    """Return matrices, (n, d1, d2), in features of the Gaussian kernel on rows.

    Parameters
    ----------
    X : (n, d1, d2) array
    gamma : float
    count : int
        Landmarks, at most.
    missed : float
        Share of the trace that they may miss.
    """

    def make() -> Shared:
        return Shared(*row_features(("rbf", {"gamma": gamma}), X, max_features=count, tol=missed))

    found: Shared = _kept(_FEATURES, (fingerprint(X), gamma, count, missed), make, MOST_FEATURES)
    return found


def single_values(
    X: np.ndarray, y: np.ndarray, new: np.ndarray, *, loss: str, rank: int, lam: float, tol: float
) -> np.ndarray:
    """Return the decision values of the machine of low rank for `X`, (n, d1, d2), at `new`, (m, d1, d2)."""
    found = _solved(X, y, None, None, loss=loss, rank=rank, lam=lam, tol=tol)
    return decision_values(found.coef, found.intercept, new)


def path_values(
    X: np.ndarray, y: np.ndarray, new: np.ndarray, *, n_levels: int, rank: int | None, lam: float, tol: float
) -> np.ndarray:
    """Return what the machines of all levels h/H say of `new`, (m, d1, d2): (m, H-1).

    Parameters
    ----------
    X, y : (n, d1, d2), (n,) arrays
        Labels -1 and 1.
    new : (m, d1, d2) array
    n_levels : int
        H.
    rank : int or None
        None is full rank.
    lam, tol : float
    """
    rank, at = rank or min(X.shape[1:]), levels(n_levels)
    found: dict[int, LowRankSolution] = {}
    for h, neighbour in outwards(len(at)):
        start = None if neighbour is None else found[neighbour]
        weights = weights_for(at[h], np.asarray(y, dtype=float))
        found[h] = _solved(X, y, weights, start, loss="hinge", rank=rank, lam=lam, tol=tol)
    return np.column_stack([decision_values(found[h].coef, found[h].intercept, new) for h in range(len(at))])


def _solved(
    X: np.ndarray, y: np.ndarray, weights: np.ndarray | None, start: LowRankSolution | None, **options: Any
) -> LowRankSolution:
    signs = np.asarray(y, dtype=float)
    return low_rank_svm(X, signs, sample_weight=weights, fit_intercept=True, start=start, **options)


def _kept(place: dict[Hashable, Any], key: Hashable, make: Callable[[], Any], most: int) -> Any:
    found = place.get(key)
    if found is None:
        found = make()
        if len(place) >= most:
            place.clear()
        place[key] = found
    return found

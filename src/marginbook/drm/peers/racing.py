"""Cross-validation of a grid that computes only the folds on which the choice depends."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ...base.splits import Split

Score = Callable[[np.ndarray, np.ndarray], float]


def race(
    n_candidates: int,
    folds: Sequence[Split],
    y: np.ndarray,
    score: Score,
    predict: Callable[[int, int], np.ndarray],
) -> Iterator[tuple[int, float]]:
    r"""Yield the candidates of a grid, best first, each with its score over the pooled held-out predictions.

    A candidate that has been through some of the folds can reach at most

    .. math:: u = \mathrm{score}(y, \hat y), \qquad \hat y_k = y_k \text{ on the folds that it has not met},

    when the score never falls as a wrong prediction is put right (accuracy, G-mean). The candidate with the
    highest bound u is sent through its next fold, the first in the grid among equal ones; one that is
    through all folds and still on top has its bound as its score, and no other can beat it, nor tie with it
    from an earlier place. So the order, the scores and the rule for ties are those of the full search, and no
    search that is sure of its winner computes fewer folds. Asking for the first only is the cheap use.

    Parameters
    ----------
    n_candidates : int
    folds : sequence of (train, test) pairs of row numbers
        The test parts are disjoint and cover all rows.
    y : (n,) labels
    score : callable
        ``score(y_true, y_pred)``, higher is better, monotone as above.
    predict : callable
        ``predict(candidate, fold)`` returns the labels of the fold's test rows. A ValueError puts the
        candidate out of the race, as it would without shortcuts.

    Yields
    ------
    candidate, score
    """
    filled = [y.copy() for _ in range(n_candidates)]
    met = [0] * n_candidates
    top = score(y, y)
    waiting = [(-top, candidate) for candidate in range(n_candidates)]  # a sorted list is a heap
    while waiting:
        bound, candidate = heapq.heappop(waiting)
        if met[candidate] == len(folds):
            yield candidate, float(-bound)
            continue
        test = folds[met[candidate]][1]
        try:
            predicted = predict(candidate, met[candidate])
        except ValueError:
            continue
        met[candidate] += 1
        filled[candidate][test] = predicted
        # the score of a library costs more than many a fold; without a new error it is known
        if not np.array_equal(predicted, y[test]):
            bound = -score(y, filled[candidate])
        heapq.heappush(waiting, (bound, candidate))

"""Parameters chosen by a leave-one-out bound, on sets that need no download."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from ... import datasets
from ...kernels import gram
from ..model.whitening import WhitenedGram
from ..solvers.dual import active_set
from ..solvers.leave_one_out_bound import bracket
from ..solvers.leave_one_out_exact import count_errors
from .printed_theorem_3 import printed_bound

#: multiples of the mean distance, lambda1 and C; lambda2 hardly matters on these sets
WIDTHS, LAMBDA1, C = (0.5, 1.0, 2.0), (2**-8, 2**-2, 8.0), (0.1, 1.0, 10.0)
LAMBDA2 = 2**-5
#: what may choose, in the order of the columns of `Choice.scores`
SCORES = ("the bound", "exact leave-one-out", "five folds", "the printed bound")


@dataclass(frozen=True)
class Choice:
    """Scores of all settings on one training set.

    Attributes
    ----------
    settings : list of tuple
        Multiple of the mean distance, lambda1, C.
    scores : (n, 4) array
        By `SCORES`; small is good.
    test : (n,) array
        Errors on the test set.
    trained : (n,) array
        How many machines the exact leave-one-out error needed beyond the one on all examples.
    """

    settings: list[tuple[float, float, float]]
    scores: np.ndarray
    test: np.ndarray
    trained: np.ndarray

    def chosen(self) -> np.ndarray:
        """Return the test errors, (4,), of the settings that each score chooses; the first of equals."""
        return self.test[self.scores.argmin(axis=0)]


def examples(name: str, labels: tuple[str, str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the features, scaled to [0, 1], and signs of the two classes of a set."""
    data = datasets.load(name)
    text = np.asarray(data.y).astype(str)
    rows = np.isin(text, labels)
    X, low, high = data.X[rows], data.X[rows].min(axis=0), data.X[rows].max(axis=0)
    return (X - low) / np.where(high > low, high - low, 1.0), np.where(text[rows] == labels[0], 1.0, -1.0)


def choose(X: np.ndarray, y: np.ndarray, m: int, seed: int) -> Choice:
    """Train every setting on m random examples, score it, and test it on the rest.

    Parameters
    ----------
    X : (n, d) array
    y : (n,) array of -1 and +1
    m, seed : int
    """
    order = np.random.default_rng(seed).permutation(len(y))
    inside, outside = order[:m], order[m:]
    folds = np.array_split(np.arange(m), 5)
    signs = y[inside]
    distances = np.linalg.norm(X[inside, None] - X[None, inside], axis=2)
    mean = distances[np.triu_indices(m, 1)].mean()
    settings, scores, test, trained = [], [], [], []
    for width in WIDTHS:
        kernel = ("rbf", {"gamma": 1 / (width * mean) ** 2})
        G, G_test = gram(kernel, X[inside]), gram(kernel, X[outside], X[inside])
        whitened = WhitenedGram(G, signs)
        eigen = whitened.decompose()
        parts = []
        for fold in folds:
            keep = np.setdiff1d(np.arange(m), fold)
            parts.append((fold, keep, WhitenedGram(G[np.ix_(keep, keep)], signs[keep])))
        for lambda1, bound in product(LAMBDA1, C):
            parameters = (lambda1, LAMBDA2, bound)
            H = whitened.hessian(lambda1)
            model = active_set(H, signs, *parameters)
            counted = count_errors(G, signs, model, eigen=eigen)
            wrong = 0
            for fold, keep, part in parts:
                inner = active_set(part.hessian(lambda1), signs[keep], *parameters)
                wrong += np.sum(signs[fold] * (G[np.ix_(fold, keep)] @ inner.alpha) <= 0)
            settings.append((width, lambda1, bound))
            scores.append(
                (
                    bracket(G, signs, model, eigen=eigen).error_bound,
                    counted.errors / m,
                    wrong / m,
                    printed_bound(H, model.beta, bound),
                )
            )
            test.append(np.mean(y[outside] * (G_test @ model.alpha) <= 0))
            trained.append(counted.trained)
    return Choice(settings, np.array(scores), np.array(test), np.array(trained))

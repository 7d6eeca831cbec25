"""The search for rows with weights: who counts how much, and a grid that is solved point by point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from ...base.folds import folds, validate_folds
from ...base.splits import Split
from ...base.weighted_folds import without_weightless
from ...base.weights import ClassWeight, row_weights
from ...kernels.validation import validate_square
from ..model.objective import relative_gap
from .parameters import steps_allowed, validate_penalties
from .training import solve_on_gram


@dataclass(frozen=True)
class Searched:
    """The rows that a search is about: those with a weight.

    Attributes
    ----------
    X : (m, d) array or CSR matrix; for "precomputed" the (m, m) Gram matrix
    labels : (m,) array
    signs : (m,) array
        1 for the second class, else -1.
    own : (m,) array or None
        Their own weights, how often each of them is there; None where all are 1.
    """

    X: Any
    labels: np.ndarray
    signs: np.ndarray
    own: np.ndarray | None

    def counted(self, rows: np.ndarray) -> np.ndarray | None:
        """Return how much each of `rows` counts in a score."""
        return None if self.own is None else self.own[rows]

    def fitted(self, class_weight: ClassWeight, rows: np.ndarray) -> np.ndarray | None:
        """Return the weights of `rows` in a fit to these alone, or None where all are 1.

        "balanced" counts the classes among them, as a search over machines with this parameter would.
        """
        if not isinstance(class_weight, Mapping):
            return row_weights(self.X[rows], self.labels[rows], self.counted(rows), class_weight)
        weights = row_weights(self.X, self.labels, self.own, class_weight)  # a part may lack a class
        return None if weights is None or (weights[rows] == 1).all() else weights[rows]


def searched(X: Any, y: np.ndarray, own: np.ndarray | None, second: Any, precomputed: bool) -> Searched:
    """Return the rows with a weight of `X`, (m, d), with labels `y` and weights `own`.

    Parameters
    ----------
    X : (m, d) array or CSR matrix, or the (m, m) matrix where it is `precomputed`
    y : (m,) labels
    own : (m,) array of numbers >= 0, or None where all are 1
    second : label
        The class of the sign 1.
    precomputed : bool
    """
    if own is not None and not own.all():
        if precomputed:
            validate_square(X)
        kept = np.flatnonzero(own)
        X = X[np.ix_(kept, kept)] if precomputed else X[kept]
        y, own = y[kept], None if (own[kept] == 1).all() else own[kept]
    return Searched(X, y, np.where(y == second, 1.0, -1.0), own)


def validate_weights(model: Any, rows: Searched) -> None:
    """Raise ValueError where `model`, an LDMClassifierCV, has no place for the weights of `rows`."""
    weights = rows.fitted(model.class_weight, np.arange(len(rows.labels)))
    if weights is None:
        return
    if model.scoring == "loo-bound":
        raise ValueError(
            "scoring='loo-bound' counts rows and takes no weights, neither sample_weight nor class_weight; "
            "choose by folds, such as scoring='accuracy'"
        )
    for C in model.Cs:
        validate_penalties(0.0, 0.0, float(C) * float(weights.max()))


def validate_groups_allowed(model: Any, groups: Any) -> None:
    """Raise ValueError where `model`, an LDMClassifierCV, has no place for `groups` of rows."""
    if groups is None:
        return
    if model.scoring == "loo-bound":
        raise ValueError("scoring='loo-bound' makes no folds and takes no groups; choose scoring='accuracy'")
    if not hasattr(model.cv, "split") or isinstance(model.cv, str | bytes):
        raise ValueError(
            f"groups need a splitter that keeps them together, such as cv=GroupKFold(), got cv={model.cv!r}"
        )


def search_folds(
    model: Any, X: Any, y: np.ndarray, own: np.ndarray | None, rows: Searched, groups: Any = None
) -> list[Split]:
    """Return the folds of `rows` by ``cv`` of `model`, as positions among them.

    A number of folds is drawn from `rows`; a splitter or pairs are about all rows `X` with labels `y`,
    weights `own` and `groups`, of which those of weight 0 are then left out.
    """
    if groups is not None:
        groups = np.asarray(groups)
        if groups.shape != y.shape:
            raise ValueError(f"groups must name a group for each of {len(y)} rows, got shape {groups.shape}")
        pairs: list[Split] = validate_folds(list(model.cv.split(X, y, groups)), len(y))
        return pairs if own is None else without_weightless(pairs, own)
    drawn = model.cv is None or isinstance(model.cv, int | np.integer)
    splitter = model.cv
    if drawn and splitter is not None:
        validate_folds(splitter, len(rows.labels))
        shuffle = model.random_state is not None
        splitter = StratifiedKFold(
            int(splitter), shuffle=shuffle, random_state=model.random_state if shuffle else None
        )
    if drawn or own is None:
        return folds(splitter, rows.X, rows.labels)
    return without_weightless(folds(splitter, X, y), own)


def weighted_grid(
    G: np.ndarray,
    y: np.ndarray,
    lambda1s: Sequence[float],
    lambda2s: Sequence[float],
    Cs: Sequence[float],
    weights: np.ndarray,
    *,
    tol: float,
) -> tuple[np.ndarray, np.ndarray]:
    r"""Solve the model with weights of rows for every combination of three lists of parameters.

    The dual of weights :math:`\omega` has the box :math:`[0,C\omega_i]` and shifts it by
    :math:`\lambda_2\omega_i/M`, another one for each row; the shared steps of
    :mod:`marginbook.ldm.solvers.grid` know one box only.

    Parameters
    ----------
    G : (m, m) array
    y : (m,) array of -1 and +1
    lambda1s, lambda2s, Cs : sequences of float
        Of n1, n2 and nC values.
    weights : (m,) array of positive numbers
    tol : float

    Returns
    -------
    alpha : (n1, n2, nC, m) array
    gaps : (n1, n2, nC) array
        Relative duality gaps.
    """
    shape = (len(lambda1s), len(lambda2s), len(Cs))
    alpha, gaps = np.empty((*shape, len(y))), np.empty(shape)
    for i, j, k in product(*map(range, shape)):
        point = (float(lambda1s[i]), float(lambda2s[j]), float(Cs[k]))
        steps = steps_allowed("active-set", None)
        found = solve_on_gram(G, y, point, "active-set", tol, steps, weights=weights)
        alpha[i, j, k], gaps[i, j, k] = found.alpha, relative_gap(found.dual_gap, found.objective)
    return alpha, gaps


def weighted_mean_distance(squared: np.ndarray, weights: np.ndarray) -> float:
    r"""Return the mean distance of two rows where a row of weight k is k rows, or 1 where all are equal.

    The pairs are :math:`\sum_{i<j}\omega_i\omega_j` of different rows and
    :math:`\sum_i\max(\omega_i(\omega_i-1),0)/2` of copies of one, which have no distance.

    Parameters
    ----------
    squared : (m, m) array
        Squared distances.
    weights : (m,) array of positive numbers

    Examples
    --------
    >>> weighted_mean_distance(np.array([[0.0, 9.0], [9.0, 0.0]]), np.array([2.0, 1.0]))
    2.0
    """
    total = float(weights @ np.sqrt(squared) @ weights)
    pairs = float(weights.sum() ** 2 - weights @ weights + np.maximum(weights * (weights - 1.0), 0.0).sum())
    return total / pairs if total > 0 else 1.0

r"""The real matrices of the experiments, each with two classes, and how they are scaled.

One set is made of real images so that theory promises low rank: products :math:`X=uv^\top` of two digits,
positive if both are even or both odd. Where a linear :math:`s(u)=\langle w,u\rangle` tells even from odd, the
sign of :math:`s(u)s(v)=\langle ww^\top,X\rangle` is the label, and :math:`ww^\top` has rank 1.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from ...datasets.dataset import Dataset
from ...experiments.fold import Fold, rows_seed
from ...experiments.splits import seed_of

#: pairs of digits, and the sets of the registry that they are of
PAIRS = {
    "digits-3-8": ("digits-8x8", 3, 8),
    "digits-4-9": ("digits-8x8", 4, 9),
    "usps-3-8": ("usps", 3, 8),
    "usps-4-9": ("usps", 4, 9),
}
#: a score that is high from its median on
HIGH = "brain-iq"
#: two digits each, and the set of the registry that they are of
PARITY, PARITY_OF = "digits-parity", "digits-8x8"


def pair(name: str) -> Dataset:
    """Return the matrices of two digits; the larger digit is the positive class."""
    source, first, second = PAIRS[name]
    found = _registered(source)
    labels = np.asarray(found.y)
    kept = np.flatnonzero(np.isin(labels, (first, second)))
    return _with(found, name, kept, np.where(labels[kept] == second, 1, 0), (str(first), str(second)))


def high_or_low(name: str) -> Dataset:
    """Return a set of matrices with a score as two classes: above the median, or not."""
    found = _registered(name)
    score = np.asarray(found.y, dtype=float)
    return _with(found, name, np.arange(len(score)), (score > np.median(score)).astype(int), ("low", "high"))


def parity(name: str) -> Dataset:
    """Return products of two images of digits; positive if both digits are even, or both odd.

    The mean image of the set is subtracted first. Each image is in one pair, in the order of a fixed seed, so
    that no two matrices share one.
    """
    found = _registered(PARITY_OF)
    images = np.asarray(found.X, dtype=float).reshape(len(found.y), -1)
    order = np.random.default_rng(seed_of("smm", name)).permutation(len(images))
    first, second = order[: len(order) // 2 * 2].reshape(-1, 2).T
    images -= images.mean(axis=0)
    odd = np.asarray(found.y).astype(int) % 2
    products = np.einsum("na,nb->nab", images[first], images[second])
    y = (odd[first] == odd[second]).astype(int)
    return _with(replace(found, X=products), name, np.arange(len(y)), y, ("one of each", "same parity"))


def scaled(X_train: np.ndarray, X_test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Subtract the mean matrix of `X_train`, (n, d1, d2), and divide by one number, which keeps ranks.

    The training entries then have mean square 1. `X_test`, (m, d1, d2), goes by the same map.
    """
    X_train, X_test = (np.asarray(X, dtype=float) for X in (X_train, X_test))
    mean = X_train.mean(axis=0)
    size = float(np.sqrt(np.mean((X_train - mean) ** 2))) or 1.0
    return (X_train - mean) / size, (X_test - mean) / size


def scaled_fold(fold: Fold, test_rows: int | None = None) -> Fold:
    """Return the fold `scaled`, with at most `test_rows` test rows and the seed that all methods share."""
    A, B = scaled(fold.X_train, fold.X_test[:test_rows])
    seed = rows_seed("smm", fold.dataset, A)
    return replace(fold, X_train=A, X_test=B, y_test=fold.y_test[: len(B)], seed=seed)


def _registered(name: str) -> Dataset:
    # by name, as its parser is no part of what a result depends on: the data's own hash is
    found: Dataset = importlib.import_module("marginbook.datasets").load(name)
    return found


def _with(found: Dataset, name: str, kept: np.ndarray, y: np.ndarray, names: tuple[str, ...]) -> Dataset:
    return Dataset(
        np.asarray(found.X, dtype=float)[kept],
        y,
        name,
        source=found.source,
        sha256=found.sha256,
        target_names=names,
        notes="two classes",
    )


#: the room's own real sets
DATASETS: dict[str, Callable[[], Dataset]] = {
    **{name: partial(pair, name) for name in PAIRS},
    HIGH: partial(high_or_low, HIGH),
    PARITY: partial(parity, PARITY),
}

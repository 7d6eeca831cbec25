"""Which rows train and which rows test: a pure function of (experiment, data set, number of the split)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.splits import Split

KINDS = ("original-folds", "original-test", "random", "given")


class SplitError(ValueError):
    """A data set cannot be split as the protocol asks."""


@dataclass(frozen=True)
class SplitPlan:
    """How an experiment divides its data sets.

    Attributes
    ----------
    kind : {"original-folds", "original-test", "random", "given"}
        The folds or the test part that the data set came with, random subsets, or the list of
        (train, test) pairs that the data set carries in ``splits()``.
    n : int
        Number of splits; they are numbered from 1.
    train_size : int, or mapping from data set to int
        Rows that train (random splits); all others test.
    train_fraction : float, or mapping from data set to float
        The same as a share of the rows.
    stratify : bool
        Keep the class shares in both parts of a random split.
    """

    kind: str
    n: int = 1
    train_size: int | Mapping[str, int] | None = None
    train_fraction: float | Mapping[str, float] | None = None
    stratify: bool = False

    def describe(self, dataset: str) -> dict[str, Any]:
        """Return what decides the rows of one data set's splits, without how many splits there are."""
        return {
            "kind": self.kind,
            "train_size": _for(self.train_size, dataset),
            "train_fraction": _for(self.train_fraction, dataset),
            "stratify": self.stratify,
        }


def seed_of(*parts: object) -> int:
    """Return a 32-bit seed that depends on `parts` only: the head of a sha256, the same on any machine.

    >>> seed_of("drm/table-8", "glass2", 1) == seed_of("drm/table-8", "glass2", 1)
    True
    """
    text = "|".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


def split_rows(plan: SplitPlan, data: Any, *, experiment: str, dataset: str, split: int) -> Split:
    """Return the rows that train and the rows that test, both sorted.

    Parameters
    ----------
    plan : SplitPlan
    data : marginbook.datasets.Dataset
    experiment, dataset : str
        Together with `split` they make the seed of a random split; the method is no part of it, so that
        all methods meet the same rows.
    split : int
        1, 2, ..., ``plan.n``.

    Raises
    ------
    SplitError
        The data set has no such folds or test part, or is too small.
    """
    n_rows = len(data.y)
    if not 1 <= split <= plan.n:
        raise SplitError(f"{dataset}: split {split} asked for, but {experiment} has splits 1 to {plan.n}")
    if plan.kind == "original-folds":
        test = _mask(data.folds, dataset, "the original folds") == split
    elif plan.kind == "original-test":
        test = _mask(data.test_mask, dataset, "an original test part").astype(bool)
    elif plan.kind == "given":
        return _given(data, dataset, split)
    else:
        return _random(plan, data, n_rows, dataset, seed_of(experiment, dataset, split))
    train_rows, test_rows = np.flatnonzero(~test), np.flatnonzero(test)
    if not len(train_rows) or not len(test_rows):
        raise SplitError(
            f"{dataset}: split {split} of {plan.kind} leaves {len(train_rows)} rows to train and "
            f"{len(test_rows)} to test; both need at least one"
        )
    return train_rows, test_rows


def _random(plan: SplitPlan, data: Any, n_rows: int, dataset: str, seed: int) -> Split:
    from sklearn.model_selection import train_test_split

    size, share = _for(plan.train_size, dataset), _for(plan.train_fraction, dataset)
    n_train = int(size) if size is not None else int(np.floor(float(share or 0) * n_rows + 0.5))
    if not 1 <= n_train < n_rows:
        raise SplitError(
            f"{dataset}: {n_train} of {n_rows} rows cannot train; give a train size of 1 to {n_rows - 1}"
        )
    try:
        train, test = train_test_split(
            np.arange(n_rows),
            train_size=n_train,
            random_state=seed,
            stratify=data.y if plan.stratify else None,
        )
    except ValueError as error:
        raise SplitError(f"{dataset}: no stratified split with {n_train} training rows ({error})") from None
    return np.sort(train), np.sort(test)


def _given(data: Any, dataset: str, split: int) -> Split:
    pairs = list(data.splits())
    if len(pairs) < split:
        raise SplitError(f"{dataset}: split {split} asked for, but the data set brings {len(pairs)} splits")
    train, test = (np.sort(np.asarray(rows, dtype=np.intp)) for rows in pairs[split - 1])
    if np.intersect1d(train, test).size:
        raise SplitError(f"{dataset}: the given split {split} has rows that both train and test")
    return train, test


def _mask(column: Any, dataset: str, what: str) -> NDArray[Any]:
    if column is None:
        raise SplitError(
            f"{dataset}: the data set does not come with {what}; use random splits in the protocol"
        )
    return np.asarray(column)


def _for(value: Any, dataset: str) -> Any:
    return value.get(dataset) if isinstance(value, Mapping) else value

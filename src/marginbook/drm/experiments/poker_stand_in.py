"""A stand-in for the one large data set of Table V whose test part cannot be had in full."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ...datasets import Dataset

#: of the 25,010 hands of the training part; 20,000 are left to train
TEST_ROWS = 5_010


def poker_split() -> Dataset:
    """Return the training part of UCI Poker, cut at random into 20,000 rows to train and 5,010 to test.

    The paper trains on all 25,010 of them and tests on a million others, which the registry does not have:
    what is measured here stands in for that row and is not compared with it.

    Raises
    ------
    DatasetNotFetched
        `poker-train` is not on this machine.
    """
    from ...datasets import load

    return with_random_test_part(load("poker-train"), "poker-split", TEST_ROWS)


def with_random_test_part(data: Dataset, name: str, test_rows: int) -> Dataset:
    """Return `data` under another name, with `test_rows` random rows as its test part; the same every time.

    Raises
    ------
    ValueError
        Unless at least one row is left to train and one to test.
    """
    n = len(data.y)
    if not 1 <= test_rows < n:
        raise ValueError(f"{test_rows} of {n} rows cannot be the test part; give 1 to {n - 1}")
    mask = np.zeros(n, dtype=bool)
    mask[np.random.default_rng(0).permutation(n)[:test_rows]] = True
    return replace(data, name=name, test_mask=mask)

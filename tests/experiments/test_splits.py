"""Splits: disjoint, of the right sizes, a function of experiment, data set and number only."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginbook.experiments.splits import SplitError, SplitPlan, seed_of, split_rows


def data(n: int = 50, **columns: object) -> SimpleNamespace:
    fields = {"folds": None, "test_mask": None, **columns}
    return SimpleNamespace(X=np.zeros((n, 2)), y=np.arange(n) % 3, **fields)


def rows(
    plan: SplitPlan, source: SimpleNamespace, split: int = 1, experiment: str = "r/t", dataset: str = "a"
):
    return split_rows(plan, source, experiment=experiment, dataset=dataset, split=split)


@given(n=st.integers(4, 80), share=st.floats(0.1, 0.9), split=st.integers(1, 9), name=st.text(max_size=5))
def test_random_splits_use_every_row_once(n, share, split, name):
    size = int(np.clip(share * n, 1, n - 1))
    train, test = rows(SplitPlan("random", 9, train_size=size), data(n), split, dataset=name)
    assert len(train) == size
    assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(n))


def test_a_fraction_is_rounded_to_the_nearest_row():
    train, test = rows(SplitPlan("random", 1, train_fraction=0.5), data(51))
    assert (len(train), len(test)) == (26, 25)


def test_random_splits_depend_on_experiment_data_set_and_number_only():
    plan = SplitPlan("random", 3, train_size=25)
    first = rows(plan, data())[0]
    assert np.array_equal(first, rows(plan, data())[0])
    for other in (
        rows(plan, data(), 2),
        rows(plan, data(), dataset="b"),
        rows(plan, data(), experiment="r/u"),
    ):
        assert not np.array_equal(first, other[0])


def test_sizes_can_differ_between_data_sets():
    plan = SplitPlan("random", 1, train_size={"a": 10, "b": 20})
    assert [len(rows(plan, data(), dataset=name)[0]) for name in "ab"] == [10, 20]


def test_stratified_splits_keep_the_class_shares():
    source = data(60)
    source.y = np.repeat([0, 1], [48, 12])
    train, test = rows(SplitPlan("random", 1, train_fraction=0.5, stratify=True), source)
    assert np.bincount(source.y[train]).tolist() == np.bincount(source.y[test]).tolist() == [24, 6]


def test_original_folds_test_each_row_once():
    source = data(50, folds=(np.arange(50) % 5 + 1).astype(np.int8))
    tested = [rows(SplitPlan("original-folds", 5), source, split)[1] for split in range(1, 6)]
    assert all(np.all(source.folds[test] == split) for split, test in enumerate(tested, 1))
    assert np.array_equal(np.sort(np.concatenate(tested)), np.arange(50))


def test_the_original_test_part():
    mask = np.arange(50) >= 40
    train, test = rows(SplitPlan("original-test", 1), data(50, test_mask=mask))
    assert np.array_equal(test, np.arange(40, 50))
    assert np.array_equal(train, np.arange(40))


def test_given_splits_are_taken_as_they_are():
    pairs = [(np.arange(10), np.arange(10, 20)), (np.array([5, 3]), np.array([1]))]
    source = data(splits=lambda: pairs)
    train, test = rows(SplitPlan("given", 2), source, 2)
    assert (train.tolist(), test.tolist()) == ([3, 5], [1])


@pytest.mark.parametrize(
    ("plan", "source", "split", "message"),
    [
        (SplitPlan("original-folds", 5), data(), 1, "a: the data set does not come with the original folds"),
        (SplitPlan("original-test", 1), data(), 1, "does not come with an original test part"),
        (SplitPlan("original-folds", 5), data(folds=np.ones(50)), 2, "leaves 50 rows to train and 0 to test"),
        (SplitPlan("random", 3, train_size=25), data(), 4, "split 4 asked for, but r/t has splits 1 to 3"),
        (SplitPlan("random", 3, train_size=50), data(), 1, "50 of 50 rows cannot train"),
        (SplitPlan("random", 3, train_size=0), data(), 1, "0 of 50 rows cannot train"),
        (
            SplitPlan("random", 1, train_size=2, stratify=True),
            data(),
            1,
            "no stratified split with 2 training rows",
        ),
        (SplitPlan("given", 2), data(splits=list), 1, "brings 0 splits"),
        (SplitPlan("given", 1), data(splits=lambda: [([1, 2], [2])]), 1, "rows that both train and test"),
    ],
)
def test_impossible_splits_say_why(plan, source, split, message):
    with pytest.raises(SplitError, match=message):
        rows(plan, source, split)


def test_seeds_are_32_bits_and_spread():
    seeds = {seed_of("r/t", "a", split) for split in range(1000)}
    assert len(seeds) == 1000
    assert 0 <= min(seeds) < max(seeds) < 2**32
    assert max(seeds) > 2**31

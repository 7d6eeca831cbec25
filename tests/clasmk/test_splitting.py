"""The stratified division into rows for the bases and rows for the weights."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginbook.clasmk.estimators.splitting import split_rows


@settings(max_examples=60)
@given(
    sizes=st.lists(st.integers(2, 30), min_size=1, max_size=6),
    fraction=st.floats(0.01, 0.99),
    seed=st.integers(0, 10**6),
)
def test_every_class_is_divided_in_the_given_shares(sizes, fraction, seed):
    codes = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        split = split_rows(codes, fraction, np.random.RandomState(seed))
    np.testing.assert_array_equal(np.sort(np.r_[split.basis, split.held_out]), np.arange(len(codes)))
    assert (np.diff(split.basis) > 0).all()
    assert (np.diff(split.held_out) > 0).all()
    for code, size in enumerate(sizes):
        taken = np.sum(codes[split.basis] == code)
        assert 1 <= taken <= size - 1
        assert abs(taken - fraction * size) <= 0.5 + 1e-9 or taken in (1, size - 1)


def test_a_class_of_one_row_is_in_both_parts_with_a_warning():
    codes = np.array([0, 0, 1, 2, 2, 2, 3])
    with pytest.warns(UserWarning, match="2 of 4 classes have one row"):
        split = split_rows(codes, 0.5, np.random.RandomState(0))
    for part in (split.basis, split.held_out):
        assert set(codes[part]) == {0, 1, 2, 3}
    np.testing.assert_array_equal(np.intersect1d(split.basis, split.held_out), [2, 6])


def test_the_seed_decides_and_the_names_of_the_classes_do_not():
    codes = np.random.default_rng(0).integers(0, 4, size=80)
    first = split_rows(codes, 0.4, np.random.RandomState(3))
    again = split_rows(codes, 0.4, np.random.RandomState(3))
    renamed = split_rows(np.array([2, 0, 3, 1])[codes], 0.4, np.random.RandomState(3))
    other = split_rows(codes, 0.4, np.random.RandomState(4))
    for one in (again, renamed):
        np.testing.assert_array_equal(one.basis, first.basis)
        np.testing.assert_array_equal(one.held_out, first.held_out)
    assert not np.array_equal(other.basis, first.basis)


def test_every_row_is_as_likely_to_be_in_the_basis():
    codes = np.repeat([0, 1], [10, 40])
    rng = np.random.RandomState(0)
    counts = sum(np.bincount(split_rows(codes, 0.5, rng).basis, minlength=50) for _ in range(2000))
    np.testing.assert_allclose(counts / 2000, 0.5, atol=0.06)

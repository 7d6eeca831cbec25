"""The problems on which relations are checked hold the degenerate cases that they promise."""

import numpy as np
import pytest

from marginbook.bridge.claims.problems import SIZES, apart, pairs
from marginbook.kernels import gram


def test_problems_are_grouped_by_class_and_have_both():
    for pair in pairs(0, repeats=1):
        assert (np.diff(pair.y) >= 0).all()
        assert sum(pair.sizes) == len(pair.y)
        assert min(pair.sizes) >= 1


def test_there_are_equal_points_constant_features_and_classes_of_one():
    found = list(pairs(1))
    assert any(np.array_equal(pair.X[0], pair.X[1]) for pair in found)
    assert any(pair.X.shape[1] > 1 and np.ptp(pair.X[:, 1]) == 0 for pair in found)
    assert any(min(pair.sizes) == 1 for pair in found)
    assert any(pair.X.shape[1] > len(pair.X) for pair in found)
    assert any(pair.X.shape[1] < len(pair.X) for pair in found)
    assert {pair.sizes for pair in found} == set(SIZES)


def test_gram_matrices_belong_to_the_points():
    for pair in pairs(2, repeats=1):
        np.testing.assert_allclose(pair.K, gram(pair.kernel, pair.X), rtol=1e-12)
        np.testing.assert_allclose(pair.Kx, gram(pair.kernel, pair.X, pair.new), rtol=1e-12)


def test_the_same_seed_gives_the_same_problems():
    for one, other in zip(pairs(3, repeats=1), pairs(3, repeats=1), strict=True):
        assert np.array_equal(one.X, other.X)


@pytest.mark.parametrize(
    ("one", "other", "scale", "wanted"),
    [([1, 2], [1, 4], None, 0.5), ([1], [0], None, 1), ([3], [1], 4, 0.5)],
)
def test_apart_is_the_largest_difference_over_a_scale(one, other, scale, wanted):
    assert apart(np.array(one), np.array(other), scale) == wanted

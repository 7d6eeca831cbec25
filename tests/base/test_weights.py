"""Weights of rows: sample_weight times class_weight."""

import numpy as np
import pytest

from marginbook.base.weights import row_weights

X = np.zeros((4, 2))
Y = np.array(["a", "a", "a", "b"])


def test_none_where_all_are_one():
    assert row_weights(X, Y) is None
    assert row_weights(X, Y, np.ones(4)) is None
    assert row_weights(X, Y, None, {"a": 1.0}) is None


def test_they_multiply():
    np.testing.assert_allclose(row_weights(X, Y, [1, 2, 0, 3], {"b": 2}), [1, 2, 0, 6])
    np.testing.assert_allclose(row_weights(X, Y, None, "balanced"), [2 / 3, 2 / 3, 2 / 3, 2])


def test_what_is_given_stays_as_it_is():
    given = np.array([1.0, 2.0, 3.0, 4.0])
    row_weights(X, Y, given, "balanced")
    np.testing.assert_array_equal(given, [1, 2, 3, 4])


@pytest.mark.parametrize(
    ("sample_weight", "class_weight", "message"),
    [
        ([1, 2], None, "sample_weight"),
        ([1, -1, 1, 1], None, "[Nn]egative"),
        ([1, np.nan, 1, 1], None, "NaN"),
        ([1, 1, 1, 0], None, "every class needs a row of positive weight; b has none"),
        (None, {"b": -1}, "class_weight must give finite numbers >= 0"),
        (None, {"b": np.inf}, "class_weight must give finite numbers >= 0"),
        (None, "fair", "class_weight must be a dictionary of classes, 'balanced' or None, got 'fair'"),
        (None, 3, "class_weight must be a dictionary"),
    ],
)
def test_bad_weights(sample_weight, class_weight, message):
    with pytest.raises(ValueError, match=message):
        row_weights(X, Y, sample_weight, class_weight)

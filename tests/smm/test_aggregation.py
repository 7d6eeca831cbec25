"""The three rules from level sets to a probability: naive loops, scikit-learn's regression, exact limits."""

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.isotonic import isotonic_regression

from marginbook.smm.model.aggregation import (
    AGGREGATES,
    aggregate,
    count_rule,
    crossing_pairs,
    crossings,
    interval_rule,
    isotonic_rule,
    levels,
)

#: small integers: sums of them are exact, so that ties are ties
decisions = st.integers(1, 9).flatmap(
    lambda width: arrays(
        np.float64, st.tuples(st.integers(1, 6), st.just(width)), elements=st.integers(-4, 4)
    )
)


def _naive_interval(row, H):
    above = [Fraction(h, H) for h, f in enumerate(row, start=1) if f > 0]
    below = [Fraction(h, H) for h, f in enumerate(row, start=1) if f <= 0]
    return (max(above, default=Fraction(0)) + min(below, default=Fraction(1))) / 2


def _naive_pairs(row):
    return sum(row[h] <= 0 < row[k] for k in range(len(row)) for h in range(k))


@given(decisions)
def test_the_rules_are_their_formulas(f):
    H = f.shape[1] + 1
    count, interval, isotonic = (aggregate(f, rule) for rule in ("count", "interval", "isotonic"))
    for i, row in enumerate(f):
        assert count[i] == pytest.approx((0.5 + sum(value > 0 for value in row)) / H)
        assert interval[i] == pytest.approx(float(_naive_interval(row, H)))
        # pooled means are quotients of small integers: rounding cannot pass a quarter of 1/9
        g = isotonic_regression(row, increasing=False)
        assert isotonic[i] == pytest.approx((0.5 + np.sum(g > 0.01)) / H)
    assert crossing_pairs(f).tolist() == [_naive_pairs(row) for row in f]


@given(decisions)
def test_the_report_says_what_the_rules_do(f):
    report = crossings(f)
    pairs = [_naive_pairs(row) for row in f]
    assert (report.n_samples, report.n_levels) == (len(f), f.shape[1] + 1)
    assert report.pairs == sum(pairs)
    assert report.largest_pairs == max(pairs) <= f.shape[1] ** 2 / 4
    assert report.n_crossed == sum(pair > 0 for pair in pairs)
    assert report.share == report.n_crossed / report.n_samples
    assert report.moved_by_interval == pytest.approx(np.abs(interval_rule(f) - count_rule(f)).mean())
    assert report.moved_by_isotonic == pytest.approx(np.abs(isotonic_rule(f) - count_rule(f)).mean())


@given(decisions)
def test_without_crossings_all_agree(f):
    f = -np.sort(-f, axis=1)
    assert crossings(f).pairs == 0
    assert np.array_equal(count_rule(f), isotonic_rule(f))
    np.testing.assert_allclose(count_rule(f), interval_rule(f), rtol=1e-14)


@given(decisions)
def test_turning_the_classes_turns_the_probability(f):
    """With -f at the levels from the other end; not at f = 0, which is outside the level set either way."""
    f = np.where(f == 0, 0.5, f)
    for rule in ("count", "interval"):
        np.testing.assert_allclose(aggregate(-f[:, ::-1], rule), 1 - aggregate(f, rule), atol=1e-14)


@given(decisions)
def test_count_is_the_mean_of_the_projected_indicators(f):
    """Isotonic regression of the indicators keeps their sum, so that counting needs no repair."""
    for row, p in zip(f, count_rule(f), strict=True):
        projected = isotonic_regression((row > 0).astype(float), increasing=False)
        assert p == pytest.approx((0.5 + projected.sum()) / (len(row) + 1))


@pytest.mark.parametrize("H", [2, 3, 10, 41])
@pytest.mark.parametrize("rule", AGGREGATES)
def test_exact_level_sets_are_half_a_level_off_at_most(H, rule):
    p = np.linspace(0, 1, 1001)
    exact = p[:, None] - levels(H)
    estimated = aggregate(exact, rule)
    assert np.abs(estimated - p).max() <= 1 / (2 * H) + 1e-12
    assert estimated.min() == pytest.approx(1 / (2 * H))
    assert estimated.max() == pytest.approx(1 - 1 / (2 * H))


def test_levels_are_inside():
    assert levels(4).tolist() == [0.25, 0.5, 0.75]
    assert levels(2).tolist() == [0.5]


def test_a_far_vote_moves_only_the_isotonic_rule():
    f = np.array([[1.0, 1.0, -1.0, 5.0]])
    assert count_rule(f) == interval_rule(f) == pytest.approx(0.7)
    assert isotonic_rule(f) == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (np.ones(3), "decisions has shape (3,), wanted (n, H-1) with a sample and a level"),
        (np.ones((0, 3)), "decisions has shape (0, 3), wanted (n, H-1)"),
        (np.ones((3, 0)), "decisions has shape (3, 0), wanted (n, H-1)"),
        (np.array([[1.0, np.nan]]), "decisions holds values that are not finite"),
    ],
)
def test_what_is_no_table_of_decisions_is_refused(f, message):
    for rule in AGGREGATES:
        with pytest.raises(ValueError, match=re.escape(message)):
            aggregate(f, rule)
    with pytest.raises(ValueError, match=re.escape(message)):
        crossings(f)


def test_an_unknown_rule_is_named():
    with pytest.raises(ValueError, match="unknown aggregate 'mean'; choose from count, interval, isotonic"):
        aggregate(np.ones((1, 1)), "mean")

"""Two one-sided t-tests: against SciPy's one-sided tests, and against those of statsmodels."""

import math

import numpy as np
import pytest
from scipy import stats

from marginbook.experiments.equivalence import largest_mean, mean_interval
from marginbook.experiments.stats import corrected_resampled_t

CASES = [(seed, n, shift) for seed in range(6) for n in (2, 7, 30) for shift in (0.0, 0.4)]


def drawn(seed: int, n: int, shift: float) -> np.ndarray:
    return shift + np.random.default_rng([seed, n]).normal(size=n)


@pytest.mark.parametrize(("seed", "n", "shift"), CASES)
def test_a_margin_at_an_end_of_the_interval_has_a_p_value_of_the_level(seed, n, shift):
    x = drawn(seed, n, shift)
    low, high = mean_interval(x)
    assert stats.ttest_1samp(x, high, alternative="less").pvalue == pytest.approx(0.05, abs=1e-12)
    assert stats.ttest_1samp(x, low, alternative="greater").pvalue == pytest.approx(0.05, abs=1e-12)
    assert largest_mean(x) == high


@pytest.mark.parametrize("margin", [0.2, 0.5, 0.8, 1.5])
@pytest.mark.parametrize(("seed", "n", "shift"), CASES)
def test_both_one_sided_tests_of_scipy_and_of_statsmodels_say_the_same(seed, n, shift, margin):
    x = drawn(seed, n, shift)
    below = stats.ttest_1samp(x, margin, alternative="less").pvalue
    above = stats.ttest_1samp(x, -margin, alternative="greater").pvalue
    low, high = mean_interval(x)
    assert (-margin < low and high < margin) == (max(below, above) < 0.05)
    weightstats = pytest.importorskip("statsmodels.stats.weightstats")
    p, first, second = weightstats.DescrStatsW(x).ttost_mean(-margin, margin)
    assert (first[1], second[1]) == (pytest.approx(above, abs=1e-12), pytest.approx(below, abs=1e-12))
    low, high = mean_interval(x)
    assert (-margin < low and high < margin) == (p < 0.05)


def test_the_ends_are_those_of_statsmodels():
    weightstats = pytest.importorskip("statsmodels.stats.weightstats")
    x = drawn(0, 12, 0.3)
    expected = weightstats.DescrStatsW(x).tconfint_mean(alpha=0.1)
    np.testing.assert_allclose(mean_interval(x), expected, rtol=0, atol=1e-12)


def test_degenerate_differences():
    assert mean_interval([0.3]) == (-math.inf, math.inf)
    assert mean_interval([0.3, 0.3, 0.3]) == pytest.approx((0.3, 0.3))


@pytest.mark.parametrize("seed", range(4))
def test_the_overlap_makes_the_interval_that_of_the_corrected_test(seed):
    x = drawn(seed, 10, 0.4)
    low, high = mean_interval(x, 0.025, overlap=1.0)
    # at its ends the two-sided p of the corrected resampled t-test is 5 %
    for end in (low, high):
        shifted = x - end
        assert corrected_resampled_t(shifted, np.zeros(10), n_train=1, n_test=1).p_value == pytest.approx(
            0.05, abs=1e-9
        )
    assert high - low > np.diff(mean_interval(x, 0.025))

"""Tests that two results are as good as equal: two one-sided t-tests, by the interval that they amount to.

A difference is within a margin where both of the one-sided tests at 5 % say so, that is where the 90 %
interval of its mean is inside (Schuirmann 1987). Statsmodels has the tests (``DescrStatsW.ttost_mean``), and
our numbers are tested against it and against SciPy; it is not used here as the claims also need the ends of
the interval, in points, and one of them the error of a mean over strata, which no library's test takes.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

#: of each of the two one-sided tests
LEVEL = 0.05


def mean_interval(
    differences: ArrayLike, level: float = LEVEL, *, overlap: float = 0.0
) -> tuple[float, float]:
    """Return the interval of a mean by Student's t that leaves `level` on either side.

    Parameters
    ----------
    differences : array of shape (n,)
        Of two methods, by data set or split; without a spread there is no interval but the mean.
    level : float
    overlap : float
        Of random splits of one data set, the ratio of test to training rows: their differences are not
        independent, and the variance of the mean is (1/n + overlap) of theirs, as in the corrected resampled
        t-test (Nadeau and Bengio 2003).

    Returns
    -------
    low, high : float
        Minus and plus infinity where there are fewer than two differences.

    Examples
    --------
    >>> [round(end, 3) for end in mean_interval([0.1, -0.2, 0.3, 0.0])]
    [-0.195, 0.295]
    """
    values = np.asarray(differences, dtype=float)
    if len(values) < 2:
        return -math.inf, math.inf
    error = values.std(ddof=1) * math.sqrt(1 / len(values) + overlap)
    half = float(stats.t.ppf(1 - level, len(values) - 1) * error)
    return float(values.mean()) - half, float(values.mean()) + half


def largest_mean(differences: ArrayLike) -> float:
    """Return the upper end of `mean_interval`: what is not inferior has it below a margin."""
    return mean_interval(differences)[1]

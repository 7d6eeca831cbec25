"""Agreement that the data can tell, or cannot: an equivalence test with a stated margin."""

from __future__ import annotations

from statistics import NormalDist

from ...claims import Verdict
from ...experiments.equivalence import LEVEL

#: one-sided 5 % point of the normal distribution
ONE_SIDED = NormalDist().inv_cdf(1 - LEVEL)


def equivalent(difference: float, se: float, margin: float) -> Verdict:
    """Return what a difference with its standard error says of two results that are called similar.

    :mod:`marginbook.experiments.equivalence` is for differences of one sample; here the error is of strata.

    `reproduced` where both one-sided tests at 5 % find it within the margin, `not-reproduced` where one of
    them finds it beyond, otherwise `undecided`.
    """
    far = abs(difference)
    if far + ONE_SIDED * se <= margin:
        return Verdict.REPRODUCED
    return Verdict.NOT_REPRODUCED if far - ONE_SIDED * se > margin else Verdict.UNDECIDED

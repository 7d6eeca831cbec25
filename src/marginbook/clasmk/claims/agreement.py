"""Agreement that the data can tell, or cannot: an equivalence test with a stated margin."""

from __future__ import annotations

from ...claims import Verdict

#: one-sided 5 % point of the normal distribution
ONE_SIDED = 1.645


def equivalent(difference: float, se: float, margin: float) -> Verdict:
    """Return what a difference with its standard error says of two results that are called similar.

    `reproduced` where both one-sided tests at 5 % find it within the margin, `not-reproduced` where one of
    them finds it beyond, otherwise `undecided`.
    """
    far = abs(difference)
    if far + ONE_SIDED * se <= margin:
        return Verdict.REPRODUCED
    return Verdict.NOT_REPRODUCED if far - ONE_SIDED * se > margin else Verdict.UNDECIDED

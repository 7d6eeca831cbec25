"""Sixteen points spread over the ranges of a method's parameters, by one rule for all methods.

The rule: the first 16 points of the Sobol sequence, moved to the middle of their cells. In each parameter
alone they are 16 evenly spaced values, in two together one point for each cell of a 4 by 4 grid. A method
with one parameter thus has a fine grid of it, a method with four has 16 values of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.stats import qmc

#: fits in tuning are candidates times folds; the budget of every method
CANDIDATES, FOLDS = 16, 3
#: fits that a method has: those of tuning, and the refit to all training rows
BUDGET = CANDIDATES * FOLDS + 1


@dataclass(frozen=True)
class Range:
    """From `low` to `high`: evenly in the logarithm, or evenly."""

    low: float
    high: float
    log: bool = True

    def at(self, share: float) -> float:
        """Return the value at a `share` of the way, in [0, 1].

        >>> Range(0.01, 100).at(0.5), Range(0, 1, log=False).at(0.25)
        (1.0, 0.25)
        """
        if self.log:
            return float(self.low ** (1 - share) * self.high**share)
        return float(self.low + share * (self.high - self.low))


def points(ranges: Mapping[str, Range], count: int = CANDIDATES) -> list[dict[str, float]]:
    """Return `count` points, a power of two, of the box of `ranges`.

    >>> [round(point["C"], 3) for point in points({"C": Range(0.01, 100)}, 4)]
    [0.032, 3.162, 31.623, 0.316]
    """
    if count < 1 or count & (count - 1):
        raise ValueError(f"{count} points asked, wanted a power of two: then a Sobol sequence is balanced")
    sobol = qmc.Sobol(len(ranges), scramble=False).random(count)
    # the sequence starts in a corner; half a cell away every projection is centred
    shares = np.mod(sobol + 0.5 / count, 1.0)
    return [
        {name: span.at(share) for (name, span), share in zip(ranges.items(), row, strict=True)}
        for row in shares.tolist()
    ]

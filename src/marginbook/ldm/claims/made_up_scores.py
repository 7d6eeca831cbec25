"""Scores made up to have printed means and deviations: which outcomes a paired t-test can have had."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from scipy.stats import ttest_rel

from ...claims import Rival
from ..paper.printed import LEVEL, ROUNDING, SPLITS, possible_outcomes, printed

OUTCOMES_OF = "ldm.paper.printed.possible_outcomes"


def realised(first: tuple[float, float], second: tuple[float, float], n: int) -> set[str]:
    """Return the outcomes of paired t-tests on scores made up to have two printed means and deviations.

    The two methods' scores go up and down together or against each other, which makes the deviation of their
    difference as small and as large as it can be; means and deviations are at both ends of what rounds to
    the printed digits. What :func:`possible_outcomes` says is tested by this, as it does not call a test.
    """
    pattern = np.resize([1.0, -1.0], n)
    pattern = pattern / pattern.std(ddof=1)
    ends = (-ROUNDING, ROUNDING)
    corners = list(product((-ROUNDING, 0.0, ROUNDING), ends, ends, (1.0, -1.0)))
    ours = np.array([first[0] + m + max(first[1] + s, 0.0) * pattern for m, s, _, _ in corners])
    theirs = np.array([second[0] - m + w * max(second[1] + s, 0.0) * pattern for m, _, s, w in corners])
    apart = (ours - theirs).round(12)  # of decimals: equal ones are not exactly equal
    lead, moved = apart.mean(axis=1).round(12), np.ptp(apart, axis=1) > 0
    p = np.where(lead == 0, 1.0, 0.0)  # of differences that are all the same
    p[moved] = ttest_rel(ours[moved], theirs[moved], axis=1).pvalue
    return {"tie" if q >= LEVEL else "win" if d > 0 else "loss" for q, d in zip(p, lead, strict=True)}


def otherwise(first: str, second: str, table: str) -> int:
    """Return on how many sets the possible outcomes of two columns are not those that are realised."""
    page, n = printed(table), SPLITS[table]
    cells = [(page.cell(name, first), page.cell(name, second)) for name in page.sets(first)]
    return sum(
        realised(one, two, n) != possible_outcomes(one, two, n)
        for one, two in cells
        if not np.isnan([*one, *two]).any()
    )


def _at_another_level(outcomes: Callable[..., set[str]]) -> Callable[..., set[str]]:
    """Return a swap of the possible outcomes: those of a one-sided test, which 10 % on two sides are."""

    def swapped(*cells: Any, **named: Any) -> set[str]:
        return outcomes(*cells, **{"level": 2 * LEVEL} | named)

    return swapped


def _one_split_more(outcomes: Callable[..., set[str]]) -> Callable[..., set[str]]:
    """Return a swap of the possible outcomes: those of one split more."""
    return lambda first, second, n, **named: outcomes(first, second, n + 1, **named)


#: rivals that change what a t-test can have said
ANOTHER_LEVEL = Rival("a one-sided test", swaps={OUTCOMES_OF: _at_another_level})
ONE_SPLIT_MORE = Rival("one split more in the test", swaps={OUTCOMES_OF: _one_split_more})

"""What we would use when: sentences whose numbers are computed from the stored results.

A sentence carries the condition under which it is true. If new results make one false, the page refuses to
be built until somebody has written it anew; no wording outlives its numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .methods import METHODS
from .posteriors import ROPE, ROPES, SURE, Posterior, against, posterior
from .rankings import by_set, not_told_apart, ranks, summary, verdict

if TYPE_CHECKING:
    import pandas as pd

#: the method that all are held against
REFERENCE = "SVM"
OURS = tuple(name for name, method in METHODS.items() if method.paper)


@dataclass(frozen=True)
class Sentence:
    """A heading, a text in MyST, and whether the text is true of the results."""

    when: str
    text: str
    holds: bool


class Findings:
    """What the page says of rows as of :func:`marginbook.study.rankings.results`, computed once."""

    def __init__(self, rows: pd.DataFrame) -> None:
        self.rows = rows
        self.accuracy, self.g_mean = by_set(rows), by_set(rows, "g_mean")
        self.told = summary(rows)
        self.order = [str(name) for name in self.told.index]
        self.against = {rope: against(self.accuracy, REFERENCE, rope) for rope in ROPES}

    def pair(self, first: str, second: str) -> Posterior:
        """Return the posterior of two methods' accuracies at the usual rope."""
        return posterior(self.accuracy[first], self.accuracy[second])

    def lead(self, first: str, second: str) -> float:
        """Return by how many points of mean accuracy the first is ahead."""
        return float((self.accuracy[first] - self.accuracy[second]).mean())

    def seconds(self, name: str) -> float:
        """Return median processor seconds of tuning and the refit."""
        return float(self.told.loc[name, "tune"] + self.told.loc[name, "fit"])

    def near(self, names: Iterable[str], within: float = ROPE) -> int:
        """Return on how many sets the best of `names` is less than `within` points from the best of all."""
        best = self.accuracy.max(axis=1)
        return int((best - self.accuracy[list(names)].max(axis=1) < within).sum())

    def decided(self, decision: str, rope: float = ROPE) -> list[str]:
        """Return the papers' methods with that decision against the reference."""
        found = self.against[rope]["decision"]
        return [name for name in OURS if found[name] == decision]

    def changes(self) -> list[str]:
        """Return the methods whose decision against the reference is not the same at all ropes."""
        names = self.against[ROPE].index
        return [
            str(n) for n in names if len({self.against[rope].loc[n, "decision"] for rope in ROPES}) > 1
        ]


def percent(share: float) -> str:
    """Return a probability in words that do not round it to certainty.

    >>> percent(0.914), percent(0.9999), percent(0.0)
    ('91 %', 'over 99 %', 'under 1 %')
    """
    if share > 0.99:
        return "over 99 %"
    return "under 1 %" if share < 0.01 else f"{100 * share:.0f} %"


def listed(names: Iterable[str]) -> str:
    """Return names as in a sentence.

    >>> listed(["SVM", "LDA", "DRM"]), listed([])
    ('SVM, LDA and DRM', 'none')
    """
    *first, last = list(names) or ["none"]
    return f"{', '.join(first)} and {last}" if first else last


def headline(found: Findings) -> list[Sentence]:
    """Return what the tests say of all methods together."""
    test, order = verdict(found.accuracy), ranks(found.accuracy)
    best = str(order.index[0])
    same = not_told_apart(found.accuracy, best)
    better, equal = found.decided("better"), found.decided("same")
    worse, open_ = found.decided("worse"), found.decided("open")
    return [
        Sentence(
            "The methods are not alike",
            f"Friedman's test over {len(found.accuracy)} sets gives χ² = {test['chi2']:.0f} "
            f"(p = {test['p']:.0e}). The best average rank is that of {best}, {order.iloc[0]:.1f} of "
            f"{len(order)}; two ranks must be {test['difference']:.1f} apart for Nemenyi's test, which tells "
            f"{best} from {listed(n for n in found.order if n not in same)} only.",
            test["p"] < 0.05 and 1 < len(same) < len(order),
        ),
        Sentence(
            f"No method of the five papers is practically better than the {REFERENCE}",
            f"Practically better is by more than {ROPE:g} point of accuracy, and decided is a posterior "
            f"probability of {percent(SURE)}. Of the {len(OURS)} columns from the papers {len(equal)} are "
            f"decided to be the same as the {REFERENCE} ({listed(equal)}), {len(worse)} worse "
            f"({listed(worse)}), {len(open_)} are open ({listed(open_)}).",
            not better,
        ),
    ]

r"""Whether the DRM leads on a data set, as far as the splits can tell.

Of a method the better kernel and scaling by the mean counts, as the paper counts. The splits overlap, so that
the interval of a mean difference over k of them is Nadeau and Bengio's,
:math:`\bar d\pm t_{k-1}s_d\sqrt{1/k+n_\text{test}/n_\text{train}}`. The DRM is *ahead* where it is ahead of
each other method at the one-sided level 0.05 (each of these tests must reject, so that no correction is
needed), and *behind* where one of them is ahead of it, at the level divided by their number. Else the set
is *open*.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import t as student

from ...claims.printed_tables import LEVEL
from ...datasets.registry import entry
from .stored_results import printed_table, protocol, results

if TYPE_CHECKING:
    import pandas as pd

AHEAD, OPEN, BEHIND = "ahead", "open", "behind"


def by_family(table: str) -> dict[str, pd.DataFrame]:
    """Return scores by data set: splits down, families across; empty before any results."""
    import pandas as pd

    frame, columns = results(table), list(protocol(table).better_of)
    if frame is None:
        return {}
    frame = frame[frame["method"].isin(printed_table(table).columns)]
    found: dict[str, dict[str, pd.Series[float]]] = {}
    for (name, method), rows in frame.groupby(["dataset", "method"], sort=False):
        scores = rows.set_index("split")[columns].dropna(axis=1, how="all")
        if scores.empty:
            continue
        family = str(method).partition("(")[0]
        best = scores[scores.mean().idxmax()]
        known = found.setdefault(str(name), {})
        if family not in known or best.mean() > known[family].mean():
            known[family] = best
    order = [str(name) for name in printed_table(table).index if name in found]
    return {name: pd.DataFrame(found[name]) for name in order}


def overlap(table: str, name: str) -> float:
    """Return the ratio of test to training rows of a split."""
    plan = protocol(table).splits
    if plan.kind == "original-folds":
        return 1 / (protocol(table).printed_splits - 1)
    assert isinstance(plan.train_size, Mapping)
    train = plan.train_size[name]
    return (entry(name).n - train) / train


def standing(scores: pd.DataFrame, ratio: float, *, shared: bool, level: float = LEVEL) -> str:
    """Return whether the DRM is `AHEAD` of all others, `BEHIND` one of them, or the set is `OPEN`.

    Parameters
    ----------
    scores : DataFrame
        Splits down, families across.
    ratio : float
        Of test to training rows.
    shared : bool
        Whether equal scores on all splits are a lead.
    level : float
        Of one side.
    """
    others = [str(name) for name in scores.columns if name != "DRM"]
    ahead, behind = True, False
    for other in others:
        apart = (scores["DRM"] - scores[other]).dropna().to_numpy().round(12)
        mean, k = float(apart.mean()), len(apart)
        if k < 2:
            return OPEN
        error = float(apart.std(ddof=1)) * sqrt(1 / k + ratio)
        low = mean - float(student.ppf(1 - level, k - 1)) * error
        high = mean + float(student.ppf(1 - level / len(others), k - 1)) * error
        equal = not np.any(apart)
        ahead &= shared if equal else low > 0
        behind |= not shared if equal else high < 0
    return BEHIND if behind else AHEAD if ahead else OPEN


def standings(table: str, *, shared: bool) -> dict[str, str]:
    """Return the standing on each data set of a table that has results."""
    return {
        name: standing(scores, overlap(table, name), shared=shared)
        for name, scores in by_family(table).items()
        if "DRM" in scores
    }


def smallest_lead(table: str, level: float = LEVEL) -> float:
    """Return what a lead over the best other method must exceed to be seen, the median over the sets."""
    needed = []
    for name, scores in by_family(table).items():
        other = scores.drop(columns="DRM").mean().idxmax()
        apart = (scores["DRM"] - scores[other]).dropna()
        error = float(apart.std(ddof=1)) * sqrt(1 / len(apart) + overlap(table, name))
        needed.append(float(student.ppf(1 - level, len(apart) - 1)) * error)
    return float(np.median(needed))


def of_a_perfect(table: str, *, shared: bool) -> Counter[str]:
    """Count the standings that a DRM would have that is right on all splits of all sets."""
    return Counter(
        standing(scores.assign(DRM=1.0), overlap(table, name), shared=shared)
        for name, scores in by_family(table).items()
        if "DRM" in scores
    )


def how_told(table: str, *, shared: bool) -> str:
    """Say what a lead is, how small a one the splits can show, and on how many sets one is possible."""
    perfect = of_a_perfect(table, shared=shared)
    return (
        f"Ahead is a lead over each other method, by one-sided t-tests at {LEVEL} that allow for the overlap "
        "of the splits; behind is the reverse against one of them, with Bonferroni's correction"
        f"{'' if shared else ', or the same scores on all splits'}. In the "
        f"median, a lead over the next best must exceed {smallest_lead(table):.3f} to show: a "
        f"DRM that is always right would be ahead on {perfect[AHEAD]} of {perfect.total()} sets."
    )


def lacking(sure: int, possible: int, wanted: int) -> float:
    """Return minus how many sets lack a sure lead, and once more how many cannot have one; above 0 if none.

    >>> lacking(13, 15, 12), lacking(10, 14, 12), lacking(10, 11, 12)
    (1.0, -2.0, -3.0)
    """
    return float(sure - wanted + min(possible - wanted, 0))


def told(found: Mapping[str, str]) -> str:
    """Say on how many sets the DRM is ahead, on which it is behind, and how many are open."""
    count = Counter(found.values())
    behind = ", ".join(name for name, outcome in found.items() if outcome == BEHIND)
    return (
        f"ahead on {count[AHEAD]}, behind on {count[BEHIND]}{f' ({behind})' if behind else ''}, open on "
        f"{count[OPEN]}"
    )

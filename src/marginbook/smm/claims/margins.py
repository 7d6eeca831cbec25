"""Agreement within a stated margin: two methods are as good as each other only if an interval says so.

That no difference was found is no agreement. The interval is the 90 % interval of Student for the mean
difference over draws, or over the random splits of one data set: it answers for these data and splits of
this kind. Its upper end below the margin is the one-sided test, at 0.05, that the first method is not worse
by the margin or more.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from ...claims import Evidence, Verdict, share
from .results import listed, means

if TYPE_CHECKING:
    import pandas as pd

#: of one side; an interval has twice this outside
ONE_SIDED = 0.05
#: chance to find a difference as large as the margin, or agreement where there is no difference
POWER = 0.8


def within(frame: pd.DataFrame, first: str | int, second: str | int, margin: float) -> pd.DataFrame:
    """Ask on every set whether the first of two methods is worse by the margin; less is better.

    Parameters
    ----------
    frame : DataFrame
        As of `marginbook.smm.claims.results.by_draw`.
    first, second : str or int
    margin : float

    Returns
    -------
    DataFrame
        By set: `difference` (mean of first minus second), `low` and `high` of its interval, `outcome`:
        "within" where `high` is below the margin, "beyond" where `low` is above it, else "open"; and
        `needed`, the draws with which a difference of 0 would be told from the margin in 80 % of cases.
    """
    import pandas as pd

    rows = {}
    for name, part in frame.groupby(level="dataset", sort=False):
        apart = part[first].to_numpy(float) - part[second].to_numpy(float)
        mean, deviation, k = float(apart.mean()), float(apart.std(ddof=1)), len(apart)
        half = float(stats.t.ppf(1 - ONE_SIDED, k - 1)) * deviation / np.sqrt(k)
        rows[str(name)] = {
            "difference": mean,
            "low": mean - half,
            "high": mean + half,
            "outcome": "within" if mean + half < margin else "beyond" if mean - half > margin else "open",
            "needed": draws_needed(deviation, margin),
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def draws_needed(deviation: float, difference: float, power: float = POWER) -> int:
    """Return the draws with which a difference is told from 0 with the given power, one-sided at 0.05.

    Parameters
    ----------
    deviation : float
        Of the difference of two methods on one draw.
    difference : float
        More than 0.
    power : float

    Examples
    --------
    >>> draws_needed(0.02, 0.01), draws_needed(0.02, 0.005)
    (27, 101)
    """
    normal = stats.norm.ppf(1 - ONE_SIDED) + stats.norm.ppf(power)
    k = max(2, int(np.ceil((normal * deviation / difference) ** 2)))
    # Student's tails are heavier than the normal ones
    while (
        deviation > 0
        and stats.nct.sf(stats.t.ppf(1 - ONE_SIDED, k - 1), k - 1, difference / deviation * np.sqrt(k))
        < power
    ):
        k += 1
    return k


def judged(outcomes: Iterable[str]) -> Verdict:
    """Return the verdict on outcomes of `within`: undecided where those that are open could turn it."""
    found = list(outcomes)
    inside, open_, total = found.count("within"), found.count("open"), len(found)
    worst, best = share(inside, total), share(inside + open_, total)
    return worst if worst == best else Verdict.UNDECIDED


def told(lines: pd.DataFrame, digits: int) -> str:
    """Return the tally of the outcomes, and the difference on each set with its interval."""
    count = lines["outcome"].value_counts()
    each = ", ".join(
        f"{name} {row['difference']:+.{digits}f} [{row['low']:.{digits}f}, {row['high']:.{digits}f}]"
        for name, row in lines.iterrows()
    )
    return ", ".join(f"{count.get(word, 0)} {word}" for word in ("within", "open", "beyond")) + f" ({each})"


def claimed(margin: float, unit: str) -> str:
    """Say what is claimed of a pair of methods."""
    return f"worse by less than {margin:g} ({unit}) on every set"


def evidence(
    frame: pd.DataFrame,
    pairs: tuple[tuple[str, str], ...],
    margin: float,
    *,
    digits: int,
    unit: str,
    more: str = "",
    sizes: dict[str, Any] | None = None,
) -> Evidence:
    """Return how the first of each pair fares against the second on every set.

    Parameters
    ----------
    frame : DataFrame
        As of `by_draw`.
    pairs : tuple of (str, str)
    margin : float
    digits : int
        Of what is told.
    unit : str
        Of the margin.
    more : str
        Sentences for the end.
    sizes : dict, optional
    """
    lines = {pair: within(frame, *pair, margin) for pair in pairs}
    outcomes = [outcome for table in lines.values() for outcome in table["outcome"]]
    highest = max(float(table["high"].max()) for table in lines.values())
    needed = {
        name: max(int(table.loc[name, "needed"]) for table in lines.values()) for name in means(frame).index
    }
    return Evidence(
        judged(outcomes),
        "; ".join(
            f"{first} less {second}: {told(table, digits)}" for (first, second), table in lines.items()
        ),
        claimed(margin, unit),
        margin - highest,
        f"90 % intervals of Student over {len(frame) // len(means(frame))} draws or splits of each set; "
        "open is an "
        "interval that holds the margin. For a true difference of 0 to be told from the margin in 80 % of "
        "cases it "
        f"takes {', '.join(f'{number} ({name})' for name, number in needed.items())}. Means: "
        + "; ".join(f"{name}: {listed(row, digits)}" for name, row in means(frame).iterrows())
        + f". {more}".rstrip(),
        {"sets": len(means(frame)), "comparisons": len(outcomes)} | (sizes or {}),
    )

"""Agreement within a stated margin: two methods are as good as each other only if an interval says so.

That no difference was found is no agreement. The interval is the 90 % interval of Student for the mean
difference over draws, or over the random splits of one data set: it answers for these data and splits of
this kind. Its upper end below the margin is the one-sided test, at 0.05, that the first method is not worse
by the margin or more.

Where the number of splits was raised because an interval held the margin, the first look had a chance of its
own to miss a difference: each of the looks then has its share of the 0.05 (Bonferroni), and the interval is
wider.

Beside each verdict stands its power: how probable it was that the draws tell a difference of the margin from
none, computed from the spread over the same draws. A tie counts against a claim only where it was 80 %.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from ...claims import Evidence, Verdict, share_open
from .stored_results import NAMES, TABLES, contest, listed, means

if TYPE_CHECKING:
    import pandas as pd

_OF_ALL = TABLES.protocol("sample-size").thresholds
#: of one side; an interval has twice this outside
ONE_SIDED = float(_OF_ALL["level"])
#: chance to find a difference as large as the margin, or agreement where there is no difference
POWER = float(_OF_ALL["power"])


def within(
    frame: pd.DataFrame,
    first: str | int,
    second: str | int,
    margin: float,
    looks: Mapping[str, int] | None = None,
) -> pd.DataFrame:
    """Ask on every set whether the first of two methods is worse by the margin; less is better.

    Parameters
    ----------
    frame : DataFrame
        As of `marginbook.smm.claims.stored_results.by_draw`.
    first, second : str or int
    margin : float
    looks : dict, optional
        Looks at the intervals of a set, where there was more than one.

    Returns
    -------
    DataFrame
        By set: `difference` (mean of first minus second), `low` and `high` of its interval, `outcome`:
        "within" where `high` is below the margin, "beyond" where `low` is above it, else "open"; `draws`;
        `power`, the chance to distinguish a true difference of 0 from one of the size of the margin, and
        `needed`, the draws with which it is 80 %.
    """
    import pandas as pd

    rows, looks = {}, looks or {}
    for name, part in frame.groupby(level="dataset", sort=False):
        apart = part[first].to_numpy(float) - part[second].to_numpy(float)
        mean, deviation, k = float(apart.mean()), float(apart.std(ddof=1)), len(apart)
        level = ONE_SIDED / looks.get(str(name), 1)
        half = float(stats.t.ppf(1 - level, k - 1)) * deviation / np.sqrt(k)
        rows[str(name)] = {
            "difference": mean,
            "low": mean - half,
            "high": mean + half,
            "outcome": "within" if mean + half < margin else "beyond" if mean - half > margin else "open",
            "draws": k,
            "power": power(deviation, k, abs(margin), level),
            "needed": draws_needed(deviation, abs(margin), level=level),
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def power(deviation: float, draws: int, difference: float, level: float = ONE_SIDED) -> float:
    """Return the chance that Student's one-sided test tells a difference from 0.

    Parameters
    ----------
    deviation : float
        Of the difference of two methods on one draw.
    draws : int
    difference : float
        More than 0.
    level : float
        Of one side.

    Examples
    --------
    >>> [round(power(0.02, draws, 0.01), 2) for draws in (10, 27)]
    [0.43, 0.81]
    """
    if deviation == 0:
        return 1.0
    t = stats.t.ppf(1 - level, draws - 1)
    return float(stats.nct.sf(t, draws - 1, difference / deviation * np.sqrt(draws)))


def draws_needed(deviation: float, difference: float, level: float = ONE_SIDED) -> int:
    """Return the draws with which a difference is distinguished from 0 with the power `POWER`, one-sided.

    Parameters
    ----------
    deviation : float
        Of the difference of two methods on one draw.
    difference : float
        More than 0.
    level : float
        Of one side.

    Examples
    --------
    >>> draws_needed(0.02, 0.01), draws_needed(0.02, 0.005)
    (27, 101)
    """
    normal = stats.norm.ppf(1 - level) + stats.norm.ppf(POWER)
    k = max(2, int(np.ceil((normal * deviation / difference) ** 2)))
    # Student's tails are heavier than the normal ones
    while power(deviation, k, difference, level) < POWER:
        k += 1
    return k


def contested(frame: pd.DataFrame, first: str, second: str, margin: float) -> pd.DataFrame:
    """Ask on every set whether the first of two methods wins; less is better, draws are independent.

    Returns
    -------
    DataFrame
        As of `marginbook.smm.claims.stored_results.contest`, with `draws`, `power` to see a difference of the
        margin, and `counts`: "within" for a win, "open" for a tie without the power of 80 %, else "beyond".
    """
    found = contest(frame, first, second)
    apart = (frame[first] - frame[second]).groupby(level="dataset", sort=False)
    level = ONE_SIDED / 2  # the test of a contest has two sides
    found["draws"] = [len(part) for _, part in apart]
    found["power"] = [power(float(part.std(ddof=1)), len(part), margin, level) for _, part in apart]
    found["needed"] = [draws_needed(float(part.std(ddof=1)), margin, level=level) for _, part in apart]
    blind = (found["paired"] == "tie") & (found["power"] < POWER)
    found["counts"] = np.select([found["paired"] == "win", blind], ["within", "open"], "beyond")
    return found


def how_powerful(lines: pd.DataFrame, margin: float, unit: str) -> str:
    """Say for each set of `within` or `contested` by how many draws a difference of the margin was seen."""
    each = ", ".join(
        f"{name} {row['power']:.0%} with {row['draws']}"
        + (f" ({POWER:.0%} with {row['needed']})" if row["power"] < POWER else "")
        for name, row in lines.iterrows()
    )
    return f"Chance to see a difference of {abs(margin):g} ({unit}), by the draws or splits: {each}."


def powers(tables: Iterable[pd.DataFrame]) -> dict[str, Any]:
    """Return `draws` and the least `power` of each set, as sizes of an evidence."""
    found: dict[str, dict[str, Any]] = {"draws": {}, "power": {}}
    for table in tables:
        for name, row in table.iterrows():
            before = found["power"].get(str(name), 1.0)
            found["draws"][str(name)] = int(row["draws"])
            found["power"][str(name)] = min(before, round(float(row["power"]), 2))
    return found


def judged(outcomes: Iterable[str]) -> Verdict:
    """Return the verdict on outcomes of `within`: undecided where those that are open could turn it."""
    found = list(outcomes)
    return share_open(found.count("within"), found.count("open"), len(found))


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
    looks: Mapping[str, int] | None = None,
) -> Evidence:
    """Return how the first of each pair fares against the second on every set.

    Parameters
    ----------
    frame : DataFrame
        As of `by_draw`.
    pairs : tuple of (str, str)
    margin : float
    digits : int
        Of the numbers shown.
    unit : str
        Of the margin.
    more : str
        Sentences for the end.
    looks : dict, optional
        As of `within`.
    """
    lines = {pair: within(frame, *pair, margin, looks) for pair in pairs}
    outcomes = [outcome for table in lines.values() for outcome in table["outcome"]]
    highest = max(float(table["high"].max()) for table in lines.values())
    shown = means(frame)[list(dict.fromkeys(name for pair in pairs for name in pair))]
    return Evidence(
        verdict=judged(outcomes),
        measured="; ".join(
            f"{first} minus {second}: {told(table, digits)}" for (first, second), table in lines.items()
        ),
        claimed=claimed(margin, unit),
        slack=margin - highest,
        why="The 90 % intervals are Student's, over the draws or splits of each set. A set is within if its "
        "interval is below the margin, beyond if it is above, and open if it contains the margin. "
        + (f"{NAMES} " if shown.index.str.contains("-n").all() else "")
        + "".join(
            f"{name} was analysed {number} times, so its intervals have level "
            f"{1 - 2 * ONE_SIDED / number:.0%}. "
            for name, number in (looks or {}).items()
        )
        + " ".join(
            f"{first} minus {second}: {how_powerful(table, margin, unit)}"
            for (first, second), table in lines.items()
        )
        + " Means: "
        + "; ".join(f"{name}: {listed(row, digits)}" for name, row in shown.iterrows())
        + f". {more}".rstrip(),
        sizes={"sets": len(shown), "comparisons": len(outcomes)} | powers(lines.values()),
    )

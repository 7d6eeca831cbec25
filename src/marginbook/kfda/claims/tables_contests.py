"""Contests of two methods in our runs, paired by partition, and readings of a claim that agree best."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from ...claims import open_parts
from ...claims.printed_tables import LEVEL, paired
from ...experiments.equivalence import mean_interval
from ...experiments.stats import corrected_resampled_t, paired_t
from ..experiments.columns import columns_of, means
from ..paper.printed import PROTOCOLS
from .tables_cuts import IN_WORDS

if TYPE_CHECKING:
    import pandas as pd


class Parts(NamedTuple):
    """What came out of one reading: each part shown, open or refuted, how far the least is, and two texts."""

    found: list[str]
    slack: float
    measured: str
    why: str


def best_of(look: Callable[[pd.DataFrame], Parts], *columns: str) -> tuple[Parts, str] | None:
    """Return what the reading gives that agrees best, and the other in words; None without results.

    Of equals it is the first of `PROTOCOLS`.
    """
    found = {}
    for protocol in PROTOCOLS:
        wide = columns_of(protocol)
        if wide is None or not have(wide, *columns):
            return None
        found[protocol] = look(wide)
    best = open_parts.best({protocol: parts.found for protocol, parts in found.items()})
    others = "; ".join(
        f"{IN_WORDS[protocol]}: {parts.measured}" for protocol, parts in found.items() if protocol != best
    )
    return found[best], f"{IN_WORDS[best]}. The other, {others}"


def contest(wide: pd.DataFrame, first: str, second: str) -> pd.DataFrame:
    """Compare the errors of two columns on every data set that both have.

    Parameters
    ----------
    wide : DataFrame
        As from `marginbook.kfda.experiments.columns.expand`.
    first, second : str

    Returns
    -------
    DataFrame
        By data set: `partitions`, `difference` (mean error of first minus second, in points), `low` and
        `high` of its 90 % interval, `p_paired`, `p_corrected`, and `outcome` of the first: "win" (fewer
        errors), "tie", "loss". Interval and outcome are those of the corrected test.
    """
    import pandas as pd

    columns = ["partitions", "difference", "low", "high", "p_paired", "p_corrected", "outcome"]
    rows = {}
    sides = wide[wide["method"].isin([first, second])]
    for name, part in sides.groupby("dataset", sort=False):
        both = part.pivot(index="split", columns="method", values="mcr")
        if {first, second} - set(both.columns) or len(both.dropna()) < 2:
            continue
        both = both.dropna()
        a, b = both[first].to_numpy(float), both[second].to_numpy(float)
        n_train, n_test = float(part["n_train"].iloc[0]), float(part["n_test"].iloc[0])
        plain, corrected = paired_t(a, b), corrected_resampled_t(a, b, n_train=n_train, n_test=n_test)
        outcome = "tie"
        if corrected.p_value < LEVEL:
            outcome = "win" if corrected.mean_difference < 0 else "loss"
        low, high = mean_interval((a - b).round(9), overlap=n_test / n_train)
        rows[str(name)] = {
            "partitions": len(both),
            "difference": plain.mean_difference,
            "low": low,
            "high": high,
            "p_paired": plain.p_value,
            "p_corrected": corrected.p_value,
            "outcome": outcome,
        }
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("dataset")


def win_tie_loss(lines: pd.DataFrame) -> str:
    """Return the outcomes of a contest as "wins/ties/losses"."""
    found = lines["outcome"].tolist()
    return "/".join(str(found.count(name)) for name in ("win", "tie", "loss"))


def described(wide: pd.DataFrame, first: str, second: str, lines: pd.DataFrame) -> str:
    """Return one sentence part on a contest, of which `lines` is the outcome: averages, sets, tests."""
    found = means(wide)
    higher, lower, sets, by, p = paired(found[first], found[second])
    return (
        f"{first} against {second}: {by:+.2f} points, fewer errors on {lower} and more on {higher} of {sets} "
        f"sets, p = {p:.2g}, win/tie/loss {win_tie_loss(lines)} by the corrected test on each"
    )


def have(wide: pd.DataFrame | None, *columns: str) -> bool:
    """Return whether there are results with all these columns on some data set."""
    if wide is None or wide.empty:
        return False
    found = means(wide)
    return set(columns) <= set(found.columns) and not found[list(columns)].dropna().empty

"""Contests of two methods in our runs, paired by partition, and readings of a claim that agree best."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from ...claims import contests, open_parts
from ...claims.contests import win_tie_loss
from ...claims.printed_tables import paired
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
        Of :func:`marginbook.claims.contests.contest`, a split being a partition; fewer errors win.
    """
    sides = wide[wide["method"].isin([first, second])]
    errors = sides.pivot(index=["dataset", "split"], columns="method", values="mcr")
    sizes = sides.groupby("dataset", sort=False)[["n_train", "n_test"]].first().astype(float)
    return contests.contest(
        errors.reindex(sizes.index, level="dataset"),
        first,
        second,
        overlap={str(name): ratio for name, ratio in (sizes["n_test"] / sizes["n_train"]).items()},
        higher_is_better=False,
    )


def described(wide: pd.DataFrame, first: str, second: str, lines: pd.DataFrame) -> str:
    """Return one sentence part on a contest, of which `lines` is the outcome: averages, sets, tests."""
    found = means(wide)
    higher, lower, sets, by, p = paired(found[first], found[second])
    return (
        f"{first} against {second}: {by:+.2f} points, fewer errors on {lower} and more on {higher} of {sets} "
        f"sets, p = {p:.2g}, win/tie/loss {win_tie_loss(lines['corrected'])} by the corrected test on each"
    )


def have(wide: pd.DataFrame | None, *columns: str) -> bool:
    """Return whether there are results with all these columns on some data set."""
    if wide is None or wide.empty:
        return False
    found = means(wide)
    return set(columns) <= set(found.columns) and not found[list(columns)].dropna().empty

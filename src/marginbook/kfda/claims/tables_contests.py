"""Contests of two methods in our runs, paired by partition, and readings of a claim that agree best."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ...claims import contests, open_parts
from ...claims.contests import outcome_counts
from ...claims.printed_tables import paired
from ...claims.wrong_runs import WrongRuns, all_ways, lows, turned
from ..experiments.columns import columns_of, means
from ..paper.readings import IN_WORDS, PROTOCOLS

if TYPE_CHECKING:
    import pandas as pd

    #: numbers by data set, and the bound that they are above on average, for each part
    Gains: TypeAlias = Sequence[tuple[pd.Series[float], float]]


class Parts(NamedTuple):
    """What came out of one reading: each part shown, open or refuted, how far the least is, and two texts.

    `gains` has for each part what is above a bound on average.
    """

    found: list[str]
    slack: float
    measured: str
    why: str
    gains: Gains = ()


def exchanged(readings: Iterable[Gains], names: str) -> WrongRuns:
    """Count how often two columns that a coin exchanges on each set do as well, in the best reading.

    Parameters
    ----------
    readings : iterable of Gains
        The `gains` of `Parts`.
    names : str
        What is exchanged.
    """
    import pandas as pd

    parts = list(readings)
    table = pd.concat([gain for gains in parts for gain, _ in gains], axis=1).to_numpy()
    bounds = np.array([bound for gains in parts for _, bound in gains])
    ends = lows(table)
    edges = np.cumsum([0, *map(len, parts)])

    def slack(sums: np.ndarray) -> np.ndarray:
        above = ends(sums) - bounds
        each = [above[:, first:end].min(axis=1) for first, end in pairwise(edges)]
        return np.asarray(np.max(each, axis=0))

    return WrongRuns(
        all_ways(turned(table)).as_well(slack), f"{names} are exchanged on each set", "the slack is as large"
    )


def looks(look: Callable[[pd.DataFrame], Parts], *columns: str) -> dict[str, Parts]:
    """Return what each reading gives; empty without results."""
    found = {}
    for protocol in PROTOCOLS:
        wide = columns_of(protocol)
        if wide is None or not have(wide, *columns):
            return {}
        found[protocol] = look(wide)
    return found


def best_of(found: Mapping[str, Parts]) -> tuple[Parts, str]:
    """Return what the reading gives that agrees best, and the other in words.

    Of equals it is the first of `PROTOCOLS`.
    """
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
        f"sets, p = {p:.2g}, win/tie/loss {outcome_counts(lines['corrected'])} by the corrected test on each"
    )


def have(wide: pd.DataFrame | None, *columns: str) -> bool:
    """Return whether there are results with all these columns on some data set."""
    if wide is None or wide.empty:
        return False
    found = means(wide)
    return set(columns) <= set(found.columns) and not found[list(columns)].dropna().empty

"""How many margins of Figure 1 are as the paper says, under each reading, and how often by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...claims import Verdict
from ...claims.read_as import best
from ...claims.wrong_runs import WrongRuns, all_ways
from ..paper.printed import PAPER_TABLES
from .figures_readings import FIGURE_1, FigureOne, bound

if TYPE_CHECKING:
    import pandas as pd


def curves(prefix: str = "margin_") -> pd.DataFrame | None:
    """Return quantiles of the training margins, means over the splits, by data set and method.

    None where there are no results.

    Parameters
    ----------
    prefix : {"margin_", "unit_"}
        Margins y f(x), or these divided by the length of w.

    Returns
    -------
    DataFrame
        Columns are percentages: 0 is the smallest margin, 100 the largest.
    """
    frame = PAPER_TABLES.results("fig-1")
    if frame is None:
        return None
    names = [name for name in frame.columns if name.startswith(prefix) and name[len(prefix) :].isdigit()]
    table = frame.groupby(["dataset", "method"], sort=False)[names].mean()
    return table.rename(columns=lambda name: int(name.removeprefix(prefix)))


def shifts(table: pd.DataFrame, first: str, second: str) -> pd.DataFrame:
    """Compare two margin distributions on each data set that has both.

    Parameters
    ----------
    table : DataFrame
        As from `curves`.
    first, second : str
        Methods, such as "LDM(linear)" and "SVM(linear)".

    Returns
    -------
    DataFrame
        By data set: `smallest` (difference of the smallest margins, first less second), `right`, `left`:
        shares of the inner quantiles that are visibly larger, or smaller, for the first.
    """
    import pandas as pd

    rows, visible = {}, bound("fig-1", "visible")
    for name in table.index.unique("dataset"):
        part = table.loc[name]
        if {first, second} <= set(part.index):
            gap = part.loc[first] - part.loc[second]
            inner = gap[[percent for percent in gap.index if 0 < percent < 100]]
            rows[name] = {
                "smallest": float(gap[0]),
                "right": float((inner > visible).mean()),
                "left": float((inner < -visible).mean()),
            }
    return pd.DataFrame.from_dict(rows, orient="index", columns=["smallest", "right", "left"])


def counted_margins() -> dict[FigureOne, pd.DataFrame]:
    """Say of each set, under each stored reading, whether the two parts of the sentence are so.

    Returns
    -------
    dict
        By reading, a row for each set with the columns `lower` (the LDM's minimum is smaller), `right` (most
        of its margins are larger), `turned_lower`, `turned_right` (the same with the machines exchanged).
    """
    import pandas as pd

    found, visible = {}, bound("fig-1", "visible")
    for reading in FIGURE_1:
        table = curves(reading.prefix)
        if table is None or (own := shifts(table, *reading.pair)).empty:
            continue
        turned = shifts(table, *reversed(reading.pair))
        columns = {
            f"{name}{part}": sets[column].lt(-visible) if part == "lower" else sets[column].gt(0.5)
            for name, sets in (("", own), ("turned_", turned))
            for part, column in (("lower", "smallest"), ("right", "right"))
        }
        found[reading] = pd.DataFrame(columns)
    return found


def parts(own: pd.DataFrame) -> tuple[int, int, int]:
    """Return on how many sets the minimum is smaller, on how many most margins are larger, and how many."""
    return int(own["lower"].sum()), int(own["right"].sum()), len(own)


def wrong_runs(found: dict[FigureOne, pd.DataFrame]) -> WrongRuns:
    """Count how often machines that a coin exchanges on each set do as well, in the best reading.

    Parameters
    ----------
    found : dict
        As from `counted_margins`. All ways to exchange the machines are counted, also none.
    """
    names = sorted({name for own in found.values() for name in own.index})
    counts = [
        np.array([own[columns].sum(axis=1).reindex(names, fill_value=0) for own in found.values()], dtype=int)
        for columns in (["lower", "right"], ["turned_lower", "turned_right"])
    ]
    parts_of = np.array([2 * len(own) for own in found.values()])
    ways = all_ways([np.stack([side[:, k] for side in counts]) for k in range(len(names))])
    return WrongRuns(
        ways.as_well(lambda sums: (sums / parts_of).max(axis=1)),
        "a coin exchanges the two machines on each set",
        "as many parts hold in the best reading",
    )


def judged(found: dict[FigureOne, pd.DataFrame]) -> Verdict:
    """Return the verdict on the best of some readings.

    Parameters
    ----------
    found : dict
        Some of `counted_margins`.
    """
    scores = {one: (sum(parts(own)[:2]), 2 * len(own)) for one, own in found.items()}
    return wrong_runs(found).judge(*scores[best(scores)])

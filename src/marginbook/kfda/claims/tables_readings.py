r"""Every reading of Tables 1 and 2 beside the print, and how far the rule for their cells can be trusted.

The text leaves two things open. What is tested on a partition: a machine that is trained on it, as in the
methodology "followed throughout", or the selected classifier, which is "applied to all test partitions". And
when a coefficient of an iteration that almost never reaches zero counts as zero. A cell agrees by
:func:`marginbook.claims.cell_verdicts.compare_cells`, with the spread over realisations of the choice that
the paper makes once; our five realisations, one against another, say how often a faithful run would agree,
and a wrong one, when either may choose its reading, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ...claims.cell_verdicts import TESTED
from ..experiments.columns import expand, results
from ..paper.printed import KINDS, PAPER_TABLES, choice_spreads
from ..paper.readings import PROTOCOLS, SHOWN, readings_of, with_cut
from .tables_calibration import SIDES, TESTABLE, count_agreeing, of_table, rates

if TYPE_CHECKING:
    import pandas as pd


def compared(
    table: str,
    ours: pd.DataFrame,
    side: str = "mcr",
    protocol: str = SHOWN,
    stored: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return the printed cells of a table beside ours, as `claims.cell_verdicts.compare_cells` does.

    Parameters
    ----------
    table : {"table-1", "table-2"}
    ours : DataFrame
        As from `marginbook.kfda.experiments.columns.expand`.
    side : {"mcr", "nrs"}
    protocol : {"refit", "fixed"}
        Of `ours`.
    stored : DataFrame, default: all stored results
        What `ours` was expanded from: the spread of the choice is taken from it.
    """
    frame = PAPER_TABLES.rows(f"{table}{SIDES[side]}")
    frame = frame[frame["method"].isin(TESTABLE)]
    found = results() if stored is None else stored
    spreads = {} if found is None else choice_spreads(found, protocol, side)
    return PAPER_TABLES.judged(table, frame, ours, metric=side, choices=spreads)


def readings(*tables: str, protocols: Sequence[str] = PROTOCOLS) -> pd.DataFrame:
    """Return all stored readings of the tables side by side.

    Parameters
    ----------
    *tables : str
        Default: both.
    protocols : sequence of str

    Returns
    -------
    DataFrame
        One row per table and reading, those that agree best first, of equals in the order of
        `paper.readings.readings_of`: `table`, `reading` (of `paper.readings`),
        `errors` and `retained` (cells that agree), `of` (tested of each), `agree` and `tested` (of both),
        `off_errors`, `off_retained` (mean distance from print, in points), `faithful`, `wrong`, `shifted`
        (the rates of `rates`), `needed` (cells that a faithful re-run reaches), `verdict`. Empty before any
        results. ``attrs["cells"]`` has the cells of each by (table, reading, side), ``attrs["rates"]`` what
        `rates` returns by table, ``attrs["absent"]`` the readings that are not stored by table.
    """
    import pandas as pd

    rows, kept, known, absent = [], {}, {}, {}
    for table in tables or KINDS:
        stored = of_table(table)
        if stored is None:
            continue
        found, _ = known[table] = rates(table, protocols)
        there, absent[table] = readings_of(stored, protocols)
        for reading in there:
            frame = with_cut(stored, reading.cut)
            wide = expand(frame, reading.protocol)
            sides = {side: compared(table, wide, side, reading.protocol, frame) for side in SIDES}
            counts = {side: count_agreeing(cells) for side, cells in sides.items()}
            agree, tested = np.sum(list(counts.values()), axis=0).tolist()
            rows.append(
                {
                    "table": table,
                    "reading": reading,
                    "errors": int(counts["mcr"][0]),
                    "retained": int(counts["nrs"][0]),
                    "of": int(counts["mcr"][1]),
                    "agree": agree,
                    "tested": tested,
                    "off_errors": distance(sides["mcr"]),
                    "off_retained": distance(sides["nrs"]),
                    "faithful": found.faithful,
                    "wrong": found.wrong,
                    "shifted": found.shifted,
                    "needed": found.needed(tested),
                    "verdict": str(found.judge(agree, tested)),
                }
            )
            kept.update({(table, reading, side): cells for side, cells in sides.items()})
    rows.sort(key=lambda row: (row["table"], -row["agree"]))
    frame = pd.DataFrame(rows)
    frame.attrs |= {"cells": kept, "rates": known, "absent": absent}
    return frame


@cache
def all_readings() -> pd.DataFrame:
    """Return `readings` of both tables, which takes a while, for all that is told of them."""
    return readings()


def best_reading(protocol: str) -> pd.DataFrame:
    """Return the rows of `all_readings`, one for each table, that agree best of those with one protocol."""
    found = all_readings()
    of_it = found["reading"].map(lambda reading: reading.protocol) == protocol
    return found[of_it].drop_duplicates("table").set_index("table")


def distance(cells: pd.DataFrame) -> float:
    """Return the mean absolute difference of the cells that both sides have, in points."""
    both = cells[cells["verdict"].isin(TESTED)]
    return float(both["difference"].abs().mean()) if len(both) else float("nan")

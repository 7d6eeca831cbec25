"""Claims about the cells of Tables 1 to 3: does what is printed come out again?"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

from ...claims import Evidence, claim, share
from ...claims.comparison import compare_cells, read_printed
from ...claims.printed_tables import TESTED
from ..experiments.columns import columns_of, means
from ..paper.printed import (
    KINDS,
    OWN,
    PAPER_TABLES,
    PUBLISHED,
    RIVAL,
    ROUNDING,
    TINY,
    partitions,
    printed,
    summary,
)

if TYPE_CHECKING:
    import pandas as pd

RESULTS = tuple(f"results/kfda/{table}.csv" for table in KINDS)
#: the two numbers of a cell: our column, and how the file of the printed ones ends
SIDES = {"mcr": "", "nrs": "-retained"}
#: columns that can come out again: of the published best there are numbers only
TESTABLE = (RIVAL, *OWN)


def nothing(claimed: str, table: str = "table-1") -> Evidence:
    """Return the evidence of a claim without results."""
    return Evidence(share(0, 0), "nothing", claimed, None, PAPER_TABLES.not_run(table), {"sets": 0})


def compared(table: str, ours: pd.DataFrame, side: str = "mcr") -> pd.DataFrame:
    """Return the printed cells of a table beside ours, as `marginbook.claims.comparison.compare_cells` does.

    Parameters
    ----------
    table : {"table-1", "table-2"}
    ours : DataFrame
        As from `marginbook.kfda.experiments.columns.expand`.
    side : {"mcr", "nrs"}
    """
    frame = read_printed(PAPER_TABLES.paper / f"{table}{SIDES[side]}.csv")
    frame = frame[frame["method"].isin(TESTABLE)]
    return compare_cells(frame, ours, metric=side, printed_splits=partitions(), higher_is_better=False)


def agreement(table: str) -> Evidence:
    """Compare the printed cells with ours, refitted on every partition; and say what one classifier gives."""
    wide = columns_of()
    sides = {} if wide is None else {side: compared(table, wide, side) for side in SIDES}
    tested = {side: cells[cells["verdict"].isin(TESTED)] for side, cells in sides.items()}
    if not tested or tested["mcr"].empty:
        return nothing("the printed cells", table)
    agree = {side: int((cells["verdict"] == TESTED[0]).sum()) for side, cells in tested.items()}
    number = {side: len(cells) for side, cells in tested.items()}
    told = []
    for protocol, best in (("refit", False), ("fixed", False), ("fixed", True)):
        ours = columns_of(protocol, best_of_five=best)
        if ours is None:
            continue
        off = [distance(compared(table, ours, side)) for side in SIDES]
        name = f"{protocol}{', the best of five by test error' if best else ''}"
        told.append(f"{name}: {off[0]:.1f} and {off[1]:.1f}")
    higher = {side: int((cells["direction"] == "ours higher").sum()) for side, cells in tested.items()}
    by_column = ", ".join(
        f"{column} {int((part['verdict'] == TESTED[0]).sum())} of {len(part)}"
        for column, part in tested["mcr"].groupby("method", sort=False)
    )
    return Evidence(
        share(sum(agree.values()), sum(number.values())),
        f"{agree['mcr']} of {number['mcr']} errors and {agree['nrs']} of {number['nrs']} retained shares "
        f"agree; of the others ours is higher in {higher['mcr']} and {higher['nrs']}",
        "the printed cells",
        float(sum(agree.values()) / sum(number.values()) - 1),
        "Ours are of machines refitted on every partition, as in the benchmark's methodology. A cell agrees "
        "when the means differ by at most two standard errors of their difference (no ± of retained shares "
        f"is printed; ours stands for it). Errors by column: {by_column}. Mean distance from the printed "
        f"errors and retained shares, in points, {'; '.join(told)}. Grids of width and rho are not printed; "
        "ours are assumed.",
        {"sets": int(tested["mcr"]["dataset"].nunique()), "cells": sum(number.values())},
    )


def distance(cells: pd.DataFrame) -> float:
    """Return the mean absolute difference of the cells that both sides have, in points."""
    both = cells[cells["verdict"].isin(TESTED)]
    return float(both["difference"].abs().mean()) if len(both) else math.nan


@claim(
    "kfda/table-1",
    kind="experiment",
    where="Table 1",
    statement="the printed errors and retained samples of kFDA_OLS, kFDA_1 and kFDA_0.5 on 13 IDA sets",
    notebook="kfda/04_tables#kfda-table-1",
    depends=(*RESULTS, "data_download/registry.toml"),
)
def check_table_1() -> Evidence:
    """Compare every printed cell with ours."""
    return agreement("table-1")


@claim(
    "kfda/table-2",
    kind="experiment",
    where="Table 2",
    statement="the printed errors and retained samples of kFDA_OLS, kFDA_1 and kFDA_0.5 on 7 UCI sets",
    notebook="kfda/04_tables#kfda-table-2",
    depends=(*RESULTS, "data_download/registry.toml"),
)
def check_table_2() -> Evidence:
    """Compare every printed cell with ours."""
    return agreement("table-2")


def averages(ours: pd.DataFrame) -> pd.DataFrame:
    """Return Table 3 for the sets that all of our columns have.

    Returns
    -------
    DataFrame
        `side` ("mcr", "nrs"), `column`, `printed` (the mean of the printed cells of the same sets), `ours`,
        and `table`, what Table 3 prints for all 20 sets. ``attrs["names"]`` lists the sets.
    """
    import pandas as pd

    page, rows, names = printed(), [], []
    for side, cells, row in (("mcr", page.errors, "MCR"), ("nrs", page.retained, "NRS")):
        found = means(ours, side)
        found = found[[name for name in TESTABLE if name in found.columns]].dropna()
        names = [str(name) for name in found.index]
        for column in map(str, found.columns):
            theirs, average = cells.loc[names, column].mean(), found[column].mean()
            rows.append((side, column, float(theirs), float(average), float(summary("table-3", row)[column])))
    frame = pd.DataFrame(rows, columns=["side", "column", "printed", "ours", "table"])
    frame.attrs["names"] = names
    return frame


def orders(frame: pd.DataFrame) -> tuple[int, list[str]]:
    """Return in how many pairs of columns the averages are ordered as printed, and name the other pairs.

    Columns whose printed averages are equal, up to rounding, are no pair.
    """
    agree, turned = 0, []
    for side, part in frame.groupby("side", sort=False):
        for first, second in combinations(part.to_dict("records"), 2):
            gap = first["printed"] - second["printed"]
            if abs(gap) <= 2 * ROUNDING + TINY:
                continue
            if gap * (first["ours"] - second["ours"]) > 0:
                agree += 1
            else:
                turned.append(f"{str(side).upper()} of {first['column']} and {second['column']}")
    return agree, turned


def shown(frame: pd.DataFrame, side: str, value: str) -> str:
    """Return a row of averages as text."""
    rows = frame[frame["side"] == side].to_dict("records")
    return ", ".join(f"{row['column']} {row[value]:.1f}" for row in rows)


@claim(
    "kfda/table-3",
    kind="experiment",
    where="Table 3",
    statement="averaged over all sets, errors and retained samples of the five kFDA columns are in the "
    "printed order: kFDA_1 for min MCR the most accurate, kFDA_0.5 for min NRS the sparsest",
    notebook="kfda/04_tables#kfda-table-3",
    depends=RESULTS,
)
def check_table_3() -> Evidence:
    """Compare the order of every two columns in the two rows of averages with the printed order."""
    wide, fixed = columns_of(), columns_of("fixed")
    frame = None if wide is None else averages(wide)
    if frame is None or fixed is None or not frame.attrs["names"]:
        return nothing("the printed order")
    agree, turned = orders(frame)
    number, names = agree + len(turned), frame.attrs["names"]
    best = float(printed().errors.loc[names, PUBLISHED].mean())
    return Evidence(
        share(agree, number),
        f"{agree} of {number} pairs of columns are in order; MCR {shown(frame, 'mcr', 'ours')}; NRS "
        f"{shown(frame, 'nrs', 'ours')}",
        f"{number} of {number}; MCR {shown(frame, 'mcr', 'printed')}; NRS {shown(frame, 'nrs', 'printed')}",
        float(agree - number),
        f"Over the {len(names)} sets that all columns have, the printed averages too; ours refitted on "
        f"every partition. Turned: {', '.join(turned) or 'none'}. Tested as one classifier on all "
        f"partitions, with its own training rows, our MCR: {shown(averages(fixed), 'mcr', 'ours')}. The "
        f"best published results average {best:.1f} on these sets.",
        {"sets": len(names), "pairs": number},
    )

"""The tables of this paper beside our results: the better kernel of a method, and who leads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from ...claims import Evidence
from ...claims.cell_verdicts import TESTED, layout
from ..paper.printed import PAPER_TABLES

if TYPE_CHECKING:
    import pandas as pd

#: table -> its printed means
Reader: TypeAlias = "Callable[[str], pd.DataFrame]"

PAPER = PAPER_TABLES.paper
#: digits to which the paper prints, and to which scores are equal
DIGITS = 4
#: of one table of the paper, such as "table-8"
protocol, results = PAPER_TABLES.protocol, PAPER_TABLES.results
not_run, nothing = PAPER_TABLES.not_run, PAPER_TABLES.nothing
printed_table, cells, agreement = PAPER_TABLES.printed, PAPER_TABLES.cells, PAPER_TABLES.agreement


def read_sizes(table: str) -> pd.DataFrame:
    """Return a printed table of sizes, II, IV or VII: one row a data set."""
    import pandas as pd

    return pd.read_csv(PAPER / f"{table}.csv")


def cell(table: str, dataset: str, method: str, value: float) -> Callable[[Reader], Reader]:
    """Return a swap of `printed_table`: one cell of one table is another number."""

    def swap(read: Reader) -> Reader:
        def swapped(asked: str) -> pd.DataFrame:
            frame = read(asked)
            if asked == table:
                frame = frame.copy()
                if method not in frame.columns or dataset not in frame.index:
                    raise KeyError(f"{table} has no cell {dataset}, {method}")
                frame.loc[dataset, method] = value
            return frame

        return swapped

    return swap


def agreement_with_stand_in(table: str) -> Evidence:
    """Compare every printed cell with ours, and say what part the stand-in for the paper's C4.5 has in it."""
    found, frame = agreement(table), cells(table)
    tested = frame[frame["verdict"].isin(TESTED)]
    own = tested["method"] == "C4.5"
    if not own.any():
        return found
    agree = tested["verdict"] == TESTED[0]
    return replace(
        found,
        why=f"{found.why} C4.5 is J48 of Weka, a stand-in: the paper's words are those of the function "
        f"C4_5 of a toolbox for MATLAB. {(own & ~agree).sum()} of the {(~agree).sum()} cells that differ "
        f"are its; without it {(agree & ~own).sum()} of {(~own).sum()} agree.",
    )


def families(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of scores with one column per family: the better kernel, the better distance."""
    return table.T.groupby(table.columns.str.partition("(").get_level_values(0), sort=False).max().T


def leaders(table: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """Return the families that share the best score of each data set, at the digits that are printed."""
    family = families(table).round(DIGITS)
    best = family.eq(family.max(axis=1), axis=0)
    return {str(name): tuple(str(column) for column in row.index[row]) for name, row in best.iterrows()}


def lost(leading: dict[str, tuple[str, ...]], *, shared: bool) -> str:
    """Name the data sets that the DRM does not win, with who does; where `shared`, ties are won."""
    off = {
        name: best for name, best in leading.items() if ("DRM" not in best if shared else best != ("DRM",))
    }
    return ", ".join(f"{name} ({', '.join(best)})" for name, best in off.items()) or "none"


def won(leading: dict[str, tuple[str, ...]], *, shared: bool) -> int:
    """Count the data sets on which the DRM is best; where `shared`, one of the best."""
    return sum("DRM" in best if shared else best == ("DRM",) for best in leading.values())


def by_rule(table: str) -> dict[str, pd.DataFrame]:
    """Return our table by the paper's rule and by the honest one, without what was not run; {} before any."""
    frame, tables = cells(table), {}
    for rule, score in (("paper", "ours_mean"), ("honest", "metric_mean")):
        scores = layout(frame, score).dropna(axis=1, how="all").dropna(axis=0, how="all")
        if scores.empty:
            return {}
        tables[rule] = scores
    return tables

"""The tables of this paper beside our results: the better kernel of a method, who leads, and Table IX."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from ...claims import Evidence
from ...claims.comparison import layout
from ...claims.printed_tables import LEVEL as LEVEL
from ...claims.printed_tables import TESTED as TESTED
from ...claims.printed_tables import PaperTables
from ...claims.printed_tables import paired as paired
from ...claims.printed_tables import unavailable as unavailable

if TYPE_CHECKING:
    import pandas as pd

#: table -> its printed means
Reader: TypeAlias = "Callable[[str], pd.DataFrame]"

TABLES = PaperTables("drm", own="DRM")
PAPER = TABLES.paper
#: digits to which the paper prints, and to which scores are equal
DIGITS = 4


def protocol(table: str) -> dict[str, Any]:
    """Return one table of ``protocol.toml``."""
    return TABLES.protocol(table)


def results(table: str) -> pd.DataFrame | None:
    """Return our stored results, one row per data set, method and split; None where there are none."""
    return TABLES.results(table)


def not_run(table: str) -> str:
    """Say how results come into being."""
    return TABLES.not_run(table)


def printed_table(table: str) -> pd.DataFrame:
    """Return the printed means as the paper lays them out: data sets down, methods across."""
    return TABLES.printed(table)


def read_sizes(table: str) -> pd.DataFrame:
    """Return a printed table of sizes, II, IV or VII: one row a data set."""
    import pandas as pd

    return pd.read_csv(PAPER / f"{table}.csv")


def cells(table: str) -> pd.DataFrame:
    """Return the printed table beside our stored results; no result of ours is a cell `not-testable`.

    Among these is the last column of Table IX, the DRM without over-sampling, which was not run for it: that
    it repeats Table VIII is a claim of its own, and the page of results counts the same cells.
    """
    return TABLES.cells(table, results(table))


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


def agreement(table: str) -> Evidence:
    """Compare every printed cell of what we ran with ours."""
    return TABLES.agreement(table, cells(table))


def drm_column(plain: pd.DataFrame) -> pd.DataFrame:
    """Return the DRM's results for Table VIII in the columns of Table IX: 1 is rbf, 2 polynomial.

    The honest ``g_mean`` belongs to the kernel that leave-one-out prefers in that fold.
    """
    scores = ["cv_score_none", "cv_score_max_abs"]
    keyed = plain.set_index(["dataset", "split"])
    rbf, poly = (
        keyed[keyed["method"] == name].add_suffix(end) for name, end in (("DRM(R)", "_1"), ("DRM(P)", "_2"))
    )
    both = rbf.join(poly, how="inner")
    first, second = (both[[f"{score}_{k}" for score in scores]].max(axis=1) for k in (1, 2))
    column = both[[]].copy()
    # a kernel with which nothing could be solved has no score and is not preferred
    column["g_mean"] = both["g_mean_1"].where((first >= second) | second.isna(), both["g_mean_2"])
    for k in (1, 2):
        for scaling in ("none", "max_abs"):
            column[f"g_mean_{k}_{scaling}"] = both[f"g_mean_{scaling}_{k}"]
    return column.reset_index().assign(method="DRM")


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
    if table == "table-9" and (plain := results("table-8")) is not None and results(table) is not None:
        column = TABLES.cells(table, drm_column(plain))
        frame = frame.where(frame["method"] != "DRM", column)
    for rule, score in (("paper", "ours_mean"), ("honest", "honest_mean")):
        scores = layout(frame, score).dropna(axis=1, how="all").dropna(axis=0, how="all")
        if scores.empty:
            return {}
        tables[rule] = scores
    return tables

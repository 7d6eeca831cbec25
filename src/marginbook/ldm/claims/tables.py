"""The claims about the cells of the tables of accuracies (2 to 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...claims import Evidence, Rival, claim
from ...claims.changed_results import our_means
from ..paper.printed import PAPER_TABLES
from ..paper.readings import Reading, as_read, available

if TYPE_CHECKING:
    import pandas as pd


def cells(table: str) -> dict[Reading, pd.DataFrame]:
    """Return the printed table beside ours under each reading that has been run; empty before any run."""
    ours = PAPER_TABLES.measured(table)
    if ours is None:
        return {}
    return {reading: PAPER_TABLES.cells(table, as_read(ours, reading)) for reading in available(ours)}


def agreement(table: str, turned: int = 0) -> Evidence:
    """Compare every printed cell with ours, under the reading that agrees best.

    Parameters
    ----------
    table : str
    turned : int
        By how many places the names of our methods are turned: another one's column as if it were ours.
    """
    if not turned or (ours := PAPER_TABLES.measured(table)) is None:
        return PAPER_TABLES.agreement(table)
    names = [name for name in PAPER_TABLES.printed(table).columns if name in set(ours["method"])]
    moved = dict(zip(names, names[turned:] + names[:turned], strict=True))
    other = ours[ours["method"].isin(names)]
    other = other.assign(method=other["method"].map(moved))
    return PAPER_TABLES.agreement(table, PAPER_TABLES.cells(table, other))


OTHER_COLUMNS = Rival("each column of ours as that of the next method", {"turned": 1})


@claim(
    "ldm/table-2",
    kind="experiment",
    where="Table 2",
    statement="the printed accuracies of SVM, MDO, MAMC, KM-OMD, LDM with linear kernels on 20 regular sets",
    notebook="ldm/04_regular_data#ldm-table-2",
    depends=("results/ldm/table-2.csv", "data_download/registry.toml"),
    rivals=(OTHER_COLUMNS,),
)
def check_table_2(turned: int = 0) -> Evidence:
    """Compare every printed cell with ours."""
    return agreement("table-2", turned)


@claim(
    "ldm/table-3",
    kind="experiment",
    where="Table 3",
    statement="the printed accuracies of SVM, MAMC, KM-OMD and LDM with rbf kernels on 20 regular sets",
    notebook="ldm/04_regular_data#ldm-table-3",
    depends=("results/ldm/table-3.csv", "data_download/registry.toml"),
    rivals=(Rival("our own means as if they were printed", swaps=our_means("ldm", "table-3", "accuracy")),),
)
def check_table_3() -> Evidence:
    """Compare every printed cell with ours."""
    return agreement("table-3")


@claim(
    "ldm/table-4",
    kind="experiment",
    where="Table 4",
    statement="the printed accuracies of linear SVM, MDO, MAMC and LDM on 12 large sets; 6 are available",
    notebook="ldm/05_large_scale#ldm-table-4",
    depends=("results/ldm/table-4.csv", "data_download/registry.toml"),
    rivals=(OTHER_COLUMNS,),
)
def check_table_4(turned: int = 0) -> Evidence:
    """Compare every printed cell of an available set with ours."""
    return agreement("table-4", turned)

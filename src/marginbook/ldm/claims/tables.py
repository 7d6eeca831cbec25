"""The claims about the cells of the tables of accuracies (2 to 4)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...claims import Evidence, Rival, claim
from ...claims.cell_verdicts import agreeing
from ...claims.changed_results import our_means
from ...claims.printed_tables import TESTED
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
        return with_choices(PAPER_TABLES.agreement(table), table)
    names = [name for name in PAPER_TABLES.printed(table).columns if name in set(ours["method"])]
    moved = dict(zip(names, names[turned:] + names[:turned], strict=True))
    other = ours[ours["method"].isin(names)]
    other = other.assign(method=other["method"].map(moved))
    return PAPER_TABLES.agreement(table, PAPER_TABLES.cells(table, other))


#: choices of ours on which whole columns depend, as the protocols name them
CHOSEN = ("MDO", "KM-OMD", "rbf kernel")


def with_choices(evidence: Evidence, table: str) -> Evidence:
    """Add what the paper does not state of whole columns, and what agrees without the column of MDO.

    Parameters
    ----------
    evidence : Evidence
    table : str
    """
    frame = PAPER_TABLES.cells(table)
    tested = frame[frame["verdict"].isin(TESTED)]
    if tested.empty:
        return evidence
    own, as_in = PAPER_TABLES.protocol(table).not_stated, PAPER_TABLES.protocol("table-2").not_stated
    run = {*tested["method"], *(("rbf kernel",) if "rbf kernel" in own else ())}
    chosen = [f"{what}: {as_in.get(what) or own[what]}" for what in CHOSEN if what in run]
    agree, number = agreeing(tested[tested["method"] != "MDO"])
    told = f" What whole columns rest on and the paper does not state: {'; '.join(chosen)}."
    without = f" Without MDO {agree} of {number} cells agree." if number < len(tested) else ""
    return replace(evidence, why=evidence.why + (told if chosen else "") + without)


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

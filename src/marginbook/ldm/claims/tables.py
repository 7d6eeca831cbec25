"""The claims about the cells of the tables of accuracies (2 to 4)."""

from __future__ import annotations

from dataclasses import replace

from ...claims import Evidence, claim
from ...claims.printed_tables import TESTED
from ..paper.printed import PAPER_TABLES, sizes


def agreement(table: str) -> Evidence:
    """Compare every printed cell with ours; say how many of those that differ are of sets that differ."""
    from ...datasets.registry import entry

    evidence = PAPER_TABLES.agreement(table)
    other = [name for name, line in sizes().to_dict("index").items() if entry(str(name)).p != line["p"]]
    cells = PAPER_TABLES.cells(table)
    off = cells[(cells["verdict"] == TESTED[1]) & cells["dataset"].isin(other)]
    if off.empty:
        return evidence
    names = ", ".join(dict.fromkeys(off["dataset"]))
    told = f" Of the cells that do not agree, {len(off)} are of sets with other features than ours ({names})."
    return replace(evidence, why=evidence.why + told)


@claim(
    "ldm/table-2",
    kind="experiment",
    where="Table 2",
    statement="the printed accuracies of SVM, MDO, MAMC, KM-OMD, LDM with linear kernels on 20 regular sets",
    notebook="ldm/04_regular_data#ldm-table-2",
    depends=("results/ldm/table-2.csv", "data_download/registry.toml"),
)
def check_table_2() -> Evidence:
    """Compare every printed cell with ours."""
    return agreement("table-2")


@claim(
    "ldm/table-3",
    kind="experiment",
    where="Table 3",
    statement="the printed accuracies of SVM, MAMC, KM-OMD and LDM with rbf kernels on 20 regular sets",
    notebook="ldm/04_regular_data#ldm-table-3",
    depends=("results/ldm/table-3.csv", "data_download/registry.toml"),
)
def check_table_3() -> Evidence:
    """Compare every printed cell with ours."""
    return agreement("table-3")


@claim(
    "ldm/table-4",
    kind="experiment",
    where="Table 4",
    statement="the printed accuracies of linear SVM, MDO, MAMC and LDM on 12 large sets; 6 can be had",
    notebook="ldm/05_large_scale#ldm-table-4",
    depends=("results/ldm/table-4.csv", "data_download/registry.toml"),
)
def check_table_4() -> Evidence:
    """Compare every printed cell of a set that can be had with ours."""
    return agreement("table-4")

"""The printed numbers against the text of the paper, where it is at hand, and against the registry."""

import os
import re
from pathlib import Path

import pandas as pd
import pytest

import marginbook.ldm
from marginbook.claims.printed_csv import read_printed
from marginbook.datasets.registry import entry

PAPER = Path(marginbook.ldm.__file__).parent / "paper"
#: the text of the paper is not ours to ship: a folder of papers is named, or lies beside the checkout
FOLDER = os.environ.get("MARGINBOOK_PAPERS")
PLACES = [Path(FOLDER)] if FOLDER else sorted(Path(__file__).parents[3].glob("*/papers"))
SETS = {"table-2": 20, "table-3": 20, "table-4": 12}
METHODS = ["SVM", "MDO", "MAMC", "KM-OMD", "LDM"]
MARKS = {"better than SVM": "\\bullet", "worse than SVM": "\\circ", "": "", "printed as N/A": ""}
#: names that differ between the first table and the others of the paper
LONGER = {"planning": "planning-relax", "breast": "breast-cancer"}


def rows_of(table, count):
    """Return the lines of one table of the paper, its head first, garbled signs mended."""
    texts = [place / "ldm" / "paper.txt" for place in PLACES if (place / "ldm" / "paper.txt").is_file()]
    if not texts:
        pytest.skip("no ldm/paper.txt in a folder beside the checkout; MARGINBOOK_PAPERS names its folder")
    lines = texts[0].read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"Table {table}:")) + 1
    return [line.strip().replace("plus-or-minus\\pm", "") for line in lines[start : start + count + 1]]


def sizes():
    return pd.read_csv(PAPER / "table-1.csv").set_index("dataset")


@pytest.mark.parametrize("table", SETS)
def test_each_cell_is_that_of_the_text(table):
    frame = read_printed(PAPER / f"{table}.csv")
    head, *lines = rows_of(table.removeprefix("table-"), SETS[table])
    assert head.split() == ["Dataset", *METHODS]
    names = sizes()["printed_name"]
    for (name, cells), line in zip(frame.groupby("dataset", sort=False), lines, strict=True):
        ours = [f"{r.mean}±{r.std}{MARKS[r.note]}" if r.mean else "N/A" for r in cells.itertuples()]
        assert line.split() == [LONGER.get(names[name], names[name]), *ours]


@pytest.mark.parametrize("table", SETS)
def test_each_summary_is_that_of_the_text(table):
    *_, means, counts = rows_of(table.removeprefix("table-"), SETS[table] + 2)
    frame = pd.read_csv(PAPER / "summary.csv", keep_default_na=False)
    rows = frame[frame["table"] == table].set_index(["row", "method"])["value"]
    assert means.split() == ["Ave.", "accuracy", *rows["average"][METHODS]]
    assert counts.split() == ["LDM:", "w/t/l", *rows["LDM w/t/l"][METHODS[:-1]]]


def test_each_size_is_that_of_the_text():
    """Two data sets a line; the first word of the first line of a part is its scale."""
    frame, (_, *lines) = sizes(), rows_of("1", 16)
    assert len(frame) == 32
    found, scale = {}, ""
    for line in lines:
        words = line.replace(",", "").split()
        scale = words.pop(0) if len(words) == 7 else scale
        for name, n, p in (words[:3], words[3:]):
            found[name] = [scale, int(n), int(p)]
    assert {r.printed_name: [r.scale, r.n, r.p] for r in frame.itertuples()} == found


@pytest.mark.parametrize("table", SETS)
def test_every_cell_is_a_mean_with_its_deviation_or_not_available(table):
    frame = read_printed(PAPER / f"{table}.csv")
    assert len(frame) == SETS[table] * len(METHODS)
    missing = frame["mean"] == ""
    assert (missing == (frame["note"] == "printed as N/A")).all()
    assert (missing == (frame["std"] == "")).all()
    assert (
        frame.loc[~missing, ["mean", "std"]].map(lambda text: re.fullmatch(r"\d\.\d{3}", text)).all(axis=None)
    )
    assert frame.loc[~missing, "mean"].astype(float).between(0, 1).all()
    # a mark compares with the SVM, which therefore has none, as a set without a number
    assert not frame.loc[frame["method"] == "SVM", "note"].any()
    assert not missing[frame["method"].isin(["SVM", "MAMC", "LDM"])].any()
    scale = "large" if table == "table-4" else "regular"
    assert set(frame["dataset"]) == set(sizes().index[sizes()["scale"] == scale])


def test_every_data_set_is_in_the_registry_with_the_printed_size():
    for row in sizes().itertuples():
        found = entry(row.Index)
        assert found.printed["ldm/table-1"] == (row.n, row.p), row.Index
        wanted = {
            "ldm/table-1",
            *(("ldm/table-4",) if row.scale == "large" else ("ldm/table-2", "ldm/table-3")),
        }
        assert wanted <= set(found.used_by), row.Index

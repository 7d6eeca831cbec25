"""The printed numbers against the text of the paper, where it is at hand, and against the registry."""

import os
import re
from pathlib import Path

import pandas as pd
import pytest

import marginbook.kfda
from marginbook.claims.printed_csv import read_printed
from marginbook.datasets.registry import entry
from marginbook.kfda.experiments.partitions import PARTITIONS, TRAIN_SIZES
from marginbook.kfda.paper.printed import COLUMNS, OWN, count_of, printed, sizes, summary

PAPER = Path(marginbook.kfda.__file__).parent / "paper"
#: the text of the paper is not ours to ship: a folder of papers is named, or lies beside the checkout
FOLDER = os.environ.get("MARGINBOOK_PAPERS")
PLACES = [Path(FOLDER)] if FOLDER else sorted(Path(__file__).parents[3].glob("*/papers"))
SETS = {"table-1": 13, "table-2": 7}
#: where the text of a table begins and ends
BOUNDS = {
    "table-1": ("Table 1 FIRST IDA", "best performers on the UCI"),
    "table-2": ("Table 2 UCI", "Table 3"),
    "table-3": ("Table 3 Average", "The method exploits"),
}
#: the marks of the published methods, as the captions of the tables explain them
MARKS = {
    "table-1": {
        "Import Vector Machine [36]": "star",
        "conventional kFDA [7]": "Δ",
        "Reformative kFDA [7]": "blacktriangle",
        "Naive Kernel-based Nonlinear Method [8]": "∇",
        "Fast Kernel-based Nonlinear Method [8]": "blacktriangledown",
        "Kernel Logistic Regression [37]": "square",
        "Sparse kFDA with Linear Loss [38]": "blacksquare",
        "Linear Programming AdaBoost [39]": "diamond",
        "Suppressed Kernel Sample Space Projection [40]": "blacklozenge",
    },
    "table-2": {
        "Clustering + Neural Network [35]": "star",
        "C4.5 Decision Tree Learning [41]": "Δ",
        "Heteroscedastic LDA + Support Vector Machine [42]": "blacktriangle",
        "Multi Feature Subsets + C4.5 Decision Tree Learning [43]": "∇",
        "Local Boosted Discriminant Projections + Support Vector Machine [42]": "blacktriangledown",
        "Naive Bayesian [44]": "square",
        "Neural Network [45]": "blacksquare",
    },
}


def lines_of(table):
    """Return the lines of cells of one table of the paper, each a list of texts."""
    texts = [place / "kfda" / "paper.txt" for place in PLACES if (place / "kfda" / "paper.txt").is_file()]
    if not texts:
        pytest.skip("no kfda/paper.txt in a folder beside the checkout; MARGINBOOK_PAPERS names its folder")
    lines = texts[0].read_text(encoding="utf-8").splitlines()
    first, last = BOUNDS[table]
    start = next(i for i, line in enumerate(lines) if line.startswith(first)) + 1
    stop = next(i for i, line in enumerate(lines) if i > start and line.startswith(last))
    rows = [
        line.rstrip("\t").split("\t") for line in lines[start:stop] if "kFDA" not in line and "\t" in line
    ]
    return [row for row in rows if any(re.search(r"\d\.\d", cell) for cell in row)]


def cells_of(line):
    """Return the six numbers of a line with their ±, and what stands before them."""
    head, cells = line[0], line[1:]
    numbers = [tuple(re.findall(r"\d+\.\d|N/A", cell)) for cell in cells]
    return re.sub(r"</?i>|\*", " ", head).split(), numbers


def mark_of(cell):
    found = re.search(r"\\(\w+)|[Δ∇]", cell.replace(r"\pm", ""))
    return "" if found is None else found.group(1) or found.group(0)


@pytest.mark.parametrize("table", SETS)
def test_each_cell_is_that_of_the_text(table):
    """In the text rows of errors and of retained samples take turns, whatever name stands beside them."""
    errors, kept = read_printed(PAPER / f"{table}.csv"), read_printed(PAPER / f"{table}-retained.csv")
    lines = lines_of(table)
    assert len(lines) == 2 * (SETS[table] + 1)  # and the two rows of means
    frame = sizes()
    names, found = frame.index[frame["table"] == table], []
    for at, name in enumerate(names):
        for ours, line in zip((errors, kept), lines[2 * at : 2 * at + 2], strict=True):
            head, numbers = cells_of(line)
            found += head
            rows = ours[ours["dataset"] == name]
            assert rows["method"].tolist() == list(COLUMNS)
            for row, cell in zip(rows.itertuples(), numbers, strict=True):
                wanted = (row.mean or "N/A", row.std or "N/A")[: len(cell)]
                assert cell == wanted, (name, row.method)
                assert len(cell) == 2 or not row.std, (name, row.method)
    words = " ".join(found)
    assert words.split() == [
        word for r in frame.loc[names].itertuples() for word in (r.printed_name, str(r.n_train))
    ]


@pytest.mark.parametrize("table", SETS)
def test_each_published_method_is_that_of_its_mark(table):
    errors, kept = read_printed(PAPER / f"{table}.csv"), read_printed(PAPER / f"{table}-retained.csv")
    lines = lines_of(table)[1::2]
    for ours in (errors, kept):
        notes = ours[ours["method"] == "published"]["note"]
        for note, line in zip(notes, lines, strict=False):
            method = note.split(";")[0].removeprefix("of ")
            mark = mark_of(line[1])
            assert MARKS[table][method] == mark, (note, line)
    assert (kept.loc[kept["method"] != "published", "note"].str.startswith("of ").sum()) == 0


def test_each_mean_is_that_of_the_text():
    for table in SETS:
        for row, line in zip(("MCR", "NRS"), lines_of(table)[-2:], strict=True):
            wanted = [cell.strip() for cell in line if cell.strip() not in ("Mean", "")]
            assert wanted == list(summary(table, row).values())
    for line in lines_of("table-3"):
        assert line[1:] == list(summary("table-3", line[0]).values())


def test_the_moved_rows_fit_the_size_that_they_were_given_to_and_not_their_neighbour():
    """What the notes say: beside which name a row stands does not decide, its counts do."""
    kept, n_train = printed("table-1").retained, sizes()["n_train"]
    ours = {
        name: [count_of(cell, n_train[name]) for cell in kept.loc[name, list(OWN)]] for name in kept.index
    }
    assert all(count is not None for counts in ours.values() for count in counts)
    for name, beside in (("banana", "breast-cancer"), ("breast-cancer", "diabetes")):
        there = [count_of(cell, n_train[beside]) for cell in kept.loc[name].drop("published")]
        assert None in there, name
    notes = read_printed(PAPER / "table-1-retained.csv").groupby("dataset", sort=False)["note"].first()
    assert [name for name, note in notes.items() if "beside" in note] == ["banana", "breast-cancer"]


@pytest.mark.parametrize("table", SETS)
def test_every_cell_is_a_percentage_with_one_decimal(table):
    for name in (table, f"{table}-retained"):
        frame = read_printed(PAPER / f"{name}.csv")
        assert len(frame) == SETS[table] * len(COLUMNS)
        missing = frame["mean"] == ""
        assert (missing == frame["note"].str.contains("printed as N/A") & (table == "table-2")).all() or not (
            name.endswith("retained")
        )
        numbers = frame.loc[~missing, "mean"]
        assert numbers.map(lambda text: re.fullmatch(r"\d{1,3}\.\d", text)).all()
        assert numbers.astype(float).between(0, 100).all()
        assert not missing[frame["method"] != "published"].any()
        no_spread = frame["std"] == ""
        if name == table:
            assert (no_spread == frame["note"].str.contains("± printed as N/A")).all()
        else:
            assert frame.loc[~no_spread, ["dataset", "method"]].to_numpy().tolist() in (
                [["banana", "published"]],
                [],
            )


def test_the_sizes_are_those_that_the_measures_train_with():
    frame = sizes()
    assert frame["n_train"].to_dict() == TRAIN_SIZES
    assert {name: n for name, n in frame["n_partitions"].items() if n != 100} == PARTITIONS
    assert (frame["n_pool"] == frame["n_train"] + frame["n_test"]).all()


def test_every_data_set_is_in_the_registry_and_used_by_its_table():
    for row in sizes().itertuples():
        assert f"kfda/{row.table}" in entry(row.Index).used_by, row.Index


def test_the_means_have_a_number_for_every_column():
    frame = pd.read_csv(PAPER / "means.csv", dtype=str, keep_default_na=False)
    assert len(frame) == 3 * 2 * len(COLUMNS)
    for _, rows in frame.groupby(["table", "row"]):
        assert rows["method"].tolist() == list(COLUMNS)
    assert frame.loc[frame["value"] == "N/A", "method"].tolist() == ["published"] * 2

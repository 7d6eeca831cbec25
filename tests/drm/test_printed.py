"""The printed numbers: each cell against the text of the paper, where it is at hand, and against others."""

import os
import re
from pathlib import Path

import pandas as pd
import pytest

from marginbook.claims.cell_verdicts import NOT_PRINTED
from marginbook.claims.printed_csv import read_printed
from marginbook.datasets.registry import entry
from marginbook.drm.claims.printed_accuracies import reachable
from marginbook.drm.claims.stored_results import PAPER, printed_table, protocol

#: the text of the paper is not ours to ship: a folder of papers is named, or lies beside the checkout
FOLDER = os.environ.get("MARGINBOOK_PAPERS")
PLACES = [Path(FOLDER)] if FOLDER else sorted(Path(__file__).parents[3].glob("*/papers"))
CELLS = {"table-3": (19, 9), "table-5": (5, 5), "table-8": (15, 10), "table-9": (15, 10)}
NUMBER, DASH = r"\d\.\d{4}±\d\.\d{4}", "—+–?"


def rows_of(caption, count):
    """Return the body lines of one table of the paper, garbled signs mended, names of kinds cut off."""
    texts = [place / "drm" / "paper.txt" for place in PLACES if (place / "drm" / "paper.txt").is_file()]
    if not texts:
        pytest.skip("no drm/paper.txt in a folder beside the checkout; MARGINBOOK_PAPERS names its folder")
    lines = texts[0].read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(caption)) + 1
    body = [line.strip().replace("±plus-or-minus\\pm", "±").replace("__\\_", "_") for line in lines[start:]]
    kinds = r"^(High Dim\.|Image [Dd]ata|Low Dim\.) "
    return body[0].split(), [re.sub(kinds, "", row) for row in body[1 : count + 1]]


def names_of(frame):
    """Return the printed name of each data set: that of the note, else the id in any case."""
    notes = frame.drop_duplicates("dataset").set_index("dataset")["note"].fillna("")
    found = {name: re.match("row printed as '(.+?)'", note) for name, note in notes.items()}
    return {name: match[1] if match else name for name, match in found.items()}


@pytest.mark.parametrize(
    ("table", "caption"), [("table-3", "TABLE III:"), ("table-8", "TABLE VIII:"), ("table-9", "TABLE IX:")]
)
def test_each_cell_is_that_of_the_text(table, caption):
    n_sets, n_methods = CELLS[table]
    frame = read_printed(PAPER / f"{table}.csv")
    names = names_of(frame)
    heads, lines = rows_of(caption, n_sets)
    assert heads[-n_methods:] == list(dict.fromkeys(frame["method"]))
    assert len(lines) == len(names)
    for (name, cells), line in zip(frame.groupby("dataset", sort=False), lines, strict=True):
        found = re.findall(f"{NUMBER}|{DASH}", line[len(names[name]) :])
        assert line.lower().startswith(names[name].lower() + " ")
        ours = [f"{row.mean}±{row.std}" if row.mean else "—" for row in cells.itertuples()]
        assert ours == [cell[:1] if cell[0] == "—" else cell for cell in found], name


def test_each_percentage_is_that_of_the_text():
    frame = read_printed(PAPER / "table-5.csv")
    names = names_of(frame)
    _, lines = rows_of("TABLE IV:", 5)  # the captions stand below these two tables
    for (name, cells), line in zip(frame.groupby("dataset", sort=False), lines, strict=True):
        printed = [float(percent) for percent in re.findall(r"(\d+\.\d)%", line)]
        assert line.lower().startswith(names[name].lower() + " ")
        assert [round(100 * float(mean), 1) for mean in cells["mean"]] == printed
        assert all(len(mean) == len("0.123") for mean in cells["mean"])  # as many digits as printed


def test_each_size_is_that_of_the_text():
    frame = pd.read_csv(PAPER / "table-2.csv")
    names = names_of(frame)
    _, lines = rows_of("TABLE II:", 18)
    for row, line in zip(frame.itertuples(), lines, strict=True):
        assert line.lower().startswith(names[row.dataset].lower() + " ")
        numbers = re.findall(r"(?<= )[\d,]+(?= )", line[len(names[row.dataset]) :])
        ours = [row.p, row.n, row.classes, row.train, row.test]
        assert ours == [int(number.replace(",", "")) for number in numbers], row.dataset


def test_each_large_size_is_that_of_the_text():
    frame = pd.read_csv(PAPER / "table-4.csv")
    names = names_of(frame)
    _, lines = rows_of("Figure 5:", 5)  # its caption stands below
    for row, line in zip(frame.itertuples(), lines, strict=True):
        assert line.lower().startswith(names[row.dataset].lower() + " ")
        numbers = [
            int(n.replace(",", ""))
            for n in re.findall(r"(?<= )[\d,]+(?= |$)", line[len(names[row.dataset]) :])
        ]
        assert [row.n, row.p, row.classes, row.train, row.test] == numbers, row.dataset


def test_each_ratio_is_that_of_the_text():
    """Table VII has two sets in a line."""
    frame = pd.read_csv(PAPER / "table-7.csv", dtype={"ratio": str})
    names = names_of(frame)
    _, lines = rows_of("TABLE VII:", 8)
    text = " ".join(lines).lower()
    for row in frame.itertuples():
        assert f"{names[row.dataset].lower()} {row.p} {row.n} {row.ratio}" in text


@pytest.mark.parametrize("table", CELLS)
def test_every_cell_is_a_mean_with_its_deviation_or_a_dash(table):
    frame = read_printed(PAPER / f"{table}.csv")
    n_sets, n_methods = CELLS[table]
    assert len(frame) == n_sets * n_methods
    assert frame["dataset"].nunique() == n_sets
    dashes = frame["mean"] == ""
    assert (dashes == frame["note"].str.contains("dash")).all()
    assert ((frame["std"] == "") == (dashes | (table == "table-5"))).all()
    assert frame.loc[~dashes, "mean"].astype(float).between(0, 1).all()
    assert not dashes[frame["method"].str.startswith("DRM")].any()
    assert NOT_PRINTED not in set(frame["note"])


def test_every_data_set_is_in_the_registry_or_among_the_protocols():
    for table in CELLS:
        sets = set(read_printed(PAPER / f"{table}.csv")["dataset"])
        for name in sets:
            assert f"drm/{table}" in entry(name).used_by
        absent = sets - set(protocol(table).datasets)
        assert all(not entry(name).available for name in absent), absent
        assert all(entry(name).available for name in sets - absent)


def test_table_9_repeats_the_drm_of_table_8_but_for_glass6():
    better = printed_table("table-8")[["DRM(R)", "DRM(P)"]].max(axis=1)
    repeated = printed_table("table-9")["DRM"]
    assert list(better.index[better != repeated]) == ["glass6"]


def test_the_protocol_trains_on_the_printed_sizes():
    """But for Leukemia, which Table II leaves out, and with Nakayama's printed training rows of 105."""
    sizes = pd.read_csv(PAPER / "table-2.csv").set_index("dataset")
    plan = protocol("table-3").splits.train_size
    assert {name: int(sizes["train"][name]) for name in plan if name in sizes.index} == {
        name: size for name, size in plan.items() if name != "leukemia"
    }
    rows = {name: entry(name).n - size for name, size in plan.items()}
    assert rows["leukemia"] == 8
    assert {name for name in sizes.index.intersection(list(plan)) if rows[name] != sizes["test"][name]} == {
        "nakayama"
    }


def test_counts_that_lead_to_a_mean_and_deviation_by_trying_all():
    """Every five counts out of 3, and what none of them gives."""
    import itertools

    import numpy as np

    given = set()
    for counts in itertools.combinations_with_replacement(range(4), 5):
        share = np.array(counts) / 3
        given.add((f"{share.mean():.4f}", f"{share.std(ddof=1):.4f}"))
    for mean in {mean for mean, _ in given}:
        for std in {std for _, std in given}:
            assert reachable(float(mean), float(std), rows=3) == ((mean, std) in given)
    assert not reachable(0.5, 0.1, rows=3)
    with pytest.raises(ValueError, match="got 0 rows"):
        reachable(0.5, 0.1, rows=0)

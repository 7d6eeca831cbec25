"""Verdicts per cell on numbers that can be checked by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from marginbook.base.project import resource
from marginbook.claims.cell_verdicts import compare_cells
from marginbook.claims.printed_csv import read_printed
from marginbook.clasmk.paper import printed as clasmk
from marginbook.drm.paper import printed as drm
from marginbook.experiments.compare import compare, counts, layout, view
from marginbook.experiments.errors import ExperimentError, UnknownName
from marginbook.experiments.protocol import experiments, load_protocol
from marginbook.kfda.claims.tables_readings import compared
from marginbook.kfda.experiments.columns import columns_of
from marginbook.ldm.paper import printed as ldm


def results(**cells: list[float]) -> pd.DataFrame:
    """Scores per split; the names of cells are data set and method with an underscore between."""
    return pd.DataFrame(
        [
            {"dataset": name.split("_")[0], "split": split, "method": name.split("_")[1], "accuracy": score}
            for name, scores in cells.items() for split, score in enumerate(scores, 1)
        ]
    )  # fmt: skip


def cell(comparison: pd.DataFrame, dataset: str, method: str) -> pd.Series:
    (row,) = comparison[(comparison.dataset == dataset) & (comparison.method == method)].itertuples()
    return row


OURS = results(
    blobs_nearest=[1.0] * 5,
    blobs_forest=[0.2] * 5,
    wine_nearest=[0.5] * 5,
    wine_centroid=[0.6, 0.7, 0.8, 0.9, 1.0],
)


def test_each_printed_cell_gets_its_verdict():
    found = compare("toyroom/folds", OURS)
    assert len(found) == 6
    verdicts = {(r.dataset, r.method): (r.verdict, r.direction) for r in found.itertuples()}
    assert verdicts == {
        ("blobs", "nearest"): ("reproduced", ""),
        ("blobs", "forest"): ("not-reproduced", "ours higher"),
        ("blobs", "tree"): ("not-testable", ""),
        ("wine", "nearest"): ("not printed", ""),
        ("wine", "centroid"): ("reproduced", ""),
        ("wine", "forest"): ("not-testable", ""),
    }
    assert found.attrs["plus_minus"] == "standard deviation over the 5 original folds"
    assert counts(found) == {"reproduced": 2, "not-testable": 2, "not-reproduced": 1, "not printed": 1}


def test_a_stand_in_is_compared_with_nothing():
    quick = {"datasets": ["blobs"], "stand_ins": {"wine": "for this test"}}
    protocol = replace(load_protocol("toyroom/folds"), quick=quick)
    found = compare(protocol, OURS).set_index(["dataset", "method"])
    alone = compare("toyroom/folds", OURS).set_index(["dataset", "method"])
    assert found.loc["blobs"].equals(alone.loc["blobs"])
    assert (alone.loc["wine", "ours_n"] > 0).any()
    assert not found.loc["wine", "ours_n"].any()
    with pytest.raises(ExperimentError, match=r"stand-ins only \(wine\), which no printed number is about"):
        compare(protocol, OURS[OURS["dataset"] == "wine"])


def test_no_stand_in_has_the_name_of_a_printed_row():
    for protocol in map(load_protocol, experiments()):
        if protocol.stand_ins and protocol.printed_path:
            assert set(protocol.stand_ins).isdisjoint(read_printed(protocol.printed_path)["dataset"])


def test_page_and_claims_see_the_same_cells():
    """Table IX borrows the DRM from Table VIII; Image and Splice have 20 partitions, the others 100."""
    cells = {
        "drm": drm.PAPER_TABLES.cells, "ldm": ldm.PAPER_TABLES.cells, "clasmk": clasmk.PAPER_TABLES.cells,
        "kfda": lambda table: compared(table, columns_of("fixed")),
    }  # fmt: skip
    seen = set()
    for protocol in map(load_protocol, experiments()):
        if (
            protocol.printed
            and protocol.room in cells
            and resource("results", f"{protocol.id}.csv").is_file()
        ):
            theirs = cells[protocol.room](protocol.table)
            page = compare(protocol)
            page = page[page["method"].isin(theirs["method"])].reset_index(drop=True)
            pd.testing.assert_frame_equal(page, theirs)
            seen |= {(protocol.id, int(number)) for number in page["printed_n"].unique()}
    assert {("kfda/table-1", 20), ("kfda/table-1", 100), ("drm/table-9", 5)} <= seen


def test_the_numbers_of_a_cell():
    row = cell(compare("toyroom/folds", OURS), "wine", "centroid")
    assert (row.printed_mean, row.printed_std, row.printed_n) == (0.7, 0.09, 5)
    assert (row.ours_mean, row.ours_n) == (pytest.approx(0.8), 5)
    assert row.ours_std == pytest.approx(np.sqrt(0.025))
    assert row.difference == pytest.approx(0.1)
    assert row.se == pytest.approx(np.sqrt(0.09**2 / 5 + 0.025 / 5))


def test_the_range_of_student_and_the_rounding_are_the_border():
    # printed 0.1000 ± 0.0200 over 5, ours without spread: 4 degrees of freedom
    border = 2.776445 * 0.02 / np.sqrt(5) + 0.00005
    for shift, verdict in ((border - 1e-6, "reproduced"), (border + 1e-6, "not-reproduced")):
        for sign, side in ((1, "ours higher"), (-1, "ours lower")):
            row = cell(
                compare("toyroom/folds", results(blobs_forest=[0.1 + sign * shift] * 5)), "blobs", "forest"
            )
            assert row.verdict == verdict
            assert row.direction == (side if verdict == "not-reproduced" else "")


def test_without_any_spread_only_the_rounding_is_allowed():
    for ours, verdict in ((0.99996, "reproduced"), (0.9999, "not-reproduced")):
        assert (
            cell(compare("toyroom/folds", results(blobs_nearest=[ours] * 5)), "blobs", "nearest").verdict
            == verdict
        )


def test_a_single_split_borrows_the_printed_spread():
    row = cell(compare("toyroom/folds", results(wine_forest=[0.8])), "wine", "forest")
    assert np.isnan(row.ours_std)
    assert row.se == pytest.approx(np.sqrt(0.05**2 / 5 + 0.05**2))
    assert row.verdict == "reproduced"


def test_splits_that_gave_no_number_do_not_count():
    row = cell(compare("toyroom/folds", results(wine_forest=[0.9, 0.9, float("nan")])), "wine", "forest")
    assert (row.ours_mean, row.ours_n) == (0.9, 2)
    none = cell(compare("toyroom/folds", results(wine_forest=[float("nan")])), "wine", "forest")
    assert none.verdict == "not-testable"


@pytest.mark.parametrize(("higher", "column"), [(True, "scaled"), (False, "raw")])
def test_the_better_of_two_columns_is_compared_and_the_honest_one_stands_beside(higher, column):
    frame = results(wine_forest=[0.7, 0.8])
    frame["raw"], frame["scaled"] = [0.5, 0.6], [0.88, 0.92]
    protocol = replace(load_protocol("toyroom/folds"), better_of=("raw", "scaled"), higher_is_better=higher)
    row = cell(compare(protocol, frame), "wine", "forest")
    assert row.column == column
    assert row.ours_mean == pytest.approx(frame[column].mean())
    assert row.metric_mean == pytest.approx(0.75)


def test_the_layout_is_the_papers():
    table = layout(compare("toyroom/folds", OURS), "printed_mean")
    assert list(table.index) == ["blobs", "wine"]
    assert list(table.columns) == ["nearest", "forest", "tree", "centroid"]
    assert table.loc["wine", "centroid"] == 0.7


def test_the_view_marks_cells_without_colour():
    console = Console(width=100, file=None, record=True, no_color=True)
    with console.capture() as shown:
        console.print(view(compare("toyroom/folds", OURS), "Toy"))
    text = shown.get()
    assert "1.000=" in text
    assert "0.200↑" in text
    assert "2 reproduced" in text


@pytest.mark.parametrize("width", [40, 80, 200])
def test_every_name_and_number_is_whole_at_any_width(width):
    """Ten methods and long names, as in the widest table of the papers: no number is cut, none is missing."""
    names = ("new-thyroid2", "yeast-0-5-6-7-9_vs_4", "glass2")
    methods = [f"{name}({kernel})" for name in ("SVM", "KNN", "DRM", "KRR", "NB") for kernel in "RP"]
    numbers = (
        np.random.default_rng(0).permutation(np.arange(100, 1000))[: 2 * len(names) * len(methods)] / 1000
    )
    frame = pd.DataFrame(
        [
            {
                "dataset": name, "method": method, "printed_mean": numbers[2 * i], "ours_n": 5,
                "ours_mean": numbers[2 * i + 1], "verdict": "not-reproduced", "direction": "ours lower",
            }
            for i, (name, method) in enumerate((name, method) for name in names for method in methods)
        ]
    )  # fmt: skip
    frame.attrs["plus_minus"] = "standard deviation"
    console = Console(width=width, no_color=True)
    with console.capture() as shown:
        console.print(view(frame, "Wide"))
    text = shown.get()
    assert max(map(len, text.splitlines())) <= width
    words = [word.strip("│┃↓") for word in text.split()]
    tables = text.count("data set")
    assert (tables == 1) == (width == 200)
    for name in names:
        assert words.count(name) == tables
    for method in methods:
        assert words.count(method) == 1
    assert sorted(word for word in words if word.startswith("0.")) == sorted(f"{x:.3f}" for x in numbers)
    assert text.count("Wide") == text.count("not-reproduced") == 1


@pytest.mark.parametrize(("there", "absent"), [("blobs", "wine"), ("wine", "blobs")])
def test_data_sets_without_results_are_counted_not_shown(there, absent):
    console = Console(width=100, no_color=True)
    with console.capture() as shown:
        console.print(view(compare("toyroom/folds", results(**{f"{there}_nearest": [1.0]}))))
    assert there in shown.get()
    assert absent not in shown.get()
    assert "1 data sets without results" in " ".join(shown.get().split())


def test_what_cannot_be_compared():
    with pytest.raises(ExperimentError, match="toyroom/random has no printed numbers"):
        compare("toyroom/random", OURS)
    with pytest.raises(UnknownName, match="the results have no column 'accuracy'"):
        compare("toyroom/folds", OURS.drop(columns="accuracy"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dataset,method,mean\n", r"has the columns \['dataset', 'method', 'mean'\]"),
        ("dataset,method,mean,std,note\na,x,0.9O,,\n", "has '0.9O' where a number or nothing should be"),
        ("dataset,method,mean,std,note\na,x,1,,\na,x,2,,\n", "has the cell a, x twice"),
    ],
)
def test_a_damaged_printed_table_is_refused(tmp_path, monkeypatch, text, message):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "dented" / "paper").mkdir(parents=True)
    (tmp_path / "dented" / "__init__.py").touch()
    (tmp_path / "dented" / "paper" / "folds.csv").write_text(text)
    from marginbook.experiments import protocol as module

    module._folder.cache_clear()
    protocol = replace(load_protocol("toyroom/folds"), package="dented")
    with pytest.raises(ExperimentError, match=message):
        compare(protocol, OURS)
    module._folder.cache_clear()


def test_a_share_of_stated_rows_has_the_error_of_a_share():
    """0.9 of 100 rows: 1.96 sqrt(0.09 / 100) and the rounding; a printed spread goes first."""
    border = 1.95996 * 0.03 + 0.0005
    for printed, std, verdict in (
        (0.9 + border - 1e-3, "", "reproduced"),
        (0.9 + border + 1e-3, "", "not-reproduced"),
        (0.9 + border - 1e-3, "0.001", "not-reproduced"),
    ):
        table = pd.DataFrame(
            [{"dataset": "wine", "method": "forest", "mean": f"{printed:.3f}", "std": std, "note": ""}]
        )
        ours = results(wine_forest=[0.9]).assign(test_rows=100)
        row = compare_cells(table, ours, metric="accuracy", printed_splits=1).iloc[0]
        assert row["verdict"] == verdict
    assert compare_cells(table.assign(std=""), ours, metric="accuracy", printed_splits=1)["se"][0] == (
        pytest.approx(0.03)
    )

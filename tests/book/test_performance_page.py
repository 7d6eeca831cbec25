"""The performance page says what the stored tables say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from marginbook.base.project import resource
from marginbook.book import growth_tables, performance_page, waiting_tables
from marginbook.claims.errata import PAPERS
from marginbook.quality.benchmarking import tables
from marginbook.quality.benchmarking.goals import exponent, goals, lines, reached


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    performance_page.write(folder)
    return folder


def cells(text: str) -> list[list[str]]:
    rows = re.split(r"^\* - ?", text, flags=re.MULTILINE)[1:]
    return [re.split(r"\n  - ?", row.partition("\n```")[0].rstrip("\n")) for row in rows]


def test_goals_on_the_page_are_those_of_the_files(page: Path) -> None:
    shown = [row for row in cells((page / "performance-goals.md").read_text()) if row[1] != "what"]
    assert len(shown) == len(goals())
    for row, goal in zip(shown, goals(), strict=True):
        found = reached(goal, tables.stored(goal.table))
        assert goal.where in row[1]
        assert row[4].split(" (")[0] == performance_page.number_of(found.median)
        whole = {0: "no", len(found.values): "yes"}
        assert row[5] == whole.get(found.met, f"{found.met} of {len(found.values)}")


def test_exponents_on_the_page_are_those_of_the_files(page: Path) -> None:
    shown = [row for row in cells((page / "performance-scaling.md").read_text()) if row[0] != "what"]
    slopes = [exponent(*line) for room in PAPERS for line in lines(tables.stored(f"{room}-scaling")).values()]
    assert [float(row[4]) for row in shown] == pytest.approx(slopes, abs=0.0051)


def test_the_page_includes_what_is_written_and_every_figure_has_its_words(page: Path) -> None:
    text = resource("book", "performance.md").read_text(encoding="utf-8")
    included = set(re.findall(r"_generated/(performance-\w+\.md)", text))
    assert included == {path.name for path in page.glob("*.md")}
    images = re.findall(
        r"\{figure\} /book/_generated/(\S+)\n:alt: (.+)\n", "".join(p.read_text() for p in page.glob("*.md"))
    )
    assert {name for name, _ in images} == {path.name for path in page.glob("*.png")}
    assert all(len(alt) > 40 for _, alt in images)


def test_without_tables_the_page_says_what_to_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "resource", lambda *parts: tmp_path / parts[-1])
    performance_page.write(tmp_path)
    assert "22 wait for a measurement" in (tmp_path / "performance-goals.md").read_text()
    assert "`make bench` measures it" in (tmp_path / "performance-scaling.md").read_text()
    for name in ("memory", "frames", "first_fits", "sparse_linear"):
        assert f"`make bench PAPER={name}`" in (tmp_path / f"performance-{name}.md").read_text()
    assert not list(tmp_path.glob("*.png"))


def test_memory_and_machine_are_shown_once_they_are_stored(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(tables, "resource", lambda *parts: tmp_path / parts[-1])
    memory = {
        "room": "kfda",
        "what": "rbf kernel",
        "rows": "2000",
        "who": "ours",
        "data": "30.5",
        "before": "200",
    }
    tables.write(tmp_path / "memory.csv", [memory | {"peak": "262", "fit": "62.0", "seconds": "1"}])
    place = {"file": "kfda", "date": "2026-01-01", "cpu": "A processor", "cores": "2", "seconds": "60"}
    versions = {"python": "3.11.7", "numpy": "2.4.6", "blas": "openblas 0.3, 1 thread"}
    tables.write(tmp_path / "environment.csv", [place | versions | {"load": "0.1", "load_after": "1.0"}])
    shown = cells(performance_page.memory_section())[1]
    assert shown == ["kFDA, rbf kernel", "2,000", "ours", "30.5", "200", "262", "62"]
    text = performance_page.machine_section()
    assert cells(text)[1] == ["kfda", "2026-01-01", "A processor", "2", "0.1", "1.0", "60"]
    assert "- blas openblas 0.3, 1 thread" in text


ROW = {
    "predict_s": "0.1",
    "predict_ratio": "",
    "memory_mb": "10",
    "memory_ratio": "2",
    "pickle_bytes": "9",
    "pickle_ratio": "",
    "certificate": "dual_gap_ 1.0e-07",
    "accuracy": "0.9",
    "labels_equal": "",
}


def test_growth_shows_times_ratios_and_where_an_estimator_ended() -> None:
    rows = [
        ROW | {"estimator": "SVC rbf", "rows": "2000", "fit_s": "0.5", "fit_ratio": "1", "ended": ""},
        ROW | {"estimator": "Ours rbf", "rows": "2000", "fit_s": "1.5", "fit_ratio": "3", "ended": ""},
        dict.fromkeys(ROW, "")
        | {"estimator": "Ours rbf", "rows": "50000", "ended": "MemoryError: 20 GB; take n_components"},
    ]
    text = growth_tables.growth_section(rows)
    shown = cells(text)
    assert "### Approximations" not in text
    assert shown[:3] == [
        ["", "2,000 rows", "50,000 rows"],
        ["SVC rbf", "0.5 (×\u00a01)", growth_tables.NOTHING],
        ["Ours rbf", "1.5 (×\u00a03)", "refused"],
    ]
    assert "MemoryError: 20 GB; take n\\_components" in text
    assert "dual\\_gap\\_ 1.0e-07" in text


def test_exact_machines_and_landmarks_stand_under_two_headings() -> None:
    done = ROW | {"rows": "2000", "fit_s": "0.5", "fit_ratio": "1", "ended": ""}
    rows = [done | {"estimator": "Ours"}, done | {"estimator": "Ours, 9 landmarks", "labels_equal": "0.99"}]
    exact, landmarks = growth_tables.growth_section(rows).split("### Approximations by landmarks")
    assert exact.startswith("### Exact machines")
    assert "landmarks" not in exact
    names = [row[0] for row in cells(landmarks) if row[0]]
    assert set(names) == {"Ours, 9 landmarks"}
    assert cells(landmarks)[-1][4] == "99.0"


def test_the_grid_search_shows_ratios() -> None:
    same = {"rows": "2000", "classes": "20", "points": "3", "folds": "3", "ended": ""}
    rows = [
        same | {"estimator": "SVC rbf", "search_s": "2", "ratio": "1", "accuracy": "0.5"},
        same | {"estimator": "Ours", "search_s": "", "ratio": "", "accuracy": "", "ended": "over 300 s"},
    ]
    assert cells(growth_tables.grid_section(rows))[1:] == [
        ["SVC rbf", "2", "1", "50.0"],
        ["Ours", "over 300 s", growth_tables.NOTHING, growth_tables.NOTHING],
    ]


def test_first_fits_on_the_page_and_in_the_guide() -> None:
    row = {"again_s": "0.01", "cached_s": "0.3", "import_s": "2"}
    rows = [row | {"estimator": "Quick", "fit_s": "0.4"}, row | {"estimator": "Slow", "fit_s": "5.1"}]
    text = waiting_tables.first_fits_section(rows)
    assert "1 of 2 estimators take less than 5 s" in text
    assert cells(text)[1] == ["Slow", "5.1", "0.01", "0.3", "2"]
    assert "of 2 estimators, that of `Slow`, took 5.1 s" in waiting_tables.first_fit_sentence(rows)
    assert "make bench PAPER=first_fits" in waiting_tables.first_fit_sentence([])


def test_sparse_linear_machines_with_what_they_are_compared_with() -> None:
    size = {"rows": "90000", "features": "50000", "entries": "19.6", "predict_s": "0.02", "memory_mib": "90"}
    row = size | {"certificate": "1.0e-04", "accuracy": "0.81"}
    rows = [
        row | {"estimator": "LDM", "fit_s": "0.5", "against": "", "times": ""},
        row | {"estimator": "LDM, with intercept", "fit_s": "0.8", "against": "LDM", "times": "1.6"},
    ]
    text = waiting_tables.sparse_linear_section(rows)
    assert "90,000 rows of 50,000 features, of which 19.6 are not 0" in text
    assert [row[1] for row in cells(text)[1:]] == ["0.5", "0.8 (×\u00a01.6 of LDM)"]
    assert cells(text)[1][2:] == ["0.02", "90", "1.0e-04", "81"]


def test_frames_of_explorables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "resource", lambda *parts: tmp_path / parts[-1])
    row = {"room": "kfda", "what": "a point", "points": "41", "frames": "601", "goal": "60"}
    slow = row | {"rate": "47.6", "median": "12.34", "most": "20.5", "met": "no"}
    fast = row | {"room": "bridge", "what": "C", "points": "0", "rate": "59.9"}
    tables.write(tmp_path / "frames.csv", [slow, fast | {"median": "1", "most": "2", "met": "yes"}])
    performance_page.write(tmp_path)
    text = (tmp_path / "performance-frames.md").read_text()
    assert "1 of 2 reach 60 frames a second within 2%; the slowest, a point of kFDA, 48." in text
    assert cells(text)[1:] == [
        ["kFDA", "a point", "41", "48", "12.3", "20.5"],
        ["Bridge", "C", performance_page.NOTHING, "60", "1.0", "2.0"],
    ]

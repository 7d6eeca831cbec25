"""The page says what the committed files say, and the command replaces only the rooms that it measured."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from marginbook.base.project import root
from marginbook.book import trust_page, trusted_page
from marginbook.experiments.recheck import OTHER, PRESENT
from marginbook.quality.trust.command import PARTS, store


@pytest.mark.parametrize("part", PARTS)
def test_every_measured_row_is_on_the_page(part: str, tmp_path: Path) -> None:
    rows = trust_page.stored(part)
    assert rows
    trust_page.write(tmp_path)
    text = (tmp_path / f"trust-{part}.md").read_text()
    for row in rows:
        assert f"* - {trust_page._name(row)}\n" in text


def test_the_figure_is_drawn_and_is_the_same_twice(tmp_path: Path) -> None:
    rows = trust_page.stored("conditioning")
    for name in ("a.png", "b.png"):
        trust_page.draw(rows, tmp_path / name)
    first = (tmp_path / "a.png").read_bytes()
    assert first.startswith(b"\x89PNG")
    assert first == (tmp_path / "b.png").read_bytes()


def test_what_is_outside_is_bold_and_counted() -> None:
    row = {
        "room": "drm",
        "estimator": "A",
        "setting": "",
        "variant": "again",
        "objective": "",
        "limit": "0e+00",
    }
    rows = [
        {**row, "decisions": "0.0e+00", "kept": "yes"},
        {**row, "variant": "F order", "decisions": "1.0e-03", "limit": "1e-09", "kept": "no"},
        {**row, "variant": "rows permuted", "decisions": "", "kept": ""},
    ]
    text = trust_page.stability(rows)
    assert "1 of 2 differences are within their limits; 1 of 1 repeated fits" in text
    assert "**1.0e-03**" in text
    assert "  - 0\n" in text  # a zero without an exponent


def test_no_certificate_is_neither_honest_nor_not() -> None:
    row = {
        "room": "smm",
        "estimator": "A",
        "setting": "",
        "certificate": "none",
        "reported": "nan",
        "true": "1e-3",
        "honest": "-",
        "objective_digits": "15.2",
        "optimum_digits": "3.0",
        "decision_digits": "nan",
    }
    text = trust_page.certificates(
        [row, {**row, "certificate": "dual_gap_", "honest": "no", "reported": "1e-9"}]
    )
    assert "0 of 1 certificates" in text
    assert "All 2 reported objectives" in text
    assert "at least 15 digits" in text


def test_rooms_are_replaced_in_the_order_of_the_book(tmp_path: Path) -> None:
    path = tmp_path / "new" / "x.csv"
    store(path, "smm", [{"room": "smm", "n": 1}])
    store(path, "drm", [{"room": "drm", "n": 2}])
    store(path, "smm", [{"room": "smm", "n": 3}, {"room": "smm", "n": 4}])
    with path.open(newline="") as file:
        assert [(row["room"], row["n"]) for row in csv.DictReader(file)] == [
            ("drm", "2"),
            ("smm", "3"),
            ("smm", "4"),
        ]


def test_what_the_page_says_of_silent_problems_is_so() -> None:
    page = " ".join((root() / "book" / "trust.md").read_text(encoding="utf-8").split())
    assert "No case is silent." in page
    assert "`DRMClassifier` and `KFDAClassifier` warn there." in page
    rows = trust_page.stored("conditioning")
    assert not [row for row in rows if row["outcome"] == "silent"]
    assert {
        row["estimator"]
        for row in rows
        if (row["suite"], row["level"], row["outcome"]) == ("feature scales", "1e±8", "warned")
    } >= {"DRMClassifier", "KFDAClassifier"}
    assert '`DRMClassifier(solver="one-pass")`, which needs no Gram matrix, keeps no more digits, and' in page
    worst = [row for row in rows if (row["suite"], row["level"]) == ("feature scales", "1e±8")]
    digits, outcomes = (
        {row["setting"]: row[name] for row in worst if row["estimator"] == "DRMClassifier"}
        for name in ("decision_digits", "outcome")
    )
    assert outcomes["one-pass"] == "warned"
    assert float(digits["one-pass"]) <= max(float(value) for value in digits.values())


def test_what_was_computed_again_names_its_commit_and_what_made_the_results() -> None:
    row = {"experiment": "drm/table-8", "rows": "5", "same": "5", "largest": "1e-9", "where": ""}
    row["made by"] = PRESENT
    assert f"5 of 5 rows of 1 experiment that {PRESENT} made came out again.\n" in trust_page.rechecked([row])
    rows = [{**row, "commit": "abc"}, {**row, "commit": "abc"}]
    told = f"10 of 10 rows of 2 experiments that {PRESENT} made"
    assert f"{told} came out again, by the code of commit abc.\n" in trust_page.rechecked(rows)
    assert "drawn at random, by the code of commit abc. " in trusted_page.again(rows)
    assert "by the code of commit abc and d." in trust_page.rechecked([*rows, {**row, "commit": "d"}])
    assert "commit" not in trusted_page.again([{**row, "commit": ""}])
    older = {**row, "same": "3", "made by": OTHER}
    both = f"{told} and 3 of 5 rows of 1 experiment that {OTHER} made came out again"
    assert both in trust_page.rechecked([older, *rows])

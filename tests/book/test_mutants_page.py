"""The page on mutants counts what is stored, and says where nothing is."""

from __future__ import annotations

import csv
from dataclasses import astuple, replace
from pathlib import Path

import pytest

from marginbook.book import mutants_page
from marginbook.book.mutants_page import Row

ROW = Row(
    *(
        1,
        "src/marginbook/drm/model/sums.py",
        "drm",
        "model",
        7,
        "NumberReplacer",
        0,
        "a = b | 1",
        "a = b | 2",
    ),
    *("survived", "", 3, 1.5, 30.0, "0" * 12, "1" * 12),
)
EQUIVALENT = """[[mutant]]
file = "src/marginbook/drm/model/sums.py"
line = "a = b | 1"
operator = "NumberReplacer"
occurrence = 1
became = "a = b | 0"
reason = "b is always odd, and *large*"
"""


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the stored files; pages go into a folder of their own."""
    monkeypatch.setattr(mutants_page, "resource", lambda *parts: tmp_path)
    return tmp_path


def page(stored: Path, name: str) -> str:
    out = stored / "pages"
    out.mkdir(exist_ok=True)
    mutants_page.write(out)
    return (out / f"mutants-{name}.md").read_text()


def store(folder: Path, *rows: Row) -> None:
    with (folder / mutants_page.CSV).open("w", newline="") as file:
        csv.writer(file).writerows([mutants_page.COLUMNS, *map(astuple, rows)])


def test_scores_are_of_the_last_row_and_the_first_is_shown(stored: Path) -> None:
    killed = replace(ROW, outcome="killed", killed_by="tests/test_sums.py::test_one")
    other = replace(ROW, room="ldm", before="c = d", outcome="no test")
    late = replace(ROW, before="e = f", outcome="timeout", killed_by="tests/test_sums.py::test_one")
    store(stored, ROW, other, late, killed)
    assert mutants_page.read(stored / mutants_page.CSV) == [ROW, other, late, killed]
    text = page(stored, "scores")
    assert "The tests notice 2 of 3 mutants, 20.8 to 93.9 %, drawn with the seed 1. 0 that change" in text
    assert "* - drm\n  - 2\n  - 100.0 %\n  - 34.2 to 100.0 %\n  - 50.0 %\n  - 1\n  - \\-\n" in text
    assert "* - ldm\n  - 1\n  - 0.0 %\n  - 0.0 to 79.3 %\n  - 0.0 %\n  - \\-\n  - 1\n" in text
    assert "* - seed" not in text
    left = page(stored, "survivors")
    assert "{dropdown} 1 that no test noticed" in left
    assert "`` c = d ``" in left
    assert (stored / "pages" / mutants_page.CSV).is_file()


def test_a_second_seed_is_told_apart(stored: Path) -> None:
    store(stored, ROW, replace(ROW, seed=2))
    text = page(stored, "scores")
    assert "0 of 2 mutants" in text
    assert "the seeds 1, 2" in text
    assert "* - seed" in text


def test_equivalent_mutants_are_listed_and_not_counted(stored: Path) -> None:
    (stored / mutants_page.EQUIVALENT).write_text(EQUIVALENT)
    store(stored, ROW, replace(ROW, occurrence=1))
    assert "0 of 1 mutants" in page(stored, "scores")
    text = page(stored, "equivalent")
    assert "* - drm/model/sums.py\n  - `` a = b | 1 ``\n  - `` a = b | 0 ``\n  - b is always odd, and" in text


def test_what_was_not_measured_is_said(stored: Path) -> None:
    assert page(stored, "scores") == "Nothing is stored; `make mutants` measures it.\n"
    assert page(stored, "equivalent") == "None is listed.\n"
    assert page(stored, "survivors") == ""

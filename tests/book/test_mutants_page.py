"""The page on mutants counts what is stored, and says where nothing is."""

from __future__ import annotations

import csv
from dataclasses import asdict, astuple, fields, replace
from pathlib import Path

import pytest

from marginbook.book import mutants_page
from marginbook.book.mutants_stored import (
    CLAIMS_CSV,
    COLUMNS,
    CSV,
    TESTS_CSV,
    ClaimRow,
    Needed,
    Row,
    read,
    sha,
)
from marginbook.book.mutants_stored import EQUIVALENT as LISTED

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
read = "agreed, 2026-01-01"
"""


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the stored files and of the code; pages go into a folder of their own."""
    file = tmp_path / ROW.file
    file.parent.mkdir(parents=True)
    file.write_text("a = b | 1\nc = d\n    e = f\n")
    monkeypatch.setattr(mutants_page, "resource", lambda *parts: tmp_path)
    return tmp_path


def page(stored: Path, name: str) -> str:
    out = stored / "pages"
    out.mkdir(exist_ok=True)
    mutants_page.write(out)
    return (out / f"mutants-{name}.md").read_text()


def store(folder: Path, *rows: Row) -> None:
    with (folder / CSV).open("w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *map(astuple, rows)])


def test_scores_are_of_the_last_row_and_the_first_is_shown(stored: Path) -> None:
    killed = replace(ROW, outcome="killed", killed_by="tests/test_sums.py::test_one")
    other = replace(ROW, room="ldm", before="c = d", outcome="no test")
    late = replace(ROW, before="e = f", outcome="timeout", killed_by="tests/test_sums.py::test_one")
    store(stored, ROW, other, late, killed)
    assert read(stored / CSV, Row) == [ROW, other, late, killed]
    text = page(stored, "scores")
    assert "The tests notice 2 of 3 mutants (95 % interval 20.8 to 93.9 %) of the library, drawn with" in text
    assert "Not counted: 0 that change nothing." in text
    assert "* - drm\n  - 2\n  - 100.0 %\n  - 34.2 to 100.0 %\n  - 50.0 %\n  - 1\n  - \\-\n" in text
    assert "* - ldm\n  - 1\n  - 0.0 %\n  - 0.0 to 79.3 %\n  - 0.0 %\n  - \\-\n  - 1\n" in text
    assert "* - seed" not in text
    left = page(stored, "survivors")
    assert "{dropdown} 1 that no test noticed" in left
    assert "`` c = d ``" in left
    assert (stored / "pages" / CSV).is_file()


def test_checks_of_claims_are_counted_apart(stored: Path) -> None:
    store(stored, ROW, replace(ROW, kind="claims", before="c = d", outcome="timeout", killed_by="tests/a.py"))
    text = page(stored, "scores")
    assert (
        "notice 0 of 1 mutants (95 % interval 0.0 to 79.3 %) of the library, and 1 of 1 mutants (95 %" in text
    )
    assert "100.0 %) of the checks of claims, drawn with seed 1." in text
    store(stored, replace(ROW, kind="claims"))
    assert "notice 0 of 0 mutants of the library, and 0 of 1" in page(stored, "scores")


def test_a_second_seed_is_told_apart_and_what_both_drew_counts_once(stored: Path) -> None:
    killed = {"outcome": "killed", "killed_by": "tests/test_sums.py::test_one"}
    other = replace(ROW, seed=2, before="c = d")
    store(stored, ROW, replace(ROW, seed=2, **killed), other, replace(other, **killed))
    text = page(stored, "scores")
    assert "1 of 2 mutants" in text
    assert "noticed at first in the last sample: 0 of 1 mutants (95 % interval 0.0 to 79.3 %) of" in text
    assert "seeds 1, 2" in text
    assert "* - seed" in text
    assert "* - 2\n  - 1\n  - 100.0 %\n" in text
    assert "1 of a later seed had been drawn with an earlier one; they count once." in text
    assert "1 that no test noticed" in page(stored, "survivors")


def test_a_row_whose_line_is_gone_does_not_count(stored: Path) -> None:
    gone = replace(ROW, before="g = h")
    store(stored, ROW, gone, replace(ROW, file="src/marginbook/drm/model/gone.py"))
    assert "0 of 1 mutants" in page(stored, "scores")
    left = page(stored, "survivors")
    assert "g = h" not in left
    assert "1 that no test noticed" in left
    store(stored, gone)
    assert page(stored, "scores").startswith("Nothing is stored")


def test_rows_of_other_code_or_tests_are_counted(stored: Path) -> None:
    tests = stored / "tests" / "test_sums.py"
    tests.parent.mkdir()
    tests.write_text("one = 1\n")
    now = {"source": sha((stored / ROW.file).read_bytes()), "against": sha(tests.read_bytes())}
    killed = {"outcome": "killed", "killed_by": "tests/test_sums.py::test_one"}
    rows = [replace(ROW, **now), replace(ROW, before="c = d", **killed, **now)]
    store(stored, *rows, replace(ROW, before="e = f"))
    assert "Since 1 of them were tried, their file has changed" in page(stored, "scores")
    store(stored, *rows)
    assert "Since" not in page(stored, "scores")
    (stored / "tests" / "test_other.py").write_text("two = 2\n")  # it could notice what survived
    assert "Since 1 of them" in page(stored, "scores")


def test_equivalent_mutants_are_listed_and_not_counted(stored: Path) -> None:
    (stored / LISTED).write_text(EQUIVALENT)
    store(stored, ROW, replace(ROW, occurrence=1))
    assert "0 of 1 mutants" in page(stored, "scores")
    text = page(stored, "equivalent")
    assert "* - drm/model/sums.py\n  - `` a = b | 1 ``\n  - `` a = b | 0 ``\n  - b is always odd, and" in text
    assert "large\\*\n  - agreed, 2026-01-01\n" in text


def test_what_claims_say_is_counted_by_room(stored: Path) -> None:
    one = ClaimRow(**asdict(ROW), how="", claims="drm/eq-13 drm/remark-1", left_out=2)
    seen = {"outcome": "numbers", "how": "drm/eq-13: 3 became 4"}
    rows = [
        replace(one, outcome="nothing"),
        replace(one, before="c = d", **seen),
        replace(one, before="e = f", outcome="verdict", killed_by="src/marginbook/drm/claims/a.py::drm/b"),
        replace(one, before="e = f", occurrence=1, room="ldm", outcome="no claim", claims="", left_out=0),
    ]
    with (stored / CLAIMS_CSV).open("w", newline="") as file:
        columns = [each.name for each in fields(ClaimRow)]
        csv.writer(file).writerows([columns, *map(astuple, rows)])
    text = page(stored, "claims")
    assert "Of 4 mutants a check runs the line of 3, and a claim notices 1 of these, 6.1 to 79.2 %." in text
    assert "* - drm\n  - 3\n  - 1\n  - 1\n  - 1\n  - \\-\n  - 2\n" in text
    assert "* - ldm\n  - 1\n" + "  - \\-\n" * 3 + "  - 1\n  - \\-\n" in text
    assert "{dropdown} 1 that no claim noticed" in text
    assert "  - drm/eq-13, drm/remark-1\n" in text
    assert "{dropdown} 1 seen in the numbers only" in text
    assert "  - drm/eq-13: 3 became 4\n" in text
    assert (stored / "pages" / f"mutants-{CLAIMS_CSV}").is_file()
    (stored / LISTED).write_text(EQUIVALENT.replace("occurrence = 1", "occurrence = 0"))
    assert "Of 3 mutants" in page(stored, "claims")


def test_what_was_not_measured_is_said(stored: Path) -> None:
    assert page(stored, "scores") == "Nothing is stored; `make mutants` measures it.\n"
    assert page(stored, "equivalent") == "None is listed.\n"
    assert page(stored, "survivors") == ""
    assert page(stored, "claims") == ""


def test_tests_that_notice_nothing_alone_are_listed_the_slowest_first(stored: Path) -> None:
    one = Needed("tests/test_sums.py::test_one", 2.0, 9, 4, 1, seed=1, mutants=20)
    rows = [
        one,
        replace(one, test="tests/test_sums.py::test_two", seconds=1.0, alone=0),
        replace(one, test="tests/test_sums.py::test_three", seconds=3.0, noticed=0, alone=0),
        replace(one, test="tests/test_sums.py::test_four", met=2, noticed=0, alone=0),  # too few
    ]
    with (stored / TESTS_CSV).open("w", newline="") as file:
        csv.writer(file).writerows([[each.name for each in fields(Needed)], *map(astuple, rows)])
    text = page(stored, "needed")
    assert "20 mutants of the sample with seed 1 met 4 test functions; 2 of these noticed one, 1 one" in text
    assert "3 met at least 5, and 2 of these noticed nothing alone: they take 4 of 8 seconds" in text
    assert text.index("::test_three") < text.index("::test_two")
    assert "::test_four" not in text
    assert "::test_one" not in text
    assert (stored / "pages" / f"mutants-{TESTS_CSV}").is_file()


def test_where_nobody_was_asked_the_page_says_how(stored: Path) -> None:
    assert page(stored, "needed") == ""

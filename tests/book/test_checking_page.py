"""What checking costs: the stored times as a table, and a sentence where nothing is stored."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from marginbook.book import checking_page

STORED = """stage,what,wall_seconds,tests,machine,commit
book,"fetch data, execute",600,0,"x86_64, 2 cores",abc123
test,all stages,420,1300,"x86_64, 2 cores",abc123
unit,unit tests,363,1234,"x86_64, 2 cores",abc123
"""


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of ``stages.csv``; pages go into it as well."""
    monkeypatch.setattr(checking_page, "resource", lambda *parts: tmp_path / parts[-1])
    return tmp_path


def test_the_commands_are_told_and_all_stages_drawn(stored: Path) -> None:
    (stored / "stages.csv").write_text(STORED)
    checking_page.write(stored)
    text = (stored / "checking.md").read_text()
    assert "x86\\_64, 2 cores, at commit abc123. Minutes: `make book` 10.0, `make test` 7.0.\n" in text
    assert "* - `make book`\n  - fetch data, execute\n  - 10.0\n  - \\-\n" in text
    assert "* - `make unit`\n  - unit tests\n  - 6.0\n  - 1,234\n" in text
    assert f"/book/_generated/{checking_page.FIGURE}\n:alt: " in text
    with Image.open(stored / checking_page.FIGURE) as figure:
        # commands in one colour, stages in another
        colours = {pixel for _, pixel in figure.convert("RGB").getcolors(maxcolors=1 << 20)}
    assert {(0x00, 0x72, 0xB2), (0xE6, 0x9F, 0x00)} <= colours


def test_minutes_of_cpu_are_shown_where_they_were_counted(stored: Path) -> None:
    (stored / "stages.csv").write_text(
        "stage,what,wall_seconds,cpu_seconds,tests,machine,commit\n"
        "book,fetch data,600,930,0,arm64,abc123\ntest,all stages,420,,1300,arm64,abc123\n"
    )
    checking_page.write(stored)
    text = (stored / "checking.md").read_text()
    assert "CPU minutes are those of all that ran" in text
    assert "  - minutes\n  - CPU minutes\n  - tests\n" in text
    assert "* - `make book`\n  - fetch data\n  - 10.0\n  - 15.5\n  - \\-\n" in text
    assert "* - `make test`\n  - all stages\n  - 7.0\n  - \\-\n  - 1,300\n" in text


def test_the_folders_that_take_most_are_shown(stored: Path) -> None:
    rows = [f"tests/f{number},{600 - number},{1000 + number}" for number in range(12)]
    (stored / "stages.csv").write_text(STORED)
    (stored / "folders.csv").write_text("\n".join(["folder,seconds,tests", *rows]) + "\n")
    checking_page.write(stored)
    text = (stored / "checking.md").read_text()
    assert "Where `make unit` goes: 118.9 minutes, the sum over its processes. Of 12 folders those" in text
    assert "* - `tests/f0`\n  - 10.0\n  - 1,000\n" in text
    assert "tests/f9" in text
    assert "tests/f10" not in text


def test_several_commits_are_all_named(stored: Path) -> None:
    (stored / "stages.csv").write_text(STORED + "lint,ruff,2,0,arm64,def456\n")
    checking_page.write(stored)
    assert "2 cores and arm64, at commit abc123 and def456." in (stored / "checking.md").read_text()


def test_what_was_not_measured_is_said_and_nothing_is_drawn(stored: Path) -> None:
    checking_page.write(stored)
    assert (
        stored / "checking.md"
    ).read_text() == "Not measured on this checkout; `make stages` measures it.\n"
    assert not (stored / checking_page.FIGURE).exists()

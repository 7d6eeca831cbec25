"""The page on faults shows the stored measurement, and every test that breaks something is in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from marginbook.base.project import root
from marginbook.book import bad_input_pages, faults_page, long_runs_page, trusted_page

#: the second word of the marker, or the first of the functions that make one for a parameter
NAMED = re.compile(r'mark\.fault\(\s*"[^"]+",\s*"([^"]+)"|(?:exhausts|damaged|(?<!\.)\bfault)\(\s*"([^"]+)"')
COUNTS = {"before": "0", "after": "7", "lost": "0", "doubled": "0", "torn": "0"}
KILL = {"kill": "1", "phase": "work", "seconds": "2.5", **COUNTS, "same_bytes": ""}
END = {**KILL, "kill": "", "phase": "resumed", "before": "7", "after": "9", "same_bytes": "yes"}
MINUTES = [
    {
        "run": "serve",
        "minute": str(k),
        "memory": str(100 + 2 * max(0, k - 30)),
        "operations": str(20 * k - 15 * max(0, k - 50)),
        "processes": str(k % 2),
    }
    for k in range(1, 61)
]
HOUR = {"run": "serve", "what": "requests", "minutes": "60", "operations": "1200", "lost": "0", "faults": "0"}
HOUR |= {"left": "0", "code": "130", "machine": "a machine", "commit": "abc"}
home = root()
pytestmark = pytest.mark.skipif(home is None, reason="needs the checkout")


def test_each_listed_test_is_there_and_causes_that_fault() -> None:
    rows = faults_page.stored("faults")
    assert len(rows) > 70
    for row in rows:
        file, *_, name = row["test"].split("::")
        text = (home / file).read_text()
        assert f"def {name}(" in text, row
        assert f'"{row["fault"]}"' in text, row


def test_no_test_of_a_fault_is_missing() -> None:
    listed = {row["fault"] for row in faults_page.stored("faults")}
    for path in sorted((home / "tests").rglob("test_*.py")):
        if path != Path(__file__) and "mark.fault(" in (text := path.read_text()):
            for names in NAMED.findall(text):
                assert "".join(names) in listed, (path.name, names)


def test_the_kills_follow_each_other_without_a_loss() -> None:
    rows = faults_page.stored("kills")
    assert sum(bool(row["kill"]) for row in rows) >= 50
    assert [row["before"] for row in rows[1:]] == [row["after"] for row in rows[:-1]]
    assert rows[-1]["same_bytes"] == "yes"


def test_what_went_wrong_would_be_said() -> None:
    good = faults_page.killed([KILL, END])
    assert "1 kills, 0 of them while the run was starting, at most 2 s after its start; 9 results" in good
    assert "lost 0, doubled 0, torn 0" in good
    assert "the same bytes as those" in good
    bad = faults_page.killed([{**KILL, "lost": "3"}, {**END, "torn": "1", "same_bytes": "no"}])
    assert "lost 3, doubled 0, torn 1" in bad
    assert "**other bytes than** those" in bad


def test_faults_are_listed_with_message_and_test() -> None:
    row = {
        "part": "store",
        "fault": "a [b]",
        "told": "",
        "test": "tests/x/test_y.py::test_z",
        "outcome": "skipped",
    }
    text = faults_page.listed([row, {**row, "told": "no *space*", "outcome": "passed"}])
    assert "2 faults." in text
    assert "* - a \\[b\\]\n  - nothing: the work goes on\n  - `x/test_y.py` `test_z` (skipped when" in text
    assert "  - no \\*space\\*\n  - `x/test_y.py` `test_z`\n" in text


def test_without_a_measurement_the_command_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for page in (faults_page, long_runs_page):
        monkeypatch.setattr(page, "resource", lambda *parts: tmp_path / "none")
    faults_page.write(tmp_path)
    for name in ("kills", *faults_page.PARTS):
        assert "`python benchmarks/faults.py` measures it" in (tmp_path / f"faults-{name}.md").read_text()
    assert (tmp_path / "faults-hours.md").read_text() == ""


def test_an_hour_that_grows_or_leaves_something_says_so() -> None:
    good = long_runs_page.listed(MINUTES, [HOUR])
    assert "nothing was lost, ended wrongly, or left running" in good
    assert "1,200 requests" in good
    assert long_runs_page.growth(MINUTES) == pytest.approx(120)  # 2 MiB a minute, from the half on
    assert "  - 100\n  - 100\n  - 160\n  - 160\n  - +120.0\n" in good
    assert "average over the first and the last 10 minutes: `serve` 20.0 and 5.0 requests." in good
    assert "No other process" not in good
    alone = long_runs_page.listed([row | {"processes": "0"} for row in MINUTES], [HOUR])
    assert (
        "No other process was started by `serve`: the memory includes the fits, and none could be left."
        in alone
    )
    bad = long_runs_page.listed(MINUTES, [HOUR | {"lost": "2", "left": "1", "code": "0"}])
    assert "**2 lost by `serve`, 1 left running by `serve`, exit code 0 of `serve`**" in bad
    wrong = long_runs_page.listed(MINUTES, [HOUR | {"faults": "3"}])
    assert "at commit abc: **3 of 1,200 requests ended wrongly**" in wrong


def test_a_step_that_the_slope_passes_over_is_seen_beside_it() -> None:
    stepped = [row | {"memory": "400" if int(row["minute"]) > 45 else "100"} for row in MINUTES]
    lower = [row | {"memory": "100" if int(row["minute"]) != 45 else "400"} for row in MINUTES]
    assert long_runs_page.growth(lower) == 0
    for rows in (stepped, lower):
        assert "  - 100\n  - 400\n" in long_runs_page.listed(rows, [HOUR])  # minute 30, the most after it


def test_the_fits_of_the_hour_are_told_wherever_fits_are_counted(tmp_path: Path) -> None:
    told = long_runs_page.fits_told()
    end = {row["run"]: row for row in faults_page.stored("long_run_ends")}["fuzzing"]
    assert f"{int(end['faults']):,} of {int(end['operations']):,} fits" in told
    trusted_page.write(tmp_path)
    assert told in (tmp_path / "checked.md").read_text()
    assert told in bad_input_pages.page()


def test_the_stored_hours_are_whole() -> None:
    ends = {row["run"]: row for row in faults_page.stored("long_run_ends")}
    minutes = faults_page.stored("long_runs")
    assert set(ends) == {row["run"] for row in minutes}
    for run, end in ends.items():
        assert [row["minute"] for row in minutes if row["run"] == run] == [str(k) for k in range(1, 61)]
        assert int(end["operations"]) > 0


def test_the_figure_is_drawn(tmp_path: Path) -> None:
    faults_page.draw([KILL, {**KILL, "phase": "start", "before": "7"}, END], tmp_path / "a.png")
    long_runs_page.draw(MINUTES, tmp_path / "b.png")
    for name in "ab":
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_a_message_can_be_typed_again_and_an_interrupt_is_called_so() -> None:
    row = {"part": "Ctrl-C", "fault": "in run", "told": "give --out DIR", "test": "t::a", "outcome": "passed"}
    text = faults_page.listed([row])
    assert "* - Ctrl-C in run\n" in text
    assert "  - give `--out` DIR\n" in text  # smart quotes would make a dash of it


def test_every_part_that_is_stored_has_its_place() -> None:
    known = {part for parts in faults_page.PARTS.values() for part in parts}
    assert {row["part"] for row in faults_page.stored("faults")} <= known

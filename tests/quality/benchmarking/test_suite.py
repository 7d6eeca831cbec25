"""The suite on case files of a few lines: tables, the order of rows, resuming, failing, the report."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from marginbook.base.project import root
from marginbook.quality.benchmarking import suite, tables
from marginbook.quality.benchmarking.case_file import Line, Ratio, Record, Tables

from ...git import repository

CASES = '''"""Cases for a test."""
from pathlib import Path

import numpy as np

from marginbook.quality.benchmarking import Line, Ratio, Record, main

def measure(quick):
    with open(Path(__file__).with_suffix(".log"), "a") as log:
        log.write("x")
    if Path(__file__).with_suffix(".broken").exists():
        raise RuntimeError("a case failed")
    yield Ratio("fit against peer, n=1", np.array([[1.0, 1.0]]), np.array([[2.0, {peer}]]))
    yield Line("fit", "n", 10, lambda: None)
    yield Record("other", {{"a": 1 if quick else 2}})

if __name__ == "__main__":
    main(measure)
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch) -> Path:
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    for name in ("one", "two"):
        (folder / f"{name}.py").write_text(CASES.format(peer=4.0))
    monkeypatch.setattr(suite, "draw", lambda folder: None)
    return folder


FILES = {"first": ("one",), "second": ("two",)}


def test_a_file_that_is_stopped_says_so_and_writes_nothing(folder: Path) -> None:
    file = folder / "one.py"
    file.write_text(CASES.format(peer=4.0).replace("yield Record", "raise KeyboardInterrupt; yield Record"))
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "stopped; nothing of one.py was written\n")
    assert not (folder / "results").exists()


def runs_of(folder: Path) -> list[int]:
    logs = [folder / f"{name}.log" for name in ("one", "two")]
    return [len(log.read_text()) if log.exists() else 0 for log in logs]


def test_a_failed_file_is_named_and_the_next_run_makes_only_that(folder: Path, capfd) -> None:
    broken = folder / "one.broken"
    broken.touch()
    assert suite.run_suite(FILES, folder, []) == 1
    assert "not measured, see above: one" in capfd.readouterr().out
    assert not (folder / "results" / "one.csv").exists()
    assert tables.parsed((folder / "results" / "two.csv").read_text())[0]["ratio"] == "4"
    broken.unlink()
    assert suite.run_suite(FILES, folder, []) == 0
    assert "measured before: two" in capfd.readouterr().out
    assert runs_of(folder) == [2, 1]
    places = tables.parsed((folder / "results" / "environment.csv").read_text())
    assert [row["file"] for row in places] == ["one", "two"]
    assert all(float(row["load"]) >= 0 for row in places)


def test_a_stopped_run_goes_on_after_another_room_was_measured(folder: Path, monkeypatch, capfd) -> None:
    def stopped(command: list[str], **options: object) -> subprocess.CompletedProcess:
        if "two.py" in command[-1]:
            raise KeyboardInterrupt
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(suite, "identity", lambda home: ["here"])
    monkeypatch.setattr(suite.subprocess, "run", stopped)
    assert suite.run_suite(FILES, folder, []) == 130
    assert "the same command goes on" in capfd.readouterr().out
    notes = folder.parent / "_build" / "bench" / "progress.json"
    assert suite.finished(notes, ["here"]) == ["one"]
    monkeypatch.setattr(
        suite.subprocess, "run", lambda command, **options: subprocess.CompletedProcess(command, 0)
    )
    monkeypatch.setattr(suite, "report", lambda *args: False)
    suite.run_suite(FILES, folder, ["second"])
    assert suite.finished(notes, ["here"]) == ["one"]
    suite.run_suite(FILES, folder, [])
    assert suite.finished(notes, ["here"]) == []


def test_small_sizes_do_not_touch_the_results(folder: Path) -> None:
    assert suite.run_suite(FILES, folder, ["first", "--quick"]) == 0
    assert not (folder / "results").exists()
    quick = folder.parent / "_build" / "bench" / "quick"
    names = {f"{name}.csv" for name in ("one", "one-scaling", "other", "environment")}
    assert {path.name for path in quick.iterdir()} == names
    assert tables.parsed((quick / "other.csv").read_text())[0]["a"] == "1"


def test_an_unknown_room_is_refused(folder: Path, capsys) -> None:
    with pytest.raises(SystemExit) as stopped:
        suite.run_suite(FILES, folder, ["third"])
    assert stopped.value.code == 2
    assert "nothing is called third; choose from first, second" in capsys.readouterr().err


def test_worse_ratios_are_loud_and_fail_on_request(folder: Path, capsys) -> None:
    results = folder / "results"
    tables.write(results / "one.csv", [{"what": "fit against peer, n=1", "ratio": "8", "goal": ""}])
    repository(folder.parent)
    assert not suite.report(folder.parent, results)
    assert "no ratio is more than 1.5 times worse" in capsys.readouterr().out
    tables.write(results / "one.csv", [{"what": "fit against peer, n=1", "ratio": "4", "goal": ""}])
    assert suite.report(folder.parent, results)
    assert "fit against peer, n=1: 4, committed 8, 2.00 times worse" in capsys.readouterr().out


@pytest.mark.parametrize(("argv", "code"), [([], 0), (["--fail-on-regression"], 1)])
def test_the_exit_code_tells_of_regressions_if_asked(folder: Path, monkeypatch, argv, code) -> None:
    monkeypatch.setattr(suite, "_measure", lambda *args, **options: [])
    monkeypatch.setattr(suite, "report", lambda *args: True)
    assert suite.run_suite(FILES, folder, argv) == code


def test_a_run_of_another_commit_or_machine_starts_anew(tmp_path: Path) -> None:
    notes = tmp_path / "bench" / "progress.json"
    assert suite.finished(notes, ["a"]) == []
    suite.note(notes, ["a"], ["one"])
    assert suite.finished(notes, ["a"]) == ["one"]
    assert suite.finished(notes, ["b"]) == []
    assert json.loads(notes.read_text())["done"] == ["one"]


def test_ratios_of_a_kind_stand_together() -> None:
    found = Tables("drm")
    for what in ("b against c, n=1", "a against c, n=1", "b against c, n=2"):
        found.add(Ratio(what, value=1.0))
    found.add(Line("fit", "n", 5, lambda: None))
    found.add(Record("other", {"n": 5}))
    done = found.finished()
    assert [row["what"] for row in done["drm"]] == [
        "b against c, n=1",
        "b against c, n=2",
        "a against c, n=1",
    ]
    assert {table: len(rows) for table, rows in done.items()} == {"drm": 3, "drm-scaling": 1, "other": 1}


def test_all_case_files_are_in_the_suite() -> None:
    home = root()
    assert home is not None
    suite = runpy.run_path(str(home / "benchmarks" / "__main__.py"), run_name="listed")
    listed = {
        name for room, names in suite["FILES"].items() if room not in suite["ON_REQUEST"] for name in names
    }
    cases = [path.stem for path in (home / "benchmarks").glob("*.py") if "main(measure)" in path.read_text()]
    assert len(cases) > 10
    assert set(cases) == listed

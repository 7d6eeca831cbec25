"""The script that times the commands: what it runs, in which order, with which caches."""

from __future__ import annotations

import csv
import itertools
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from .scripts import ROOT, script

#: a report of pytest: a doctest, a test beside the folders, two of a folder
TIMES = """<testsuites><testsuite>
<testcase classname="src.marginbook.ldm.model" name="a" time="2.0"/>
<testcase classname="tests.test_cli" name="b" time="1.0"/>
<testcase classname="tests.ldm.test_duals" name="c" time="2.5"/>
<testcase classname="tests.ldm.test_duals.TestOne" name="d" time="2.5"/>
</testsuite></testsuites>"""


@pytest.fixture
def stages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module, which writes and edits elsewhere."""
    module = script("stages")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "OUT", tmp_path / "stages.csv")
    monkeypatch.setattr(module, "FOLDERS", tmp_path / "folders.csv")
    monkeypatch.setattr(module, "CHANGED", tmp_path / "module.py")
    monkeypatch.setattr(module, "commit", lambda: "abc")
    monkeypatch.setattr(module.sys, "argv", ["stages.py"])
    (tmp_path / "module.py").write_text("x = 1\n")
    return module


def test_the_parts_of_make_test_start_where_it_started(
    stages: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, Any] = {}
    worked = itertools.count(100, 3)
    monkeypatch.setattr(stages, "busy", lambda: float(next(worked)))

    def make(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        cache = Path(options["env"]["MARGINBOOK_CACHE"])
        cache.mkdir(exist_ok=True)
        changed = (tmp_path / "module.py").read_text() != "x = 1\n"
        seen[command[-1]] = ({path.name for path in cache.iterdir()}, changed)
        (cache / command[-1]).touch()
        if command[-1] == "unit":
            (tmp_path / "tests" / "ldm").mkdir(parents=True)
            Path(options["env"]["PYTEST_ADDOPTS"].removeprefix("--junitxml=")).write_text(TIMES)
        else:
            assert "junitxml" not in options["env"].get("PYTEST_ADDOPTS", "")
        return subprocess.CompletedProcess(
            command, 0, "5 passed in 1.00s\n7 passed, 1 skipped in 2.00s\n", ""
        )

    monkeypatch.setattr(stages.subprocess, "run", make)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)  # of `make stages`, which runs this test, too
    assert stages.main() == 0
    assert list(seen) == list(stages.STAGES)
    assert seen["book"] == (set(), False)
    assert seen["test"] == seen["lint"] == ({"book"}, False)
    assert seen["types"] == ({"book", "lint"}, False)
    assert [stage for stage, (_, changed) in seen.items() if changed] == ["check"]
    assert (tmp_path / "module.py").read_text() == "x = 1\n"
    with (tmp_path / "stages.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["tests"] for row in rows} == {"12"}
    assert list(rows[0]) == ["stage", "what", "wall_seconds", "cpu_seconds", "tests", "machine", "commit"]
    assert {row["cpu_seconds"] for row in rows} == {"3"}
    with (tmp_path / "folders.csv").open(newline="") as file:
        found = [(row["folder"], row["seconds"], row["tests"]) for row in csv.DictReader(file)]
    assert found == [("tests/ldm", "5", "2"), ("src", "2", "1"), ("tests", "1", "1")]


@pytest.mark.skipif(not hasattr(os, "sysconf"), reason="only Unix counts so")
def test_cores_are_busy_with_all_but_waiting(
    stages: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = tmp_path / "stat"
    monkeypatch.setattr(stages, "COUNTED", counted)
    assert stages.busy() is None
    counted.write_text("cpu  100 20 3 5000 700 4 50 9 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n")
    assert stages.busy() == 177 / os.sysconf("SC_CLK_TCK")


def test_nothing_is_written_if_a_stage_fails(
    stages: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = subprocess.CompletedProcess([], 2, "", "")
    monkeypatch.setattr(stages.subprocess, "run", lambda *_, **__: failed)
    assert stages.main() == 1
    assert not (tmp_path / "stages.csv").exists()


def test_the_change_is_undone_after_an_interrupt(stages: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), stages.edited(tmp_path / "module.py"):
        raise KeyboardInterrupt
    assert (tmp_path / "module.py").read_text() == "x = 1\n"


def test_ruff_accepts_the_change() -> None:
    file = script("stages").CHANGED
    text = file.read_text() + "\n\n# a change\n"
    for command in (["check", "--quiet"], ["format", "--check", "--quiet"]):
        options = [*command, "--stdin-filename", str(file), "-"]
        subprocess.run([sys.executable, "-m", "ruff", *options], input=text, text=True, cwd=ROOT, check=True)

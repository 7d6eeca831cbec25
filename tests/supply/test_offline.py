"""The two commands without git and network: what they are given, and what is stored and shown of them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from marginbook.book import launch_page

from ..git import repository
from .scripts import script

#: in place of the project's: tells what it is given
MAKEFILE = """
book:
\t@test ! -e .git && test -z "$$(ls $$HOME)" && echo "$$PIP_NO_INDEX $$PIP_FIND_LINKS"
test:
\t@echo "5 passed, 2 skipped in 1.00s"; echo "7 passed in 2.00s"; exit $(or $(CODE),0)
"""
STORED = {
    "commit": "abc",
    "python": "3.11.7",
    "machine": "a machine, 2 cores",
    "wheels": 200,
    "megabytes": 500,
    "commands": {"book": {"seconds": 600}, "test": {"seconds": 1205, "passed": 1200, "skipped": 7}},
    "long": False,
}


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module, for a checkout with two commands and a wheel."""
    module = script("offline")
    home = tmp_path / "home"
    (home / "_build" / "wheels").mkdir(parents=True)
    (home / "_build" / "wheels" / "a-1-py3-none-any.whl").write_bytes(b"a" * 2_000_000)
    (home / "Makefile").write_text(MAKEFILE)
    (home / ".gitignore").write_text("_build/\n")
    repository(home)
    monkeypatch.setattr(module, "ROOT", home)
    monkeypatch.setattr(module, "OUT", home / "results" / "ci" / "offline.json")
    monkeypatch.setattr(module.sys, "argv", ["offline.py", "--wheels", str(home / "_build" / "wheels")])
    return module


@pytest.fixture
def with_a_network(offline: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the network cannot be taken away, the commands are called with it."""
    try:
        taken = subprocess.run([*offline.ALONE, offline.UP], capture_output=True).returncode == 0
    except OSError:
        taken = False
    if not taken:
        monkeypatch.setattr(offline, "ALONE", ("sh", "-c"))
        monkeypatch.setattr(offline, "UP", "true")


@pytest.mark.usefixtures("with_a_network")
def test_both_commands_run_in_an_archive_with_an_empty_home(
    offline: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert offline.main() == 0
    told = capsys.readouterr().out
    assert f"1 {(offline.ROOT / '_build' / 'wheels').as_uri()}\n" in told
    stored = json.loads(offline.OUT.read_text())
    assert (stored["wheels"], stored["megabytes"], stored["long"]) == (1, 2, False)
    assert len(stored["commit"]) == 12
    assert set(stored["commands"]) == {"book", "test"}
    assert {**stored["commands"]["test"], "seconds": 0} == {"seconds": 0, "passed": 12, "skipped": 2}


@pytest.mark.usefixtures("with_a_network")
def test_a_command_that_fails_stores_nothing(
    offline: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(offline, "COMMANDS", ("test", "nothing"))
    assert offline.main() == 1
    assert "`make nothing` ended with 2; nothing was written" in capsys.readouterr().err
    assert not offline.OUT.exists()


def test_without_wheels_or_where_the_network_stays_it_says_so(
    offline: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(offline, "ALONE", ("sh", "-c", "echo not permitted; exit 1"))
    with pytest.raises(SystemExit, match=r"cannot be taken away here \(not permitted\)"):
        offline.main()
    monkeypatch.setattr(offline.sys, "argv", ["offline.py", "--wheels", str(tmp_path / "none")])
    with pytest.raises(SystemExit, match="call `make wheels`"):
        offline.main()


def test_the_page_tells_what_came_out_or_how_to_try_it() -> None:
    told = launch_page.offline(STORED)
    assert "at commit abc" in told
    assert "200 wheels (500 MB)" in told
    assert "`make book` took 10 minutes and `make test` 20" in told
    assert "1,200 tests passed and 7 were skipped" in told
    assert "Long tests were left out" in told
    assert "Long tests" not in launch_page.offline({**STORED, "long": True})
    assert "`make offline` tries it" in launch_page.offline(None)

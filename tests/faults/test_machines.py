"""Machines that are set up otherwise: terminals, time zones, disks, clocks, source trees without git."""

from __future__ import annotations

import errno
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from rich.console import Console

from marginbook.base import checkout
from marginbook.base.checkout import commit
from marginbook.book import release
from marginbook.cli.commands import Command
from marginbook.cli.printing import escape_what_cannot_be_shown
from marginbook.quality.benchmarking import suite, tables
from marginbook.serve import runs
from marginbook.serve.markup import took

from ..locales import IN_LOCALE, in_force, turkish
from ..tiny_checkout import tiny_checkout
from .test_disks import fill

CELLS = "```{code-cell} ipython3\n1 + 1\n```\n"
SETTINGS = (
    {"TZ": "Asia/Kathmandu", "LC_ALL": "C", "PYTHONUTF8": "0"},
    {"TZ": "America/St_Johns", "LC_ALL": "C.UTF-8"},
)


@pytest.mark.fault("machine", "terminal without Greek letters")
def test_what_a_terminal_cannot_show_is_escaped(told):
    command = [sys.executable, "-m", "marginbook", "guide", "LDMClassifier"]
    done = subprocess.run(command, env={**os.environ, "PYTHONIOENCODING": "latin-1"}, capture_output=True)
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stdout.decode("latin-1").splitlines() if "\\u03b3" in line]
    told(line.removeprefix(": ").partition(" +")[0])


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
def test_tables_are_escaped_too(monkeypatch, errors):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors=errors)
    monkeypatch.setattr(sys, "stdout", stream)
    escape_what_cannot_be_shown()
    Console(file=stream).print("1 \u2264 2")
    stream.flush()
    assert stream.buffer.getvalue() == b"1 \\u2264 2\n"


@pytest.mark.skipif(sys.platform != "linux", reason="LOCPATH is a variable of glibc")
def test_another_language_is_one_only_where_it_is_there(tmp_path):
    (tmp_path / "none").mkdir()
    assert not in_force(sys.executable, {"LC_ALL": "tr_TR.UTF-8", "LOCPATH": str(tmp_path / "none")})
    if language := turkish(tmp_path):
        assert in_force(sys.executable, language)


@pytest.mark.fault("machine", "other time zones and locales")
def test_results_are_the_same_bytes_in_every_time_zone_and_locale(toyroom, tmp_path, told):
    settings = [*SETTINGS]
    if language := turkish(tmp_path):  # else the other two are compared
        settings.append({"TZ": "Asia/Tokyo", **language})
    command = [sys.executable, "-c", IN_LOCALE + "from marginbook.cli import main; main()"]
    for number, setting in enumerate(settings):
        folder = tmp_path / str(number)
        arguments = (
            "toyroom/folds",
            "--profile",
            "quick",
            "--n-jobs",
            1,
            "--store",
            folder / "s",
            "--out",
            folder,
        )
        asked = [*command, "experiment", "run", *map(str, arguments)]
        done = subprocess.run(asked, env={**os.environ, **setting}, capture_output=True, timeout=120)
        assert done.returncode == 0, done.stderr
    for name in ("folds.csv", "folds.provenance.json"):
        made = {(tmp_path / str(number) / "toyroom" / name).read_bytes() for number in range(len(settings))}
        assert len(made) == 1, name
    told("")


@pytest.mark.fault("machine", "source tree read-only")
def test_a_read_only_source_tree_is_one_line(small_disk, tmp_path, monkeypatch, told, cli):
    tiny_checkout(tmp_path / "disk", "drm/01_small", CELLS, monkeypatch)
    small_disk("ro")
    answer = cli("run", "drm/01_small")
    assert answer.exit_code == 1
    assert answer.stderr.count("\n") == 1
    assert "Read-only file system; give another with --out" in answer.stderr
    told(answer.stderr)


def test_a_notebook_of_a_read_only_source_tree_runs_elsewhere(small_disk, tmp_path, monkeypatch, cli):
    tiny_checkout(tmp_path / "disk", "drm/01_small", CELLS, monkeypatch)
    small_disk("ro")
    answer = cli("run", "drm/01_small", "--out", str(tmp_path / "ran.ipynb"))
    assert answer.exit_code == 0, answer.output
    assert (tmp_path / "ran.ipynb").is_file()


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        pytest.param(
            errno.ENOSPC,
            "free some space",
            marks=pytest.mark.fault("machine", "disk full below what a command writes"),
        ),
        pytest.param(
            errno.EROFS,
            "give another folder with --out",
            marks=pytest.mark.fault("machine", "folder on a read-only disk"),
        ),
        pytest.param(
            errno.EACCES,
            "give another folder with --out",
            marks=pytest.mark.fault("machine", "folder of another user"),
        ),
    ],
)
def test_a_command_that_may_not_write_is_one_line(code, advice, told, tmp_path):
    @click.command(cls=Command)
    def writing() -> None:
        raise OSError(code, os.strerror(code), str(tmp_path / "page.html"))

    answer = CliRunner().invoke(writing)
    assert answer.exit_code == 1
    assert answer.stderr.startswith(f"Error: {tmp_path / 'page.html'}: {os.strerror(code)}; {advice}")
    assert answer.stderr.count("\n") == 1
    told(answer.stderr)


@pytest.mark.parametrize(
    "command", [["trust", "laws"], ["experiment", "recheck", "drm/fig-3"]], ids=lambda command: command[0]
)
def test_a_place_that_cannot_be_is_told_before_hours_of_work(command, tmp_path, cli):
    (tmp_path / "file").write_text("")
    answer = cli(*command, "--out", str(tmp_path / "file" / "deeper" / "laws.csv"))
    assert answer.exit_code == 1
    assert answer.stdout == ""
    assert "Not a directory; give another folder with --out" in answer.stderr


@pytest.mark.parametrize(
    "error",
    [
        FileNotFoundError(errno.ENOENT, "No such file or directory", "a"),
        PermissionError(errno.EACCES, "Permission denied"),  # names no file: a port below 1024, not a disk
    ],
)
def test_other_errors_of_the_system_keep_their_traceback(error):
    @click.command(cls=Command)
    def refused() -> None:
        raise error

    assert CliRunner().invoke(refused).exception is error


def test_a_run_that_ended_before_it_began_shows_no_time():
    assert took(100.0, 130.4) == "30 s"
    assert took(100.0, 40.0) == ""


def entered(held: runs.Runs, key: str) -> runs.Run:
    run = held.add("claim", "toy/claim", {}, {}, key)
    return held.change(run.id, state="done", ended=run.asked)


@pytest.mark.fault("machine", "clock put back while a server works")
def test_the_oldest_runs_are_forgotten_whatever_the_clock_says(tmp_path, monkeypatch, told):
    now = [1e9]
    monkeypatch.setattr(runs.time, "time", lambda: now[0])
    monkeypatch.setattr(runs, "KEPT", 3)
    held = runs.Runs(tmp_path / "serve")
    before = [entered(held, str(number)) for number in range(3)]
    now[0] -= 3600
    after = [entered(held, "an hour back"), entered(held, "and another")]
    assert [run.id for run in held.all()] == [after[1].id, after[0].id, before[2].id]
    assert all(held.place(run, "run.json").is_file() for run in after)
    told("")


@pytest.mark.fault("machine", "disk full while a server takes a run")
def test_a_run_that_cannot_be_stored_does_not_exist(small_disk, tmp_path, told):
    held = runs.Runs(tmp_path / "disk" / "serve")
    ballast = fill(tmp_path / "disk")
    with pytest.raises(OSError, match="No space left") as error:
        held.add("claim", "toy/claim", {}, {}, "key")
    told(error.value.strerror)
    assert len(held) == 0
    assert held.same("claim", "toy/claim", "key") is None
    ballast.unlink()
    run = held.add("claim", "toy/claim", {}, {}, "key")
    assert runs.Runs(held.folder).get(run.id) is not None


@pytest.mark.fault("machine", "source tree without git, inside of another repository")
def test_a_source_tree_without_git_has_no_commit(tmp_path, monkeypatch, told):
    home = tmp_path / "outer" / "home"
    home.mkdir(parents=True)
    tiny_checkout(home, "drm/01_small", CELLS, monkeypatch)
    (tmp_path / "outer" / ".git").mkdir()
    assert commit() is None
    told("")


def test_tests_call_git_in_one_place_that_skips_where_there_is_none():
    here = Path(__file__).parents[1]
    calls = [path for path in here.rglob("*.py") if re.search(r"[\[(]\s*\"git\"", path.read_text("utf-8"))]
    assert [path.relative_to(here).as_posix() for path in calls] == ["git.py"]


def test_what_asks_for_the_commit_goes_without_git(tmp_path, monkeypatch):
    """A checkout on a machine without the program."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.csv").write_text("a\n1\n")
    monkeypatch.setattr(checkout, "root", lambda: tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert checkout.commit() is None
    assert tables.committed(tmp_path, tmp_path / "a.csv") is None
    assert suite.identity(tmp_path)[0] == ""
    assert release.commit_time(tmp_path) == 315532800
    assert release.provenance(tmp_path, 0)["commit"] == ""

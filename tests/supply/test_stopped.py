"""Ctrl-C ends each program of the checkout with one sentence and the exit code of a shell."""

from __future__ import annotations

import builtins
import runpy
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from .scripts import ROOT

PROGRAMS = sorted(
    path
    for path in [
        *(ROOT / "supply").glob("*.py"),
        *(ROOT / "benchmarks").glob("*.py"),
        *(ROOT / "data_download").glob("*.py"),
        *(ROOT / "tests" / "robustness").glob("*.py"),
        ROOT / "tests" / "promised.py",
        ROOT / "src" / "marginbook" / "book" / "release.py",
    ]
    if 'if __name__ == "__main__":' in path.read_text(encoding="utf-8")
)
#: what these programs call first is their own, or the function of the package that does their work
FIRST = {"main", "measure"}
CALLED = {"run_suite", "__call__"}
#: those in which Ctrl-C is answered also while packages are imported
SLOW_TO_IMPORT = [
    path
    for path in PROGRAMS
    if "# these imports take seconds" in path.read_text(encoding="utf-8")
    or path.parent.name == "data_download"
]
STOPPING = "marginbook.cli.stopping"


def named(path: Path) -> str:
    """Return the name of a program for the report."""
    return path.relative_to(ROOT).with_suffix("").as_posix()


@pytest.fixture
def traced() -> Iterator[None]:
    """Leave tracing, and what Ctrl-C does, as they were."""
    before, interrupt = sys.gettrace(), signal.getsignal(signal.SIGINT)
    yield
    sys.settrace(before)
    signal.signal(signal.SIGINT, interrupt)


def start(program: Path) -> None:
    """Run a program in this process, as Python does with ``-m`` or with the path."""
    home = ROOT / "src" if program.is_relative_to(ROOT / "src") else ROOT
    if home != ROOT or (program.parent / "__init__.py").is_file():
        parts = program.relative_to(home).with_suffix("").parts
        runpy.run_module(".".join(parts), run_name="__main__")
    else:
        runpy.run_path(str(program), run_name="__main__")


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize("program", PROGRAMS, ids=named)
@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")
def test_ctrl_c_is_answered_by_one_sentence(
    program: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    needing_unix(program)

    def interrupt(frame: FrameType, event: str, argument: object) -> None:
        code, by = frame.f_code, frame.f_back
        own = code.co_name in FIRST and Path(code.co_filename) == program
        if own or (code.co_name in CALLED and by is not None and Path(by.f_code.co_filename) == program):
            raise KeyboardInterrupt

    monkeypatch.setattr(sys, "argv", [str(program)])
    monkeypatch.syspath_prepend(str(program.parent))
    sys.settrace(interrupt)
    with pytest.raises(SystemExit) as ended:
        start(program)
    sys.settrace(None)
    answered(ended.value.code, capsys)


@pytest.mark.parametrize("program", SLOW_TO_IMPORT, ids=named)
@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")
def test_so_is_ctrl_c_while_packages_are_imported(
    program: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    needing_unix(program)
    importing = builtins.__import__

    def interrupt(name: str, *others: Any, **more: Any) -> Any:
        scope = others[0] if others else more.get("globals")
        own = scope is not None and scope.get("__name__") == "__main__"
        if own and name.partition(".")[0] not in sys.stdlib_module_names and name != STOPPING:
            raise KeyboardInterrupt
        return importing(name, *others, **more)

    monkeypatch.syspath_prepend(str(program.parent))
    monkeypatch.setattr(builtins, "__import__", interrupt)
    with pytest.raises(SystemExit) as ended:
        start(program)
    monkeypatch.undo()
    answered(ended.value.code, capsys)


def needing_unix(program: Path) -> None:
    """Skip a program that imports what only Unix has."""
    if "\nimport resource\n" in program.read_text(encoding="utf-8"):
        pytest.importorskip("resource")


def answered(code: object, capsys: pytest.CaptureFixture[str]) -> None:
    """Ask for one sentence and the exit code of a shell."""
    told = capsys.readouterr().err
    assert code == 130, told
    assert told.startswith("stopped")
    assert len(told.splitlines()) == 1


def test_the_programs_are_found() -> None:
    found = {named(path) for path in PROGRAMS}
    assert found >= {"supply/check", "supply/licences", "supply/unit_tests", "benchmarks/__main__"}
    assert found >= {"benchmarks/faults", "benchmarks/smm", "tests/robustness/campaign", "tests/promised"}
    assert found >= {"data_download/__main__", "src/marginbook/book/release"}
    slow = {named(path) for path in SLOW_TO_IMPORT}
    assert slow >= {
        "benchmarks/growth",
        "supply/portable",
        "tests/robustness/checks",
        "data_download/__main__",
    }

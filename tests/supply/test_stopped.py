"""Ctrl-C ends each program of the checkout with one sentence and the exit code of a shell."""

from __future__ import annotations

import runpy
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

from .scripts import ROOT

PROGRAMS = sorted(
    path
    for path in [
        *(ROOT / "supply").glob("*.py"),
        ROOT / "benchmarks" / "faults.py",
        ROOT / "src" / "marginbook" / "book" / "release.py",
    ]
    if 'if __name__ == "__main__":' in path.read_text(encoding="utf-8")
)


@pytest.fixture
def traced() -> Iterator[None]:
    """Leave tracing, and what Ctrl-C does, as they were."""
    before, interrupt = sys.gettrace(), signal.getsignal(signal.SIGINT)
    yield
    sys.settrace(before)
    signal.signal(signal.SIGINT, interrupt)


def start(program: Path) -> None:
    """Run a program in this process, as Python does with ``-m`` or with the path."""
    if program.is_relative_to(ROOT / "src"):
        parts = program.relative_to(ROOT / "src").with_suffix("").parts
        runpy.run_module(".".join(parts), run_name="__main__")
    else:
        runpy.run_path(str(program), run_name="__main__")


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")
def test_ctrl_c_is_answered_by_one_sentence(
    program: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(frame: FrameType, event: str, argument: object) -> None:
        if frame.f_code.co_name == "main" and Path(frame.f_code.co_filename) == program:
            raise KeyboardInterrupt

    monkeypatch.syspath_prepend(str(program.parent))
    sys.settrace(interrupt)
    with pytest.raises(SystemExit) as ended:
        start(program)
    sys.settrace(None)
    told = capsys.readouterr().err
    assert ended.value.code == 130, told
    assert told.startswith("stopped")
    assert len(told.splitlines()) == 1


def test_the_programs_are_found() -> None:
    assert {path.stem for path in PROGRAMS} >= {"check", "licences", "unit_tests", "faults", "release"}

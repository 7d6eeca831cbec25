"""The toy room for all tests of the experiments, in this process and in the ones that they start."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOMS = Path(__file__).parent / "rooms"
COMMAND = [sys.executable, "-c", "from marginbook.experiments.command import experiment; experiment()"]


@pytest.fixture(autouse=True)
def toyroom(monkeypatch: pytest.MonkeyPatch) -> None:
    import marginbook

    source = str(Path(marginbook.__file__).parents[1])
    monkeypatch.setenv("MARGINBOOK_ROOMS", "toyroom")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([source, str(ROOMS), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.syspath_prepend(str(ROOMS))


@pytest.fixture
def start() -> Callable[..., subprocess.Popen[str]]:
    """Start ``marginbook experiment ...`` in a process group of its own."""

    def start(*arguments: object, **options: object) -> subprocess.Popen[str]:
        command = [*COMMAND, *map(str, arguments)]
        return subprocess.Popen(
            command,
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    return start

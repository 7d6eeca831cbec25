"""Tests run in forks of a process that has imported what they import, but nothing of ours: seconds less.

`Server` starts ``python -m mutating.server`` and asks it; the process reads a line of JSON for each run,
forks, and answers when the fork has ended. A fork that takes too long is ended with all that it started.
"""

from __future__ import annotations

import importlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout, suppress
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

#: what takes tests long to import
PRELOADED = (
    "click.testing",
    "coverage",
    "cvxpy",
    "hypothesis",
    "imblearn",
    "joblib",
    "matplotlib.pyplot",
    "numba",
    "pandas",
    "pytest",
    "rich.progress",
    "scipy.optimize",
    "scipy.sparse.linalg",
    "scipy.stats",
    "sklearn.datasets",
    "sklearn.ensemble",
    "sklearn.model_selection",
    "sklearn.pipeline",
    "sklearn.svm",
    "sklearn.utils.estimator_checks",
)
MEMORY = 12 << 30  # a mutant may ask for the square of what it needs
#: how many seconds of the wall a second of CPU may take: clocks run on while other programs run
PATIENCE = 20.0


class Server:
    """The process that tests are forked from.

    Parameters
    ----------
    log : Path
        Where the last run's output goes.
    preload : sequence of str
        Modules that it imports.
    """

    def __init__(self, log: Path, preload: Sequence[str] = PRELOADED) -> None:
        supply = str(Path(__file__).resolve().parents[1])
        # nothing of ours on the path yet; no network: what a mutant asks for is nobody's wish
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {
            "CI": "true",  # the same examples of hypothesis each time
            "MPLBACKEND": "agg",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": supply,
            "no_proxy": "127.0.0.1,localhost",
        }
        environment |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        environment |= dict.fromkeys(("http_proxy", "https_proxy", "HTTPS_PROXY"), "http://127.0.0.1:9")
        log.parent.mkdir(parents=True, exist_ok=True)
        self._log = log
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "mutating.server", *preload],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            start_new_session=True,  # Ctrl-C is for the parent, which ends this
        )

    def run(self, **asked: Any) -> dict[str, Any]:
        """Run tests: see `_run` for what is asked and answered."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"log": str(self._log), **asked}) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError("the process that tests are forked from has ended")
        found: dict[str, Any] = json.loads(answer)
        return found

    def close(self) -> None:
        """End the process and the tests that run."""
        with suppress(OSError):
            self._process.terminate()
        self._process.wait()


def serve() -> None:
    """Answer what is asked until nobody can ask any more."""
    answers = os.fdopen(os.dup(1), "w")
    with redirect_stdout(sys.stderr):  # an import that prints is no answer
        for name in sys.argv[1:]:
            with suppress(ImportError):
                importlib.import_module(name)
        for plugin in entry_points(group="pytest11"):
            plugin.load()
    for line in sys.stdin:
        print(json.dumps(_run(json.loads(line))), file=answers, flush=True)


def _run(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Fork, wait, and return what the fork told: ``told``, and how it ended, ``code`` or ``timeout``.

    Parameters
    ----------
    asked : dict
        ``folder``, ``environment``, ``log``, and what `mutating.forked.run` takes.
    """
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        os.close(reads)
        _become(asked, writes)
    os.close(writes)

    def end(*_: object) -> None:
        _kill(child)
        with suppress(ChildProcessError):
            os.waitpid(child, 0)
        os._exit(1)

    signal.signal(signal.SIGTERM, end)
    told, code = _listen(child, reads, asked["wall"])
    os.close(reads)
    _kill(child)
    with suppress(ChildProcessError):
        os.waitpid(child, 0)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    return {"told": told, "code": code or 0, "timeout": code in (None, -signal.SIGPROF)}


def _listen(child: int, reads: int, wall: float) -> tuple[list[Any], int | None]:
    """Return what the fork tells, and its code; None if it is silent for longer than it said, or than `wall`.

    What it has started may still hold the pipe when it has ended.
    """
    told: list[Any] = []
    rest, until = b"", time.monotonic() + wall
    while time.monotonic() < until:
        ready = bool(select.select([reads], [], [], 0.2)[0])
        piece = os.read(reads, 1 << 16) if ready else b""
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            found = json.loads(line)
            if found[0] == "ended":
                return told, found[1]
            if found[0] == "begins":
                wall = found[2]
            else:
                told.append(found)
            until = time.monotonic() + wall
        if not piece:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return told, os.waitstatus_to_exitcode(status)
            time.sleep(0.01)
    return told, None


def _kill(child: int) -> None:
    """End a fork with all that it started; it leads a group of its own."""
    for kill in (os.killpg, os.kill):  # it may not lead one yet
        with suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)


def _become(asked: Mapping[str, Any], writes: int) -> None:
    """Turn this process into one that runs tests, and end it."""
    code = 3
    try:
        import resource

        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        log = os.open(asked["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for number, there in ((0, os.open(os.devnull, os.O_RDONLY)), (1, log), (2, log)):
            os.dup2(there, number)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.environ.update(asked["environment"])
        os.chdir(asked["folder"])
        sys.path[:0] = asked["environment"]["PYTHONPATH"].split(os.pathsep)
        from mutating import forked

        sys.path.remove(str(Path(__file__).resolve().parents[1]))  # a copy has these files, too
        answers = os.fdopen(writes, "w")
        code = forked.run(asked, answers)
        answers.write(json.dumps(["ended", code]) + "\n")
        answers.flush()
    finally:
        os._exit(code)


if __name__ == "__main__":
    serve()

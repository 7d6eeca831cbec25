"""Runs, each a process of its own: so many at once, others wait; what one has started ends with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .runs import Kind, Run, Runs, write_json

#: in the environment of all that a run starts, so that it can be found
MARK = "MARGINBOOK_RUN"


class QueueFull(RuntimeError):
    """So many runs wait that another one is refused."""


@dataclass(frozen=True)
class Limits:
    """What a run may use.

    Attributes
    ----------
    seconds : float
        From its beginning.
    megabytes : int
        Of address space, for each of its processes.
    at_once : int
        Runs at the same time.
    waiting : int
        Runs that may wait.
    """

    seconds: float = 900.0
    megabytes: int = 4096
    at_once: int = 1
    waiting: int = 8


class Queue:
    """Starts what is asked, in the order in which it is asked."""

    def __init__(self, runs: Runs, limits: Limits | None = None, command: list[str] | None = None) -> None:
        self.runs, self.limits = runs, limits or Limits()
        self._command = command or [sys.executable, "-m", "marginbook.serve.worker"]
        self._waiting: list[str] = []
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._stopped: set[str] = set()
        self._lock = threading.RLock()
        self._closed = False

    def submit(
        self, kind: Kind, subject: str, values: Mapping[str, Any], changed: Mapping[str, Any], key: str
    ) -> Run:
        """Return the run of these values: an earlier one where it is the same, else a new one.

        Raises
        ------
        QueueFull
        OSError
            If the run cannot be stored.
        """
        with self._lock:
            if (known := self.runs.same(kind, subject, key)) is not None:
                return known
            if len(self._waiting) >= self.limits.waiting or self._closed:
                raise QueueFull(
                    f"{len(self._waiting)} runs wait already; try again when one of them has ended"
                )
            run = self.runs.add(kind, subject, values, changed, key)
            self._waiting.append(run.id)
            self._next()
        return run

    def ahead(self, run: Run) -> int:
        """Return how many runs begin or end before this one begins."""
        with self._lock:
            return self._waiting.index(run.id) + len(self._processes) if run.id in self._waiting else 0

    def cancel(self, run: Run) -> Run:
        """End a run that waits or runs, with all processes that it has started."""
        with self._lock:
            if run.id in self._waiting:
                self._waiting.remove(run.id)
                return self.runs.change(run.id, state="cancelled", ended=time.time())
            process = self._processes.get(run.id)
            if process is None:
                return self.runs.get(run.id) or run
            self._stopped.add(run.id)
        end_all(process, run.id)
        for _ in range(100):  # until the thread that waits for it has noted it
            found = self.runs.get(run.id)
            if found is None or found.over:
                break
            time.sleep(0.02)
        return self.runs.get(run.id) or run

    def close(self) -> None:
        """End everything."""
        with self._lock:
            self._closed = True
            waiting, self._waiting = self._waiting, []
            running = dict(self._processes)
        for id in waiting:
            self.runs.change(id, state="failed", ended=time.time(), message="the server ended before the run")
        for id, process in running.items():
            end_all(process, id)
        for process in running.values():
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=5)

    def _next(self) -> None:
        with self._lock:
            while self._waiting and len(self._processes) < self.limits.at_once and not self._closed:
                id = self._waiting.pop(0)
                try:
                    self._processes[id] = self._start(id)
                except OSError as error:
                    message = f"no process could be started: {error.strerror}"
                    self.runs.change(id, state="failed", ended=time.time(), message=message)
                    continue
                self.runs.change(id, state="running", began=time.time())
                threading.Thread(target=self._watch, args=(id,), daemon=True).start()

    def _start(self, id: str) -> subprocess.Popen[bytes]:
        run = self.runs.get(id)
        assert run is not None
        folder = self.runs.place(run)
        write_json(folder / "limits.json", asdict(self.limits))
        with (folder / "log").open("wb") as log:
            return subprocess.Popen(
                [*self._command, str(folder)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                start_new_session=True, env=environment(id, folder),
            )  # fmt: skip

    def _watch(self, id: str) -> None:
        process = self._processes[id]
        in_time = True
        try:
            process.wait(timeout=self.limits.seconds)
        except subprocess.TimeoutExpired:
            in_time = False
        end_all(process, id)  # also what a worker that died has left
        code = process.wait()
        run = self.runs.get(id)
        assert run is not None
        result = self.runs.json(run, "result.json")
        with self._lock:
            del self._processes[id]
            if id in self._stopped:
                self._stopped.discard(id)
                state, message = "cancelled", ""
            elif result.get("ok") and in_time:
                state, message = "done", str(result.get("message", ""))
            else:
                state, message = "failed", self._why(result, code, in_time)
            self.runs.change(id, state=state, ended=time.time(), message=message)
            self._next()

    def _why(self, result: Mapping[str, Any], code: int, in_time: bool) -> str:
        if not in_time:
            return f"it was ended after {self.limits.seconds:g} seconds, the limit of a run"
        if result:
            return str(result.get("message", ""))
        if self._closed:
            return "the server ended before the run"
        if code < 0:
            name = signal.Signals(-code).name if -code in list(signal.Signals) else str(-code)
            return f"its process was ended by {name}: from outside, or as memory ran out"
        return f"its process ended with code {code} before there was a result"


def environment(id: str, folder: Path) -> dict[str, str]:
    """Return what the process of a run sees: ours, its mark, and folders for what it leaves behind."""
    own = {
        MARK: id,
        "JUPYTER_RUNTIME_DIR": str(folder / "jupyter"),
        "IPYTHONDIR": str(folder / "ipython"),
        # each thread of a kernel would reserve 64 MB of address space of its own
        "MALLOC_ARENA_MAX": "2",
    }
    return {**os.environ, **own}


def end_all(process: subprocess.Popen[bytes], mark: str) -> None:
    """End a process, its group, and whatever carries its mark: a kernel leads a group of its own."""
    if process.poll() is None:  # of one that has ended the number may be another's by now
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    for _ in range(50):
        found = marked(mark)
        if not found:
            return
        for each in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(each, signal.SIGKILL)
        time.sleep(0.02)


def marked(mark: str) -> list[int]:
    """Return the processes of a run; without /proc a kernel notices by itself that its parent is gone."""
    wanted, found = f"{MARK}={mark}".encode(), []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if wanted in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
    return found

"""How far a run is and when it will end: a bar on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import timedelta

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from .protocol import Task
from .store import Outcome
from .timings import Timings

_LINE_EVERY, _BAR_EVERY = 10.0, 0.5


class RunProgress:
    """Progress of a run; the remaining time is judged by the tasks that are done.

    Parameters
    ----------
    title : str
    tasks : iterable of Task
        All that are to be done.
    timings : Timings
        What is known of them before; it learns from each outcome.
    console : rich.console.Console
    """

    def __init__(self, title: str, tasks: Iterable[Task], timings: Timings, console: Console) -> None:
        self._title, self._timings, self._console = title, timings, console
        self._waiting = set(tasks)
        self._causes: set[str] = set()
        self._total, self._spent = len(self._waiting), 0.0
        self._began = self._shown = time.monotonic()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
            disable=not console.is_terminal,
        )
        self._row = self._bar.add_task(title, total=self._total, left="")

    def __enter__(self) -> RunProgress:
        self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.stop()

    def finished(self, task: Task, outcome: Outcome | None) -> None:
        """Count a task; `outcome` is None when nothing is to be learnt of it.

        A failure is told at once, and others of the same cause only at the end of the run, as a number.
        """
        self._waiting.discard(task)
        if outcome is not None and outcome.error is not None:
            cause = last_line(outcome.error)
            if cause not in self._causes:
                self._console.print(Text(f"failed: {task}: {cause}", style="red"))
            self._causes.add(cause)
        elif outcome is not None:
            self._timings.learn(task, outcome.seconds, outcome.n_rows)
            self._spent += outcome.seconds
        self._bar.update(self._row, advance=1)
        now, bar = time.monotonic(), self._console.is_terminal
        if self._waiting and now - self._shown <= (_BAR_EVERY if bar else _LINE_EVERY):
            return
        self._shown = now
        if bar:
            self._bar.update(self._row, left=self._left())
        else:
            count = f"{self._total - len(self._waiting)}/{self._total} tasks"
            self._console.print(", ".join(filter(None, (f"{self._title}: {count}", self._left()))))

    def _left(self) -> str:
        elapsed = time.monotonic() - self._began
        if not self._waiting:
            return f"done in {clock(elapsed)}"
        if not self._spent:
            return ""
        # how many workers were really busy, and what lies between tasks, is in the time that the others took
        wall = elapsed / self._spent
        return f"about {clock(wall * sum(self._timings.expected(self._waiting).values()))} left"


def clock(seconds: float) -> str:
    """Return a duration as h:mm:ss.

    >>> clock(3725.4)
    '1:02:05'
    """
    return str(timedelta(seconds=round(seconds)))


def last_line(text: str) -> str:
    """Return the last line of a traceback: the error itself."""
    return text.strip().rpartition("\n")[2]

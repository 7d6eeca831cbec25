"""How far a run is and when it will end: a bar on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import timedelta

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from .protocol import Task
from .store import Outcome

_LINE_EVERY = 10.0


class RunProgress:
    """Progress of a run; the remaining time is judged by the tasks' costs, for the longest go first.

    Parameters
    ----------
    title : str
    costs : mapping from Task to float
        Expected seconds; only their ratios matter.
    console : rich.console.Console
    """

    def __init__(self, title: str, costs: Mapping[Task, float], console: Console) -> None:
        self._title, self._costs, self._console = title, costs, console
        self._all = sum(costs.values())
        self._finished, self._cost = 0, 0.0
        self._began = self._printed = time.monotonic()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
            disable=not console.is_terminal,
        )
        self._row = self._bar.add_task(title, total=len(costs), left="")

    def __enter__(self) -> RunProgress:
        self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.stop()

    def finished(self, task: Task, outcome: Outcome | None) -> None:
        """Count a task; `outcome` is None when another run did it. A failure is told at once."""
        self._finished += 1
        self._cost += self._costs[task]
        if outcome is not None and outcome.error is not None:
            self._console.print(Text(f"failed: {task}: {last_line(outcome.error)}", style="red"))
        self._bar.update(self._row, advance=1, left=self._left())
        now = time.monotonic()
        if not self._console.is_terminal and (
            now - self._printed > _LINE_EVERY or self._finished == len(self._costs)
        ):
            self._printed = now
            self._console.print(f"{self._title}: {self._finished}/{len(self._costs)} tasks, {self._left()}")

    def _left(self) -> str:
        elapsed = time.monotonic() - self._began
        if self._finished == len(self._costs):
            return f"done in {clock(elapsed)}"
        return f"about {clock(elapsed * (self._all - self._cost) / self._cost)} left" if self._cost else ""


def clock(seconds: float) -> str:
    """Return a duration as h:mm:ss.

    >>> clock(3725.4)
    '1:02:05'
    """
    return str(timedelta(seconds=round(seconds)))


def last_line(text: str) -> str:
    """Return the last line of a traceback: the error itself."""
    return text.strip().rpartition("\n")[2]

"""How far a run is: what its tasks take is learnt as they end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..base.progress import Progress, clock, seconds_left
from .protocol import Task
from .store import Outcome
from .timings import Timings

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["RunProgress", "clock", "last_line"]


class RunProgress(Progress):
    """Progress of a run.

    Parameters
    ----------
    title : str
    tasks : iterable of Task
        All that are to be done.
    timings : Timings
        What is known of them before; it learns from each outcome.
    console : rich.console.Console
    workers : int
        How many tasks are done at the same time.
    """

    def __init__(
        self, title: str, tasks: Iterable[Task], timings: Timings, console: Console, workers: int = 1
    ) -> None:
        self._waiting, self._timings, self._workers = set(tasks), timings, workers
        self._causes: set[str] = set()
        self._spent, self._expected = 0.0, 0.0
        if self._waiting and timings.known(next(iter(self._waiting)).profile):
            self._expected = sum(timings.expected(self._waiting).values())
        super().__init__(title, len(self._waiting), "tasks", console, left=self._seconds_left)

    def finished(self, task: Task, outcome: Outcome | None) -> None:
        """Count a task; `outcome` is None when nothing is to be learnt of it.

        A failure is told at once, and others of the same cause only at the end of the run, as a number.
        """
        with self.lock:
            self._waiting.discard(task)
            if outcome is not None and outcome.error is not None:
                cause = last_line(outcome.error)
                if cause not in self._causes:
                    self.say(f"failed: {task}: {cause}", style="red")
                self._causes.add(cause)
            elif outcome is not None:
                self._timings.learn(task, outcome.seconds, outcome.n_rows)
                self._spent += outcome.seconds
            self.ended()

    def _seconds_left(self, elapsed: float) -> float | None:
        waiting = sum(self._timings.expected(list(self._waiting)).values())
        return seconds_left(elapsed, self._spent, waiting, self._expected, self._workers)


def last_line(text: str) -> str:
    """Return the last line of a traceback: the error itself."""
    return text.strip().rpartition("\n")[2]

"""How far a long command is, and when it will end: a bar on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Self

from .extras import naming_the_extra

if TYPE_CHECKING:
    from rich.console import Console

LINE_EVERY, _BAR_EVERY = 10.0, 0.5
#: share of the expected work by which what was expected counts beside what was measured
_TRUST = 0.1

Left = Callable[[float], float | None]


class Progress:
    """Counts things that end; a context manager.

    Without a terminal a line is written every ten seconds, also while nothing ends, and one for each thing
    that is named.

    Parameters
    ----------
    title, unit : str
        As in ``claims: 120/274 checked``.
    total : int
    console : rich.console.Console, optional
        By default standard error.
    left : callable, optional
        Given the seconds since the beginning, the seconds to come, or None while nobody knows.
    show : bool
        False for silence.
    """

    def __init__(
        self,
        title: str,
        total: int,
        unit: str,
        console: Console | None = None,
        *,
        left: Left = lambda elapsed: None,
        show: bool = True,
    ) -> None:
        with naming_the_extra():  # late: what needs no progress needs no rich
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Bar

        self.title, self.total, self.unit, self.done = title, total, unit, 0
        self.console = console or Console(stderr=True)
        self.left, self._show = left, show
        self._told = False
        self._began = self._shown = time.monotonic()
        #: held while something is counted, as a line may be due at the same time
        self.lock = threading.RLock()
        self._ended = threading.Event()
        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=self.console,
            disable=not (show and self.console.is_terminal),
            transient=True,
        )
        self._row = self._bar.add_task(title, total=total, left="")

    def __enter__(self) -> Self:
        self._bar.start()
        if self._show and not self.console.is_terminal:
            threading.Thread(target=self._tick, daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._ended.set()
        self._bar.stop()

    def ended(self, what: str = "") -> None:
        """Count one; with `what` ended, it is told at once."""
        with self.lock:
            self.at(self.done + 1, what)

    def expect(self, left: Left) -> None:
        """Take another judge of the seconds to come."""
        self.left = left

    def at(self, done: int, what: str = "") -> None:
        """Say how many are done."""
        with self.lock:
            self.done = done
            self._bar.update(self._row, completed=self.done, description=f"{self.title} {what}".rstrip())
            self.tell(what)

    def tell(self, what: str = "") -> None:
        """Show how far it is, unless that was shown just now and there is nothing new to say."""
        now, bar = time.monotonic(), self.console.is_terminal
        pause = _BAR_EVERY if bar else LINE_EVERY
        due = now - self._shown > pause or (self.done == self.total and self._told)
        if not what and not due:
            return
        self._shown, self._told = now, True
        if bar:
            self._bar.update(self._row, left=self._when(now))
        elif self._show:
            count = f"{self.title}: {self.done}/{self.total} {self.unit}".rstrip()
            self.say(", ".join(filter(None, (count, what, self._when(now)))))

    def say(self, text: str, style: str = "") -> None:
        """Print a line, above the bar where there is one."""
        if self._show:
            self.console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)

    def _when(self, now: float) -> str:
        elapsed = now - self._began
        if self.done >= self.total:
            return f"done in {clock(elapsed)}"
        left = self.left(elapsed)
        return f"{clock(elapsed)} so far" if left is None else f"about {clock(left)} left"

    def _tick(self) -> None:
        while not self._ended.wait(LINE_EVERY / 4):
            with self.lock:
                if self.done < self.total:
                    self.tell()


class Stages:
    """Shows stages that follow each other; a context manager."""

    def __init__(self) -> None:
        self._open: Progress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._open is not None:
            self._open.__exit__(*exception)

    def expect(self, left: Left) -> None:
        """Take a judge of the seconds to come, for the stage that is shown."""
        if self._open is not None:
            self._open.expect(left)

    def at(self, stage: str, done: int, total: int) -> None:
        """Say how far a stage is: its name, after a colon what ended; `total` is 0 where nobody knows it."""
        name, _, what = stage.partition(": ")
        if self._open is None or self._open.title != name:
            self.__exit__()
            self._open = Progress(name, total, "").__enter__()
            if not total:
                self._open.say(name)
        if total:
            self._open.at(done, what)


def seconds_left(elapsed: float, spent: float, waiting: float, expected: float, workers: int) -> float | None:
    """Judge the remaining time by the work that is done, at first by what was expected of it.

    Parameters
    ----------
    elapsed : float
        Seconds since the beginning.
    spent : float
        Work that is done, in seconds of one worker.
    waiting : float
        Work to do, as it is expected now.
    expected : float
        All work as it was expected in the beginning; 0 where nobody knew.
    workers : int

    Examples
    --------
    >>> seconds_left(0.0, 0.0, 100.0, 100.0, 2)
    50.0
    >>> seconds_left(60.0, 60.0, 40.0, 0.0, 2)
    40.0
    """
    # how many workers were really busy, and what lies between tasks, is in the time that the others took
    trusted = _TRUST * expected
    return (elapsed + trusted / workers) / (spent + trusted) * waiting if spent + trusted else None


def clock(seconds: float) -> str:
    """Return a duration as h:mm:ss.

    >>> clock(3725.4)
    '1:02:05'
    """
    return str(timedelta(seconds=round(seconds)))

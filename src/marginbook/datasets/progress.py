"""Progress of a fetch: bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING

from ..base.progress import LINE_EVERY

if TYPE_CHECKING:
    from rich.console import Console


class Progress:
    """Is told what happens; this one, for library use, says nothing."""

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def plan(self, total: int) -> None:
        """Bytes that all files together have."""

    def start(self, name: str, size: int) -> None:
        """A file of this many bytes begins (0: not known, pip does not tell)."""

    def advance(self, count: int) -> None:
        """So many bytes came (negative: were thrown away)."""

    def done(self, name: str) -> None:
        """A set is complete."""


class Lines(Progress):
    """One line per set: for logs and pipes."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._total = self._came = 0
        self._shown = time.monotonic()

    def plan(self, total: int) -> None:
        self._total = total

    def advance(self, count: int) -> None:
        self._came += count
        if time.monotonic() - self._shown > LINE_EVERY:
            self._shown = time.monotonic()
            of = f" of {self._total / 1e6:.1f}" if self._total else ""
            self.console.print(f"{self._came / 1e6:.1f}{of} MB", markup=False, highlight=False)

    def done(self, name: str) -> None:
        self.console.print(f"fetched {name}", markup=False, highlight=False, soft_wrap=True)


class Bars(Lines):
    """One bar for everything and one for the current file."""

    def __init__(self, console: Console) -> None:
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            TextColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )
        from rich.progress import Progress as RichProgress

        super().__init__(console)
        self.bars = RichProgress(
            TextColumn("{task.description:<32.32}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        self.all = self.bars.add_task("all files", total=0)
        self.current = self.bars.add_task("", total=None)

    def __enter__(self) -> Progress:
        self.bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bars.stop()

    def plan(self, total: int) -> None:
        self.bars.update(self.all, total=total)

    def start(self, name: str, size: int) -> None:
        self.bars.reset(self.current, description=name, total=size or None, completed=0)

    def advance(self, count: int) -> None:
        self.bars.advance(self.all, count)
        self.bars.advance(self.current, count)


def progress_for(console: Console) -> Progress:
    """Return bars when the console is a terminal, else lines."""
    return Bars(console) if console.is_terminal else Lines(console)

"""How far passes over a source are: a bar on a terminal where rich is installed, nothing elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .sources import Chunk, Source

if TYPE_CHECKING:
    from rich.console import Console


class PassBar:
    """A bar for one pass after the other; a context manager.

    Parameters
    ----------
    source : Source
    console : rich.console.Console, optional
        Default: standard error.
    """

    def __init__(self, source: Source, console: Console | None = None) -> None:
        self._source, self._total = source, source.n_rows
        self._bar: Any = None
        try:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        except ModuleNotFoundError:  # of the extra `cli`; the fit is the same
            return
        console = console or Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:,.0f} rows"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._row = self._bar.add_task("", total=self._total)

    def __enter__(self) -> PassBar:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def chunks(self, title: str) -> Iterator[Chunk]:
        """Yield the chunks of one pass."""
        if self._bar is not None:
            self._bar.reset(self._row, description=title, total=self._total)
        rows = 0
        for chunk in self._source:
            yield chunk
            rows += len(chunk.y)
            if self._bar is not None:
                self._bar.update(self._row, completed=rows)
        self._total = rows  # a text file tells only at its end

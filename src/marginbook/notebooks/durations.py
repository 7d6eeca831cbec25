"""How long the notebooks take, by their last execution here or by ``seconds.json`` beside this file.

What is shipped is one execution on one core: only its ratios count once a notebook was timed on this machine.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from statistics import median

from ..base.progress import seconds_left
from .catalogue import build_dir

SHIPPED = Path(__file__).with_name("seconds.json")


class Durations:
    """Judges when a set of notebooks will be executed, and remembers how long each took.

    Parameters
    ----------
    ids : iterable of str
        The notebooks that are to be executed.
    workers : int
        How many are executed at the same time.
    """

    def __init__(self, ids: Iterable[str], workers: int) -> None:
        self._path, self._workers = build_dir("executed", "seconds.json"), workers
        self._known = {**_read(SHIPPED), **_read(self._path)}
        self._waiting, self._now = set(ids), dict[str, float]()
        self._spent = 0.0
        self._all = sum(map(self.expected, self._waiting))

    def expected(self, id: str) -> float:
        """Return the seconds that a notebook should take; of one that was never timed, as the others do."""
        ratios = [
            seconds / self._known[name] for name, seconds in list(self._now.items()) if name in self._known
        ]
        factor = median(ratios) if ratios else 1.0
        return factor * self._known.get(id, median(self._known.values()) if self._known else 1.0)

    def ended(self, id: str, seconds: float, failed: bool = False) -> str:
        """Take in that a notebook ended, and say how."""
        self._waiting.discard(id)
        self._spent += seconds
        if not failed:  # how long it would have taken nobody knows
            self._now[id] = seconds
            self._write()
        return f"{'failed' if failed else 'executed'} in {seconds:.0f} s"

    def left(self, elapsed: float) -> float | None:
        """Return the seconds to come, `elapsed` after the beginning."""
        waiting = sum(map(self.expected, list(self._waiting)))
        return seconds_left(elapsed, self._spent, waiting, self._all, self._workers)

    def _write(self) -> None:
        scratch = self._path.with_suffix(f".{os.getpid()}.tmp")
        known = dict(sorted({**_read(self._path), **self._now}.items()))
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            rounded = {id: round(seconds, 1) for id, seconds in known.items()}
            scratch.write_text(json.dumps(rounded, indent=1) + "\n", encoding="utf-8")
            scratch.replace(self._path)


def _read(path: Path) -> dict[str, float]:
    with suppress(OSError, ValueError, TypeError, AttributeError):
        found = json.loads(path.read_text(encoding="utf-8"))
        return {id: float(seconds) for id, seconds in found.items() if seconds > 0}
    return {}

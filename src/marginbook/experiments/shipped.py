"""What ``results/`` holds of an experiment: which tasks are in it, and how long they took."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from ..base.project import resource
from .protocol import Protocol, Task
from .timings import Timings

Key = tuple[str, int, str]


@dataclass(frozen=True)
class Shipped:
    """Results that come with marginbook, of the ``paper`` profile.

    Attributes
    ----------
    path : Path
        The file of results, which need not be there.
    seconds : dict
        By data set, split and method: how long the task took, on one thread.
    n_rows : dict
        By data set.
    code : str
        Fingerprint of the code that made them.
    commits : tuple of str
        At which they were made; empty where that was not written down.
    """

    path: Path
    seconds: Mapping[Key, float] = field(default_factory=dict)
    n_rows: Mapping[str, int] = field(default_factory=dict)
    code: str = ""
    commits: tuple[str, ...] = ()

    def __contains__(self, task: Task) -> bool:
        return task.profile == "paper" and _key(task) in self.seconds

    def timings(self, n_rows: Mapping[str, int], tasks: Iterable[Task]) -> Timings:
        """Return timings that expect of `tasks` what they took here; ``quick`` ones take that at most.

        Of a data set that is not in the results, such as a stand-in, it is the median of the method's others.
        """
        timings = Timings({**self.n_rows, **n_rows})
        of_method: dict[str, list[float]] = {}
        for (_, _, method), seconds in self.seconds.items():
            of_method.setdefault(method, []).append(seconds)
        for task in tasks:
            if (known := self.seconds.get(_key(task))) is not None:
                timings.assume(task, known)
            elif task.method in of_method:
                timings.assume(task, median(of_method[task.method]))
        return timings


def shipped(protocol: Protocol) -> Shipped:
    """Read what is shipped of an experiment; files that are missing or damaged hold nothing."""
    path = resource("results", f"{protocol.id}.csv")
    if not path.is_file():
        return Shipped(path)
    seconds = dict(_timings(path.with_suffix(".timing.csv")))
    n_rows, code, commits = {}, "", []
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        about = json.loads(path.with_suffix(".provenance.json").read_text(encoding="utf-8"))
        n_rows = {name: int(entry["rows"]) for name, entry in about["data"].items()}
        code = about["code"]
        commits = sorted({each["commit"] for each in about["environments"] if "commit" in each})
    return Shipped(path, seconds, n_rows, code, tuple(commits))


def _timings(path: Path) -> Iterator[tuple[Key, float]]:
    # the timings have a row for each row of the results, and no long texts in it
    with (
        suppress(OSError, ValueError, KeyError, TypeError, csv.Error),
        path.open(encoding="utf-8", newline="") as file,
    ):
        for row in csv.DictReader(file):
            yield (row["dataset"], int(row["split"]), row["method"]), float(row["seconds"])


def _key(task: Task) -> Key:
    return task.dataset, task.split, task.method

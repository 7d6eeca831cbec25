"""Do stored results still come out? A random sample of an experiment's rows, computed again and compared."""

from __future__ import annotations

import csv
import io
import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from joblib import Parallel, delayed

from ..base.checkout import commit
from ..base.extras import naming_the_extra
from ..datasets.dataset import DatasetNotFetched
from .export import KEY_COLUMNS, read_results
from .one_task import measure_in_worker, measure_task
from .progress import RunProgress, last_line
from .protocol import Protocol, Task
from .shipped import shipped
from .timings import Timings

if TYPE_CHECKING:
    from rich.console import Console

#: relative difference up to which numbers count as the same: another BLAS sums in another order
TOLERANCE = 1e-6
#: in the names of columns that tell how far a solution may be from the optimum, as a share of the objective
CERTIFICATES = ("gap", "residual")
#: which code made stored results, as a table of `summary` says it
PRESENT, OTHER = "the present code", "other code"


@dataclass(frozen=True)
class Rechecked:
    """One stored row beside the same task done now, or why it could not be done.

    Attributes
    ----------
    task : Task
    largest : float
        Largest relative difference of a number in it, of certificates the difference itself; infinite where
        one is missing, a text differs, or the task failed; nan where the row was not compared.
    where : str
        The column of that difference, why the task failed, or what it lacks here: data or a package.
    to_fetch : str
        What to fetch where only data are missing; else empty.
    """

    task: Task
    largest: float
    where: str
    to_fetch: str = ""

    @property
    def same(self) -> bool:
        """Whether all numbers agree up to `TOLERANCE`, and all texts."""
        return self.largest <= TOLERANCE

    @property
    def compared(self) -> bool:
        """Whether the task could be done here."""
        return not math.isnan(self.largest)


def recheck(
    protocol: Protocol,
    n_rows: int = 5,
    *,
    at_most: float = 30.0,
    seed: int = 0,
    n_jobs: int = 1,
    console: Console | None = None,
) -> list[Rechecked]:
    """Compute a random sample of the stored rows of an experiment's ``paper`` profile again.

    Parameters
    ----------
    protocol : Protocol
    n_rows : int
        Rows to draw, without replacement; all of them where there are fewer.
    at_most : float
        Leave out rows that took longer, in seconds; where nothing is shorter, the shortest are drawn.
    seed : int
        Of the draw.
    n_jobs : int
        Worker processes; -1 is one for each core.
    console : rich.console.Console, optional
        Where progress is shown; default: standard error.

    Raises
    ------
    ExperimentError
        Without stored results.
    """
    stored, seconds = stored_rows(protocol)
    tasks = sorted(stored)
    short = [task for task in tasks if seconds[task] <= at_most]
    if not short:
        short = sorted(tasks, key=lambda task: (seconds[task], task))[:n_rows]
    drawn = random.Random(seed).sample(short, min(n_rows, len(short)))
    drawn.sort(key=lambda task: -seconds[task])
    absent = _absent(protocol, {task.dataset for task in drawn})
    found = [Rechecked(task, math.nan, *absent[task.dataset]) for task in drawn if task.dataset in absent]
    drawn = [task for task in drawn if task.dataset not in absent]
    work = measure_task if n_jobs == 1 else measure_in_worker
    if console is None:
        with naming_the_extra():
            from rich.console import Console

        console = Console(stderr=True)
    timings = Timings({})
    for task in drawn:
        timings.learn(task, seconds[task])
    with RunProgress(protocol.id, drawn, timings, console) as bar:
        calls = (delayed(work)(protocol, task) for task in drawn)
        for outcome in Parallel(n_jobs=n_jobs, return_as="generator_unordered")(calls):
            # a failure is told with what differs, not here
            bar.finished(outcome.task, outcome if outcome.error is None else None)
            if outcome.error is not None:
                largest = math.nan if outcome.lacks else math.inf
                found.append(Rechecked(outcome.task, largest, outcome.lacks or last_line(outcome.error)))
            else:
                found.append(_beside(outcome.task, stored[outcome.task], outcome.values))
    return sorted(found, key=lambda each: each.task)


def summary(protocol: Protocol, found: Sequence[Rechecked]) -> dict[str, Any]:
    """Return one row of a table: how many rows were compared and are the same, and the largest difference.

    Without a row that was compared, "largest" is empty and "where" says what the first lacks. "made by" tells
    whether the stored results are of the `PRESENT` code or of `OTHER`, "commit" is that of the code now,
    empty outside of git.
    """
    compared = [each for each in found if each.compared]
    worst = max(compared or found[:1], key=lambda each: each.largest)
    return {
        "experiment": protocol.id,
        "rows": len(compared),
        "same": sum(each.same for each in compared),
        "largest": f"{worst.largest:.1e}" if compared else "",
        "where": "" if worst.same else f"{worst.task.dataset}, {worst.task.method}: {worst.where}",
        "made by": PRESENT if shipped(protocol).code == protocol.code() else OTHER,
        "commit": commit("results") or "",
    }


def as_csv(table: Sequence[Mapping[str, Any]]) -> str:
    """Return rows of equal keys, such as those of `summary`, as the text of a CSV file."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(table[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue()


def stored_rows(protocol: Protocol) -> tuple[dict[Task, Mapping[str, Any]], dict[Task, float]]:
    """Return the stored values and the seconds of each task of the ``paper`` profile."""
    import pandas as pd

    from ..base.project import resource

    tasks = {(t.dataset, t.split, t.method): t for t in protocol.tasks("paper")}
    keys = list(KEY_COLUMNS)
    rows: dict[Task, Mapping[str, Any]] = {}
    for row in read_results(protocol.id).to_dict("records"):
        task = tasks.get((str(row["dataset"]), int(row["split"]), str(row["method"])))
        if task is not None:  # a protocol that lost a method keeps its old rows until the next export
            rows[task] = {str(name): value for name, value in row.items() if name not in keys}
    timing = pd.read_csv(
        resource("results", f"{protocol.id}.timing.csv"), dtype={"dataset": str, "method": str}
    )
    taken = {
        tasks[key]: float(s)
        for *key_parts, s in timing[[*keys, "seconds"]].itertuples(index=False)
        if (key := (key_parts[0], int(key_parts[1]), key_parts[2])) in tasks
    }
    return rows, {task: taken.get(task, 0.0) for task in rows}


def _absent(protocol: Protocol, datasets: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return the data sets that are not on this machine: a sentence on how to get each, and what to fetch."""
    found = {}
    for name in datasets:
        try:
            protocol.load(name)
        except DatasetNotFetched as error:
            found[name] = (str(error), error.name)
    return found


def _beside(task: Task, stored: Mapping[str, Any], now: Mapping[str, Any]) -> Rechecked:
    largest, where = 0.0, ""
    for name, difference in differences(stored, now):
        if difference > largest:
            largest, where = difference, name
    return Rechecked(task, largest, where)


def differences(stored: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield each column but times, with how far two values of it are apart: relative, infinite for texts."""
    for name, old in stored.items():
        if "seconds" in name:  # a time is never the same twice
            continue
        new = now.get(name)
        if _empty(old) or _empty(new):
            yield name, 0.0 if _empty(old) and _empty(new) else math.inf
        elif isinstance(old, str) or isinstance(new, str):
            yield name, 0.0 if str(old) == str(new) else math.inf
        else:
            a, b = float(old), float(new)  # type: ignore[arg-type]
            # a certificate is a share already: where it is 1e-7, its digits are those of rounding
            size = 1.0 if any(part in name for part in CERTIFICATES) else max(abs(a), abs(b), 1e-9)
            yield name, 0.0 if a == b else abs(a - b) / size


def _empty(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))

"""What larger data and more machines take, from the measurements and the timings that are stored."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from pathlib import Path

from ..base.project import resource
from ..experiments import experiments, load_protocol
from .myst import NOTHING, dropdown, plain, powers, table
from .reproducibility_pages import timed_in_part, timing_rows
from .stored import stored_rows

FITS = [
    "model",
    "rows from",
    "rows",
    "seconds",
    "CPU seconds",
    "peak memory",
    "passes",
    "certificate",
    "difference",
]
LOST = ["run", "tasks", "workers killed", "runs", "done", "lost", "twice", "same bytes"]
COST = ["run", "fits", "core-hours", "longest fit, minutes"]
#: worker processes for which the page says how long the protocols take
WORKERS = (16, 128)


def write(folder: Path) -> None:
    """Write ``large-fits.md``, ``large-cluster.md`` and ``large-cost.md``."""
    folder.joinpath("large-fits.md").write_text(fits(_rows("large.csv")), encoding="utf-8")
    folder.joinpath("large-cluster.md").write_text(cluster(_rows("large-cluster.csv")), encoding="utf-8")
    folder.joinpath("large-cost.md").write_text(cost(experiments()), encoding="utf-8")


def fits(rows: list[dict[str, str]]) -> str:
    """Return the table of fits, and a sentence on those that read files."""
    if not rows:
        return "Nothing is stored; `python benchmarks/large.py fits` measures it.\n"
    cells = [
        [
            plain(row["what"]),
            plain(row["source"]),
            f"{int(row['rows']):,}",
            _number(row["seconds"]),
            _number(row["cpu_seconds"]),
            f"{float(row['peak_mib']):,.0f} MiB",
            row["passes"] or NOTHING,
            powers(row["certificate"]),
            powers(row["difference"]) or NOTHING,
        ]
        for row in rows
    ]
    files = [row for row in rows if "memory" not in row["source"]]
    most, goal = max(float(row["peak_mib"]) for row in files), float(files[0]["goal_mib"])
    verdict = "within" if most <= goal else "beyond"
    largest = max(int(row["rows"]) for row in files)
    said = (
        f"The fits from files of up to {largest:,} rows and {files[0]['features']} features took at most "
        f"{most:,.0f} MiB, {verdict} the {goal:,.0f} MiB that were the goal."
    )
    return f"{said}\n\n{table(FITS, cells, classes='sortable wide')}\n{_place(rows[0])}\n"


def cluster(rows: list[dict[str, str]]) -> str:
    """Return what came of runs whose workers were killed: a sentence, and a row for each run."""
    if not rows:
        return "Nothing is stored; `python benchmarks/large.py cluster` measures it.\n"
    counts = ("tasks", "killed", "lost", "twice", "given_up")
    total = {name: sum(int(row[name]) for row in rows) for name in counts}
    same = sum(row["same_bytes"] == "yes" for row in rows)
    experiments = len({row["experiment"] for row in rows})
    runs = "one run" if len(rows) == 1 else f"{len(rows)} runs of {experiments} experiments"
    whole = "all" if same == len(rows) else f"{same} of {len(rows)}"
    said = (
        f"{runs[0].upper()}{runs[1:]}, {total['tasks']:,} tasks, {total['killed']} workers killed at a task: "
        f"{total['lost']} results lost, {total['twice']} counted twice, {total['given_up']} given up by Dask "
        f"and done by the next run; the exported files of {whole} have the bytes of a run in one process."
    )
    cells = [
        [
            f"`{row['experiment']}`, {row['profile']}",
            *(row[name] for name in ("tasks", "killed", "runs", "done", "lost", "twice", "same_bytes")),
        ]
        for row in rows
    ]
    return (
        f"{said}\n\n{dropdown('Every run', table(LOST, cells, classes='sortable wide'))}\n{_place(rows[0])}\n"
    )


def cost(ids: Iterable[str]) -> str:
    """Return core-hours of the stored runs, and how long their tasks take on some numbers of workers."""
    cells, sums, least = [], [0.0] * (1 + len(WORKERS)), 0
    for id in ids:
        seconds = timings(id)
        if not seconds:
            continue
        spans = [makespan(seconds, workers) for workers in WORKERS]
        sums = [before + now for before, now in zip(sums, (sum(seconds), *spans), strict=True)]
        least += timed_in_part(id)
        number = f"{len(seconds):,}"
        if (wanted := len(load_protocol(id).tasks("paper"))) > len(seconds):
            number += f" of {wanted:,}"
        link = f"[{plain(id)}](#results-{id.replace('/', '-')})"
        times = [_minutes(max(seconds)), *map(_minutes, spans)]
        cells.append([link, number, f"{sum(seconds) / 3600:.2g}", *times])
    headings = [*COST, *(f"minutes on {workers}" for workers in WORKERS)]
    said = (
        f"All stored runs together are {sums[0] / 3600:,.0f} core-hours. One run after the other they take "
    )
    said += " and ".join(f"{span / 3600:.2g} hours on {n}" for n, span in zip(WORKERS, sums[1:], strict=True))
    said += " workers, if their cores are as fast as those that measured."
    if least:
        said += (
            f" For {least:,} of the {len(cells):,} runs these are lower bounds: the clock was that of the "
            "thread that did a task, and support vector machines and eigenvalues have a thread of their own."
        )
    return f"{said}\n\n{table(headings, cells, classes='sortable wide')}\n"


def timings(id: str) -> list[float]:
    """Return the seconds of each stored task of an experiment."""
    return [float(row["seconds"]) for row in timing_rows(id)]


def makespan(seconds: Iterable[float], workers: int) -> float:
    """Return how long the tasks take if the longest go first and each worker that is free takes the next.

    >>> makespan([3.0, 3.0, 2.0, 2.0, 2.0], 2)
    7.0
    """
    free = [0.0] * workers
    for each in sorted(seconds, reverse=True):
        heapq.heapreplace(free, free[0] + each)
    return max(free)


def _rows(name: str) -> list[dict[str, str]]:
    return stored_rows(resource("benchmarks", "results", name))


def _place(row: dict[str, str]) -> str:
    return plain(f"Python {row['python']}, NumPy {row['numpy']}, {row['machine']}.")


def _number(text: str) -> str:
    value = float(text)
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:,.1f}"

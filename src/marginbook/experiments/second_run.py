"""A second run of a share of the stored results, drawn by lot: what moves with the processor and the threads?

`experiment recheck` asks whether numbers come out again at all; this one asks how many do not, how far they
move, and whether a verdict goes with them.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.at_hand import registries_only
from ..base.project import resource
from ..claims import check
from ..claims.catalogue import Claim, listed
from ..claims.changed_results import in_results
from ..claims.rivals import Rival, in_place
from .errors import ExperimentError
from .export import KEY_COLUMNS, export, read_results
from .one_task import environment
from .protocol import Protocol, Task
from .recheck import differences, stored_rows
from .runner import Report, run
from .shipped import shipped

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

#: a number is counted at the first of these that its relative difference does not exceed; beyond: "more"
STEPS = (0.0, 1e-12, 1e-9, 1e-6, 1e-3)


def drawn(protocol: Protocol, share: float, seed: int) -> list[Task]:
    """Return stored tasks, drawn by lot until they have `share` of the seconds that all of them took.

    One that would take more than is left goes back; at least one is drawn.

    Raises
    ------
    ExperimentError
        Without stored results, or where other code made them than that of now.
    """
    if shipped(protocol).code != protocol.code():
        raise ExperimentError(
            f"the results of {protocol.id} were made by other code than the present: a second run would tell "
            f"what the code changed; first call: marginbook experiment run {protocol.id} --profile paper"
        )
    seconds = stored_rows(protocol)[1]
    tasks = sorted(seconds)
    random.Random(f"{seed} {protocol.id}").shuffle(tasks)
    left, found = (share + 1e-9) * sum(seconds.values()), []  # all of them, whatever rounding has left
    for task in tasks:
        if seconds[task] <= left:
            left -= seconds[task]
            found.append(task)
    return sorted(found) or [min(tasks, key=lambda task: (seconds[task], task))]


def run_again(
    protocol: Protocol,
    tasks: Sequence[Task],
    store: Path,
    folder: Path,
    *,
    n_jobs: int = 1,
    threads: int = 1,
    console: Console | None = None,
) -> Report:
    """Run tasks into a store of their own, not that of the first run, and export to `folder`."""
    report = run(protocol, "paper", tasks=tasks, store=store, n_jobs=n_jobs, threads=threads, console=console)
    if report.done:
        export(protocol, "paper", store=store, out=folder, replace=True)
    return report


def beside(experiment: str, second: pd.DataFrame) -> dict[str, Any]:
    """Return how far the numbers of a second run are from those that are stored.

    Returns
    -------
    dict
        ``experiment``, ``rows``, ``cells``, one count for each of `STEPS` (such as ``1e-12``) and ``more``,
        and ``where`` the largest difference is. Texts that differ count as more.
    """
    keys = list(KEY_COLUMNS)
    first = {tuple(row[key] for key in keys): row for row in read_results(experiment).to_dict("records")}
    counts, most, where = dict.fromkeys([*map(_named, STEPS), "more"], 0), 0.0, ""
    rows = second.to_dict("records")
    for row in rows:
        stored = {str(name): value for name, value in first[tuple(row[key] for key in keys)].items()}
        for name, difference in differences(stored, {str(name): value for name, value in row.items()}):
            if name in keys:
                continue
            counts[next((_named(step) for step in STEPS if difference <= step), "more")] += 1
            if difference > most:
                most, where = difference, f"{row['dataset']}, {row['method']}: {name}"
    return {
        "experiment": experiment, "rows": len(rows), "cells": sum(counts.values()), **counts, "where": where,
    }  # fmt: skip


def claims_of(experiment: str) -> list[Claim]:
    """Return the claims that read the stored results of an experiment."""
    return [claim for claim in listed(None) if f"results/{experiment}.csv" in claim.depends]


def verdicts(experiment: str, second: pd.DataFrame) -> list[dict[str, str]]:
    """Return the claims about an experiment, each with its verdict on the first run and on the second.

    The second has the rows that were run again in the place of the stored ones.
    """
    room, _, table = experiment.partition("/")
    swaps = in_results(room, [table], lambda frame: replaced(frame, second))
    found = []
    for claim in claims_of(experiment):
        first = check(claim.id)
        # as `check` does, so that no evidence hangs on which sets of a URL are here
        with registries_only(), in_place(Rival("a second run", swaps=swaps)):
            again = claim.check()
        found.append({"claim": claim.id, "first": str(first.verdict), "second": str(again.verdict)})
    return found


def replaced(frame: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Return `frame` with its rows of the same data set, split and method as in `second` taken from there."""
    import pandas as pd

    keys = list(KEY_COLUMNS)
    every = pd.concat([second.reindex(columns=frame.columns), frame], ignore_index=True)
    every = every.drop_duplicates(keys, keep="first")
    merged: pd.DataFrame = frame[keys].merge(every, on=keys, how="left")
    return merged.reindex(columns=frame.columns)


def other(ids: Iterable[str]) -> dict[str, str]:
    """Return what this process has that no stored row of these experiments was made with: packages, BLAS."""
    known: dict[str, set[str]] = {}
    for id in ids:
        about = json.loads(resource("results", f"{id}.provenance.json").read_text(encoding="utf-8"))
        for made in about["environments"]:
            for name, value in made.items():
                known.setdefault(name, set()).add(value)
    return {
        name: value
        for name, value in environment().items()
        if name != "commit" and value not in known.get(name, set())
    }


def totals(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return the sums of all counts over the experiments."""
    names = ["rows", "cells", *map(_named, STEPS), "more"]
    return {name: sum(int(row[name]) for row in rows) for name in names}


def _named(step: float) -> str:
    return f"{step:.0e}" if step else "0"

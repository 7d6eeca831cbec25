"""One file of cases: what its generator yields becomes rows, shown as they come and written at the end."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from ...cli.stopping import keeping, one_sentence
from . import tables
from .environment import environment, load, short
from .goals import goal_of
from .tables import Row
from .timing import CPU, WALL, Line, Ratio, Times, sampled

#: what solvers say of what a row says more exactly: how far a peer came
TOLD_IN_ROWS = (
    "(?s).*converge",
    "Solution may be inaccurate",
    "Passing in a compiled",
    "Regressors in active set",
    "Early stopping the lars path",
)


#: columns of a ratio of two times; empty where other quantities are compared
TIMES = ("ours", "ours_least", "peer", "peer_least", "wall_ratio", "least", "most", "runs", "peer_runs")


@dataclass(frozen=True)
class Record:
    """A row of a table of its own: numbers that are neither a ratio nor a line."""

    table: str
    values: Mapping[str, object]


Item: TypeAlias = Ratio | Line | Record


@dataclass
class Tables:
    """The rows of a case file so far; ratios go to the table of its name, lines to that of its room."""

    name: str
    say: Callable[[str], None] = lambda text: None
    rows: dict[str, list[Row]] = field(default_factory=dict)

    def add(self, item: Item) -> None:
        """Turn an item into a row; a line is timed now."""
        if isinstance(item, Ratio):
            table, row = self.name, ratio_row(self.name, item)
            self.say(f"{row['what']}: {item.ratio():.4g}{told(row)}")
        elif isinstance(item, Line):
            table, row = f"{self.name.partition('_')[0]}-scaling", line_row(item)
            self.say(
                f"{row['what'].removesuffix(f', {item.x}')}, {item.x} = {item.value}: {row['seconds']} s"
            )
        else:
            table, row = item.table, {key: str(value) for key, value in item.values.items()}
            if row.get("goal"):
                self.say(", ".join(row.values()))
        self.rows.setdefault(table, []).append(row | short())

    def finished(self) -> dict[str, list[Row]]:
        """Return the tables; ratios of the same kind together, in the order of the first of each."""
        if self.name in self.rows and "ratio" in self.rows[self.name][0]:
            ratios = self.rows[self.name]
            kinds = list(dict.fromkeys(_kind(row) for row in ratios))
            ratios.sort(key=lambda row: kinds.index(_kind(row)))
        return self.rows


def _kind(row: Row) -> str:
    return row["what"].split(", ")[0]


def ratio_row(table: str, item: Ratio) -> Row:
    """Return the cells of a ratio: medians, the range over the turns, and whether its goal is met."""
    goal, value, span = goal_of(table, item.what), item.ratio(), item.span()
    row = {
        "what": item.what,
        "ratio": f"{value:.6g}",
        "goal": "" if goal is None else f"{goal.bound:g}",
        "met": "" if goal is None else "yes" if goal.holds(value) else "no",
        **dict.fromkeys(TIMES, ""),
    }
    if item.ours is None or item.peer is None:
        return row
    for side, times in (("ours", item.ours), ("peer", item.peer)):
        row |= {side: f"{np.median(times[:, CPU]):.4g}", f"{side}_least": f"{times[:, CPU].min():.4g}"}
    row |= {"wall_ratio": f"{item.ratio(WALL):.4g}", "least": f"{span[0]:.4g}", "most": f"{span[1]:.4g}"}
    return row | {"runs": str(len(item.ours)), "peer_runs": str(len(item.peer))}


def line_row(item: Line) -> Row:
    """Time one size of a line, and return its cells."""
    times: Times = sampled(item.action)[0][:, CPU] / item.share
    seconds = {"seconds": np.median(times), "least": times.min(), "most": times.max()}
    cells = {key: f"{value:.4g}" for key, value in seconds.items()}
    return {"what": item.what, "x": item.x, "value": str(item.value), **cells, "runs": str(len(times))}


def told(row: Row) -> str:
    """Return goal and spread of a ratio for the terminal."""
    spread = f" ({row['least']} to {row['most']})" if row["least"] else ""
    return f"{spread}, goal {row['goal']}: {row['met']}" if row["goal"] else spread


def main(measure: Callable[[bool], Iterable[Item]]) -> None:
    """Run one case file: measure with one thread, then write its tables and a row of ``environment.csv``."""
    file = Path(measure.__globals__["__file__"])
    parser = argparse.ArgumentParser(
        description=measure.__globals__["__doc__"], formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="small sizes, for a look; goes to _build/bench/quick"
    )
    quick = parser.parse_args().quick
    with one_sentence(), keeping(f"nothing of {file.name} was written"):
        _measured(file, measure, quick)


def _measured(file: Path, measure: Callable[[bool], Iterable[Item]], quick: bool) -> None:
    from rich.console import Console

    console = Console(width=150, highlight=False)
    found = Tables(file.stem, lambda text: console.print(f"  {text}", markup=False))
    begun, busy = time.perf_counter(), load()
    with warnings.catch_warnings(), threadpool_limits(1):
        for message in TOLD_IN_ROWS:
            warnings.filterwarnings("ignore", message=message)
        for item in measure(quick):
            found.add(item)
        place = environment()
    folder = file.parent.parent / "_build" / "bench" / "quick" if quick else file.parent / "results"
    for name, rows in found.finished().items():
        tables.write(folder / f"{name}.csv", rows)
        console.print(f"  {name}.csv: {len(rows)} rows")
    note(folder, file.stem, time.perf_counter() - begun, busy, place)


def note(
    folder: Path, name: str, seconds: float, busy: float, place: Mapping[str, str] | None = None
) -> None:
    """Put the environment of one case file, the present by default, in place of that of its last run."""
    path, place = folder / "environment.csv", environment() if place is None else place
    took = {"seconds": f"{seconds:.0f}", "load": f"{busy:.2f}", "load_after": f"{load():.2f}"}
    row = {"file": name, **place, **took}
    known = tables.parsed(path.read_text(encoding="utf-8")) if path.is_file() else []
    others = [each for each in known if each["file"] != row["file"]]
    tables.write(path, sorted([*others, row], key=lambda each: each["file"]))

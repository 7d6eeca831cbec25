"""How lists of experiments, and the outcome of a run, look in a terminal."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..base.progress import clock
from .progress import last_line
from .protocol import load_protocol
from .recheck import Rechecked
from .runner import Report
from .standing import Standing

CPU = (
    "CPU: of all tasks (h:mm:ss), each timed on one core: as in the store, else as shipped; "
    "≤: measured with larger settings"
)
LEFT = (
    "time left: of what is neither done nor shipped; a run takes all but what is done, "
    "and computes again what is only shipped"
)


def console() -> Console:
    """Return standard output; in a pipe or a file there is no edge that lines must not cross."""
    return Console(width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else 120)


def compact(*headings: str, folded: str = "") -> Table:
    """Return a table that fits into 80 columns; only `folded` may take several lines."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, padding=0)
    for heading in headings:
        table.add_column(heading, no_wrap=heading != folded)
    return table


def show(table: Table) -> None:
    """Print a table; what is too wide for the terminal becomes a paragraph per row, without its zeros."""
    screen = console()
    if screen.measure(table, options=screen.options.update(max_width=10_000)).minimum <= screen.width:
        screen.print(table)
        return
    _, *names = (str(column.header).replace("-\n", "").replace("\n", " ") for column in table.columns)
    for first, *cells in zip(*(column.cells for column in table.columns), strict=True):
        told = [
            f"{name} {cell}".strip() for name, cell in zip(names, cells, strict=True) if cell not in ("0", "")
        ]
        screen.print(Text(str(first)))
        screen.print(Padding(Text(", ".join(told)), (0, 0, 0, 2)))


def duration(record: Mapping[str, Any], key: str = "cpu_seconds", workers: int = 1) -> str:
    """Return the time at `key` of a record of `Standing`, shared by some workers."""
    if record[key] is None:
        return "?"
    return ("≤" if record["at_most"] and record[key] else "") + clock(math.ceil(record[key] / workers))


def made_by(found: Iterable[Standing]) -> str:
    """Return a line on the code that made the results which are shipped."""
    found = list(found)
    if not found:
        return "shipped: nothing"
    others = [
        each.experiment + (f" ({', '.join(each.commits)})" if each.commits else "")
        for each in found
        if not each.code_of_now
    ]
    shipped = f"shipped: {len(found)} experiment{'s' if len(found) > 1 else ''}"
    if not others:
        return f"{shipped}, all current"
    were = "were" if len(others) > 1 else "was"
    return (
        f"{shipped}; {len(others)} {were} made by other code than the present, and "
        f"`marginbook experiment recheck` computes a sample of their rows again: {', '.join(others)}"
    )


def tell(report: Report, skip_missing: bool) -> bool:
    """Say what a run did and what it left out, and return whether it was all that was asked for."""
    click.echo(
        f"{report.experiment} ({report.profile}): {report.done} of {report.asked} tasks done, {report.ran} "
        f"run now, {len(report.failed)} failed"
    )
    causes: dict[str, list[str]] = {}  # one cause may make many tasks fail
    for outcome in report.failed:
        causes.setdefault(last_line(outcome.error or ""), []).append(str(outcome.task))
    for cause, tasks in causes.items():
        count = f"{len(tasks)} tasks, such as " if len(tasks) > 1 else ""
        click.echo(f"  failed: {count}{tasks[0]}: {cause}", err=True)
    if report.failed:
        click.echo(f"  tracebacks: marginbook experiment status {report.experiment} --tracebacks", err=True)
    for why in dict.fromkeys(report.lacking.values()):
        methods = [method for method, reason in report.lacking.items() if reason == why]
        click.echo(f"  skipped {', '.join(methods)}: {why}", err=True)
    for dataset, reason in report.missing.items():
        if dataset not in report.to_fetch:
            click.echo(f"  skipped {dataset}: {reason}", err=True)
    if report.to_fetch:
        click.echo(f"  skipped {_absent(report.to_fetch)}", err=True)
    for dataset, why in load_protocol(report.experiment).stand_ins.items():
        if report.profile == "quick":
            click.echo(f"  {dataset} is a stand-in, {why}; it is compared with no printed number", err=True)
    return not report.failed and (skip_missing or not (report.missing or report.lacking))


def tell_rechecked(experiment: str, found: Iterable[Rechecked]) -> None:
    """Say what differs, a line for each row, and what was not compared, a line for each cause."""
    causes: dict[str, list[str]] = {}
    to_fetch: dict[str, str] = {}
    for each in found:
        if each.compared and not each.same:
            click.echo(f"differs: {each.task}: {each.where}, by {each.largest:.1e} of it", err=True)
        elif each.to_fetch:
            to_fetch[each.task.dataset] = each.to_fetch
        elif not each.compared:
            causes.setdefault(each.where, []).append(str(each.task))
    for cause, tasks in causes.items():
        count = f"{len(tasks)} rows, such as " if len(tasks) > 1 else ""
        click.echo(f"not compared: {count}{tasks[0]}: {cause}", err=True)
    if to_fetch:
        click.echo(f"not compared: {experiment} on {_absent(to_fetch)}", err=True)


def _absent(to_fetch: Mapping[str, str]) -> str:
    """Return which data sets are not here, and the command for all of them, by what each is called there."""
    from ..datasets.fetch import shortened

    names = " ".join(dict.fromkeys(to_fetch.values()))
    return f"{shortened(list(to_fetch))}: not on this machine; run `marginbook data fetch {names}`"

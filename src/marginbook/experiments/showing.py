"""How lists of experiments look in a terminal."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from ..base.progress import clock
from .standing import Standing

CPU = (
    "CPU: of all tasks (h:mm:ss), each timed on one core: as in the store, else as shipped; "
    "≤: measured with larger settings"
)
LEFT = "time left: of a run, which does all but what is done; what is shipped is not in the store"


def console() -> Console:
    """Return standard output; in a pipe or a file there is no edge that lines must not cross."""
    return Console(width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else 120)


def compact(*headings: str, folded: str = "") -> Table:
    """Return a table that fits into 80 columns; only `folded` may take several lines."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, padding=0)
    for heading in headings:
        table.add_column(heading, no_wrap=heading != folded)
    return table


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
    if not others:
        return f"shipped: {len(found)} experiments, all current"
    return (
        f"shipped: {len(found)} experiments; {len(others)} were made by other code than that of now, and "
        f"`marginbook experiment recheck` computes a sample of their rows again: {', '.join(others)}"
    )

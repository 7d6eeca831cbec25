"""What the benchmarks measured, as a table per room."""

from __future__ import annotations

import csv
from pathlib import Path

from ..claims import ROOMS
from ..project import resource
from .myst import plain, table

HEADINGS = ["what", "ratio", "goal", "met"]


def write(folder: Path) -> None:
    """Write ``bench-ROOM.md`` for every room, from ``benchmarks/results/ROOM.csv``."""
    for room in ROOMS:
        folder.joinpath(f"bench-{room}.md").write_text(section(room), encoding="utf-8")


def section(room: str) -> str:
    stored = resource("benchmarks", "results", f"{room}.csv")
    if not stored.is_file():
        return f"Nothing is stored; `python benchmarks/{room}.py` measures it.\n"
    with stored.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    lines = [[plain(row["what"]), _ratio(float(row["ratio"])), row["goal"], row["met"]] for row in rows]
    place = rows[0]
    note = f"Python {place['python']}, NumPy {place['numpy']}, {place['machine']}, {place['blas']}."
    return table(HEADINGS, lines, widths=[58, 16, 14, 12], classes="") + f"\n{plain(note)}\n"


def _ratio(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"

"""What the benchmarks measured, as a table per room."""

from __future__ import annotations

import csv
from pathlib import Path

from ..claims import ROOMS
from ..project import resource
from .myst import dropdown, plain, table

HEADINGS = ["what", "ratio", "goal", "met"]


def write(folder: Path) -> None:
    """Write ``bench-ROOM.md`` for every room, from ``benchmarks/results/ROOM.csv``."""
    for room in ROOMS:
        folder.joinpath(f"bench-{room}.md").write_text(section(room), encoding="utf-8")


def section(room: str) -> str:
    """Return the rows that have a goal as a table, and the others behind a button."""
    rows = _rows(f"{room}.csv") + _rows(f"{room}-sparse.csv")
    if not rows:
        return f"Nothing is stored; `python benchmarks/{room}.py` measures it.\n"
    with_goal = [_cells(row) for row in rows if row["goal"]]
    others = [_cells(row)[:2] for row in rows if not row["goal"] and "ratio" in row]
    place = rows[0]
    note = f"Python {place['python']}, NumPy {place['numpy']}, {place['machine']}, {place['blas']}."
    parts = [table(HEADINGS, with_goal, widths=[58, 16, 14, 12], classes="")] if with_goal else []
    if others:
        more = table(HEADINGS[:2], others, widths=[80, 20], classes="")
        parts.append(dropdown("Other ratios, for which no goal was set", more))
    return "\n".join(parts) + f"\n{plain(note)}\n"


def _rows(name: str) -> list[dict[str, str]]:
    stored = resource("benchmarks", "results", name)
    if not stored.is_file():
        return []
    with stored.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _cells(row: dict[str, str]) -> list[str]:
    # the sparse problems come in sizes, which their rows keep in columns
    size = f", m = {int(row['m']):,}, C = {float(row['C']):g}" if "m" in row else ""
    ratio = _ratio(float(row.get("ratio") or row["value"]))
    return [plain(row["what"] + size), ratio, row["goal"], row["met"]]


def _ratio(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"

"""What the benchmarks measured, as a table per room."""

from __future__ import annotations

from pathlib import Path

from ..base.project import resource
from ..claims.errata import PAPERS
from ..quality.benchmarking import tables
from .myst import dropdown, plain, table

HEADINGS = ["what", "ratio", "range", "goal", "met"]


def write(folder: Path) -> None:
    """Write ``bench-ROOM.md`` for every room, from ``benchmarks/results/ROOM.csv``."""
    for room in PAPERS:
        folder.joinpath(f"bench-{room}.md").write_text(section(room), encoding="utf-8")


def section(room: str) -> str:
    """Return the rows that have a goal as a table, and the others behind a button."""
    rows = tables.stored(room) + tables.stored(f"{room}-sparse")
    if not rows:
        if not resource("benchmarks", f"{room}.py").is_file():
            return f"Nothing is measured: there is no `benchmarks/{room}.py`.\n"
        return f"Nothing is stored; `make bench PAPER={room}` measures it.\n"
    with_goal = [_cells(row) for row in rows if row["goal"]]
    others = [_cells(row)[:3] for row in rows if not row["goal"] and "ratio" in row]
    parts = [table(HEADINGS, with_goal, widths=[52, 12, 16, 10, 10], classes="bench")] if with_goal else []
    if others:
        more = table(HEADINGS[:3], others, widths=[66, 14, 20], classes="bench")
        parts.append(dropdown("Other ratios, for which no goal was set", more))
    return "\n".join(parts) + f"\n{plain(_place(room, rows))}\n"


def _place(room: str, rows: list[tables.Row]) -> str:
    """Return versions and machine: those of the last run, else what stands in the rows."""
    known = {row["file"]: row for row in tables.stored("environment")}.get(room, {})
    place = {**rows[0], **known}
    parts = [f"Python {place['python']}", f"NumPy {place['numpy']}", place.get("cpu") or place["machine"]]
    return ", ".join([*parts, *filter(None, [place.get("blas")])]) + "."


def _cells(row: tables.Row) -> list[str]:
    # the sparse problems come in sizes, which their rows keep in columns
    size = f", m = {int(row['m']):,}, C = {float(row['C']):g}" if "m" in row else ""
    span = " to ".join(_number(float(row[key])) for key in ("least", "most") if row.get(key))
    ratio = _number(float(row.get("ratio") or row["value"]))
    return [plain(row["what"] + size), ratio, span, row["goal"], row["met"]]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"

"""The readings of the papers' tables, side by side, on the page about verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..claims import ROOMS
from ..claims.read_as import ReadAs
from .myst import NOTHING, badge, plain, table

HEADINGS = ["table", "read as", "cells that agree", "mean distance, points", "verdict"]


def write(folder: Path, readings: Mapping[str, Sequence[ReadAs]]) -> None:
    """Write the readings of `all_readings` as ``readings.md`` into ``book/_generated`` of the source tree."""
    parts = []
    for room, every in readings.items():
        rows = [row for row in every if row.tested]
        left = Counter(row.table for row in every if not row.tested)
        cells = [
            [
                _name(row.table),
                plain(row.reading),
                f"{row.agree} of {row.tested}",
                f"{row.distance:.2f}" if row.distance == row.distance else NOTHING,
                badge(row.verdict),
            ]
            for row in rows
        ]
        parts.append(f"### {ROOMS[room]}\n")
        parts.append(table(HEADINGS, cells, widths=[12, 46, 14, 14, 14], classes="sortable cards readings"))
        if left:
            named = ", ".join(f"{number} of {_name(one)}" for one, number in left.items())
            parts.append(f"Read in other ways, too, but not run in full: {named}.\n")
    folder.joinpath("readings.md").write_text("\n".join(parts) or "Nothing has been run.\n", encoding="utf-8")


def _name(of_table: str) -> str:
    return of_table.replace("-", " ").capitalize()

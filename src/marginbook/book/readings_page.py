"""The readings of the papers' tables, side by side, on the page about verdicts."""

from __future__ import annotations

from pathlib import Path

from ..claims import ROOMS
from ..claims.read_as import all_readings
from .myst import NOTHING, badge, in_words, plain, table

HEADINGS = ["table", "read as", "cells that agree", "mean distance, points", "verdict"]


def write(folder: Path) -> None:
    """Write ``readings.md`` into ``book/_generated`` of the source tree."""
    parts = []
    for room, rows in all_readings().items():
        cells = [
            [
                row.table.replace("-", " ").capitalize(),
                plain(row.reading),
                f"{row.agree} of {row.tested}" if row.tested else NOTHING,
                f"{row.distance:.2f}" if row.distance == row.distance else NOTHING,
                badge(row.verdict) if row.tested else in_words(row.verdict),
            ]
            for row in rows
        ]
        parts.append(f"### {ROOMS[room]}\n")
        parts.append(table(HEADINGS, cells, widths=[12, 46, 14, 14, 14], classes="sortable cards"))
    folder.joinpath("readings.md").write_text("\n".join(parts) or "Nothing has been run.\n", encoding="utf-8")

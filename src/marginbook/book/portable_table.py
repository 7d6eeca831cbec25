"""What came out with the arithmetic of other processors: ``results/portable/`` as a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .myst import NOTHING, dropdown, table

PARTS = {"unit": "unit tests", "notebooks": "cells of notebooks"}


def outcomes(folder: Path) -> list[dict[str, Any]]:
    """Return what is stored, by kind of processor and threads."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    return sorted(found, key=lambda run: (run["core"], run["threads"]))


def section(runs: list[dict[str, Any]]) -> str:
    """Return one sentence on all runs, one line for each, and the names of what failed."""
    if not runs:
        return "Nothing is stored; `make portable` measures it.\n"
    parts = [run[part] for run in runs for part in PARTS if part in run]
    clean = sum(part["failed"] == 0 for part in parts)
    kinds = len({run["core"] for run in runs})
    text = (
        f"{clean} of {len(parts)} runs with the arithmetic of {kinds} kinds of processor have no failure, "
        f"of {sum(part['passed'] + part['failed'] for part in parts):,} tests and cells in all.\n"
    )
    lines = [
        [
            run["core"],
            str(run["threads"]),
            *(_count(run.get(part), name) for part in PARTS for name in ("passed", "failed")),
            f"{sum(run[part]['seconds'] for part in PARTS if part in run) / 60:.0f}",
            ", ".join(dict.fromkeys(f"`{run[part]['commit']}`" for part in PARTS if part in run)),
        ]
        for run in runs
    ]
    headings = [
        "kernels",
        "threads",
        *(f"{what} {how}" for what in PARTS.values() for how in ("right", "failed")),
    ]
    made = [text, table([*headings, "minutes", "commit"], lines, classes="sortable wide")]
    for run in runs:
        names = [name for part in PARTS for name in run.get(part, {}).get("failures", [])]
        if names:
            title = f"What failed with {run['core']}, {run['threads']} threads"
            made.append(dropdown(title, "\n".join(f"- `{name}`" for name in names)))
    return "\n".join(made)


def _count(part: dict[str, Any] | None, name: str) -> str:
    return NOTHING if part is None else f"{part[name]:,}"

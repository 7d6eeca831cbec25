"""What came out with the arithmetic of other processors: ``results/portable/`` as a table."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from .myst import NOTHING, dropdown, plain, table

PARTS = {"unit": "unit tests", "notebooks": "cells of notebooks"}
#: the runs that there should be
CORES = ("SkylakeX", "Haswell", "Zen", "Nehalem")
THREADS = (1, 2)
#: which unit tests a run had
ALL, WITHOUT_LONG = "all", "without the long ones"
#: the file that says which processors could not be imitated
LEFT_OUT = "left-out.json"


def outcomes(folder: Path) -> list[dict[str, Any]]:
    """Return what is stored, by kind of processor and threads."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*-[0-9].json"))]
    return sorted(found, key=lambda run: (run["core"], run["threads"]))


def left_out(folder: Path) -> dict[str, str]:
    """Return the kinds of processor that could not be imitated, each with the reason."""
    file = folder / LEFT_OUT
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def missing(runs: list[dict[str, Any]], refused: Collection[str]) -> list[str]:
    """Return the runs that are neither stored nor refused, such as ``"Zen, 2 threads: unit tests"``."""
    stored = {(run["core"], run["threads"]): run for run in runs}
    lacking = []
    for core in CORES:
        for threads in () if core in refused else THREADS:
            run = stored.get((core, threads), {})
            parts = [what for part, what in PARTS.items() if part not in run]
            which = f": {parts[0]}" if len(parts) == 1 else ""
            if parts:
                lacking.append(f"{core}, {threads} thread{'s' if threads > 1 else ''}{which}")
    return lacking


def section(runs: list[dict[str, Any]], refused: Mapping[str, str]) -> str:
    """Return sentences on all runs and on those that are missing, a line for each, and what failed."""
    if not runs:
        return "Nothing is stored; `make portable` measures it.\n"
    parts = [run[part] for run in runs for part in PARTS if part in run]
    clean = sum(part["failed"] == 0 for part in parts)
    kinds = len({run["core"] for run in runs})
    text = (
        f"{clean} of {len(parts)} runs with the arithmetic of {kinds} kinds of processor have no failure, "
        f"of {sum(part['passed'] + part['failed'] for part in parts):,} tests and cells in all.\n"
    )
    if refused:
        reasons = "; ".join(f"{core}: {why}" for core, why in refused.items())
        text += f"\nLeft out on the machine that ran last: {plain(reasons)}.\n"
    if lacking := missing(runs, refused):
        text += f"\nNot run yet: {'; '.join(lacking)}.\n"
    lines = [
        [
            run["core"],
            str(run["threads"]),
            run["unit"].get("which", ALL) if "unit" in run else NOTHING,
            *(_count(run.get(part), name) for part in PARTS for name in ("passed", "failed")),
            f"{sum(run[part]['seconds'] for part in PARTS if part in run) / 60:.0f}",
            _commits({what: run[part]["commit"] for part, what in PARTS.items() if part in run}),
        ]
        for run in runs
    ]
    headings = [
        "kernels",
        "threads",
        "which unit tests",
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


def _commits(found: dict[str, str]) -> str:
    """Return the commit of a line, or where its parts are of several, that of each."""
    if len(set(found.values())) == 1:
        return f"`{next(iter(found.values()))}`"
    return ", ".join(f"`{commit}` ({what})" for what, commit in found.items())

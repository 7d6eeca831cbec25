"""What each paper leaves unstated and what we assumed; what ran, on which seeds and versions, how long."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..base.project import resource
from ..claims import ROOMS
from ..claims.errata import PAPERS
from ..datasets.registry import registry
from ..experiments import Protocol, experiments, load_protocol
from .myst import NOTHING, dropdown, plain, table
from .stored import stored_rows

RUNS = ["run", "splits", "fits quick", "fits full", "hours", "±"]


def write(folder: Path) -> None:
    """Write ``reproducibility.md``: one section per paper that has protocols."""
    plans = [load_protocol(id) for id in experiments()]
    own = {room: [plan for plan in plans if plan.room == room] for room in PAPERS}
    parts = [section(room, list_) for room, list_ in own.items() if list_]
    folder.joinpath("reproducibility.md").write_text("\n".join(parts), encoding="utf-8")


def section(room: str, plans: list[Protocol]) -> str:
    """Return what one paper leaves open, what ran, and what could not run."""
    parts = [
        f"(unstated-{room})=",
        f"## {ROOMS[room]}",
        "",
        f"{{cite:p}}`{PAPERS[room]}`, [chapter]({room}.md)",
        "",
    ]
    parts += ["### Left open, and what we assumed", "", assumptions(plans)]
    parts += ["### What ran", "", runs(plans), versions(plans), ""]
    missing = [(e.name, e.reason) for e in registry().values() if not e.available and _used(e.used_by, room)]
    if missing:
        parts += ["### Data that are not available", ""]
        parts += [f"{plain(name)}\n: {plain(reason)}\n" for name, reason in missing]
    return "\n".join(parts)


def assumptions(plans: Iterable[Protocol]) -> str:
    """Return what the protocols fix and the paper does not, folded; equal assumptions of runs share a row."""
    where: dict[tuple[str, str], list[str]] = {}
    for plan in plans:
        for gap, choice in plan.not_stated.items():
            where.setdefault((gap, choice), []).append(plan.id)
    rows = [[plain(gap), plain(choice), _links(ids)] for (gap, choice), ids in where.items()]
    listed = table(["left open", "what we assumed", "in"], rows, widths=[24, 58, 18], classes="sortable wide")
    return dropdown(f"All {len(rows)} assumptions", listed)


def runs(plans: Iterable[Protocol]) -> str:
    """Return sizes and durations: splits, tasks of both profiles, hours of the stored run."""
    rows = []
    for plan in plans:
        spent, least = seconds(plan.id), "≥\u00a0" if timed_in_part(plan.id) else ""
        rows.append(
            [
                f"{_links([plan.id])}\\\n{plain(plan.title)}",
                str(plan.splits.n),
                str(len(plan.tasks("quick"))),
                str(len(plan.tasks("paper"))),
                NOTHING if spent is None else f"{least}{spent / 3600:.2g}",
                plain(plan.plus_minus),
            ]
        )
    return table(RUNS, rows, widths=[38, 8, 9, 9, 8, 28], classes="sortable wide")


def seconds(id: str) -> float | None:
    """Return the time that the stored run took, added up over its tasks; None without one."""
    rows = timing_rows(id)
    return sum(float(row["seconds"]) for row in rows) if rows else None


def timing_rows(id: str) -> list[dict[str, str]]:
    """Return a row with the seconds of each stored task of an experiment."""
    return stored_rows(resource("results", *f"{id}.timing.csv".split("/")))


def timed_in_part(id: str) -> bool:
    """Return whether the stored seconds miss the threads that tasks start, such as those that fit SVMs.

    Tasks were timed by the clock of their own thread when provenance first named the processor.
    """
    places = (_provenance(id) or {"environments": []})["environments"]
    named = any("processor" in each for each in places)
    return named and any(row.get("clock") != "process" for row in timing_rows(id))


def versions(plans: Iterable[Protocol]) -> str:
    """Return one sentence on the versions behind the stored results, and one on what is not stored."""
    found: dict[str, None] = {}
    waiting, part = [], []
    for plan in plans:
        stored = _provenance(plan.id)
        if stored is None:
            waiting.append(plan.id)
            continue
        found.update(dict.fromkeys(map(_words, stored["environments"])))
        # of today's protocol: the one of a record may have had fewer
        if stored["tasks"]["exported"] < (wanted := len(plan.tasks("paper"))):
            part.append(f"{plan.id} ({stored['tasks']['exported']:,} of {wanted:,})")
    lines = [f"Stored results were made with {plain('; '.join(found))}."] if found else []
    if part:
        lines.append(f"Stored in part: {plain(', '.join(part))}.")
    if waiting:
        lines.append(f"Not run on this checkout: {plain(', '.join(waiting))}.")
    return " ".join(lines)


def _provenance(id: str) -> dict[str, Any] | None:
    stored = resource("results", *f"{id}.provenance.json".split("/"))
    if not stored.is_file():
        return None
    found: dict[str, Any] = json.loads(stored.read_text(encoding="utf-8"))
    return found


def _words(environment: dict[str, str]) -> str:
    names = {"python": "Python", "numpy": "NumPy", "scipy": "SciPy", "scikit-learn": "scikit-learn"}
    return ", ".join(f"{name} {environment[key]}" for key, name in names.items() if key in environment)


def _links(ids: Iterable[str]) -> str:
    return ", ".join(f"[{id.partition('/')[2]}](#results-{id.replace('/', '-')})" for id in ids)


def _used(used_by: Iterable[str], room: str) -> bool:
    return any(table_id.partition("/")[0] == room for table_id in used_by)

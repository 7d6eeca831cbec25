"""The table of data sets, from the registry."""

from __future__ import annotations

from pathlib import Path

from ..datasets.registry import Entry, registry
from .myst import plain, table

HEADINGS = ["name", "what it is", "rows", "features", "classes", "state", "source", "licence", "used by"]


def write(folder: Path) -> None:
    """Write ``data.md``: every set of the registry, also those that cannot be had."""
    entries = registry()
    rows = [_row(entry) for entry in entries.values()]
    missing = [entry for entry in entries.values() if not entry.available]
    counts = f"{len(entries)} data sets; {len(entries) - len(missing)} can be had, {len(missing)} cannot.\n"
    parts = [counts, table(HEADINGS, rows, widths=[10, 20, 7, 7, 7, 9, 14, 14, 12])]
    if missing:
        parts.append("## Not to be had\n")
        parts += [f"{plain(entry.name)}\n: {plain(entry.reason)}\n" for entry in missing]
    folder.joinpath("data.md").write_text("\n".join(parts), encoding="utf-8")


def _row(entry: Entry) -> list[str]:
    ways = ", ".join(dict.fromkeys(source.kind for source in entry.sources)) or "–"
    source = f"[{ways}]({entry.home})" if entry.home.startswith("http") else plain(ways)
    features = "×".join(map(str, entry.shape)) if entry.shape else _count(entry.p)
    return [
        f"`{entry.name}`",
        plain(entry.title),
        _count(entry.n),
        features,
        str(len(entry.classes)) if entry.classes else "–",
        plain(entry.status or "available"),
        source,
        plain(entry.licence),
        plain(", ".join(entry.used_by)),
    ]


def _count(value: int | None) -> str:
    return str(value) if value else "–"

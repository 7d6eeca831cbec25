"""The table of data sets, from the registry."""

from __future__ import annotations

from pathlib import Path

from ..datasets.registry import Entry, registry
from .myst import NOTHING, plain, table

HEADINGS = ["name", "what it is", "rows", "features", "classes", "tables", "source", "licence"]


def write(folder: Path) -> None:
    """Write ``data.md``: every set of the registry, also those that cannot be had."""
    entries = registry()
    rows = [_row(entry) for entry in entries.values()]
    missing = [entry for entry in entries.values() if not entry.available]
    counts = f"{len(entries)} data sets; {len(entries) - len(missing)} can be had, {len(missing)} cannot.\n"
    parts = [counts, table(HEADINGS, rows, widths=[12, 18, 6, 7, 6, 12, 9, 30], classes="sortable wide")]
    if missing:
        parts.append("## Not to be had\n")
        parts += [f"{plain(entry.name)}\n: {plain(entry.reason)}\n" for entry in missing]
    folder.joinpath("data.md").write_text("\n".join(parts), encoding="utf-8")


def _row(entry: Entry) -> list[str]:
    ways = ", ".join(dict.fromkeys(source.kind for source in entry.sources)) or "not to be had"
    source = f"[{ways}]({entry.home})" if entry.home.startswith("http") else ways
    features = "×".join(map(str, entry.shape)) if entry.shape else _count(entry.p)
    return [
        f"`{entry.name}`",
        plain(entry.title),
        _count(entry.n),
        features,
        _count(len(entry.classes)),
        _tables(entry.used_by),
        source,
        f"[{plain(entry.licence)}]{{.licence}}",
    ]


def _tables(used_by: tuple[str, ...]) -> str:
    """Return ``drm 7, 8; ldm 1`` for ``drm/table-7``, ``drm/table-8``, ``ldm/table-1``."""
    rooms: dict[str, list[str]] = {}
    for table_id in used_by:
        room, _, name = table_id.partition("/")
        rooms.setdefault(room, []).append(name.removeprefix("table-"))
    return "; ".join(f"{room} {', '.join(numbers)}" for room, numbers in rooms.items())


def _count(value: int | None) -> str:
    return str(value) if value else NOTHING

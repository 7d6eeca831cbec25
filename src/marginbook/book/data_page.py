"""The table of data sets, from the registry."""

from __future__ import annotations

from pathlib import Path

from ..datasets.registry import Entry, registry
from .myst import NOTHING, plain, table

HEADINGS = ["name", "what it is", "rows", "features", "classes", "tables", "source"]


def write(folder: Path) -> None:
    """Write ``data.md``: every set of the registry, also those that are not available."""
    entries = registry()
    rows = [_row(entry) for entry in entries.values()]
    missing = [entry for entry in entries.values() if not entry.available]
    counts = (
        f"{len(entries)} data sets; {len(entries) - len(missing)} are available, {len(missing)} are not.\n"
    )
    parts = [counts, table(HEADINGS, rows, widths=[16, 26, 8, 10, 9, 17, 14], classes="sortable wide sets")]
    # in a column of the table these sentences would be cut, or one word wide
    licences: dict[str, list[str]] = {}
    for entry in entries.values():
        licences.setdefault(entry.licence, []).append(f"`{entry.name}`")
    listed = "\n".join(f"{plain(text)}\n: {', '.join(names)}\n" for text, names in licences.items())
    parts += ["## Licences\n", listed]
    if missing:
        parts.append("## Not available\n")
        parts += [f"{plain(entry.name)}\n: {plain(entry.reason)}\n" for entry in missing]
    folder.joinpath("data.md").write_text("\n".join(parts), encoding="utf-8")


def _row(entry: Entry) -> list[str]:
    ways = ", ".join(dict.fromkeys(source.kind for source in entry.sources)) or "not available"
    source = f"[{ways}]({entry.home})" if entry.home.startswith("http") else ways
    features = "×".join(map(str, entry.shape)) if entry.shape else _count(entry.p)
    return [
        f"`{entry.name}`",
        plain(entry.title),
        _count(entry.n),
        features,
        _count(len(entry.classes)),
        _tables(entry.used_by) or NOTHING,
        source,
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

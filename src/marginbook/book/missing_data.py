"""What the book does not need, but a reader may fetch to run a table again: said at the end of a build."""

from __future__ import annotations

from collections.abc import Iterable

from ..datasets.load import is_here
from ..datasets.registry import Entry, registry


def lines(entries: Iterable[Entry] | None = None) -> list[str]:
    """Return a line for each group of tables that lack the same sets, with the command; none if all are here.

    Parameters
    ----------
    entries : iterable of Entry, optional
        By default the whole registry. Sets that cannot be had are left out.
    """
    tables: dict[str, list[str]] = {}
    for entry in registry().values() if entries is None else entries:
        if entry.available and not any(is_here(source) for source in entry.sources):
            for table in entry.used_by:
                tables.setdefault(table, []).append(entry.name)
    if not tables:
        return []
    groups: dict[tuple[str, ...], list[str]] = {}
    for table, names in tables.items():
        groups.setdefault(tuple(names), []).append(table)
    absent = len({name for names in tables.values() for name in names})
    return [
        f"{absent} optional data sets are not here; the book shows stored results. They would add:",
        *(
            f"  {', '.join(where)}: {', '.join(names)}; marginbook data fetch --table {where[0]}"
            for names, where in groups.items()
        ),
        "  all of them: marginbook data fetch; `marginbook experiment run --help` says what to do with them",
    ]

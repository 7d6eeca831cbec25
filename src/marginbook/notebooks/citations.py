"""Citations outside Sphinx: names and years of all references, and a list of those that are cited."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from ..base.project import resource
from ..base.rooms import rooms


class UnknownReference(KeyError):
    """A key that neither ``book/references.bib`` nor a room's ``paper/references.bib`` has."""

    def __str__(self) -> str:
        return str(self.args[0])


def cite(key: str, how: str = "t") -> str:
    """Return a citation in the text: ``"t"`` with the names outside the brackets, ``"p"`` inside, ``"year"``.

    >>> cite("peng_discriminative")
    'Peng and Cheng (2021)'
    """
    entry = _entry(key)
    names = [" ".join(map(str, person.rich_last_names)) for person in entry.persons["author"]]
    who = names[0] + (f" and {names[1]}" if len(names) == 2 else " et al." if len(names) > 2 else "")
    year = str(entry.fields["year"])
    return {"t": f"{who} ({year})", "p": f"({who}, {year})", "year": year}[how]


def listed(keys: Iterable[str]) -> dict[str, str]:
    """Return what the keys stand for, as Markdown, by key and in the order of authors."""
    from pybtex.plugin import find_plugin

    style = find_plugin("pybtex.style.formatting", "plain")()
    backend = find_plugin("pybtex.backends", "markdown")()
    entries = style.format_entries([_entry(key) for key in sorted(set(keys))])
    return {entry.key: " ".join(entry.text.render(backend).split()) for entry in entries}


def _entry(key: str) -> Any:
    paths = [resource("book", "references.bib"), *(room.paper("references.bib") for room in rooms().values())]
    for path in paths:
        if path.is_file() and key in (entries := _parsed(path)):
            return entries[key]
    raise UnknownReference(f"cites {key}, which is not in book/references.bib")


@cache
def _parsed(path: Path) -> Any:
    from pybtex.database import parse_file

    return parse_file(str(path)).entries

"""The rooms of the house: found, not listed. A package with ``paper/paper.toml`` is one.

No room is imported for it, so that a list of the rooms does not wait for them.
"""

from __future__ import annotations

import importlib.util
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from .project import PACKAGE

#: names the packages of rooms that live elsewhere, with commas between them
ELSEWHERE = "MARGINBOOK_ROOMS"
#: what ``paper.toml`` may hold: the field, its type, and whether every room, or every paper, has it
FIELDS: dict[str, tuple[type, str]] = {
    "title": (str, "room"),
    "order": (int, "room"),
    "short": (str, "paper"),
    "authors": (list, "paper"),
    "year": (int, ""),
    "citation": (str, ""),
    "colour": (str, "paper"),
    "claims": (bool, ""),
    "chapter": (str, ""),
    "cards": (int, ""),
    "subjects": (dict, ""),
}


class RoomError(ValueError):
    """A room cannot be found, or its ``paper.toml`` cannot be read as one."""


@dataclass(frozen=True)
class Room:
    """What ``paper/paper.toml`` says of a room.

    Attributes
    ----------
    key, package : str
        ``"drm"`` and ``"marginbook.drm"``.
    folder : Path
    title : str
    order : int
        Rooms stand in the book by it, then by key.
    short : str
        How the paper calls its method; of several papers, what the book writes where there is little space.
    authors : tuple of str
    year : int or None
    citation : str
        The paper's key in the bibliography; a room without one is no paper: it is about several.
    colour : str
        In figures of all papers; a name of `marginbook.base.plotting.COLOURS`.
    claims : bool
        Whether the room's claims have a section in the ledger.
    chapter : str
        Its page in ``book/``; the key if not given.
    cards : int
        How many of its findings the home page shows with a picture; it lists the others.
    subjects : mapping
        What a reader may look for, by the notebook that treats it.
    """

    key: str
    package: str
    folder: Path
    title: str
    order: int
    short: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    citation: str = ""
    colour: str = "black"
    claims: bool = True
    chapter: str = ""
    cards: int = 0
    subjects: Mapping[str, list[str]] = field(default_factory=dict)

    def paper(self, *parts: str) -> Path:
        """Return the path of a file in the room's ``paper/``, be it there or not."""
        return self.folder.joinpath("paper", *parts)


def packages() -> dict[str, Path]:
    """Return the packages that may be rooms, each with its folder: ours, and those named by MARGINBOOK_ROOMS.

    Raises
    ------
    RoomError
        The variable names what cannot be imported.
    """
    inside = sorted(path.parent for path in PACKAGE.glob("*/__init__.py"))
    found = {f"{PACKAGE.name}.{folder.name}": folder for folder in inside}
    for name in filter(None, map(str.strip, os.environ.get(ELSEWHERE, "").split(","))):
        spec = importlib.util.find_spec(name)
        if spec is None or not spec.submodule_search_locations:
            raise RoomError(f"{ELSEWHERE} names {name!r}, which cannot be imported")
        found[name] = Path(spec.submodule_search_locations[0])
    return found


def rooms() -> dict[str, Room]:
    """Return every room by its key, in the order of the book.

    Raises
    ------
    RoomError
        As `packages`; or a ``paper.toml`` lacks a field, or has one of the wrong type or that nobody reads.

    Examples
    --------
    >>> rooms()["drm"].title
    'Discriminative Ridge Machine'
    """
    there = [item for item in packages().items() if (item[1] / "paper" / "paper.toml").is_file()]
    found = [_read(name, folder, (folder / "paper" / "paper.toml").read_bytes()) for name, folder in there]
    return {room.key: room for room in sorted(found, key=lambda room: (room.order, room.key))}


def papers() -> dict[str, Room]:
    """Return the rooms that are about one paper each.

    Raises
    ------
    RoomError
        As `rooms`.
    """
    return {key: room for key, room in rooms().items() if room.citation}


@cache
def _read(package: str, folder: Path, text: bytes) -> Room:
    key = package.rpartition(".")[2]
    where = f"{key}/paper/paper.toml"
    try:
        given: dict[str, Any] = tomllib.loads(text.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RoomError(f"{where} is not valid TOML: {error}") from None
    for name, value in given.items():
        if name not in FIELDS:
            raise RoomError(f"{where} has {name!r}; its fields are {', '.join(FIELDS)}")
        if type(value) is not FIELDS[name][0]:
            raise RoomError(f"{where}: {name} = {value!r}, wanted {FIELDS[name][0].__name__}")
    wanted = ("room", "paper") if "citation" in given else ("room",)
    if missing := [name for name, (_, who) in FIELDS.items() if who in wanted and name not in given]:
        raise RoomError(f"{where} lacks {', '.join(missing)}")
    return Room(key, package, folder, **{"chapter": key, **given, "authors": tuple(given.get("authors", ()))})

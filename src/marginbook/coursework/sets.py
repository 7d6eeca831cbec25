"""The problem sets: one for each room that has exercises."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ..base.naming import suggestion
from ..claims import ROOMS
from ..notebooks.catalogue import available as notebooks
from .exercises import Exercise, cells, read

_HEADING = re.compile(r"#\s+[^\n]*\n+")


@dataclass(frozen=True)
class ProblemSet:
    """The exercises of one room.

    Attributes
    ----------
    room : str
        ``"drm"``; the name of the assignment, too.
    title : str
        The name of the room.
    notation : str
        MyST Markdown: what the exercises' page says about symbols before the first code cell. Its first
        paragraph is about the page and is left out.
    exercises : tuple of Exercise
    """

    room: str
    title: str
    notation: str
    exercises: tuple[Exercise, ...]

    @property
    def points(self) -> int:
        """Marks of all checks together."""
        return sum(exercise.points for exercise in self.exercises)


class UnknownSet(KeyError):
    """There is no problem set of that name."""

    def __str__(self) -> str:
        return str(self.args[0])


def available() -> dict[str, ProblemSet]:
    """Return every problem set by its room, in the order of the book.

    >>> list(available())[:2]
    ['drm', 'ldm']
    """
    texts = {note.room: note.text for id, note in notebooks().items() if id.endswith("_exercises")}
    return {
        room: ProblemSet(room, title, _notation(texts[room]), tuple(read(texts[room])))
        for room, title in ROOMS.items()
        if room in texts
    }


def find(room: str) -> ProblemSet:
    """Return one problem set.

    Raises
    ------
    UnknownSet
        For an unknown name, which is any without a checkout of marginbook.

    Examples
    --------
    >>> from marginbook.coursework.sets import find
    >>> find("drm").title
    'Discriminative Ridge Machine'
    """
    known = available()
    if room not in known:
        hint = (
            suggestion(room, known)
            if known
            else "; the exercises are in a checkout of marginbook, not in the wheel"
        )
        raise UnknownSet(f"no problem set {room!r}{hint}")
    return known[room]


def _notation(text: Path) -> str:
    first = cells(text, text.read_text(encoding="utf-8"))[0]
    _, _, notation = _HEADING.sub("", first.source, count=1).partition("\n\n")
    return notation.strip()

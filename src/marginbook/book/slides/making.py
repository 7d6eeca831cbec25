"""Decks of several rooms at once: for the book, whose findings are drawn already, and for the command."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from ...base.rooms import rooms as found_rooms
from ...claims import Evidence, check_all, ledger
from ...claims.findings import Finding, findings
from ...notebooks.catalogue import available
from .. import finding_pages
from ..checked_claims import Checked
from .chapter import chapter
from .deck import Material, deck, decks
from .writing import write_deck

FOLDER = "slides"  # of the decks in the built book


def write(
    extra: Path,
    pictures: Path,
    told: Mapping[str, Sequence[Finding]],
    checked: Checked,
    notebooks: Mapping[str, Path],
) -> None:
    """Write the decks of the book.

    Parameters
    ----------
    extra : path
        What lies in it comes into the built book as it is.
    pictures : path
        Folder of the findings' pictures, as `finding_pages.draw` names them.
    told : mapping
        Findings by room.
    checked : Checked
    notebooks : mapping
        By id, the executed files.

    Raises
    ------
    ValueError
        A finding is not true any more.
    """
    known = found_rooms()
    for room in decks():
        drawn = _pictures(pictures, room)
        given = Material(room, chapter(room), told[room], drawn, checked.claims, checked.evidence, notebooks)
        back = f"../book/{known[room].chapter}.html"
        write_deck(deck(given, back), extra / FOLDER / f"{room}.html")


def write_rooms(
    rooms: Iterable[str],
    folder: Path,
    *,
    n_jobs: int = -1,
    progress: Callable[[str, int, int], None] = lambda stage, done, total: None,
    remark: Callable[[str], None] = lambda text: None,
) -> list[Path]:
    """Write decks of rooms from the stored notebooks and kept evidence; return their paths.

    Parameters
    ----------
    rooms : iterable of str
    folder : path
    n_jobs : int
        Processes for claims whose evidence is not kept.
    progress : callable
        Called with a stage, how many are done, and of how many (0: not known).
    remark : callable
        Called with what a reader should know of a deck.

    Raises
    ------
    ValueError
        A finding is not true any more.
    CheckFailed, FetchError
    """
    chosen, claims = list(rooms), ledger()
    count = sum(claim.paper in chosen for claim in claims.values())
    done: list[str] = []

    def checked(id: str, found: Evidence) -> None:
        done.append(id)
        progress("claims", len(done), count)

    progress("claims", 0, count)
    # findings of one room may rest on claims of another, so each is asked for what it needs
    told = {room: findings(room) for room in chosen}
    elsewhere = {id for found in told.values() for one in found for id in one.needs}
    evidence = check_all([*chosen, *sorted(elsewhere)], n_jobs=n_jobs, progress=checked)
    executed = {id: notebook.stored for id, notebook in available().items() if notebook.stored.is_file()}
    paths = []
    for room in chosen:
        progress(f"slides: {room}", 0, 0)
        with tempfile.TemporaryDirectory() as scratch:
            finding_pages.draw(Path(scratch), room, told[room])
            pictures = _pictures(Path(scratch) / finding_pages.PICTURES, room)
            given = Material(room, chapter(room), told[room], pictures, claims, evidence, executed)
            paths.append(folder / f"{room}.html")
            if text := write_deck(deck(given), paths[-1]):
                remark(f"{room}: {text}")
    return paths


def _pictures(folder: Path, room: str) -> dict[str, Path]:
    """Return the pictures of a room by the number of the finding, and that of its idea."""
    return {path.stem.removeprefix(f"{room}-"): path for path in sorted(folder.glob(f"{room}-*.png"))}

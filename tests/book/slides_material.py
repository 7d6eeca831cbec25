"""Decks for tests: of the checkout, with verdicts as findings want them and a dot for each picture."""

from __future__ import annotations

import base64
from pathlib import Path

from marginbook.book.slides import Material, decks
from marginbook.book.slides.chapter import chapter
from marginbook.claims import check_all, ledger
from marginbook.claims.findings import findings
from marginbook.notebooks import available

# a PNG of one pixel
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def material(room: str, folder: Path) -> Material:
    """Return what a deck is made of, with the room's own findings, claims and stored notebooks."""
    told = findings(room)
    pictures = {}
    for name in ("idea", *map(str, range(1, len(told) + 1))):
        pictures[name] = folder / f"{room}-{name}.png"
        pictures[name].write_bytes(PIXEL)
    stored = {id: notebook.stored for id, notebook in available().items()}
    claims = ledger()
    needed = {id for one in told for id in one.needs}
    evidence = check_all([room, *needed], n_jobs=1)
    return Material(room, chapter(room), told, pictures, claims, evidence, stored)


def heads(notebook) -> list[str]:
    """Return the titles of the slides of a deck."""
    return [
        cell.source.lstrip("# ")
        for cell in notebook.cells
        if cell.metadata.slideshow["slide_type"] == "slide"
    ]


ROOMS = decks()

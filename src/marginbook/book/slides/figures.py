"""The figures of executed notebooks, and which of them a lecture shows."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

import nbformat

from ...claims.findings import Finding
from .chapter import plain

_SAME = 0.6
_HEADING = re.compile(r"^#{1,4} +(.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Drawn:
    """A figure of a notebook: its cell, the heading above it, the picture with its words."""

    notebook: str
    cell: int
    heading: str
    png: bytes
    alt: str
    caption: str


def drawn(id: str, path: Path) -> list[Drawn]:
    """Return the figures of an executed notebook that have a caption and alternative text."""
    found, heading = [], ""
    for number, cell in enumerate(nbformat.read(path, as_version=4).cells):
        if cell.cell_type == "markdown":
            heading = next(reversed(_HEADING.findall(cell.source)), heading)
            continue
        words = cell.metadata.get("mystnb", {})
        caption = words.get("figure", {}).get("caption", "")
        alt = words.get("image", {}).get("alt", "")
        pictures = [
            each.data["image/png"] for each in cell.get("outputs", []) if "image/png" in each.get("data", {})
        ]
        if pictures and caption and alt:
            png = base64.b64decode(pictures[0])
            found.append(Drawn(id, number, plain(heading), png, alt, plain(caption)))
    return found


def main_figures(notebooks: Mapping[str, Path], told: Iterable[Finding], most: int) -> list[Drawn]:
    """Return one figure for each notebook, in their order: first of those that findings lead to.

    Parameters
    ----------
    notebooks : mapping
        Executed files of one room, by notebook id.
    told : iterable of Finding
        A finding's page names a place of a notebook; the figure is the next one from there on
        that is not the picture of a finding once more.
    most : int
        No more than so many.
    """
    told = list(told)
    captions = [one.caption for one in told]
    chosen: dict[str, Drawn] = {}
    pages = dict.fromkeys([*(one.page for one in told), *notebooks])
    for page in pages:
        id, _, anchor = page.partition("#")
        if len(chosen) >= most or id in chosen or id not in notebooks:
            continue
        figures = [each for each in drawn(id, notebooks[id]) if not _told(each.caption, captions)]
        start = _place(notebooks[id], anchor) if anchor else 0
        if figures:
            chosen[id] = next((each for each in figures if each.cell >= start), figures[-1])
    return [chosen[id] for id in notebooks if id in chosen]


def _told(caption: str, captions: Iterable[str]) -> bool:
    """Return whether a caption is that of a finding, in much the same words: then the picture is, too."""
    return any(SequenceMatcher(None, caption, each, autojunk=False).ratio() > _SAME for each in captions)


def _place(path: Path, anchor: str) -> int:
    """Return the number of the cell that holds an anchor; 0 if none does."""
    cells = nbformat.read(path, as_version=4).cells
    return next((number for number, cell in enumerate(cells) if f"({anchor})=" in cell.source), 0)

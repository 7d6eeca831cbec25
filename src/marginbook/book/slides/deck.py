"""The deck of a room as a notebook in memory, whose cells carry slide metadata."""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from ...base.rooms import Room, rooms
from ...claims import Claim, Evidence, Kind
from ...claims.findings import Finding
from ...claims.readable import as_html
from ...notebooks.citations import listed
from ..finding_pages import refuse_false
from ..myst import in_words
from ..search_entries import numbered
from .chapter import WIDE, Block, Chapter, Figure, plain, sentences, unbarred, visible
from .figures import Drawn, main_figures

MOST = 25  # slides of a deck
_FIGURES, _QUESTIONS, _TABLES = 4, 3, 2
_BULLETS = 6  # of a slide; with more, its last lines reach the page number
_NARROW, _DEEP = 28, 13.0  # of the column beside a finding: characters of a line, lines
_SHORT = 100  # characters of a statement that can stand there
_LINES, _ROOMY = 14.0, 6.0  # of text on a slide: no more than so many; so few that letters can be larger


@dataclass(frozen=True)
class Material:
    """What a deck is made of.

    Attributes
    ----------
    room : str
    chapter : Chapter
    told : sequence of Finding
        The room's findings.
    pictures : mapping
        PNG files of the findings by number, and of the idea as ``"idea"``.
    claims, evidence : mapping
        By claim id; those of other rooms are left aside.
    notebooks : mapping
        Executed files by notebook id, likewise.
    """

    room: str
    chapter: Chapter
    told: Sequence[Finding]
    pictures: Mapping[str, Path]
    claims: Mapping[str, Claim]
    evidence: Mapping[str, Evidence]
    notebooks: Mapping[str, Path]


def decks() -> list[str]:
    """Return the rooms that have a deck: those with claims."""
    return [key for key, room in rooms().items() if room.claims]


def deck(given: Material, back: str = "") -> nbformat.NotebookNode:
    """Return the slides of a room, as a notebook.

    Parameters
    ----------
    given : Material
    back : str
        Address of the chapter, for the first slide; none where the deck is not in the book.

    Raises
    ------
    ValueError
        A finding is not true any more.
    """
    refuse_false(given.told, {id: str(found.verdict) for id, found in given.evidence.items()})
    room = rooms()[given.room]
    slides = _Slides()
    _first(slides, room, back)
    _idea(slides, given)
    slides.pages("The model", given.chapter.section("The model"))
    for number, one in enumerate(given.told, start=1):
        _finding(slides, given, number, one)
    _claims(slides, given)
    last = _Slides()
    last.pages("Should I use it?", given.chapter.section("Should I use it?"))
    for number, (question, answer) in enumerate(given.chapter.questions()[:_QUESTIONS], start=1):
        last.start(f"Question {number}", "question")
        last.add(question, "words")
        last.add(answer, "words", "fragment")
    last.pages("To take away", given.chapter.taken_away())
    own = {id: path for id, path in given.notebooks.items() if id.startswith(f"{given.room}/")}
    for figure in main_figures(own, given.told, max(0, min(_FIGURES, MOST - slides.count - last.count))):
        _shown(slides, figure)
    notebook: nbformat.NotebookNode = new_notebook(cells=[*slides.cells, *last.cells])
    notebook.metadata["title"] = room.title
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"part-{number}"  # not at random: the same deck is the same bytes
    return notebook


@dataclass
class _Slides:
    """Cells of slides that follow one another; `part` says how the style sheet places a cell."""

    cells: list[nbformat.NotebookNode] = field(default_factory=list)
    count: int = 0

    def start(self, title: str, layout: str, level: int = 2) -> None:
        self.count += 1
        show = {"slide_type": "slide", "data": {"layout": layout}}
        self._put(new_markdown_cell(f"{'#' * level} {title}"), "head", show)

    def add(self, text: str, part: str, kind: str = "-") -> None:
        if text:
            self._put(new_markdown_cell(text), part, {"slide_type": kind})

    def picture(self, png: bytes, alt: str) -> None:
        data = {"image/png": base64.b64encode(png).decode()}
        cell = new_code_cell(outputs=[new_output("display_data", data=data)])
        # the second and the third number of a PNG, after its mark and the name of its header
        cell.metadata.update(alt=alt, width=int.from_bytes(png[16:20]), height=int.from_bytes(png[20:24]))
        self._put(cell, "figure", {"slide_type": "-"})

    def pages(self, title: str, found: Sequence[Block]) -> None:
        """Put blocks on as many slides as they need; a formula stays with the words before it."""
        groups = shared_out(found)
        for number, group in enumerate(groups, start=1):
            layout = "roomy" if sum(block.lines for block in group) <= _ROOMY else "text"
            self.start(title if len(groups) == 1 else f"{title} ({number} of {len(groups)})", layout)
            self.add("\n\n".join(block.text for block in group), "words")

    def _put(self, cell: nbformat.NotebookNode, part: str, show: Mapping[str, Any]) -> None:
        cell.metadata.update(part=part, slideshow=dict(show))
        self.cells.append(cell)


def shared_out(found: Sequence[Block], most: float = _LINES) -> list[list[Block]]:
    """Return blocks in groups of at most `most` lines: no more groups than needed, and alike in size."""
    sizes = [block.lines for block in found]
    needed = _greedy(sizes, most)
    # the smallest limit with as many groups: the last slide has no orphan
    limits = (most * share / 40 for share in range(1, 41))
    ends = next((cuts for limit in limits if len(cuts := _greedy(sizes, limit)) == len(needed)), needed)
    return [list(found[start:end]) for start, end in zip([0, *ends], ends, strict=False)]


def _greedy(sizes: Sequence[float], most: float) -> list[int]:
    """Return where the groups end if each takes what it can."""
    ends, used = [], 0.0
    for number, size in enumerate(sizes):
        if number and used + size > most:
            ends.append(number)
            used = 0.0
        used += size
    return [*ends, len(sizes)] if sizes else []


def _first(slides: _Slides, room: Room, back: str) -> None:
    slides.start(room.title, "first", level=1)
    entry = listed([room.citation]).get(room.citation, "") if room.citation else ""
    slides.add(re.sub(r"\[([^\]]*)\]\(https?:[^)]*\)", r"\1", entry), "words")  # nobody clicks on a wall
    slides.add("Lecture slides from *Margins & Discriminants*: every number comes from a program.", "note")
    slides.add(f'<a href="{back}">The chapter</a>' if back else "", "note")


def _idea(slides: _Slides, given: Material) -> None:
    figure, path = given.chapter.figure(), given.pictures.get("idea")
    problem, idea = given.chapter.lead("problem"), given.chapter.idea()
    if problem:
        slides.start("The problem", "large")
        slides.add(problem, "words")
    if idea:
        slides.pages("The idea", [Block(_points(idea))])
    if figure and path and figure.name == path.name:
        _pictured(slides, "The idea in a picture", path.read_bytes(), figure)


def _pictured(slides: _Slides, title: str, png: bytes, words: Figure) -> None:
    slides.start(title, "picture")
    slides.picture(png, words.alt)
    slides.add(words.caption, "words")


def _finding(slides: _Slides, given: Material, number: int, one: Finding) -> None:
    """A slide to see and one to read, with what was checked; the lecturer's notes have the measurements."""
    if path := given.pictures.get(str(number)):
        _pictured(slides, one.title, path.read_bytes(), Figure(path.name, one.alt, plain(one.caption)))
        slides.add(_notes(given, one.needs), "notes", "notes")
    said = sentences(plain(one.text))
    parts = max(1, ceil(len(said) / _BULLETS))
    size = ceil(len(said) / parts)  # alike: the last slide has no orphan
    slides.start(one.title, "checked" if one.needs else "text")
    slides.add(_listed(said[:size]), "words")
    slides.add(_checked(given, one.needs), "checked")
    for start in range(size, len(said), size):
        slides.start(f"{one.title} (continued)", "text")
        slides.add(_listed(said[start : start + size]), "words")


def _checked(given: Material, ids: Iterable[str]) -> str:
    """Return what was found: short statements as long as they fit, theorems by number, the others counted."""
    rows: list[str] = []
    others: Counter[str] = Counter()
    used = 0.0
    for id in ids:
        claim, found = given.claims[id], given.evidence[id]
        by_number = (
            next(iter(numbered(claim.where)), "") if _theorem(claim) and claim.kind != Kind.OURS else ""
        )
        for text in (claim.statement if _narrow(claim.statement) else "", by_number):
            size = ceil(len(f"{visible(text)} {found.verdict}") / _NARROW) + 0.3
            if text and used + size <= _DEEP:
                rows.append(f"- {text} {_badge(found)}")
                used += size
                break
        else:
            others[_badge(found)] += 1
    more = "more " if rows else ""
    for badge, times in others.items():
        rows.append(f"- {times} {more}statement{'s' if times > 1 else ''}, in the book {badge}")
    return "\n".join(["**Checked**", "", *rows]) if rows else ""


def _narrow(statement: str) -> bool:
    """Whether a statement is short, and its formulas, which do not break, are no wider than the column."""
    formulas = re.findall(r"\$([^$]+)\$", statement)
    return len(visible(statement)) <= _SHORT and all(len(visible(text)) <= 0.8 * _NARROW for text in formulas)


def _notes(given: Material, ids: Iterable[str]) -> str:
    told = [f"- {given.claims[id].place}: {as_html(given.evidence[id].measured)}" for id in ids]
    return "\n".join(["Measured:", "", *told]) if told else ""


def _claims(slides: _Slides, given: Material) -> None:
    """The theorems with their verdicts, as many as two slides hold; a sentence counts those left out."""
    own = [claim for claim in given.claims.values() if claim.paper == given.room]
    proofs = [claim for claim in own if claim.kind == Kind.PROOF]
    # numbered theorems first, then remarks and equations; a room without proofs shows what it has
    chosen = sorted(proofs, key=lambda claim: not _theorem(claim)) or own
    if not chosen:
        return
    title = "Theorems and proofs, checked" if proofs else "What was checked"
    groups: list[list[Claim]] = [[]]
    used = head = 1.3
    for claim in chosen:
        size = max(len(visible(claim.statement)) / (WIDE * 0.62), len(claim.where) / (WIDE * 0.24))
        size = 0.85 * max(1, ceil(size)) + 0.45  # a table has smaller letters, and lines between its rows
        if used + size > _LINES:
            if len(groups) == _TABLES:
                break
            groups.append([])
            used = head
        groups[-1].append(claim)
        used += size
    left = chosen[sum(map(len, groups)) :]
    for number, group in enumerate(groups, start=1):
        slides.start(title if len(groups) == 1 else f"{title} ({number} of {len(groups)})", "table")
        rows = [
            f"| {unbarred(claim.place)} | {unbarred(claim.statement)} | {_badge(given.evidence[claim.id])} |"
            for claim in group
        ]
        slides.add("\n".join(["| where | statement | verdict |", "|---|---|---|", *rows]), "words")
    if left:
        counts = Counter(str(given.evidence[claim.id].verdict) for claim in left)
        told = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
        slides.add(f"{len(left)} more in the book: {told}.", "note")


def _theorem(claim: Claim) -> bool:
    first = next(iter(numbered(claim.where)), "")
    return claim.where.startswith(first) and first.startswith(
        ("Theorem", "Proposition", "Lemma", "Corollary")
    )


def _shown(slides: _Slides, figure: Drawn) -> None:
    _pictured(slides, figure.heading, figure.png, Figure("", figure.alt, figure.caption))
    slides.add(f"From the notebook {figure.notebook}.", "notes", "notes")


def _points(text: str) -> str:
    """Return a paragraph as a list of its sentences, which a wall shows better."""
    return _listed(sentences(text))


def _listed(said: Sequence[str]) -> str:
    return "\n".join(f"- {sentence}" for sentence in said)


def _badge(found: Evidence) -> str:
    return f'<span class="verdict verdict-{found.verdict}">{in_words(found.verdict)}</span>'

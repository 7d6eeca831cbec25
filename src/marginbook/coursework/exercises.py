r"""Exercises: one text holds the statement, the starter, the hints, the solution and the check of each.

A room's problem set is the notebook ``notebooks/<room>/NN_exercises.md``. It is executed and stored like
every notebook, and :func:`read` takes it apart without executing it. Code cells before the first exercise
belong to all of them. An exercise is a section of level 2 whose anchor is ``(<room>-exercise-<name>)=``:

===============  ==========================================================================================
kind and points  first line: ``*Derivation, 3 points*`` (or Programming, Experiment)
statement        the text up to the starter
setup            code cells tagged ``setup``, if it needs data of its own
starter          one fenced block ```` ```python starter ````, which nothing executes
hints            one or more ``{dropdown}`` directives whose title begins with "Hint"
solution         one code cell tagged ``solution``, hidden on the page until a reader asks for it
check            one code cell tagged ``check``: assertions whose messages say what is wrong
result           code cells tagged ``result``, if there is something to look at once the check passes
explanation      one ``{dropdown}`` directive whose title begins with "Solution"
===============  ==========================================================================================

An exercise runs by itself: its code may use the cells before the first exercise and its own, and nothing from
other exercises. A starter is code that runs and that the check refuses.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from .pieces import Piece, pieces

KINDS = ("Derivation", "Programming", "Experiment")
TAGS = ("setup", "solution", "check", "result")  # in the order in which they are executed
STARTER = "python starter"

_KIND = re.compile(rf"\*({'|'.join(KINDS)}), (\d+) points?\*")
_DROPDOWN = re.compile(r"\{dropdown\}\s*(.*)")
_OPTION = re.compile(r"^:[\w-]+:.*\n?", re.MULTILINE)


class ExerciseError(ValueError):
    """The markup of an exercise is incomplete or ambiguous; the message names file, exercise and part."""


@dataclass(frozen=True)
class Exercise:
    """One exercise, in parts that can be published separately.

    Attributes
    ----------
    id : str
        ``"drm/one-pass"``.
    title, kind : str
        `kind` is one of ``"Derivation"``, ``"Programming"``, ``"Experiment"``.
    points : int
    statement, explanation : str
        MyST Markdown.
    hints : tuple of str
        MyST Markdown, in the order in which they should be given.
    starter, solution, check : str
        Python.
    common : tuple of str
        The code cells before the first exercise: the same for all exercises of a notebook.
    own, results : tuple of str
        Code cells that only this exercise has, before the answer and after the check.
    """

    id: str
    title: str
    kind: str
    points: int
    statement: str
    starter: str
    hints: tuple[str, ...]
    solution: str
    check: str
    explanation: str
    common: tuple[str, ...]
    own: tuple[str, ...] = ()
    results: tuple[str, ...] = ()

    @property
    def setup(self) -> str:
        """All code that runs before an answer."""
        return "\n\n".join((*self.common, *self.own))


@cache
def cells(path: Path, content: str) -> tuple[Any, ...]:
    """Return the cells of a notebook's text, for reading only: every exercise in it asks for all."""
    import jupytext  # slow

    return tuple(jupytext.reads(content, fmt=path.suffix.removeprefix(".")).cells)


def read(path: str | Path) -> list[Exercise]:
    """Take the exercises out of a notebook's text, in their order, without executing anything.

    Parameters
    ----------
    path : path
        ``notebooks/<room>/NN_exercises.md``; what jupytext reads.

    Raises
    ------
    ExerciseError
        If a part is missing or there are two of it, if code is not Python, or if two exercises share an id.
    """
    path = Path(path)
    common: list[str] = []
    drafts: list[_Draft] = []
    inside = False
    for cell in cells(path, path.read_text(encoding="utf-8")):
        if cell.cell_type == "code":
            if inside:
                drafts[-1].add_code(cell.source, cell.metadata.get("tags", []))
            elif drafts:
                raise ExerciseError(
                    f"{path.name}: a code cell after the last exercise; move it before the first one, "
                    "or tag it and move it into an exercise"
                )
            else:
                common.append(cell.source)
            continue
        for piece in pieces(cell.source):
            if piece.kind == "section":
                inside = bool(piece.id)
                if inside:
                    drafts.append(_Draft(f"{path.name}: exercise {piece.id}", piece.id, piece.text))
            elif inside:
                drafts[-1].add_text(piece)
    if not drafts:
        raise ExerciseError(
            f"{path.name}: no exercise; one begins with (<room>-exercise-<name>)= and a heading"
        )
    exercises = [draft.finish(tuple(common)) for draft in drafts]
    names = [exercise.id for exercise in exercises]
    for name in names:
        if names.count(name) > 1:
            raise ExerciseError(
                f"{path.name}: {names.count(name)} exercises have the id {name}, expected one"
            )
    return exercises


@dataclass
class _Draft:
    """The parts of an exercise while its section is read."""

    where: str
    id: str
    title: str
    text: list[str] = field(default_factory=list)
    starters: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)
    explanations: list[str] = field(default_factory=list)
    code: dict[str, list[str]] = field(default_factory=lambda: {tag: [] for tag in TAGS})

    def add_code(self, source: str, tags: list[str]) -> None:
        mine = [tag for tag in tags if tag in TAGS]
        if len(mine) != 1:
            raise ExerciseError(
                f"{self.where}: a code cell with the tags {tags}, expected exactly one of {', '.join(TAGS)}"
            )
        later = [tag for tag in TAGS[TAGS.index(mine[0]) + 1 :] if self.code[tag]]
        if later:
            raise ExerciseError(f"{self.where}: the cell tagged {mine[0]} must come before {later[0]}")
        self.code[mine[0]].append(source)

    def add_text(self, piece: Piece) -> None:
        dropdown = _DROPDOWN.fullmatch(piece.info)
        if dropdown:
            kinds = {"Hint": self.hints, "Solution": self.explanations}
            kind = next((kind for kind in kinds if dropdown[1].startswith(kind)), None)
            if kind is None:
                raise ExerciseError(
                    f"{self.where}: a dropdown titled {dropdown[1]!r}, expected Hint or Solution first"
                )
            kinds[kind].append(_OPTION.sub("", piece.text).strip())
        elif piece.kind == "fence" and piece.info.split() == STARTER.split():
            self.starters.append(piece.text.strip() + "\n")
        elif self.starters or self.code["solution"]:
            if piece.text:
                raise ExerciseError(
                    f"{self.where}: text after the starter that is in no dropdown: {piece.text[:40]!r}"
                )
        else:
            self.text.append(piece.raw or piece.text)

    def finish(self, common: tuple[str, ...]) -> Exercise:
        text = "\n\n".join(part for part in self.text if part)
        first, _, statement = text.partition("\n")
        kind = _KIND.fullmatch(first.strip())
        if not kind:
            raise ExerciseError(
                f"{self.where}: begins with {first[:40]!r}, "
                "expected kind and points, as *Derivation, 3 points*"
            )
        if not statement.strip():
            raise ExerciseError(f"{self.where}: no statement, expected text before the starter")
        if not self.hints:
            raise ExerciseError(f"{self.where}: no hint, expected at least one dropdown with the title Hint")
        parts = {
            f"block ```{STARTER}": self.starters,
            "cell tagged solution": self.code["solution"],
            "cell tagged check": self.code["check"],
            "dropdown with the title Solution": self.explanations,
        }
        for name, found in parts.items():
            if len(found) != 1:
                raise ExerciseError(f"{self.where}: found {len(found) or 'no'} {name}, expected one")
        self._parse("starter", self.starters)
        for tag, sources in self.code.items():
            self._parse(tag, sources)
        starter, solution, check, explanation = (found[0] for found in parts.values())
        return Exercise(
            self.id, self.title, kind[1], int(kind[2]), statement.strip(), starter, tuple(self.hints),
            solution, check, explanation, common, tuple(self.code["setup"]), tuple(self.code["result"]),
        )  # fmt: skip

    def _parse(self, part: str, sources: list[str]) -> None:
        for source in sources:
            try:
                ast.parse(source)
            except SyntaxError as error:
                raise ExerciseError(f"{self.where}: the {part} is not Python: {error}") from None

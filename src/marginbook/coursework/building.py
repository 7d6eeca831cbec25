"""The three notebooks of a problem set, with nbgrader's metadata (schema version 3).

==============  =========================================================================
`student`       statements, hints, starters, checks
`source`        the same with each solution between nbgrader's marks: what
                ``nbgrader generate_assignment`` makes the student's file from
`solutions`     to read: the solution in the place of the starter, and the explanation
==============  =========================================================================

An exercise is a read-only cell with statement and hints, its setup, one cell for the answer, and one graded
cell with the check. The starter stands above the solution in the source, so that what nbgrader leaves is the
student's notebook, cell by cell; a test compares the two.
"""

from __future__ import annotations

import copy
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from ..notebooks.catalogue import METADATA
from .exercises import Exercise
from .markdown import plain, references
from .sets import ProblemSet

SCHEMA = 3  # of nbgrader's metadata
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
DERIVE = "*Write your derivation here.*"


def student(problems: ProblemSet, written: int = 0) -> nbformat.NotebookNode:
    """Return the notebook that students get.

    Parameters
    ----------
    problems : ProblemSet
    written : int
        Points for the written derivation of each exercise of that kind, which a person gives; at 0 there is
        room for it, but it is no part of the marks.
    """
    return _notebook(problems, written, lambda exercise: answer(exercise.starter), lambda exercise: DERIVE)


def source(problems: ProblemSet, written: int = 0) -> nbformat.NotebookNode:
    """Return the notebook for nbgrader's ``source`` folder: solutions and explanations between its marks."""
    return _notebook(
        problems,
        written,
        lambda exercise: f"{answer(exercise.starter)}{BEGIN}\n{exercise.solution.strip()}\n{END}",
        # only a cell that nbgrader knows is cleared: without points the place for a derivation stays as it is
        lambda exercise: f"{BEGIN}\n{plain(exercise.explanation)}\n{END}" if written else DERIVE,
    )


def solutions(problems: ProblemSet) -> nbformat.NotebookNode:
    """Return the notebook with solutions and explanations, without metadata for grading."""
    node = _notebook(problems, 0, lambda exercise: exercise.solution.strip(), lambda exercise: DERIVE)
    explanations = {cell_id(exercise, "check"): exercise.explanation for exercise in problems.exercises}
    cells = []
    for cell in node.cells:
        if cell.source == DERIVE:
            continue
        cell.metadata = nbformat.from_dict({})
        cells.append(cell)
        if cell["id"] in explanations:
            text = f"**Why.** {plain(explanations[cell['id']])}"
            cells.append(_cell("markdown", text, cell["id"].removesuffix("check") + "why"))
    node.cells = cells
    return node


def answer(starter: str) -> str:
    """Return the student's cell for the answer: the starter and an empty line in the solution's place."""
    return starter.rstrip() + "\n"


def _notebook(problems: ProblemSet, written: int, answered: Any, derived: Any) -> nbformat.NotebookNode:
    head = _cell("markdown", _introduction(problems, written), f"{problems.room}-introduction")
    cells = [_marked(head)]
    for number, code in enumerate(problems.exercises[0].common, start=1):
        cells.append(_marked(_cell("code", code, f"{problems.room}-setup-{number}")))
    for number, exercise in enumerate(problems.exercises, start=1):
        text = f"## {number}. {exercise.title}\n\n{_statement(exercise)}"
        cells.append(_marked(_cell("markdown", text, cell_id(exercise, "statement"))))
        for index, code in enumerate(exercise.own, start=1):
            cells.append(_marked(_cell("code", code, cell_id(exercise, f"setup-{index}"))))
        if exercise.kind == "Derivation":
            place = _cell("markdown", derived(exercise), cell_id(exercise, "derivation"))
            cells.append(_marked(place, points=written, solution=True) if written else place)
        cells.append(_marked(_cell("code", answered(exercise), cell_id(exercise, "answer")), solution=True))
        check = _cell("code", exercise.check, cell_id(exercise, "check"))
        cells.append(_marked(check, points=exercise.points))
        for index, code in enumerate(exercise.results, start=1):
            cells.append(_marked(_cell("code", code, cell_id(exercise, f"result-{index}"))))
    cited = references([problems.notation, *(_markdown_of(exercise) for exercise in problems.exercises)])
    if cited:
        cells.append(_marked(_cell("markdown", f"## References\n\n{cited}", f"{problems.room}-references")))
    node = new_notebook(cells=cells, metadata=copy.deepcopy(METADATA))
    node.metadata["marginbook"] = {"set": problems.room}
    nbformat.validate(node)
    return node


def _cell(kind: str, text: str, id: str) -> nbformat.NotebookNode:
    make = new_code_cell if kind == "code" else new_markdown_cell
    return make(text, id=id)  # ids from names: the same file on every run


def _marked(
    cell: nbformat.NotebookNode, points: int | None = None, solution: bool = False
) -> nbformat.NotebookNode:
    """Add nbgrader's metadata. Neither points nor solution: a cell that students read or run, no more."""
    marks: dict[str, Any] = {
        "schema_version": SCHEMA,
        "grade_id": cell["id"],
        "cell_type": cell.cell_type,
        "grade": points is not None,
        "solution": solution,
        "locked": not solution,
        "task": False,
    }
    if points is not None:
        marks["points"] = points
    cell.metadata["nbgrader"] = marks
    cell.metadata["deletable"] = False
    if not solution:
        cell.metadata["editable"] = False
    return cell


def cell_id(exercise: Exercise, part: str) -> str:
    """Return the id of an exercise's cell, such as ``"answer"``, ``"check"`` or ``"setup-1"``."""
    return f"{exercise.id.replace('/', '-')}-{part}"


def _introduction(problems: ProblemSet, written: int) -> str:
    lines = [
        f"# Problem set: {problems.title}",
        f"{len(problems.exercises)} exercises, {_count(problems.points)} for the checks. First run the "
        "setup, all cells before the first exercise. In each exercise complete the code of the answer, then "
        "run the check below it: it says what is wrong, or that it is right. No exercise needs another, so "
        "begin where you like. Changes to setup and checks have no effect on the marks: those come from the "
        "originals.",
    ]
    if any(exercise.kind == "Derivation" for exercise in problems.exercises):
        worth = f"It is worth {_count(written)} in each." if written else "It has no check."
        lines.append(f"A derivation also wants its reasoning, in the cell above the answer. {worth}")
    if problems.notation:
        lines.append(plain(problems.notation))
    return "\n\n".join(lines)


def _statement(exercise: Exercise) -> str:
    names = ["Hint"] if len(exercise.hints) == 1 else [f"Hint {n + 1}" for n in range(len(exercise.hints))]
    parts = [f"*{exercise.kind}, {_count(exercise.points)}*", plain(exercise.statement)]
    for name, hint in zip(names, exercise.hints, strict=True):
        # empty lines: else the inside would not be read as Markdown
        parts.append(f"<details><summary>{name}</summary>\n\n{plain(hint)}\n\n</details>")
    return "\n\n".join(parts)


def _markdown_of(exercise: Exercise) -> str:
    return "\n".join((exercise.statement, *exercise.hints))


def _count(points: int) -> str:
    return f"{points} point" if points == 1 else f"{points} points"

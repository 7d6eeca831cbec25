"""The student's file holds no solution, the source holds all, and both are nbgrader's format."""

from __future__ import annotations

import re
from collections import Counter

import nbformat
import pytest

from marginbook.base.rooms import papers
from marginbook.coursework import ProblemSet, available, solutions, source, student
from marginbook.coursework.building import BEGIN, DERIVE, END
from marginbook.coursework.exercises import Exercise
from marginbook.coursework.packing import for_instructors, for_students

from ..given_away import leaks

SETS = available()
each = pytest.mark.parametrize("problems", SETS.values(), ids=SETS)
WRITTEN = (0, 2)


def words(files: dict[str, str]) -> str:
    """All strings in the files, notebooks as a reader sees them: JSON writes some letters otherwise."""
    parts = []
    for name, text in files.items():
        if name.endswith(".ipynb"):
            node = nbformat.reads(text, as_version=4)
            parts += [cell.source for cell in node.cells]
            parts += [str(cell.get("outputs", "")) + str(cell.metadata) for cell in node.cells]
            parts.append(str(node.metadata))
        else:
            parts.append(text)
    return "\n".join(parts)


def leaks_or_explains(exercise: Exercise, text: str) -> list[str]:
    """What `text` gives away of the solution or its explanation."""
    # to unpack the shape of an argument is no part of an answer, and a check may do so too
    code = [line for line in leaks(exercise, text) if not line.endswith(".shape")]
    said = [line for line in exercise.explanation.splitlines() if len(line) >= 40 and line in text]
    return code + said


def test_there_is_a_set_for_each_room() -> None:
    assert list(SETS) == list(papers())


@each
@pytest.mark.parametrize("written", WRITTEN)
def test_no_solution_is_in_any_file_of_the_students(problems: ProblemSet, written: int) -> None:
    text = words(for_students(problems, written))
    assert {exercise.id: leaks_or_explains(exercise, text) for exercise in problems.exercises} == {
        exercise.id: [] for exercise in problems.exercises
    }
    for mark in (BEGIN, END, "Solution"):
        assert mark not in text


@each
def test_the_search_for_leaks_finds_every_solution_where_it_is(problems: ProblemSet) -> None:
    files = for_instructors(problems)
    for name in (f"source/{problems.room}/{problems.room}.ipynb", f"solutions/{problems.room}.ipynb"):
        text = words({name: files[name]})
        assert all(leaks_or_explains(exercise, text) for exercise in problems.exercises)


@each
@pytest.mark.parametrize("written", WRITTEN)
def test_the_source_without_what_is_between_the_marks_is_the_students_notebook(
    problems: ProblemSet, written: int
) -> None:
    between = re.compile(rf"^{BEGIN}$.*?^{END}$", flags=re.MULTILINE | re.DOTALL)
    made, wanted = source(problems, written), student(problems, written)
    replaced = 0
    for cell in made.cells:
        cell.source, found = between.subn("" if cell.cell_type == "code" else DERIVE, cell.source)
        replaced += found
    derivations = sum(exercise.kind == "Derivation" for exercise in problems.exercises)
    assert replaced == len(problems.exercises) + (derivations if written else 0)
    assert made == wanted


@each
@pytest.mark.parametrize("written", WRITTEN)
def test_the_metadata_keep_the_rules_of_nbgraders_schema(problems: ProblemSet, written: int) -> None:
    for node in (student(problems, written), source(problems, written)):
        nbformat.validate(node)
        cells = [cell for cell in node.cells if "nbgrader" in cell.metadata]
        marks = [cell.metadata["nbgrader"] for cell in cells]
        assert max(Counter(mark["grade_id"] for mark in marks).values()) == 1
        for cell, mark in zip(cells, marks, strict=True):
            assert set(mark) - {"points"} == {
                "schema_version", "grade_id", "cell_type", "grade", "solution", "locked", "task"
            }  # fmt: skip
            assert (mark["schema_version"], mark["task"]) == (3, False)
            assert mark["cell_type"] == cell.cell_type
            assert re.fullmatch(r"[a-zA-Z0-9_-]+", mark["grade_id"])
            assert ("points" in mark) == mark["grade"]
            assert mark["locked"] != mark["solution"]
            assert cell.cell_type == "code" or mark["grade"] == mark["solution"]
        by_checks = [mark["points"] for mark in marks if mark["grade"] and mark["cell_type"] == "code"]
        by_hand = [mark["points"] for mark in marks if mark["grade"] and mark["cell_type"] == "markdown"]
        assert by_checks == [exercise.points for exercise in problems.exercises]
        derivations = sum(exercise.kind == "Derivation" for exercise in problems.exercises)
        assert by_hand == ([written] * derivations if written else [])


@each
def test_each_part_of_an_exercise_reaches_its_reader(problems: ProblemSet) -> None:
    given = {cell["id"]: cell.source for cell in student(problems).cells}
    solved = [cell.source for cell in solutions(problems).cells]
    for exercise in problems.exercises:
        name = exercise.id.replace("/", "-")
        assert exercise.title in given[f"{name}-statement"]
        assert given[f"{name}-statement"].count("<details>") == len(exercise.hints)
        assert given[f"{name}-answer"].strip() == exercise.starter.strip()
        assert given[f"{name}-check"] == exercise.check
        assert (f"{name}-derivation" in given) == (exercise.kind == "Derivation")
        assert exercise.solution.strip() in solved
    assert sum(text.startswith("**Why.**") for text in solved) == len(problems.exercises)


def test_the_text_before_the_setup_is_the_notation_and_not_about_the_page() -> None:
    assert SETS["drm"].notation.startswith("The notation is that of")
    assert SETS["kfda"].notation.startswith("The notation is that of")
    assert "$$" in SETS["kfda"].notation
    assert "copy the starter" not in student(SETS["kfda"]).cells[0].source


def test_the_students_notebook_of_a_small_set(toy: ProblemSet) -> None:
    assert [cell["id"] for cell in student(toy).cells] == [
        "toy-introduction", "toy-setup-1",
        "toy-double-statement", "toy-double-derivation", "toy-double-answer", "toy-double-check",
        "toy-triple-statement", "toy-triple-answer", "toy-triple-check", "toy-triple-result-1",
        "toy-references",
    ]  # fmt: skip
    statement = student(toy).cells[2].source
    assert statement == (
        "## 1. Double it\n\n*Derivation, 2 points*\n\nFind $2x$ after Peng and Cheng (2021).\n\n"
        "<details><summary>Hint</summary>\n\nAdd.\n\n</details>"
    )
    assert "It has no check." in student(toy).cells[0].source
    assert "It is worth 1 point in each." in student(toy, written=1).cells[0].source

"""The reference solution earns all points, the starter none, and a submission cannot change its checks."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from marginbook.coursework import Mark, ProblemSet, available, grade, grading, source, student
from marginbook.coursework.grading import SubmissionError

SETS = available()
each = pytest.mark.parametrize("problems", SETS.values(), ids=SETS)


@each
def test_the_reference_solution_earns_full_marks(problems: ProblemSet) -> None:
    marks = grade(source(problems))
    assert [(mark.exercise, mark.earned) for mark in marks] == [
        (exercise.id, exercise.points) for exercise in problems.exercises
    ]


@each
def test_the_unsolved_starter_earns_nothing_and_each_refusal_says_why(problems: ProblemSet) -> None:
    marks = grade(student(problems))
    assert [mark.exercise for mark in marks if mark.earned] == []
    assert [mark.points for mark in marks] == [exercise.points for exercise in problems.exercises]
    for mark in marks:
        error, _, message = mark.remark.partition(": ")
        assert error in ("AssertionError", "NotImplementedError"), mark
        assert message not in ("", "no message"), mark


@pytest.fixture
def submit(toy: ProblemSet, monkeypatch: pytest.MonkeyPatch):
    """Grade the student's notebook of the small set with these answers."""
    monkeypatch.setattr(grading, "find", {"toy": toy}.__getitem__)

    def submit(
        change: Callable[[nbformat.NotebookNode], object] = id, timeout: float = 60, seed=None, **answers: str
    ):
        node = student(toy)
        for cell in node.cells:
            name = cell["id"].removeprefix("toy-").removesuffix("-answer")
            cell.source = answers.get(name, cell.source)
        change(node)
        return grade(node, timeout, seed)

    return submit


def test_one_right_answer_earns_its_points(submit) -> None:
    assert submit(triple="def triple(x):\n    return 3 * x") == [
        Mark("toy/double", 2, 0, "NotImplementedError: twice"),
        Mark("toy/triple", 3, 3, ""),
    ]


def test_checks_that_were_changed_or_deleted_come_from_the_original(submit) -> None:
    def tamper(node: nbformat.NotebookNode) -> None:
        for cell in node.cells:
            if cell["id"] == "toy-double-check":
                cell.source = "pass"
        node.cells = [cell for cell in node.cells if cell["id"] not in ("toy-triple-check", "toy-setup-1")]

    assert [mark.earned for mark in submit(tamper)] == [0, 0]
    solved = submit(tamper, double="def double(x): return 2 * x", triple="def triple(x): return 3 * x")
    assert [(mark.earned, mark.remark) for mark in solved] == [(2, "right: doubled"), (3, "")]


def test_another_seed_counts_what_the_reference_passes(submit, toy: ProblemSet, monkeypatch) -> None:
    # the first check draws; the second one is met by the reference for the students' seed only
    double, triple = toy.exercises
    drawn = "import random\nx = random.Random(seed).random()\nassert double(x) == 2 * x, 'is not doubled'"
    changed = [
        replace(double, common=("seed: int = 0  # of all", "base = 2"), check=drawn),
        replace(triple, check=triple.check + "\nassert seed == 0, 'another draw'"),
    ]
    monkeypatch.setattr(grading, "find", {"toy": replace(toy, exercises=tuple(changed))}.__getitem__)
    fitted = f"def double(x):\n    return {2 * random.Random(0).random()!r}"
    right = "def triple(x): return 3 * x"
    assert [mark.earned for mark in submit(double=fitted, triple=right)] == [2, 3]
    caught, uncounted = submit(double=fitted, triple=right, seed=7)
    assert caught == Mark("toy/double", 2, 0, "AssertionError: is not doubled")
    assert uncounted == Mark("toy/triple", 0, 0, "not counted: the reference fails with the seed 7")
    assert submit(double="def double(x): return 2 * x", seed=7)[0].earned == 2


def test_a_set_without_a_seed_says_so(submit) -> None:
    with pytest.raises(SubmissionError, match="has no line `seed: int"):
        submit(seed=7)


def test_a_check_that_takes_too_long_is_interrupted_and_the_next_one_runs(submit) -> None:
    endless = "def double(x):\n    while True:\n        pass"
    late, right = submit(double=endless, triple="def triple(x): return 3 * x", timeout=2)
    assert (late.earned, late.remark.partition(":")[0]) == (0, "KeyboardInterrupt")
    assert right.earned == 3


def test_a_dead_kernel_ends_the_marks_that_follow(submit) -> None:
    first, second = submit(double="def double(x): return 2 * x", triple="import os\nos._exit(1)")
    assert first.earned == 2
    assert second == Mark("toy/triple", 3, 0, "not reached: the kernel died before this check")


def test_what_is_no_submission_is_said(tmp_path: Path) -> None:
    with pytest.raises(SubmissionError, match="names no problem set, wanted one made by"):
        grade(nbformat.v4.new_notebook())
    (tmp_path / "text.ipynb").write_text("no JSON")
    with pytest.raises(SubmissionError, match="no notebook that can be read"):
        grade(tmp_path / "text.ipynb")

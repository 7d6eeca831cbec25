"""Answers to exercises: what a check says of one, and tests of right and wrong ones that a class inherits."""

from __future__ import annotations

import contextlib
import io
import linecache
from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar

import pytest

from marginbook.coursework.exercises import Exercise, read
from marginbook.notebooks import available


@cache
def problem_sets() -> dict[str, list[Exercise]]:
    """Return the exercises of every room that has some, by the id of the notebook (``drm/07_exercises``)."""
    return {id: read(notebook.text) for id, notebook in available().items() if id.endswith("_exercises")}


def exercises(room: str = "") -> dict[str, Exercise]:
    """Return the exercises of a room, or all, by their ids such as ``"drm/one-pass"``."""
    return {each.id: each for id, found in problem_sets().items() for each in found if id.startswith(room)}


def attempt(exercise: Exercise, answer: str) -> str:
    """Run setup, `answer` and check in a fresh namespace; return what the check prints.

    Raises
    ------
    AssertionError
        If the check refuses the answer; the message says why.
    Exception
        Whatever else the answer raises.
    """
    space: dict[str, Any] = {"__name__": f"exercise {exercise.id}"}
    with contextlib.redirect_stdout(io.StringIO()):
        _execute(exercise, "setup", exercise.setup, space)
        _execute(exercise, "answer", answer, space)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        _execute(exercise, "check", exercise.check, space)
    return printed.getvalue()


def _execute(exercise: Exercise, part: str, source: str, space: dict[str, Any]) -> None:
    name = f"<{exercise.id}, {part}>"
    # so that a traceback shows the line, as it does in a notebook
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    exec(compile(source, name, "exec"), space)


def altered(id: str, *changes: tuple[str, str]) -> str:
    """Return the solution with parts replaced, each of which it has once."""
    text = exercises()[id].solution
    for old, new in changes:
        assert text.count(old) == 1, f"{old!r} is {text.count(old)} times in the solution of {id}"
        text = text.replace(old, new)
    return text


class Answered:
    """Tests that a class with answers inherits: right ones pass, and wrong ones are told why not.

    Attributes
    ----------
    RIGHT : mapping
        In what an answer differs -> the exercise, and the answer; or an exercise -> its only one.
    WRONG : mapping
        What is wrong -> the exercise, the answer, and why it is refused, as a regular expression.
    """

    RIGHT: ClassVar[Mapping[str, str | tuple[str, str]]]
    WRONG: ClassVar[Mapping[str, tuple[str, str, str]]]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        for argument, given in (("right", self.RIGHT), ("wrong", self.WRONG)):
            if argument in metafunc.fixturenames:
                metafunc.parametrize(argument, given)

    def test_another_right_answer_is_accepted(self, right: str) -> None:
        found = self.RIGHT[right]
        id, text = (right, found) if isinstance(found, str) else found
        assert attempt(exercises()[id], text).startswith("right")

    def test_a_plausible_wrong_answer_is_refused_and_told_why(self, wrong: str) -> None:
        id, text, reason = self.WRONG[wrong]
        with pytest.raises(AssertionError, match=reason):
            attempt(exercises()[id], text)

    def test_every_exercise_here_has_right_and_wrong_answers(self) -> None:
        assert self.tried() == {id for id, *_ in self.WRONG.values()}

    @classmethod
    def tried(cls) -> set[str]:
        """Return the exercises whose answers are here."""
        return {right if isinstance(found, str) else found[0] for right, found in cls.RIGHT.items()}

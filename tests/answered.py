"""Answers to exercises: right ones that differ from ours, and plausible wrong ones."""

from __future__ import annotations

import pytest

from marginbook.coursework.exercises import find


def altered(id: str, *changes: tuple[str, str]) -> str:
    """Return the solution with parts replaced, each of which it has once."""
    text = find(id).solution
    for old, new in changes:
        assert text.count(old) == 1, f"{old!r} is {text.count(old)} times in the solution of {id}"
        text = text.replace(old, new)
    return text


def accepted(id: str, text: str) -> None:
    """Fail unless the check accepts `text`."""
    assert find(id).attempt(text).startswith("right")


def refused(id: str, text: str, reason: str) -> None:
    """Fail unless the check refuses `text` with a message that contains `reason`, an expression."""
    with pytest.raises(AssertionError, match=reason):
        find(id).attempt(text)

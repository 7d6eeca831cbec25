"""The findings in short: what a paper's authors should know, each sentence bound as a finding is.

A room writes it in ``claims/summary.py``, as a function ``summary``; a room without one is left out.
What holds comes first.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..base.rooms import rooms
from .findings import untrue


@dataclass(frozen=True)
class Sentence:
    """What stands or falls with its claims; one sentence, or two that belong together.

    Attributes
    ----------
    title : str
        What is said, as MyST without formulas, with the numbers filled in.
    needs : mapping
        The verdict that each claim must have, by id.
    holds : bool
        Whether what it says beyond its claims is true of the stored results.
    page : str
        For what rests on stored results alone: the notebook with its anchor, such as
        ``"study/01_one_bench#study-posteriors"``.
    """

    title: str
    needs: Mapping[str, str]
    holds: bool = True
    page: str = ""

    def __post_init__(self) -> None:
        if not self.needs and not self.page:
            raise ValueError(
                f"{self.title!r} is bound to nothing: name its claims, or the page of its results"
            )

    def false(self, verdicts: Mapping[str, str]) -> str:
        """Return why it is not true of what was found, or an empty text."""
        return untrue(self.needs, self.holds, verdicts)


@dataclass(frozen=True)
class Summary:
    """What came out for one paper, or for several.

    Attributes
    ----------
    holds, differs, undecided : tuple of Sentence
        What stands as printed; what does not, and in which reading; what could not be decided. A room about
        several papers has the first alone.
    """

    holds: tuple[Sentence, ...]
    differs: tuple[Sentence, ...] = ()
    undecided: tuple[Sentence, ...] = ()

    def __iter__(self) -> Iterator[Sentence]:
        return iter((*self.holds, *self.differs, *self.undecided))


def summary(room: str) -> Summary | None:
    """Return what a room has to say; None if it has not written it. Computing the numbers takes a while."""
    name = f"{rooms()[room].package}.claims.summary"
    if importlib.util.find_spec(name) is None:
        return None
    found: Summary = importlib.import_module(name).summary()
    return found


def summaries() -> dict[str, Summary]:
    """Return what each room has to say, in the order of the book."""
    return {room: found for room in rooms() if (found := summary(room)) is not None}

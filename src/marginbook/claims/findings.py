"""Findings: what a chapter tells first, each sentence bound to the claims that it rests on.

A room writes them in ``claims/findings.py``, as a function ``findings`` that computes its numbers from stored
results and evidence. A finding whose claims have another verdict, or whose own condition fails, is refused
until somebody has written it anew: no sentence outlives its numbers.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..base.rooms import rooms


@dataclass(frozen=True)
class Finding:
    """One finding of a chapter.

    Attributes
    ----------
    title : str
        A sentence, which is the heading.
    text : str
        MyST, with the numbers filled in.
    needs : mapping
        The verdict that each claim must have, by id: ``{"ldm/thm-3": "corrected"}``.
    page : str
        The notebook that shows it, with its anchor: ``"ldm/03_leave_one_out#ldm-thm-3"``.
    picture : callable, optional
        Draws into a new matplotlib figure and returns it.
    alt, caption : str
        Of the picture: what is in it, and what to see.
    holds : bool
        Whether what the sentence says beyond its claims is true of the stored results.
    home : str
        The same in one sentence for the home page, if it belongs there.
    """

    title: str
    text: str
    needs: Mapping[str, str]
    page: str
    picture: Callable[[], Any] | None = field(default=None, repr=False)
    alt: str = ""
    caption: str = ""
    holds: bool = True
    home: str = ""

    def __post_init__(self) -> None:
        if self.picture and not (self.alt and self.caption):
            raise ValueError(f"{self.title!r}: a picture needs alternative text and a caption")

    def false(self, verdicts: Mapping[str, str]) -> str:
        """Return why the finding is not true of what was found, or an empty text."""
        return untrue(self.needs, self.holds, verdicts)


def untrue(needs: Mapping[str, str], holds: bool, verdicts: Mapping[str, str]) -> str:
    """Return what has changed since a sentence was written, or an empty text.

    Parameters
    ----------
    needs, verdicts : mapping
        By claim id: what the sentence takes for granted, and what was found.
    holds : bool
        Its condition on the stored results.
    """
    changed = [
        f"{id} is {verdicts.get(id, 'no claim')}, not {wanted}"
        for id, wanted in needs.items()
        if verdicts.get(id) != wanted
    ]
    if not holds:
        changed.append("its condition on the stored results fails")
    return "; ".join(changed)


def findings(room: str) -> list[Finding]:
    """Return the findings of a room, in the order of its chapter; none if it has not written any."""
    name = f"{rooms()[room].package}.claims.findings"
    if importlib.util.find_spec(name) is None:
        return []
    found: list[Finding] = importlib.import_module(name).findings()
    return found


def idea(room: str) -> Callable[[], Any] | None:
    """Return what draws the idea of a room's method: ``idea`` in its ``claims/finding_pictures.py``."""
    name = f"{rooms()[room].package}.claims.finding_pictures"
    if importlib.util.find_spec(name) is None:
        return None
    drawing: Callable[[], Any] | None = getattr(importlib.import_module(name), "idea", None)
    return drawing

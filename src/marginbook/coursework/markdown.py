"""MyST to the Markdown that every Jupyter shows: citations become text, links into the book become words."""

from __future__ import annotations

import re

from ..notebooks.citations import UnknownReference, cite, listed
from .exercises import ExerciseError

_CITE = re.compile(r"\{cite:([tp])\}`([\w-]+)`")
# to a page or an anchor of the book, and not f[i](x) in mathematics
_LINK = re.compile(r"\[([^\]]+)\]\((#[\w-]+|[\w./-]+\.(?:md|ipynb)(?:#[\w-]+)?)\)")
_OTHER = re.compile(r"\{[\w:-]+\}`|^(?:`{3,}|:{3,})\{[\w:-]+\}", re.MULTILINE)
_EXERCISE = re.compile(r"#\w+-exercise-[\w-]+")


def plain(text: str) -> str:
    r"""Return MyST Markdown as Jupyter Markdown.

    Raises
    ------
    ExerciseError
        If a role or a directive is left that only the book understands.

    Examples
    --------
    >>> plain("See [the first notebook](01_the_model.ipynb) on {cite:t}`peng_discriminative`.")
    'See the first notebook (in the book) on Peng and Cheng (2021).'
    """
    text = _CITE.sub(_cited, text)
    text = _LINK.sub(_words, text)
    left = _OTHER.search(text)
    if left:
        raise ExerciseError(
            f"the markup {left[0]!r} is the book's alone; write cite:t, cite:p, a link or mathematics"
        )
    return text


def references(texts: list[str]) -> str:
    """Return a list, in Markdown, of all that `texts` (MyST) cite; empty if that is nothing."""
    keys = {found[2] for text in texts for found in _CITE.finditer(text)}
    return "\n".join(f"- {entry}" for entry in listed(keys).values()) if keys else ""


def _words(found: re.Match[str]) -> str:
    # another exercise of the set is in the same file; everything else is a page that a student may not have
    return found[1] if _EXERCISE.fullmatch(found[2]) else f"{found[1]} (in the book)"


def _cited(found: re.Match[str]) -> str:
    try:
        return cite(found[2], found[1])
    except UnknownReference as error:
        raise ExerciseError(str(error)) from None

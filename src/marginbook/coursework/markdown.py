"""MyST to the Markdown that every Jupyter shows: citations become text, links into the book become words."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from ..exercises import ExerciseError
from ..project import resource

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
    text = _CITE.sub(lambda found: _cited(found[2], found[1] == "p"), text)
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
    if not keys:
        return ""
    from pybtex.plugin import find_plugin

    style = find_plugin("pybtex.style.formatting", "plain")()
    backend = find_plugin("pybtex.backends", "markdown")()
    entries = style.format_entries([_bibliography()[key] for key in sorted(keys)])
    return "\n".join("- " + " ".join(entry.text.render(backend).split()) for entry in entries)


def _words(found: re.Match[str]) -> str:
    # another exercise of the set is in the same file; everything else is a page that a student may not have
    return found[1] if _EXERCISE.fullmatch(found[2]) else f"{found[1]} (in the book)"


def _cited(key: str, parenthetical: bool) -> str:
    if key not in _bibliography():
        raise ExerciseError(f"cites {key}, which is not in book/references.bib")
    entry = _bibliography()[key]
    names = [" ".join(map(str, person.rich_last_names)) for person in entry.persons["author"]]
    who = names[0] + (f" and {names[1]}" if len(names) == 2 else " et al." if len(names) > 2 else "")
    year = entry.fields["year"]
    return f"({who}, {year})" if parenthetical else f"{who} ({year})"


def _bibliography() -> Any:
    return _parsed(resource("book", "references.bib"))


@cache
def _parsed(path: Path) -> Any:
    from pybtex.database import parse_file

    return parse_file(str(path)).entries

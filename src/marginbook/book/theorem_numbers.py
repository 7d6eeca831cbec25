"""A Sphinx extension: our theorems are numbered by chapter, as "Theorem L3", unlike those of the papers.

The letter is that of the method: L for LDM, K for kFDA. Numbers run through a chapter and its notebooks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, MutableMapping
from typing import cast

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from ..base.rooms import rooms

#: what is numbered by chapter; figures, tables and exercises keep their numbers
KINDS = frozenset(
    {
        "algorithm", "assumption", "axiom", "conjecture", "corollary", "criterion", "definition", "example",
        "lemma", "notation", "observation", "property", "proposition", "remark", "theorem",
    }
)  # fmt: skip
Numbers = MutableMapping[str, MutableMapping[str, MutableMapping[str, tuple[int | str, ...]]]]


def chapter_of(page: str, keys: Iterable[str]) -> str:
    """Return the room that a page belongs to: its chapter, its pages of the reference, its notebooks.

    Examples
    --------
    >>> chapter_of("notebooks/ldm/03_leave_one_out", ["drm", "ldm"])
    'ldm'
    """
    parts = page.split("/")
    return next((key for key in keys if key in parts), "")


def letters(keys: Iterable[str]) -> dict[str, str]:
    """Return the least beginning of each room's key that tells it from those before it, in capitals.

    Examples
    --------
    >>> letters(["drm", "smm", "study"])
    {'drm': 'D', 'smm': 'S', 'study': 'ST'}
    """
    found: dict[str, str] = {}
    for key in keys:
        starts = (key[:size].upper() for size in range(1, len(key) + 1))
        found[key] = next(start for start in starts if start not in found.values())
    return found


def renumber(numbers: Numbers, order: Mapping[str, int]) -> None:
    """Count the theorems, lemmas and the like of each chapter from 1, in the order of the pages.

    Parameters
    ----------
    numbers : mapping
        By page, kind and name, as Sphinx counted them through the book; changed in place.
    order : mapping
        The place of each page in the book.
    """
    known = letters(rooms())
    counts: Counter[tuple[str, str]] = Counter()
    for page in sorted(numbers, key=lambda name: (order.get(name, len(order)), name)):
        room = chapter_of(page, known)
        if not room:
            continue
        for kind, named in numbers[page].items():
            if kind not in KINDS:
                continue
            for name in sorted(named, key=lambda name: [_plain(part) for part in named[name]]):
                counts[room, kind] += 1
                named[name] = (f"{known[room]}{counts[room, kind]}",)


def _plain(part: int | str) -> int:
    """Return a number that was given before, or Sphinx's own, as one that can be ordered."""
    return int(str(part).lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))


def apply(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Answer Sphinx's ``env-get-updated`` after its own count; return the pages to write again."""
    pages = [page for page, kinds in env.toc_fignumbers.items() if KINDS & set(kinds)]
    order = {page: place for place, page in enumerate(_in_order(env, env.config.root_doc))}
    renumber(cast(Numbers, env.toc_fignumbers), order)  # Sphinx joins what it finds, numbers or text
    return pages


def _in_order(env: BuildEnvironment, page: str) -> list[str]:
    found = [page]
    for inside in env.toctree_includes.get(page, []):
        found += _in_order(env, inside)
    return found


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("env-get-updated", apply, priority=900)  # Sphinx counts at 500
    return {"parallel_read_safe": True, "parallel_write_safe": True}

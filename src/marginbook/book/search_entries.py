"""Entries of the search: "Theorem VI.3" leads to its evidence, "leave-one-out" to notebooks that treat it."""

from __future__ import annotations

import re

from ..base.rooms import rooms
from ..claims import Claim

_NAMED = re.compile(
    r"\b(Algorithm|Corollary|Definition|Equation|Example|Figure|Lemma|Proposition|Remark|Section|Table|Theorem)s?"
    r" (\(\w+\)|[\w.-]*\w)",
    re.IGNORECASE,
)


def numbered(where: str) -> list[str]:
    """Return the numbered things that a claim's place names.

    Examples
    --------
    >>> numbered("Theorem VI.3 and equation (19)")
    ['Theorem VI.3', 'Equation (19)']
    """
    return list(dict.fromkeys(f"{kind.capitalize()} {number}" for kind, number in _NAMED.findall(where)))


def evidence_anchor(claim: Claim) -> str:
    """Return the name of the place of a claim's evidence."""
    return f"evidence-{claim.slug}"


def search_entries(claim: Claim) -> str:
    """Return the index entries that stand above a claim's evidence, with the anchor of that place.

    The search of the book finds phrases in titles and in index entries, and single words in texts: there,
    "VI.3" is two words, and "3" is none.
    """
    # commas part entries, and the other marks mean something in an index; "!" is a main entry, which comes
    # before the pages that only hold the same words
    entries = numbered(claim.where) or [re.sub("[,;:!]", "", claim.where)]
    listed = ", ".join(f"!{entry}" for entry in entries)
    return f"```{{index}} {listed}\n:name: {evidence_anchor(claim)}\n```\n\n"


def subject_entries(notebook: str) -> str:
    """Return the index entries of a notebook's subjects, as MyST; nothing where none is listed.

    The search takes "leave-one-out" for three words that most pages have, so a page that treats it says so.
    """
    room, _, name = notebook.partition("/")
    subjects = rooms()[room].subjects.get(name, ()) if room in rooms() else ()
    listed = ", ".join(f"!{subject}" for subject in subjects)
    return f"```{{index}} {listed}\n```\n\n" if listed else ""

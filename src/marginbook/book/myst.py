"""Pieces of MyST Markdown that the generated parts of the book are made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..claims.readable import END, LOWERED, RAISED, TIMES_TEN, marked, parts, symbols

NOTHING = r"\-"  # an empty cell: the sorter takes a hyphen among numbers for "no number"
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    widths: Sequence[int] = (),
    classes: str = "sortable",
) -> str:
    """Return a list-table; its cells are MyST, and readers can sort it by a click on a heading."""
    lines = ["```{list-table}", ":header-rows: 1"]
    if classes:
        lines.append(f":class: {classes}")
    if widths:
        lines.append(f":widths: {' '.join(map(str, widths))}")
    lines.append("")
    for row in (headings, *rows):
        if len(row) != len(headings):
            raise ValueError(f"a row has {len(row)} cells, the table {len(headings)} headings: {row!r}")
        for place, cell in enumerate(row):
            lead = "* - " if place == 0 else "  - "
            first, *more = str(cell).splitlines() or [""]
            lines.append((lead + first).rstrip())
            lines += [f"    {line}".rstrip() for line in more]
    return "\n".join([*lines, "```", ""])


def powers(text: str) -> str:
    """Set numbers such as 1e-10 as powers of ten, in text that holds no formula."""
    if "$" in text:
        return text

    def formula(match: re.Match[str]) -> str:
        sign, digits, minus, power = match.groups()
        factor = "" if float(digits) == 1 else f"{digits} \\times "
        return f"${sign}{factor}10^{{{minus.strip('+')}{power}}}$"

    return TIMES_TEN.sub(formula, text)


def told(text: str) -> str:
    """Return what a check says as MyST: formulas and code as they are, all else escaped and readable.

    >>> told("(1-z)_+ to 1e-9")
    '(1-z){sub}`+` to $10^{-9}$'
    """
    return "".join(part if kept else _readable(part) for part, kept in parts(text))


def _readable(text: str) -> str:
    marks = powers(plain(symbols(text)))
    # in a role nothing is escaped
    return marked(re.sub(rf"[{RAISED}{LOWERED}][^{END}]*{END}", _bare, marks), "{{sup}}`{}`", "{{sub}}`{}`")


def _bare(found: re.Match[str]) -> str:
    return found[0].replace("\\", "")


def badge(verdict: str) -> str:
    """Return a verdict as a word on its colour."""
    return f"[{in_words(verdict)}]{{.verdict .verdict-{verdict}}}"


def in_words(verdict: str) -> str:
    """Return a verdict as readers see it; with hyphens it is a name, for addresses and styles.

    >>> in_words("not-reproduced")
    'not reproduced'
    """
    return verdict.replace("-", " ")


def target(name: str, text: str) -> str:
    """Return text that links can point at."""
    return f"[{text}]{{#{name}}}"


def plain(text: str) -> str:
    """Escape what Markdown would read as markup; for text that is not MyST already."""
    for mark in "\\`*_{}[]<>#|$~":
        text = text.replace(mark, "\\" + mark)
    # smart quotes make a dash of two hyphens, and a command that nobody can type
    return _OPTION.sub(r"`\g<0>`", text)


def dropdown(title: str, body: str) -> str:
    """Return a block that is closed until a reader opens it; `body` may hold fences of three."""
    return f"````{{dropdown}} {title}\n{body.rstrip()}\n````\n"

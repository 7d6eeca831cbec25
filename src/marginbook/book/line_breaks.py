"""A Sphinx extension: what a reader takes for one word stays on one line.

Browsers break lines between a formula and the full stop behind it, before the sign in "5 %", and within
"t-test" and "1e-6".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from types import UnionType

from docutils import nodes  # type: ignore[import-untyped]
from sphinx.application import Sphinx

#: letters of a word of code that may break, as a phone's column can be too narrow for it
LONG = 20
_SPACE = re.compile(r"([ \n]+)")
_PERCENT = re.compile(r"(?<=\d)[ \n](?=%)")
_EQUALS = re.compile(r"(?<=\w)[ \n]=[ \n](?=[-+−]?\d)")
_OUTPUT = re.compile(r'class="(?:dataframe|evidence-card)')
_BETWEEN_TAGS = re.compile(r"(?<=>)[^<>]+(?=<)")
_SHORT = re.compile(r"(?<!\S)(?=\S{3,8}(?!\S))[-+]?[\w.+]+-[\w.+-]+")  # 1e-06, DRM-APG
_HYPHEN = re.compile(r"\b[A-Za-z]-[a-z]|\de-\d")


def hold_together(document: nodes.document) -> None:
    """Put what must not break into nodes of the class ``nowrap``, and give long code the class ``long``."""
    for code in document.findall(nodes.literal):
        if max(map(len, code.astext().split()), default=0) > LONG:
            code["classes"].append("long")
    for block in list(document.findall(nodes.TextElement)):
        if isinstance(block, nodes.raw):
            if _OUTPUT.search(block.astext()):
                block[:] = [nodes.Text(_BETWEEN_TAGS.sub(_held_in_html, block.astext()))]
        elif not isinstance(block, nodes.literal | nodes.math | nodes.FixedTextElement):
            block[:] = list(_held(block.children))


def _held(children: Iterable[nodes.Node]) -> Iterator[nodes.Node]:
    plain = ""
    for together, group in groupby(_words(children), key=_may_join):
        run = list(group)
        text = "".join(part for part in run if isinstance(part, str))
        formula = len(run) > 1 and any(_is(part, nodes.math) for part in run)
        held = together and (formula or _HYPHEN.search(text))
        if not held and len(run) == 1 and text:
            plain += text
            continue
        if plain:
            yield nodes.Text(plain)
            plain = ""
        parts = [nodes.Text(part) if isinstance(part, str) else part for part in run]
        yield from [nodes.inline("", "", *parts, classes=["nowrap"])] if held else parts
    if plain:
        yield nodes.Text(plain)


def _held_in_html(text: re.Match[str]) -> str:
    # its columns are narrow: a heading such as "beta = 1" may break
    return _SHORT.sub(r'<span class="nowrap">\g<0></span>', _PERCENT.sub("\u00a0", text[0]))


def _words(children: Iterable[nodes.Node]) -> Iterator[str | nodes.Node]:
    """Yield each word and each space of the texts, and the other nodes as they are."""
    after_formula = False
    for child in children:
        if isinstance(child, nodes.Text):
            text = _EQUALS.sub("\u00a0=\u00a0", _PERCENT.sub("\u00a0", str(child)))
            if after_formula:
                text = re.sub(r"^[ \n]%", "\u00a0%", text)
            yield from filter(None, _SPACE.split(text))
        else:
            yield child
        after_formula = _is(child, nodes.math)


def _may_join(part: str | nodes.Node) -> bool:
    """Return whether a part is a word, a formula or code, also as the only content of a link."""
    return not _SPACE.fullmatch(part) if isinstance(part, str) else _is(part, nodes.math | nodes.literal)


def _is(part: str | nodes.Node, kind: type | UnionType) -> bool:
    while isinstance(part, nodes.reference | nodes.inline) and len(part) == 1:
        part = part[0]
    return isinstance(part, kind)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    # when links are resolved; the contents and the search have the titles as they were
    app.connect("doctree-resolved", lambda app, document, name: hold_together(document), priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""The text of a problem set, cut where exercises and their parts begin."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

_ANCHOR = re.compile(r"\(([\w-]+)-exercise-([\w-]+)\)=")


@dataclass(frozen=True)
class Piece:
    """What stands between two cuts of a page."""

    kind: str  # "section", "text" or "fence"
    text: str  # title of a section; else as written, a fence without its marks
    id: str = ""  # of a section that is an exercise
    info: str = ""  # of a fence
    raw: str = ""  # of a fence: as written


@cache
def pieces(source: str) -> tuple[Piece, ...]:
    """Split Markdown at its headings of level 1 and 2 and its outermost fences."""
    from markdown_it import MarkdownIt
    from mdit_py_plugins.colon_fence import colon_fence_plugin

    lines = source.splitlines()
    cuts: list[tuple[int, int, Piece]] = []
    anchor: tuple[int, str] | None = None
    tokens = MarkdownIt("commonmark").use(colon_fence_plugin).parse(source)
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.level or token.map is None:
            continue
        start, end = token.map
        raw = "\n".join(lines[start:end])
        target = _ANCHOR.fullmatch(raw.strip()) if token.type == "paragraph_open" else None
        if target:
            anchor = start, f"{target[1]}/{target[2]}"
        elif token.type == "heading_open" and token.tag in ("h1", "h2"):
            title = following.content if following else ""
            at, id = anchor if anchor else (start, "")
            cuts.append((at, end, Piece("section", title, id)))
            anchor = None
        elif token.type in ("fence", "colon_fence"):
            cuts.append((start, end, Piece("fence", token.content, "", token.info.strip(), raw)))
    found, at = [], 0
    for start, end, piece in cuts:
        found += [Piece("text", "\n".join(lines[at:start]).strip()), piece]
        at = end
    return (*found, Piece("text", "\n".join(lines[at:]).strip()))

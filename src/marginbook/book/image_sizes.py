"""Width and height of every figure in the pages: the text below does not jump when a figure arrives."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote

_IMAGE = re.compile(r"<img\b[^>]*>")
_SOURCE = re.compile(r'\bsrc="([^"]+)"')
_SIZED = re.compile(r"\b(width|height)\s*[=:]")


def give_sizes(html: Path) -> int:
    """Write the pixels of local images into their tags, in all pages of a built book.

    The style sheet bounds the width and leaves the height free, so that the two numbers only tell the ratio.

    Parameters
    ----------
    html : path
        Folder with ``index.html``.

    Returns
    -------
    int
        How many tags were completed.
    """
    done = 0
    for page in sorted(html.rglob("*.html")):
        if {"_static", "_sources"} & set(page.relative_to(html).parts):
            continue
        before = page.read_text(encoding="utf-8")
        after, number = complete(before, page.parent)
        if number:
            page.write_text(after, encoding="utf-8")
            done += number
    return done


def complete(text: str, folder: Path) -> tuple[str, int]:
    """Return a page's text with sizes, and how many were added; `folder` is where its links start."""
    done = 0

    def size(match: re.Match[str]) -> str:
        nonlocal done
        tag = match[0]
        source = _SOURCE.search(tag)
        if source is None or _SIZED.search(tag) or source[1].startswith(("data:", "http:", "https:", "//")):
            return tag
        pixels = _pixels((folder / unquote(source[1])).resolve())
        if pixels is None:
            return tag
        done += 1
        return f'<img width="{pixels[0]}" height="{pixels[1]}"{tag[4:]}'

    return _IMAGE.sub(size, text), done


@cache
def _pixels(path: Path) -> tuple[int, int] | None:
    from PIL import Image, UnidentifiedImageError  # with matplotlib; not needed to read the library

    try:
        with Image.open(path) as image:
            return image.size
    except (OSError, UnidentifiedImageError):  # a vector image, or none: it keeps its own size
        return None

"""A run beside what is published: cell by cell, which outputs differ and where."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from html import escape
from typing import Any

import nbformat

from ..notebooks.parameters import TAG
from .sanitising import sanitised

#: how many pixels of a figure may differ, and by how much: nobody sees what another processor changes
_PIXELS, _SHADE = 0.002, 8
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
#: of HTML that `sanitised` returns: there each < begins a tag
_PIECE = re.compile(r"<[^>]*>|[^<]+")
#: pairs of pieces; a comparison of longer tables takes too long
_MOST_PIECES = 4_000_000
_CARD = re.compile(r'class="verdict verdict-([\w-]+)">.{0,200}?<a data-claim="([\w-]+)"', re.DOTALL)
_HEADING = re.compile(r"^#+ +(.+?)\s*$", re.MULTILINE)
Output = dict[str, Any]


@dataclass(frozen=True)
class Pair:
    """One cell that prints or draws: what is published, what this run gave, and whether they are the same.

    `title` is that of its section.
    """

    number: int
    title: str
    source: str
    alt: str
    published: tuple[Output, ...]
    ours: tuple[Output, ...]
    same: bool


def compared(published: nbformat.NotebookNode, ours: nbformat.NotebookNode) -> list[Pair]:
    """Return the cells with outputs in either of two notebooks, in the order of the run."""
    before = {cell.source: cell for cell, _ in _code(published)}
    pairs = []
    for number, (cell, title) in enumerate(_code(ours), start=1):
        old = _outputs(before.pop(cell.source, None))
        new = _outputs(cell)
        if old or new:
            alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
            pairs.append(Pair(number, title, cell.source, alt, old, new, _same(old, new)))
    return pairs


def sections(notebook: nbformat.NotebookNode) -> Iterator[tuple[nbformat.NotebookNode, str]]:
    """Yield all cells with the titles of their sections."""
    title = ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (found := _HEADING.findall(cell.source)):
            title = found[-1]
        yield cell, title


def verdicts(outputs: Sequence[Output]) -> dict[str, str]:
    """Return the verdicts that cards of evidence show, by the slugs of their claims."""
    html = "".join(output.get("text/html", "") for output in outputs)
    return {slug: verdict for verdict, slug in _CARD.findall(html)}


def _code(notebook: nbformat.NotebookNode) -> Iterator[tuple[nbformat.NotebookNode, str]]:
    """Yield the author's cells with their sections: not the parameters, which are to differ."""
    for cell, title in sections(notebook):
        tags = {TAG, "injected-parameters", "papermill-error-cell-tag"} & set(cell.metadata.get("tags", []))
        if cell.cell_type == "code" and not tags:
            yield cell, title


def _outputs(cell: nbformat.NotebookNode | None) -> tuple[Output, ...]:
    found: list[Output] = []
    for output in cell.get("outputs", []) if cell is not None else []:
        kind = output["output_type"]
        if kind == "stream":
            joined = found[-1]["text"] + output["text"] if found and found[-1].keys() == {"text"} else None
            if joined is not None:
                found.pop()
            found.append({"text": joined or output["text"]})
        elif kind == "error":
            found.append({"text": "\n".join([f"{output['ename']}: {output['evalue']}"])})
        else:
            data = dict(output.get("data", {}))
            for name in ("image/png", "image/svg+xml", "text/html", "text/markdown", "text/plain"):
                if name in data:
                    text = data[name] if isinstance(data[name], str) else "".join(data[name])
                    found.append({"text" if name == "text/plain" else name: text})
                    break
    return tuple(found)


def _same(old: Sequence[Output], new: Sequence[Output]) -> bool:
    return len(old) == len(new) and all(
        a == b or (a.keys() == b.keys() == {"image/png"} and _looks_same(a["image/png"], b["image/png"]))
        for a, b in zip(old, new, strict=True)
    )


def _looks_same(old: str, new: str) -> bool:
    import numpy as np
    from PIL import Image

    try:
        first, second = (
            np.asarray(Image.open(io.BytesIO(base64.b64decode(text))).convert("RGB"), dtype=int)
            for text in (old, new)
        )
    except (OSError, ValueError):
        return False
    if first.shape != second.shape:
        return False
    return bool((np.abs(first - second).max(axis=2) > _SHADE).mean() <= _PIXELS)


def as_html(outputs: Sequence[Output], other: Sequence[Output], alt: str) -> str:
    """Return outputs as HTML that holds nothing but text, tables and images; lines that differ are marked."""
    if not outputs:
        return '<p class="none">no output</p>'
    texts = [each["text"] for each in other if "text" in each]
    pages = [sanitised(each["text/html"]) for each in other if "text/html" in each]
    parts = []
    for output in outputs:
        ((kind, content),) = output.items()
        if kind == "image/png":
            parts.append(_image("image/png", re.sub(r"[^A-Za-z0-9+/=]", "", content), alt))
        elif kind == "image/svg+xml":
            parts.append(_image("image/svg+xml", base64.b64encode(content.encode()).decode(), alt))
        elif kind == "text/html":
            beside = pages.pop(0) if pages else None
            parts.append(f'<div class="out">{_marked_html(sanitised(content), beside)}</div>')
        else:
            against = texts.pop(0) if texts else None
            parts.append(f"<pre>{_marked(_ESCAPES.sub('', content), against)}</pre>")
    return "".join(parts)


def _image(kind: str, content: str, alt: str) -> str:
    return f'<img src="data:{kind};base64,{content}" alt="{escape(alt)}">'


def _marked_html(html: str, other: str | None) -> str:
    """Return harmless HTML with the pieces of text marked that the other does not have in that place."""
    pieces, before = _PIECE.findall(html), _PIECE.findall(other or "")
    if not before or html == other or len(pieces) * len(before) > _MOST_PIECES:
        return html
    found = []
    for what, _, _, start, end in SequenceMatcher(None, before, pieces, autojunk=False).get_opcodes():
        for piece in pieces[start:end]:
            text = what != "equal" and not piece.startswith("<") and piece.strip()
            found.append(f"<mark>{piece}</mark>" if text else piece)
    return "".join(found)


def _marked(text: str, other: str | None) -> str:
    """Return text with the lines marked that the other text does not have."""
    if other is None or text == other:
        return escape(text)
    lines, before = text.splitlines(), other.splitlines()
    found = []
    for what, _, _, start, end in SequenceMatcher(None, before, lines, autojunk=False).get_opcodes():
        chosen = [escape(line) for line in lines[start:end]]
        found += chosen if what == "equal" else [f"<mark>{line}</mark>" for line in chosen]
    return "\n".join(found)

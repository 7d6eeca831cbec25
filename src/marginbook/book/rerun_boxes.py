"""The box below a notebook's introduction: its files to take away, its parameters, its command."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Sequence
from html import unescape
from pathlib import Path

import nbformat

from ..notebooks.form import source as source_of_form
from ..notebooks.parameters import TAG, Parameter, parameters
from .check_pages import FOLDER as CHECKS
from .myst import plain, table
from .search_entries import subject_entries

DOWNLOADS = "downloads"  # folder of the source tree; Sphinx copies from it what a page offers
TITLE = "Run this page again, with your own parameters"
_SHOWS = re.compile(r"show\([^()]*\)")
_CARD = re.compile(r'<a data-claim="(([a-z0-9]+)-[\w-]+)">')
_CHECK = re.compile(r"<code>(\w+)</code> in <code>([\w/]+)\.py</code>")
_MEASURED = re.compile(r"(<p><b>Measured:</b> (.*?)</p>)<details><summary>Why</summary>", re.DOTALL)
_TAG_OF_HTML = re.compile("<[^>]+>")
SHORT = 120  # characters of what was measured that stay in sight


def place(id: str, executed: Path, text: Path, source: Path) -> None:
    """Put an executed notebook into the source tree: the page with its box, and both files as they are.

    Parameters
    ----------
    id : str
        Such as ``drm/05_imbalanced``.
    executed : path
        The notebook with outputs.
    text : path
        Its MyST text; without one there is nothing to run again, and the page gets no box.
    source : path
        The tree that Jupyter Book will compile.
    """
    page = source / "notebooks" / f"{id}.ipynb"
    page.parent.mkdir(parents=True, exist_ok=True)
    if not text.is_file():
        shutil.copy2(executed, page)
        return
    kept = source / DOWNLOADS / id
    kept.parent.mkdir(parents=True, exist_ok=True)
    notebook = nbformat.read(executed, as_version=4)
    nbformat.write(with_form(id, notebook), kept.with_name(f"{kept.name}.ipynb"))
    shutil.copy2(text, kept.with_name(f"{kept.name}.md"))
    nbformat.write(with_box(id, notebook), page)


def with_form(id: str, notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return a copy to take away, which offers a form for its parameters after its introduction.

    Exercises have none: there the reader's own cells are what is run.
    """
    copy = nbformat.from_dict(dict(notebook))
    exercises = any("solution" in cell.metadata.get("tags", []) for cell in notebook.cells)
    if parameters(notebook) and not exercises:
        cell = nbformat.v4.new_code_cell(source_of_form(id), id="parameters-in-a-form")
        copy.cells = [*notebook.cells[:1], cell, *notebook.cells[1:]]
    return copy


def with_box(id: str, notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return a copy of the notebook with the box after its first cell, which holds title and introduction."""
    # the id is part of the page's source: a random one would make every build different
    cell = nbformat.v4.new_markdown_cell(box(id, parameters(notebook)), id="run-this-page-again")
    copy = nbformat.from_dict(dict(notebook))
    copy.cells = [*notebook.cells[:1], cell, *map(as_read, notebook.cells[1:])]
    return copy


def as_read(cell: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return a cell as a page shows it: cards lead to the ledger, and what says nothing is left out.

    The parameters stand in the box already, and of a cell that only shows evidence the cards are enough. A
    card keeps verdict and statement in sight; more than a few numbers go behind its fold. The stored notebook
    stays as it is: elsewhere nothing needs to be folded.
    """
    found = nbformat.from_dict(dict(cell))
    tags = list(found.metadata.get("tags", []))
    if found.cell_type == "code" and (TAG in tags or _SHOWS.fullmatch(found.source.strip())):
        folded = {"hide-input", "hide-cell"}  # behind a button nobody would see the card
        found.metadata["tags"] = [*(tag for tag in tags if tag not in folded), "remove-input"]
    for output in found.get("outputs", []):
        html = output.get("data", {}).get("text/html", "")
        if "data-claim" in html:
            html = _CARD.sub(r'<a href="../../book/claims-\2.html#evidence-\1">', html)
            html = _CHECK.sub(rf'<a href="../../{CHECKS}/\2.html#\1">\g<0></a>', html)
            output.data["text/html"] = _MEASURED.sub(_folded, html)
    return found


def _folded(found: re.Match[str]) -> str:
    """Return the start of a card's fold, with the sentence of what was measured inside it if that is long."""
    if len(unescape(_TAG_OF_HTML.sub("", found[2]))) <= SHORT:
        return found[0]
    return f"<details><summary>The numbers, and why</summary>{found[1]}"


def box(id: str, declared: Sequence[Parameter]) -> str:
    """Return the box as MyST.

    The downloads are in sight; parameters and command are behind a button, so that the story goes on.
    """
    name = id.rpartition("/")[2]
    links = [
        f"{{download}}`Notebook (.ipynb) </{DOWNLOADS}/{id}.ipynb>`",
        f"{{download}}`Text (.md) </{DOWNLOADS}/{id}.md>`",
    ]
    body = [
        f"In a checkout of marginbook, this executes a copy of `{name}` and writes a page. "
        "Change what you like and leave out the rest.",
        "",
        f"```bash\n{command(id, declared)}\n```",
    ]
    if declared:
        rows = [
            [f"`{item.name}`", f"`{item.type}`", _code(item.default), _prose(item.doc)] for item in declared
        ]
        body += ["", table(["parameter", "type", "default", "what it is"], rows, classes="parameters")]
    else:
        body += ["", "It takes no parameters."]
    return subject_entries(id) + "\n".join(
        [
            ":::{div} take-along",
            " ".join(links),
            ":::",
            "",
            f"````{{dropdown}} {TITLE}",
            ":class-container: rerun",
            "",
            "\n".join(body).rstrip(),
            "````",
        ]
    )


def command(id: str, declared: Sequence[Parameter]) -> str:
    """Return the shell command that gives every parameter its default, one to a line."""
    given = [f"-p {item.name} {shlex.quote(argument(item))}" for item in declared]
    return " \\\n    ".join([f"marginbook run {id}", *given, "--html"])


def argument(item: Parameter) -> str:
    """Return a default as the command line wants it: JSON, or the bare word of a string."""
    if isinstance(item.default, str) and not _is_json(item.default):
        return item.default
    return json.dumps(item.default, ensure_ascii=False)


def _is_json(word: str) -> bool:
    try:
        json.loads(word)
    except json.JSONDecodeError:
        return False
    return True


def _prose(text: str) -> str:
    # what a comment sets in backticks stays code
    pieces = re.split("(`[^`]+`)", text)
    return "".join(piece if piece.startswith("`") else plain(piece) for piece in pieces)


def _code(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return f"`{text}`" if "`" not in text else plain(text)

"""Which notebooks there are, and how their two files belong together.

Authors write ``notebooks/<room>/NN_title.md`` (MyST text). The ``.ipynb`` beside it is made from that text,
with the outputs of one execution stored in it; nothing ever goes the other way.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import nbformat

from ..base.naming import suggestion
from ..base.project import resource, root

# what a stored notebook says about its kernel: without versions, so that it is the same on every machine
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python", "pygments_lexer": "ipython3"},
}


class UnknownNotebook(KeyError):
    """There is no notebook of that name."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class Notebook:
    """One notebook: its id (``drm/05_imbalanced``) and its two files."""

    id: str
    text: Path

    @property
    def stored(self) -> Path:
        return self.text.with_suffix(".ipynb")

    @property
    def room(self) -> str:
        return self.id.partition("/")[0]

    @property
    def slug(self) -> str:
        return self.id.replace("/", "-")

    def read(self) -> nbformat.NotebookNode:
        """Return the notebook of the text file, without outputs, with ids that depend on the sources only."""
        import jupytext  # late, as are all slow imports here: the command line starts at once

        notebook = jupytext.read(self.text)
        notebook.metadata = nbformat.from_dict(METADATA)
        notebook.nbformat, notebook.nbformat_minor = 4, 5
        seen: Counter[str] = Counter()
        for cell in notebook.cells:
            mark = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:12]
            cell["id"] = mark if not seen[mark] else f"{mark}-{seen[mark]}"
            seen[mark] += 1
        return notebook

    def read_stored(self) -> nbformat.NotebookNode:
        return nbformat.read(self.stored, as_version=4)


def available() -> dict[str, Notebook]:
    """Return every notebook by its id, in the order of the table of contents: by room, then by number."""
    folder = notebooks_dir()
    texts = sorted(folder.glob("*/[0-9][0-9]_*.md"))
    return {text.relative_to(folder).with_suffix("").as_posix(): _notebook(text) for text in texts}


def find(id: str) -> Notebook:
    """Return one notebook; ``.md``, ``.ipynb`` and a leading ``notebooks/`` may be given with the id.

    Raises
    ------
    UnknownNotebook
        If there is none of that name; the message has names near to it.
    """
    name = id.removeprefix("notebooks/").removesuffix(".ipynb").removesuffix(".md")
    known = available()
    if name in known:
        return known[name]
    if not known:
        raise UnknownNotebook(
            f"no notebook {id!r}: there are none in {notebooks_dir()}; run this in a checkout of marginbook"
        )
    hint = suggestion(name, known, "`marginbook run --list` shows them", 0.4)
    raise UnknownNotebook(f"no notebook {id!r}{hint}")


def drift(notebook: Notebook) -> list[str]:
    """Say where the stored notebook differs from its text: cell sources, kinds, metadata and ids."""
    if not notebook.stored.is_file():
        return [f"{notebook.stored.name} is missing"]
    ours, theirs = notebook.read(), notebook.read_stored()
    found = []
    if len(ours.cells) != len(theirs.cells):
        found.append(f"{len(ours.cells)} cells in the text, {len(theirs.cells)} stored")
    for number, (mine, stored) in enumerate(zip(ours.cells, theirs.cells, strict=False), start=1):
        for part in ("cell_type", "source", "metadata", "id"):
            if mine[part] != stored[part]:
                found.append(f"cell {number}: {part} differs")
                break
    return found


def notebooks_dir() -> Path:
    return resource("notebooks")


def build_dir(*parts: str) -> Path:
    """Return a folder for what is made here: in ``_build`` of the checkout, else of the working folder."""
    return (root() or Path.cwd()).joinpath("_build", *parts)


def _notebook(text: Path) -> Notebook:
    return Notebook(text.relative_to(text.parents[1]).with_suffix("").as_posix(), text)

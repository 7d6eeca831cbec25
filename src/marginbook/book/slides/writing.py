"""A deck as one HTML file: nbconvert's slides exporter, with reveal.js and MathJax inside the file."""

from __future__ import annotations

import re
import zipfile
from importlib.resources import files
from pathlib import Path

import nbformat
from nbconvert import SlidesExporter

from ...base.project import resource
from ...datasets.dataset import FetchError
from ...datasets.registry import Wheel
from ...notebooks.mathjax import mathjax, wheel

# carries reveal.js 5.2 unchanged, with its licence (MIT); read as an archive, never installed
WHEEL = Wheel(
    package="sphinx-revealjs",
    version="3.2.1",
    sha256="805bed3ca459346e0f01967d5ed1c40d6b7b917de1541e1e4566c8341fe7017b",
    bytes=2390529,
)
_INSIDE = "sphinx_revealjs/_static/revealjs/"
_VERDICTS = re.compile(r"^[^{}\n/]*\.verdict[^{}]*\{[^{}]*\}", re.MULTILINE)


def reveal(*members: str) -> list[str]:
    """Return files of reveal.js, such as ``"dist/reveal.js"``.

    Raises
    ------
    FetchError
        pip cannot get the wheel that holds it.
    """
    with zipfile.ZipFile(wheel(WHEEL)) as archive:
        return [archive.read(_INSIDE + member).decode("utf-8") for member in members]


def write_deck(notebook: nbformat.NotebookNode, path: Path) -> str | None:
    """Write the slides; return a remark if the formulas had to stay TeX, else None.

    Raises
    ------
    FetchError
        Without a network and with an empty cache there is no reveal.js.
    """
    style, script, notes, licence = reveal(
        "dist/reveal.css", "dist/reveal.js", "plugin/notes/notes.js", "LICENSE"
    )
    try:
        tex, remark = mathjax("tex-svg.js").decode(), None
    except FetchError as error:
        tex, remark = "", f"formulas stay as TeX: {error}"
    resources = {
        "metadata": {"name": str(notebook.metadata["title"])},
        "licence": licence,
        "reveal_style": style,
        "style": _own("deck.css") + verdict_colours(),
        "scripts": [_script(each) for each in (script, notes, _own("deck.js"))],
        "mathjax": _script(tex),
    }
    exporter = SlidesExporter(raw_template=_own("deck.html.j2"), exclude_anchor_links=True)
    html, _ = exporter.from_notebook_node(notebook, resources=resources)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(html, encoding="utf-8")
    return remark


def verdict_colours() -> str:
    """Return the rules of the book's style sheet for verdicts: their contrasts are tested there."""
    return "\n".join(_VERDICTS.findall(resource("book", "_static", "marginbook.css").read_text("utf-8")))


def _own(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _script(text: str) -> str:
    return text.replace("</script", "<\\/script")

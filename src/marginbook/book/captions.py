"""A Sphinx extension: a caption stands once below the outputs of a cell, not below each of them.

MyST-NB makes a figure of every output of a cell that has a caption, of a table or a printed line as well.
"""

from __future__ import annotations

from docutils import nodes  # type: ignore[import-untyped]
from sphinx.application import Sphinx


def keep_one(document: nodes.document) -> None:
    """Of the figures of a cell with one caption, leave those with a picture, or the last if none has one."""
    for cell in document.findall(_is_output):
        figures: dict[str, list[nodes.figure]] = {}
        for figure in cell.findall(nodes.figure):
            figures.setdefault(_caption(figure), []).append(figure)
        for alike in figures.values():
            kept = [figure for figure in alike if any(figure.findall(nodes.image))] or alike[-1:]
            for figure in alike:
                if not any(figure is one for one in kept):
                    figure.replace_self([part for part in figure.children if not _describes(part)])


def _is_output(node: nodes.Node) -> bool:
    return isinstance(node, nodes.container) and node.get("nb_element") == "cell_code_output"


def _caption(figure: nodes.figure) -> str:
    return "".join(part.astext() for part in figure.children if _describes(part))


def _describes(part: nodes.Node) -> bool:
    return isinstance(part, nodes.caption | nodes.legend)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    # before Sphinx collects the figures of the page, at 500, to number them
    app.connect("doctree-read", lambda app, document: keep_one(document), priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

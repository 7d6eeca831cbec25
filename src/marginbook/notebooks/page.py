"""One executed notebook as one HTML file that loads nothing: images, styles and MathJax are inside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import nbformat
from nbconvert import HTMLExporter

from .. import __version__
from ..base.checkout import commit
from ..datasets.dataset import FetchError
from .citations import listed
from .depends import dependencies
from .links import Links
from .markdown import Converter, anchors
from .mathjax import mathjax
from .parameters import TAG, Parameter, parameters

# the lab template without the scripts that it loads from the network, and with MathJax 3 in place of 2
_TEMPLATE = r"""
{%- extends 'lab/index.html.j2' -%}
{% block html_head_js %}{% endblock %}
{% block html_head_js_mermaidjs %}{% endblock %}
{% block html_head_js_mathjax %}
<style>{{ resources.style }}</style>
<script>MathJax = {tex: {inlineMath: [['$', '$'], ['\\(', '\\)']], processEscapes: true, tags: 'ams'},
options: {enableMenu: false}};</script>
<script>{{ resources.mathjax_source }}</script>
{% endblock %}
{% block data_png scoped %}
<figure class="jp-RenderedImage jp-OutputArea-output">
<img src="data:image/png;base64,{{ output.data['image/png'] | escape_html }}" alt="{{ cell.metadata.alt | escape_html }}">
{% if cell.metadata.caption or cell.metadata.of_run %}<figcaption>
{{ cell.metadata.caption | markdown2html }}
{% if cell.metadata.of_run %}<span class="of-run">{{ cell.metadata.of_run | escape_html }}</span>{% endif %}
</figcaption>{% endif %}
</figure>
{% endblock %}
{% block body_footer %}<footer class="of-run">{{ resources.of_run | escape_html }}</footer>{{ super() }}{% endblock %}
"""  # noqa: E501
# code wraps, what is printed scrolls: its columns belong together
_STYLE = """
main {max-width: 60rem; margin: auto; padding: 1rem}
@media (max-width: 600px) {main {padding: 0}}
img {max-width: 100%; height: auto}
figure {margin: 0 0 0.5rem}
figcaption p {margin: 0.25rem 0}
.jp-RenderedMarkdown, .jp-OutputArea {overflow-x: auto}
.jp-InputArea-editor pre {white-space: pre-wrap; overflow-wrap: anywhere}
.jp-OutputArea-output pre {white-space: pre; word-break: normal; overflow-x: auto}
.of-run {color: #555; font-size: 0.85rem}
.jp-RenderedHTMLCommon table.of-run {table-layout: auto; margin-left: 0}
.jp-RenderedHTMLCommon table.of-run caption {text-align: left; font-weight: bold}
.jp-RenderedHTMLCommon table.of-run :is(td, th) {text-align: left}
.jp-RenderedHTMLCommon table.of-run td + td {white-space: normal; overflow-wrap: anywhere}
details {margin: 0.5rem 0}
footer.of-run {border-top: 1px solid #ccc; margin-top: 2rem; padding-top: 0.5rem; overflow-wrap: anywhere}
"""
_SHOWN = 60  # characters of a value below a figure; the table of parameters has all
# decides how fast a result comes, not which
_WITHOUT_EFFECT = {"n_jobs"}


def write_page(
    notebook: nbformat.NotebookNode, path: Path, id: str, values: Mapping[str, Any] | None = None
) -> str | None:
    """Write the page; return a remark if the formulas had to stay TeX, else None.

    Parameters
    ----------
    notebook : notebook
        Executed; papermill's own cells may be in it.
    path : path
    id : str
        Such as ``"drm/05_imbalanced"``; links in the text are relative to it.
    values : mapping, optional
        The parameters that were given; the others have their defaults.
    """
    try:
        script, remark = mathjax("tex-svg.js").decode().replace("</script", "<\\/script"), None
    except FetchError as error:
        script, remark = "", f"formulas stay as TeX: {error}"
    resources = {
        "metadata": {"name": id, "path": str(path.parent)},
        "mathjax_source": script,
        "style": _STYLE,
        "of_run": of_run(id),
    }
    # embed_images would close each <details> at its first empty line; no text of ours shows an image file
    exporter = HTMLExporter(raw_template=_TEMPLATE, exclude_anchor_links=True)
    html, _ = exporter.from_notebook_node(shown(notebook, path, id, values or {}), resources=resources)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(html, encoding="utf-8")
    return remark


def of_run(id: str) -> str:
    """Return what was run: notebook, version of the package, commit of the checkout."""
    at = commit()
    return " · ".join([f"notebook {id}", f"marginbook {__version__}", *([f"commit {at}"] if at else [])])


def shown(
    notebook: nbformat.NotebookNode, path: Path, id: str, values: Mapping[str, Any]
) -> nbformat.NotebookNode:
    """Return a copy for nbconvert: plain Markdown, the parameters of the run, captions, references."""
    page = nbformat.from_dict(notebook)
    texts = [cell.source for cell in page.cells if cell.cell_type == "markdown"]
    convert = Converter(Links(id, path, anchors(texts)))
    for cell in page.cells:
        if cell.cell_type == "markdown":
            cell.source = convert(cell.source)
        else:
            figure = cell.metadata.get("mystnb", {}).get("figure", {})
            cell.metadata["caption"] = convert(figure.get("caption", ""))
    declared = parameters(page)
    _caption(page, declared, values)
    if declared:
        page.cells.insert(1, nbformat.v4.new_markdown_cell(_table(declared, values)))
    if convert.cited:
        entries = (f'- <a id="ref-{key}"></a>{text}' for key, text in listed(convert.cited).items())
        page.cells.append(nbformat.v4.new_markdown_cell("\n".join(["## References", "", *entries])))
    return page


def _caption(page: nbformat.NotebookNode, declared: list[Parameter], values: Mapping[str, Any]) -> None:
    """Put below each figure the parameters that it depends on, and into it the author's description."""
    ours = [cell for cell in page.cells if cell.cell_type == "code"]
    sources = ["" if _declares(cell) else cell.source for cell in ours]
    names = {each.name for each in declared} - _WITHOUT_EFFECT
    for cell, reaching in zip(ours, dependencies(sources, names), strict=True):
        pairs = [
            (each.name, values.get(each.name, each.default)) for each in declared if each.name in reaching
        ]
        cell.metadata["of_run"] = ", ".join(f"{name} = {_short(value)}" for name, value in pairs)
        cell.metadata["alt"] = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")


def _declares(cell: nbformat.NotebookNode) -> bool:
    return bool({TAG, "injected-parameters"} & set(cell.metadata.get("tags", [])))


def _table(declared: list[Parameter], values: Mapping[str, Any]) -> str:
    """Return the parameters as HTML: their comments are no Markdown, and have bars and dollars in them."""
    lines = ['<table class="of-run mathjax_ignore"><caption>This run</caption>']
    lines.append("<tr><th>parameter</th><th>value</th><th>what it is</th></tr>")
    for each in declared:
        value = values.get(each.name, each.default)
        cells = [f"<code>{each.name}</code>", f"<code>{escape(_json(value))}</code>", escape(each.doc)]
        if value != each.default:
            cells[1] = f"<strong>{cells[1]}</strong> instead of <code>{escape(_json(each.default))}</code>"
        lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return "\n".join([*lines, "</table>"])


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else _json(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"

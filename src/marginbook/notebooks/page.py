"""One executed notebook as one HTML file that loads nothing: images, styles and MathJax are inside it."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
from nbconvert import HTMLExporter

from ..datasets.dataset import FetchError
from ..vendor import mathjax

# the lab template without the scripts that it loads from the network, and with MathJax 3 in place of 2
_TEMPLATE = r"""
{%- extends 'lab/index.html.j2' -%}
{% block html_head_js %}{% endblock %}
{% block html_head_js_mermaidjs %}{% endblock %}
{% block html_head_js_mathjax %}
<style>main {max-width: 60rem; margin: auto; padding: 1rem} img {max-width: 100%; height: auto}
.jp-RenderedMarkdown, .jp-OutputArea {overflow-x: auto}</style>
<script>MathJax = {tex: {inlineMath: [['$', '$'], ['\\(', '\\)']], processEscapes: true, tags: 'ams'},
options: {enableMenu: false}};</script>
<script>{{ resources.mathjax_source }}</script>
{% endblock %}
"""
_DIRECTIVE = re.compile(r"^(?P<fence>`{3,}|:{3,})\{(?P<name>[\w:-]+)\}(?P<title>.*)$")
_ROLE = re.compile(r"\{[\w:-]+\}`(?:([^`<]*?)\s*<[^`>]*>|([^`]*))`")


def write_page(notebook: nbformat.NotebookNode, path: Path, title: str) -> str | None:
    """Write the page; return a remark if the formulas had to stay TeX, else None."""
    try:
        script, remark = mathjax("tex-svg.js").decode().replace("</script", "<\\/script"), None
    except FetchError as error:
        script, remark = "", f"formulas stay as TeX: {error}"
    shown = nbformat.from_dict(notebook)
    for cell in shown.cells:
        if cell.cell_type == "markdown":
            cell.source = plain_markdown(cell.source)
    exporter = HTMLExporter(raw_template=_TEMPLATE, embed_images=True)
    html, _ = exporter.from_notebook_node(
        shown, resources={"metadata": {"name": title, "path": str(path.parent)}, "mathjax_source": script}
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(html, encoding="utf-8")
    return remark


def plain_markdown(text: str) -> str:
    """Turn MyST into the Markdown that nbconvert knows: directives become quotes, roles their text."""
    lines, fences, out = text.splitlines(), [], []
    for line in lines:
        opened = _DIRECTIVE.match(line.strip())
        if opened:
            maths = opened["name"] == "math"
            fences.append((opened["fence"], maths))
            heading = opened["title"].strip() or opened["name"].partition(":")[2].capitalize()
            out += ["$$"] if maths else ["", *([f"> **{heading}**", ">"] if heading else [])]
        elif fences and line.strip() == fences[-1][0]:
            out.append("$$" if fences.pop()[1] else "")
        elif fences and re.match(r"^:[\w-]+:", line):
            continue  # an option of the directive
        elif re.match(r"^\([\w.:-]+\)=\s*$", line):
            continue  # an anchor
        else:
            quoted = bool(fences) and not fences[-1][1]
            out.append(("> " if quoted else "") + _ROLE.sub(lambda m: m[1] or m[2], line))
    return "\n".join(out)

"""What differs between two notebooks, and what of an output's HTML remains."""

from __future__ import annotations

import base64
import io

import nbformat
import numpy as np
import pytest
from PIL import Image

from marginbook.claims.show import show
from marginbook.serve.comparing import as_html, compared, verdicts
from marginbook.serve.sanitising import sanitised


def png(shade: int, dots: int = 0, size: int = 60) -> str:
    pixels = np.full((size, size, 3), shade, dtype=np.uint8)
    pixels.reshape(-1, 3)[:dots] = 0
    held = io.BytesIO()
    Image.fromarray(pixels).save(held, "png")
    return base64.b64encode(held.getvalue()).decode()


def notebook(*cells: tuple[str, dict[str, str] | str]) -> nbformat.NotebookNode:
    made = nbformat.v4.new_notebook()
    for source, content in cells:
        if isinstance(content, str):
            output = nbformat.v4.new_output("stream", name="stdout", text=content)
        else:
            output = nbformat.v4.new_output("display_data", data=content)
        made.cells.append(nbformat.v4.new_code_cell(source, outputs=[output]))
    return made


@pytest.mark.parametrize(
    ("ours", "same"),
    [(png(200), True), (png(204), True), (png(200, dots=5), True), (png(200, dots=200), False),
     (png(120), False), (png(200, size=61), False), ("AAAA", False)],
)  # fmt: skip
def test_figures_differ_where_one_can_see_it(ours: str, same: bool) -> None:
    published = notebook(("plot()", {"image/png": png(200)}))
    (pair,) = compared(published, notebook(("plot()", {"image/png": ours})))
    assert pair.same == same


def test_cells_are_found_by_their_source() -> None:
    published = notebook(("a", "1"), ("b", "2"))
    injected = nbformat.v4.new_code_cell("n = 3", metadata={"tags": ["injected-parameters"]})
    ours = notebook(("a", "1"), ("new", "x"), ("b", "3"))
    ours.cells.insert(0, injected)
    found = [(pair.source, pair.same) for pair in compared(published, ours)]
    assert found == [("a", True), ("new", False), ("b", False)]


def test_lines_that_differ_are_marked_and_escaped() -> None:
    text = as_html([{"text": "a\n<b>\nc"}], [{"text": "a\nx\nc"}], "")
    assert text == "<pre>a\n<mark>&lt;b&gt;</mark>\nc</pre>"


def test_entries_of_a_table_that_differ_are_marked() -> None:
    def table(value: str) -> str:
        return f"<table><tr><th>a</th><td>1</td></tr><tr><th>b</th><td>{value}</td></tr></table>"

    text = as_html([{"text/html": table("3 &lt; 4")}], [{"text/html": table("2")}], "")
    assert text == f'<div class="out">{table("<mark>3 &lt; 4</mark>")}</div>'
    assert "<mark>" not in as_html([{"text/html": table("2")}], [{"text/html": table("2")}], "")


@pytest.mark.parametrize(
    ("html", "harmless"),
    [
        ("<script>alert(1)</script>a", "a"),
        ("<img src=x onerror=alert(1)>a", "a"),
        ('<a href="javascript:alert(1)">a</a>', "a"),
        ('<td colspan="2" style="x" onclick="y">a</td>', '<td colspan="2">a</td>'),
        ('<td colspan="2&quot; onclick=x">a', "<td>a</td>"),
        ("<style>*{}</style><p>a", "<p>a</p>"),
        ("<svg><script>x</script></svg>a", "a"),
        ("<iframe srcdoc='<script>x</script>'></iframe>a", "a"),
        ("<math><mtext><style><img onerror=x></style></mtext></math>a", "a"),
        ("</p></div>a", "a"),
        ("<b><i>a</b>c", "<b><i>a</i></b>c"),
        ("<!-- x --><?php x ?><![CDATA[x]]>a &lt;script&gt;", None),
        ("<noscript><p title='</noscript><img onerror=x>'>", None),
        ("<scr<script>ipt>alert(1)</scr</script>ipt>", None),
        ("<plaintext>a", ""),
        ("<B>a", "<b>a</b>"),
    ],
)
def test_what_remains_of_html(html: str, harmless: str | None) -> None:
    found = sanitised(html)
    if harmless is not None:
        assert found == harmless
    for bad in ("<script", "<img", "<a", "<style", "<svg", "<iframe", "<noscript", "<math"):
        assert bad not in found.lower()


def test_an_image_is_only_base64() -> None:
    html = as_html([{"image/png": 'AAA"><script>x</script>'}], [], '"><script>')
    assert "<script" not in html
    html = as_html([{"image/svg+xml": "<svg onload='x()'><script>x</script></svg>"}], [], "")
    assert html.startswith('<img src="data:image/svg+xml;base64,')
    assert "<script" not in html


def test_verdicts_are_those_of_the_cards() -> None:
    shown = show("drm/prop-III.1")._repr_html_()
    assert verdicts([{"text/html": shown}, {"text": "fails"}]) == {"drm-prop-iii-1": "holds"}

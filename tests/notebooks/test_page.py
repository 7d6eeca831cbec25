"""The page of a run: what MyST becomes, where links lead, what names the run."""

from __future__ import annotations

import os
import re
import zlib
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from marginbook import __version__
from marginbook.base.checkout import commit
from marginbook.notebooks import available
from marginbook.notebooks.links import Links
from marginbook.notebooks.markdown import Converter, anchors
from marginbook.notebooks.page import of_run, shown, write_page

from ..git import git, repository

OTHER = "# The other one\n\n(drm-there)=\n## A section\n"
BIBLIOGRAPHY = """@article{doe_one, author = {Doe, Jane and Roe, Richard}, title = {On one}, journal = {J}, year = {1999}}
@article{doe_two, author = {Doe, Jane}, title = {On two}, journal = {J}, year = {2001}}
"""  # noqa: E501
# a PNG of one pixel
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.fixture
def checkout(home: Path) -> Path:
    (home / "notebooks" / "drm" / "02_other.md").write_text(OTHER)
    (home / "book").mkdir()
    (home / "book" / "drm.md").write_text("# A room\n")
    (home / "book" / "references.bib").write_text(BIBLIOGRAPHY)
    return home


@pytest.fixture
def built(checkout: Path) -> Path:
    """A book with one page of a notebook, and a page that the sources do not have."""
    html = checkout / "_build" / "html"
    (html / "notebooks" / "drm").mkdir(parents=True)
    (html / "notebooks" / "drm" / "02_other.html").write_text("")
    (html / "made.html").write_text("")
    listed = "notebooks/drm/02_other std:doc -1 notebooks/drm/02_other.html The other one\n"
    listed += "drm-there std:label -1 notebooks/drm/02_other.html#$ A section\n"
    listed += "drm-made std:label -1 made.html#id1 Made\n"
    listed += "drm-gone std:label -1 gone.html#$ Not there any more\n"
    head = b"# Sphinx inventory version 2\n# Project: x\n# Version: \n# The remainder is compressed.\n"
    (html / "objects.inv").write_bytes(head + zlib.compress(listed.encode()))
    return html


def converter(home: Path, *here: str) -> Converter:
    return Converter(Links("drm/01_small", home / "_build" / "runs" / "x.html", here))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("[here](#mine)", "[here](#mine)"),
        ("[there](#drm-there)", "there (in the book: “The other one”)"),
        ("[The other one](02_other.ipynb)", "The other one (in the book)"),
        ("[that](../../book/drm.md)", "that (in the book: “A room”)"),
        ("{doc}`02_other`", "The other one (in the book)"),
        ("{ref}`so <drm-there>`", "so (in the book: “The other one”)"),
        ("{ref}`mine`", "[mine](#mine)"),
        ("[the rows](#results-drm-table-8)", "the rows (in the book)"),
        ("[out](https://example.org/a.md)", "[out](https://example.org/a.md)"),
        ("$[f](g)$ and `[x](#drm-there)`", "$[f](g)$ and `[x](#drm-there)`"),
        ("{func}`~marginbook.drm.claims.sections_3_4.f`, {term}`a`", "`f`, a"),
    ],
)
def test_without_a_book_links_are_words(checkout: Path, text: str, wanted: str) -> None:
    assert converter(checkout, "mine")(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("[there](#drm-there)", "[there](../html/notebooks/drm/02_other.html#drm-there)"),
        ("[other](02_other.ipynb)", "[other](../html/notebooks/drm/02_other.html)"),
        ("[made](#drm-made)", "[made](../html/made.html#id1)"),
        ("[gone](#drm-gone)", "gone (in the book)"),
        ("[that](../../book/drm.md)", "that (in the book: “A room”)"),
    ],
)
@pytest.mark.usefixtures("built")
def test_with_a_book_links_lead_to_the_pages_that_it_has(checkout: Path, text: str, wanted: str) -> None:
    assert converter(checkout)(text) == wanted


def test_citations_are_names_and_years_that_lead_to_the_list(checkout: Path) -> None:
    convert = converter(checkout)
    assert convert("{cite:t}`doe_one` say") == "[Doe and Roe (1999)](#ref-doe_one) say"
    assert convert("as known {cite:p}`doe_one,doe_two`").count("](#ref-") == 2
    assert convert("in {cite:year}`doe_two`") == "in [2001](#ref-doe_two)"
    assert convert("{cite:t}`nobody`") == "nobody"
    assert convert.cited == ["doe_one", "doe_one", "doe_two", "doe_two"]


def test_directives_become_what_nbconvert_knows(checkout: Path) -> None:
    convert = converter(checkout)
    assert convert("```{math}\n:label: e\nx = 1\n```").split("\n") == [
        "$$",
        '<div id="e"></div>',
        "",
        "x = 1",
        "$$",
    ]
    quoted = convert(":::{prf:theorem} A bound\n:label: drm-thm\n:nonumber:\n\nLet $x$.\n:::\nafter")
    assert '> **A bound**\n>\n> <div id="drm-thm"></div>\n>\n>\n> Let $x$.\n\nafter' in quoted.replace(
        "> \n", ">\n"
    )
    closed = convert("````{dropdown} Hint\n```python\n(x)=\n{cite:t}`y`\n```\n````")
    assert "<details><summary>Hint</summary>\n\n```python\n(x)=\n{cite:t}`y`\n```\n\n</details>" in closed
    assert convert("(drm-a)=\n# Title") == '<div id="drm-a"></div>\n\n# Title'


def test_the_page_names_parameters_figures_references_and_the_run(checkout: Path, tmp_path: Path) -> None:
    def figure(source: str, **metadata) -> nbformat.NotebookNode:
        output = new_output("display_data", {"image/png": PIXEL, "text/plain": "<Figure>"})
        return new_code_cell(source, outputs=[output], execution_count=1, metadata=metadata)

    declared = 'dataset: str = "iris"  # costs $2 | $3\nn: int = 3  # rows\nn_jobs: int = 1  # processes'
    text = "# Title\n\nAfter {cite:t}`doe_one`, see [below](#drm-below) and [there](#drm-there)."
    caption = "Rows of *X* by $n$, as {cite:t}`doe_two` draws\nthem: see [below](#drm-below).\n"
    notebook = new_notebook(
        cells=[
            new_markdown_cell(text),
            new_code_cell(declared, metadata={"tags": ["parameters"]}),
            new_code_cell('dataset = "<wine>"', metadata={"tags": ["injected-parameters"]}),
            new_code_cell("X = load(dataset, n_jobs)\n" + "long_name = 1; " * 20),
            figure("draw(X)", mystnb={"image": {"alt": 'Rows of "X"'}, "figure": {"caption": caption}}),
            figure("draw(1)"),
            new_markdown_cell("(drm-below)=\n## Below\n\n```{dropdown} Hint\nThink of **it**.\n```"),
        ]
    )  # fmt: skip
    page = tmp_path / "out" / "page.html"
    write_page(notebook, page, "drm/01_small", {"dataset": "<wine>"})
    html = page.read_text()
    assert html.count("<figcaption") == 1
    (below,) = re.findall("<figcaption>(.*?)</figcaption>", html, re.DOTALL)
    assert '<span class="of-run">dataset = &lt;wine&gt;</span>' in below
    assert 'Rows of <em>X</em> by $n$, as <a href="#ref-doe_two">Doe (2001)</a> draws' in below
    assert '<a href="#drm-below">below</a>' in below
    assert '<a id="ref-doe_two"></a>Jane Doe' in html
    assert "alt='Rows of \"X\"'" in html
    value = '<strong><code>"&lt;wine&gt;"</code></strong> instead of <code>"iris"'
    assert f"<td><code>dataset</code></td><td>{value}" in html
    assert "costs $2 | $3" in html
    assert '<a href="#ref-doe_one">Doe and Roe (1999)</a>' in html
    assert '<a id="ref-doe_one"></a>Jane Doe and Richard Roe' in html
    assert '<a href="#drm-below">below</a>' in html
    assert 'id="drm-below"' in html
    assert "there (in the book: “The other one”)" in html
    inside = html[html.index("<details>") : html.index("</details>")]
    assert "<strong>it</strong>" in inside
    assert f"notebook drm/01_small · marginbook {__version__}</footer>" in html
    assert "{cite" not in html
    assert notebook.cells[0].source.startswith("# Title\n\nAfter {cite:t}")  # the notebook stays as it was


def test_every_notebook_of_the_book_becomes_markdown_without_raw_markup_or_dead_links() -> None:
    for id, notebook in available().items():
        node = notebook.read_stored()
        texts = [cell.source for cell in node.cells if cell.cell_type == "markdown"]
        assert not [text for text in texts if "![" in text or "<img" in text], id
        convert = Converter(Links(id, Path("page.html"), here := anchors(texts)))
        made = "\n".join(map(convert, texts))
        for raw in ("{cite", "{ref}", "{doc}", "{func}", "```{", ":::"):
            assert raw not in made, (id, raw)
        for name in here:
            assert f'<div id="{name}"></div>' in made, (id, name)
        cited = shown(node, Path("page.html"), id, {}).cells[-1].source
        assert all(f'id="ref-{key}"' in cited for key in convert.cited), id


def test_the_commit_of_a_checkout_and_whether_it_was_changed(home: Path) -> None:
    assert commit() is None
    assert "commit" not in of_run("drm/01_small")
    repository(home)
    head = git(home, "rev-parse", "--short=12", "HEAD").strip()
    assert commit() == head
    (home / "_toc.yml").write_text("changed")
    assert of_run("drm/01_small").endswith(f" · commit {head}-dirty")
    assert commit() == f"{head}-dirty"
    git(home, "commit", "-qam", "changed")
    (home / "results").mkdir()
    (home / "results" / "new.csv").write_text("1")
    assert commit("results") + "-dirty" == commit()


def test_asking_for_the_commit_writes_nothing_that_a_kill_could_leave(home: Path) -> None:
    """Git's own `status` writes the index anew, under a lock, where a file only looks changed."""
    repository(home)
    os.utime(home / "_toc.yml", (1e9, 1e9))
    before = (home / ".git" / "index").read_bytes()
    assert not str(commit()).endswith("-dirty")
    assert (home / ".git" / "index").read_bytes() == before
    git(home, "status", "--porcelain")
    assert (home / ".git" / "index").read_bytes() != before

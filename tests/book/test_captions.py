"""A caption stands once below the outputs of a cell."""

from collections import Counter
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, SoupStrainer
from docutils import nodes

from marginbook.book.captions import keep_one


def output(*kinds: str) -> nodes.document:
    """Return a page with one cell: of each kind an output, in a figure with the same caption."""
    page = nodes.document(None, None)
    cell = nodes.container(nb_element="cell_code_output")
    for kind in kinds:
        shown = nodes.image(uri="a.png") if kind == "picture" else nodes.paragraph(text=kind)
        figure = nodes.figure("", nodes.container("", shown, nb_element="mime_bundle"))
        figure += nodes.caption("", "Left is low.")
        figure += nodes.legend("", nodes.paragraph(text="More."))
        cell += figure
    page += cell
    return page


@pytest.mark.parametrize(
    ("kinds", "captioned"),
    [
        (["picture", "table"], ["picture"]),
        (["print", "picture", "table"], ["picture"]),
        (["picture", "picture", "table"], ["picture", "picture"]),
        (["print", "table"], ["table"]),
        (["table"], ["table"]),
    ],
)
def test_pictures_keep_it_and_what_stands_beside_them_does_not(kinds, captioned):
    page = output(*kinds)
    keep_one(page)
    left = list(page.findall(nodes.figure))
    assert ["picture" if any(one.findall(nodes.image)) else one[0].astext() for one in left] == captioned
    assert len(list(page.findall(nodes.legend))) == len(captioned)
    bundles = [each for each in page.findall(nodes.container) if each.get("nb_element") == "mime_bundle"]
    assert len(bundles) == len(kinds)  # all outputs are there, in their order
    shown = ["picture" if any(each.findall(nodes.image)) else each.astext() for each in bundles]
    assert shown == kinds


def test_other_captions_and_figures_outside_of_cells_are_left_alone():
    page = output("picture", "table")
    *_, last = page.findall(nodes.figure)
    last[1].replace_self(nodes.caption("", "Another one."))
    page += nodes.figure("", nodes.paragraph(text="text"), nodes.caption("", "Left is low."))
    keep_one(page)
    assert len(list(page.findall(nodes.figure))) == 3


@pytest.mark.browser
def test_no_caption_stands_twice_on_a_page(html: Path) -> None:
    twice = []
    for page in sorted((html / "notebooks").rglob("*.html")):
        text = page.read_text(encoding="utf-8")
        found = BeautifulSoup(text, "html.parser", parse_only=SoupStrainer("figcaption"))
        counts = Counter(each.get_text() for each in found.select(".caption-text"))
        twice += [f"{page.stem}: {text[:60]}" for text, count in counts.items() if count > 1]
    assert twice == []

"""The findings on two pages in Chromium: two sheets of A4, with links that work where they are sent."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from marginbook.book.printed_summary import PAGE, as_pdf, pages, settled

pytestmark = pytest.mark.browser
#: width and height in points, to the nearest
A4 = (595, 842)


def sizes(made: bytes) -> list[tuple[int, int]]:
    boxes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", made)
    return [(round(float(width)), round(float(height))) for width, height in boxes]


def test_a_reader_prints_it_on_exactly_two_pages_of_a4(site: str, chromium) -> None:
    """With the fonts of this machine, in whichever colours the page is shown."""
    for theme in ("light", "dark"):
        page = chromium.new_context(color_scheme=theme).new_page()
        page.goto(f"{site}{PAGE.as_posix()}", wait_until="load")
        made = page.pdf(prefer_css_page_size=True)
        assert sizes(made) == [A4, A4], theme


def test_the_pdf_is_two_pages_without_a_name_of_this_machine_and_the_same_twice(html: Path, chromium) -> None:
    made = as_pdf(html / PAGE, chromium)
    assert pages(made) == len(sizes(made)) == 2
    there = settled(made, 0)
    assert settled(as_pdf(html / PAGE, chromium), 0) == there
    assert b"file:" not in there
    assert b"invalid" not in there
    links = {uri.decode().split("#")[0] for uri in re.findall(rb"/URI \(([^)]*)\)", there)}
    assert {"./claims-ldm.html", "./claims-smm.html", "./errata.html"} <= links
    assert [link for link in links if not (html / PAGE.parent / link).is_file()] == []


def test_links_of_the_pdf_lead_to_the_public_book_where_there_is_one(html: Path, chromium) -> None:
    made = as_pdf(html / PAGE, chromium, "https://example.org/")
    links = re.findall(rb"/URI \(([^)]*)\)", made)
    assert b"https://example.org/book/claims-ldm.html#evidence-ldm-thm-3" in links
    assert all(link.startswith(b"https://example.org/book/") or b"/notebooks/" in link for link in links)


def test_every_sentence_shows_its_claims(site: str, chromium) -> None:
    page = chromium.new_page()
    page.goto(f"{site}{PAGE.as_posix()}", wait_until="load")
    bare = page.evaluate(
        """() => [...document.querySelectorAll('article.bd-article li')].filter(item => {
          const section = item.closest('section').querySelector('h1, h2').textContent;
          return !/cannot tell/.test(section) && !item.querySelector('.ids a[href]');
        }).map(item => item.textContent.slice(0, 60))"""
    )
    assert bare == []

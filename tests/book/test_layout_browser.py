"""What a reader meets: short lines of code, light pages, a useful search."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from marginbook.notebooks import available

from .looking import open_context, pages
from .test_links import tags

COLUMNS = 79  # of code that is shown
PAGE_MB, MEDIAN_MB = 2.9, 1.9  # with all that a page loads; one of the pages, and half of them


@pytest.mark.parametrize("id", sorted(available()))
def test_lines_of_code_that_is_shown_are_short(id: str) -> None:
    found = [
        f"cell {number}: {line.strip()[:60]}… has {len(line)} columns"
        for number, cell in enumerate(available()[id].read().cells, start=1)
        if cell.cell_type == "code"
        and not {"hide-input", "remove-input", "hide-cell"} & set(cell.metadata.get("tags", []))
        for line in cell.source.splitlines()
        if len(line) > COLUMNS
    ]
    assert not found, (
        f"{id}: break these lines at {COLUMNS} columns, or fold the cell by hide-input:\n" + "\n".join(found)
    )


def weight(html: Path, name: str) -> int:
    """Return the bytes of a page with its scripts, style sheets and images, without what scripts ask for."""
    page = html / name
    kept = {page}
    for tag, given in tags(page):
        address = given.get("href" if tag == "link" else "src", "")
        loads = tag in {"script", "img"} or (
            tag == "link" and given.get("rel") in {"stylesheet", "preload", "icon"}
        )
        url = urlsplit(address)
        if loads and address and not url.scheme:
            kept.add(Path(os.path.normpath(page.parent / unquote(url.path))))
    return sum(path.stat().st_size for path in kept if path.is_file())


@pytest.mark.browser
def test_pages_are_light(html: Path) -> None:
    found = {name: weight(html, name) / 1e6 for name in pages(html)}
    heavy = {name: f"{size:.1f} MB" for name, size in found.items() if size > PAGE_MB}
    assert not heavy, "draw these pages' figures with fewer dots per inch or panels, or split them"
    assert sorted(found.values())[len(found) // 2] < MEDIAN_MB


#: what a reader asks, and where one of the first hits must lead
ASKED = {
    "leave-one-out": ("notebooks/ldm/03_leave_one_out.html", "notebooks/drm/01_the_model.html"),
    "quickstart": ("book/tour.html",),
    "heavy tail": ("book/glossary.html",),
    "Theorem VI.3": ("book/claims-drm.html",),
}


@pytest.mark.browser
@pytest.mark.parametrize("words", ASKED)
def test_the_search_answers(site: str, chromium, words: str) -> None:
    page = open_context(chromium, 1280, 900, "light").new_page()
    page.goto(f"{site}search.html?q={words.replace(' ', '+')}")
    page.wait_for_function("/found|matching/.test(document.querySelector('#search-results')?.textContent)")
    page.wait_for_timeout(800)
    links = page.locator("#search-results li > a")
    first = [urlsplit(link.evaluate("e => e.href")).path.lstrip("/") for link in links.all()[:8]]
    assert set(ASKED[words]) <= set(first), first
    told = page.locator("#search-results").inner_text()
    assert not re.search(r"\\[(\[a-z]", told), "raw TeX in a title or an extract"
    named = [link.inner_text() for link in links.all()[:8] if "notebooks/" in link.evaluate("e => e.href")]
    assert all(" › " in text for text in named), named

"""What a reader meets: nothing cut off, pictures early and with captions, light pages, a useful search."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from marginbook.notebooks import available

from .looking import STILL, notebook_pages, open_context, pages, visited
from .test_links import tags

SLICES = 4
SCREENS = {"desk": (1280, 900), "phone": (390, 844)}
FIRST_PICTURE = 1.5  # screens of 900 px
WAITS = 0, 500, 3000  # ms
COLUMNS = 79  # of code that is shown
PAGE_MB, MEDIAN_MB = 2.9, 1.9  # with all that a page loads; one of the pages, and half of them
WITHOUT_PICTURE = re.compile(r"_exercises")

# What is wider than its box, among what is in sight. Tables scroll; what a cell printed may do so on a phone.
CUT = """() => {
  const seen = e => e.getClientRects().length > 0;
  const say = e => (e.querySelector('annotation') ?? e).textContent.trim().replace(/\\s+/g, ' ').slice(0, 70);
  const wider = (e, by) => e.scrollWidth > e.clientWidth + by;
  const desk = innerWidth > 600;
  const found = selector => [...document.querySelectorAll('article.bd-article ' + selector)].filter(seen);
  const broken = [];
  const range = document.createRange();
  for (const cell of found('table.fixed :is(td, th)')) {
    const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      if (walk.currentNode.parentElement.closest('mjx-container, code, .math')) continue;
      for (const { 0: word, index } of walk.currentNode.data.matchAll(/[A-Za-z]{2,}/g)) {
        range.setStart(walk.currentNode, index);
        range.setEnd(walk.currentNode, index + word.length);
        if (new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1) broken.push(word);
      }
    }
  }
  return {
    code: found('div.highlight pre').filter(e => !e.closest('.output') && wider(e, 2)).map(say),
    output: found('.cell_output .output pre').filter(e => desk && wider(e, 2)).map(say),
    // on a phone what would be unreadably small scrolls in its box
    formula: found('div.math').filter(e => (desk || !e.querySelector('.smallest')) &&
      (wider(e, 3) || [...e.querySelectorAll('mjx-container')].some(m => wider(m, 3)))).map(say),
    'broken word': broken,
  };
}"""
SET_ALL = """async () => {
  await window.MathJax?.startup?.promise;
  await window.MathJax?.typesetPromise?.([document.querySelector('main') ?? document.body]);
  await document.fonts.ready;
  dispatchEvent(new Event('resize'));
  await new Promise(done => setTimeout(done, 400));
}"""
PICTURE = """() => [...document.querySelectorAll('article.bd-article img')]
  .map(i => i.getBoundingClientRect().top + scrollY).sort((a, b) => a - b)[0] ?? null"""
BARE = """() => [...document.querySelectorAll('article.bd-article .cell_output img')]
  .filter(i => !i.closest('figure')?.querySelector('figcaption')?.textContent.trim())
  .map(i => i.alt.slice(0, 60))"""


@pytest.mark.browser
@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("part", range(SLICES))
def test_nothing_is_cut_off(html: Path, site: str, chromium, part: int, screen: str) -> None:
    found = []
    context = open_context(chromium, *SCREENS[screen], "light")
    names = [name for name in pages(html) if name not in {"index.html", "search.html", "genindex.html"}]
    for where, page in visited(context, site, names[part::SLICES], "load"):
        page.add_style_tag(content=STILL)
        page.evaluate(SET_ALL)
        for wait in WAITS:  # a machine under load fits formulas later
            page.wait_for_timeout(wait)
            cut = page.evaluate(CUT)
            if not any(cut.values()):
                break
        place = f"{where} ({screen})"
        found += [f"{place}: {kind} is cut off: {what}" for kind, each in cut.items() for what in each]
    assert not found, f"{len(found)} places; break lines in their sources:\n" + "\n".join(found)


@pytest.mark.browser
def test_pictures_of_notebooks_are_near_the_top_and_have_captions(html: Path, site: str, chromium) -> None:
    low, bare = [], []
    context = open_context(chromium, *SCREENS["desk"], "light")
    for where, page in visited(context, site, notebook_pages(html), "load"):
        page.evaluate("async () => { await window.MathJax?.startup?.promise; }")
        top = page.evaluate(PICTURE)
        if (top is None or top > FIRST_PICTURE * 900) and not WITHOUT_PICTURE.search(where):
            low.append(f"{where}: {'no picture' if top is None else f'{top / 900:.1f} screens down'}")
        bare += [f"{where}: {alt}" for alt in page.evaluate(BARE)]
    assert not low, (
        f"a reader should meet a picture within {FIRST_PICTURE} screens; move it up, or fold code:\n"
        + "\n".join(low)
    )
    assert not bare, (
        "give the cell a caption (metadata mystnb: figure: caption), which says what to see:\n"
        + "\n".join(bare)
    )


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

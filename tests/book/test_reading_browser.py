"""What Lighthouse would ask of the book: names, headings, contrast, a steady layout, keyboard, paper."""

from __future__ import annotations

import re
from pathlib import Path

import axe_playwright_python
import pytest

from marginbook.base.project import root

from .looking import STILL, notebook_pages, open_context

STATIC = (root() or pytest.skip("no source tree", allow_module_level=True)) / "book" / "_static"
pytestmark = pytest.mark.browser

SHIFT = """() => { window.shifted = 0; new PerformanceObserver(list => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
}).observe({ type: 'layout-shift', buffered: true }); }"""


def test_formulas_of_a_long_page_are_set_as_a_reader_comes_near(site: str, chromium) -> None:
    page = open_context(chromium, 1280, 900, "light").new_page()
    page.goto(site + "book/claims-drm.html", wait_until="load")
    unset = """where => [...document.querySelectorAll('main .math:not(:has(mjx-container))')].filter(e => {
      const box = e.getBoundingClientRect();
      return e.getClientRects().length && (where === 'any' || (box.bottom > 0 && box.top < innerHeight));
    }).length"""
    page.wait_for_function(f"({unset})('seen') === 0")
    assert page.evaluate(unset, "any") > 100
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 3)")
    page.wait_for_function(f"({unset})('seen') === 0")
    widths = "[...document.querySelector('table.fixed tr').cells].map(cell => cell.offsetWidth)"
    before = page.evaluate(widths)
    page.evaluate("MathJax.typesetPromise([document.querySelector('main')])")
    assert page.evaluate(unset, "any") == 0
    assert page.evaluate(widths) == before


def test_a_formula_in_a_line_is_set_smaller_where_its_column_is_narrow(chromium) -> None:
    page = open_context(chromium, 1280, 900, "light").new_page()
    wide = '<i style="display: inline-block; width: 25em">x</i>'
    formula = f'<mjx-container style="font-size: 120%">{wide}</mjx-container>'
    math = f'<span class="math" style="display: inline-flex">{formula}</span>'
    page.set_content(
        f"""<main><article style="margin: 1rem"><p>Here is {math}</p>
        <p><span class="nowrap" style="white-space: nowrap">({math}), and</span> more</p>
        <details><summary>It</summary><ul><li style="padding: 1rem">{math}</li></ul></details>"""
    )
    page.add_script_tag(path=STATIC / "later.js")
    sizes = """() => [...document.querySelectorAll('mjx-container')].map(e => parseFloat(e.style.fontSize))"""
    assert page.evaluate(sizes) == [120] * 3
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function("document.querySelector('mjx-container').style.fontSize !== '120%'")
    plain, beside, _ = page.evaluate(sizes)
    assert 60 < beside < plain < 120  # what stands beside it has to fit, too
    page.evaluate("document.querySelector('details').open = true")
    page.wait_for_function("document.querySelector('details mjx-container').dataset.fitted === '390'")
    assert page.evaluate(sizes)[2] < plain
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.set_viewport_size({"width": 1280, "height": 900})
    page.wait_for_function("document.querySelector('mjx-container').style.fontSize === '120%'")
    assert page.evaluate(sizes) == [120] * 3
    page.context.close()


@pytest.mark.parametrize("where", ["book/index.html", "book/glossary.html", "book/drm.html", "search.html"])
def test_the_rules_behind_lighthouse_hold(site: str, chromium, where: str) -> None:
    page = open_context(chromium, 1280, 900, "light").new_page()
    page.goto(site + where, wait_until="load")
    page.evaluate(Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8"))
    # formulas have their own description for those who listen; their many pieces take most of the time
    run = """() => axe.run({ exclude: ['mjx-container'] },
      { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'], resultTypes: ['violations'] })"""
    page.add_style_tag(content=STILL)
    found = []
    for theme in ("light", "dark"):
        page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
        found += [
            f"{theme}: {rule['id']}: {node['html'][:120]}: {node['failureSummary']}"
            for rule in page.evaluate(run)["violations"]
            for node in rule["nodes"]
        ]
    page.context.close()
    assert not found, "\n".join(found)


@pytest.mark.parametrize("width", [390, 1280])
def test_figures_do_not_move_the_text(html: Path, site: str, chromium, width: int) -> None:
    """The height that a page keeps free for its figures is the one that they take."""
    context = open_context(chromium, width, 900, "light")
    page, found = context.new_page(), []
    blocked = context.new_page()
    blocked.route("**/_images/**", lambda route: route.abort())
    heights = """() => [...document.querySelectorAll('article img')]
      .map(i => [i.src, i.getBoundingClientRect().height])"""
    # where a figure is missing, its alternative text would be laid out as text
    plain = """() => document.querySelectorAll('article img')
      .forEach(i => { i.alt = ''; i.style.display = 'block' })"""
    for where in notebook_pages(html)[::6]:
        for tab in (page, blocked):
            tab.goto(site + where, wait_until="load")
            tab.evaluate(plain)
        ours = zip(page.evaluate(heights), blocked.evaluate(heights), strict=True)
        found += [
            f"{where}: {src}: {tall:.0f} px, kept free {free:.0f}"
            for (src, tall), (_, free) in ours
            if abs(tall - free) > 2
        ]
    context.close()
    assert not found, "\n".join(found)


@pytest.mark.parametrize("width", [390, 1280])
def test_printed_prose_breaks_and_rows_of_numbers_stay(site: str, chromium, width: int) -> None:
    page = open_context(chromium, width, 900, "light").new_page()
    text = "{}\n    {}\nname     1.0   2.0\n".format("word " * 15, "and more words " * 3)
    page.goto(site + "notebooks/smm/06_real_matrices.html", wait_until="load")
    page.evaluate(
        """text => {
          document.querySelector('article').insertAdjacentHTML('beforeend',
            `<div class="cell_output"><div class="output stream">
              <pre id="printed">${text}</pre></div></div>`);
          // the script looks for what was printed when it starts
          return import(document.querySelector('script[src*="reading.js"]').src + '&again');
        }""",
        text,
    )
    page.wait_for_selector("#printed > .told")
    lines = page.evaluate("""() => [...document.querySelectorAll('#printed > span')].map(e => [
      e.className, e.textContent, getComputedStyle(e).whiteSpace,
      e.getBoundingClientRect().right <= e.parentElement.getBoundingClientRect().right])""")
    (_, told, _, inside), (kept, row, space, _) = lines
    assert inside
    assert "word and more" in " ".join(told.split())  # printed in pieces, joined again
    assert (kept, row, space) == ("kept", "name     1.0   2.0", "pre")
    page.context.close()


@pytest.mark.parametrize(
    "where",
    [
        "book/errata.html",
        "book/claims.html",
        "book/claims-drm.html",
        "book/claims-ldm.html",
        "book/exhibits.html",
    ],
)
def test_on_a_phone_no_part_of_a_statement_is_out_of_sight(site: str, chromium, where: str) -> None:
    page = open_context(chromium, 390, 844, "light").new_page()
    page.goto(site + where, wait_until="load")
    outside = """() => [...document.querySelectorAll('table.cards td')].filter(e => e.getClientRects().length)
      .map(e => e.getBoundingClientRect().right - innerWidth)"""
    cells = page.evaluate(outside)
    assert len(cells) > 40
    assert max(cells) <= 0
    page.context.close()


def test_a_page_keeps_its_layout_while_it_loads(html: Path, site: str, chromium) -> None:
    context = open_context(chromium, 1280, 900, "light")
    context.add_init_script(f"({SHIFT})()")
    page = context.new_page()
    for where in ("book/index.html", "book/claims.html", "book/claims-ldm.html", *notebook_pages(html)[:2]):
        page.goto(site + where, wait_until="load")
        page.evaluate("window.MathJax?.startup?.promise")
        page.wait_for_timeout(300)
        assert page.evaluate("window.shifted") < 0.1, where  # Lighthouse's bound for "good"
    context.close()


def test_the_scoreboard_leads_to_a_claim_its_evidence_and_its_page_in_three_clicks(
    site: str, chromium
) -> None:
    page = open_context(chromium, 1280, 900, "light").new_page()
    page.goto(site + "book/index.html", wait_until="load")
    count = page.locator("table.scoreboard a.count").first
    number, verdict = count.inner_text().split(maxsplit=1)
    count.click()
    page.wait_for_url("**/claims-*.html*", wait_until="load")
    rows = page.locator("table.sortable tbody tr:visible")
    assert rows.count() == int(number)
    assert set(rows.locator(".verdict").all_inner_texts()) == {verdict}
    assert page.locator(".ledger-filter output").inner_text().startswith(f"{number} of ")
    rows.first.locator('a[href^="#evidence-"]').click()
    opened = page.locator("main details[open]")
    opened.first.wait_for()
    assert opened.count() == 1
    opened.locator('a[href*="notebooks/"]').first.click()
    page.wait_for_url("**/notebooks/**")


def test_the_ledger_is_filtered_by_keyboard_and_the_address_keeps_it(site: str, chromium) -> None:
    page = open_context(chromium, 390, 844, "dark").new_page()
    page.goto(site + "book/claims-drm.html", wait_until="load")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    rows = page.locator("table.sortable tbody tr:visible")
    every = rows.count()
    page.get_by_label("Words").focus()
    page.keyboard.type("theorem vi.3")
    assert 1 <= rows.count() < every
    assert all("theorem vi.3" in text.lower() for text in rows.all_inner_texts())
    # page.url comes to know of a replaced address a moment later
    address = page.evaluate("location.href")
    assert "words=theorem+vi.3" in address
    page.goto(address.partition("#")[0], wait_until="load")
    assert 1 <= rows.count() < every
    page.get_by_role("button", name="Show all").focus()
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelectorAll('main [hidden] td').length === 0")
    assert rows.count() == every
    assert "?" not in page.evaluate("location.href")


def test_a_link_from_outside_opens_its_evidence(site: str, chromium) -> None:
    page = open_context(chromium, 1280, 900, "light").new_page()
    # an address from before each paper had its own ledger
    page.goto(site + "book/claims.html#evidence-drm-thm-vi-3", wait_until="load")
    page.wait_for_url("**/claims-drm.html#evidence-drm-thm-vi-3")
    page.wait_for_selector("#evidence-drm-thm-vi-3[open]")
    assert page.locator("main details[open]").count() == 1


def test_search_finds_theorem_vi_3_first(site: str, chromium) -> None:
    page = open_context(chromium, 1280, 900, "light").new_page()
    page.goto(site + "search.html?q=Theorem+VI.3")
    page.wait_for_selector("#search-results li a")
    first = page.locator("#search-results li a").first
    assert first.inner_text().endswith("drm-thm-vi-3")
    first.click()
    page.wait_for_selector("main details[open]")
    opened = page.locator("main details[open]")
    assert "Theorem VI.3" in opened.locator("summary").inner_text()


def test_keyboard_focus_is_seen(site: str, chromium) -> None:
    page = open_context(chromium, 1280, 900, "light").new_page()
    page.goto(site + "book/index.html", wait_until="load")
    styles = """() => { const e = document.activeElement, s = getComputedStyle(e);
      return [e.tagName, e.textContent.trim().slice(0, 30), !!e.closest('main article'),
        (s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0) || s.boxShadow !== 'none'
        || s.textDecorationLine !== 'none']; }"""
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent").strip() == "Skip to main content"
    reached = []
    for _ in range(120):
        page.keyboard.press("Tab")
        tag, text, inside, marked = page.evaluate(styles)
        if tag == "BODY":
            break
        if inside:
            reached.append(text)
            assert marked, f"{tag} {text!r} has the focus and does not show it"
    assert any(re.match(r"\d+ holds", text) for text in reached)


def test_paper_gets_everything_in_light_colours_and_within_its_width(site: str, chromium) -> None:
    page = open_context(chromium, 1280, 900, "dark").new_page()
    page.goto(site + "book/claims-drm.html", wait_until="load")
    page.wait_for_selector(".ledger-filter output")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    for selector in (".bd-sidebar-primary", ".prev-next-area", ".ledger-filter", ".headerlink"):
        assert page.locator(f"{selector}:visible").count() == 0, selector
    assert page.locator("main details:not([open])").count() == 0
    page.wait_for_function("!document.querySelector('main .math:not(:has(mjx-container))')")
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert back in {"rgb(255, 255, 255)", "rgba(0, 0, 0, 0)"}
    page.set_viewport_size({"width": 680, "height": 1000})  # A4 less its margins, at 96 dpi
    right = "[...document.querySelectorAll('main table')].map(t => t.getBoundingClientRect().right)"
    assert max(page.evaluate(right)) <= 680 + 1
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("main details[open]").count() == 0
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"

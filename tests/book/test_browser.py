"""The built book in Chromium, wide and narrow, light and dark: what no compiler tells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

SCREENS = [(1280, 900, "light"), (390, 844, "dark")]
#: all pages in that many cases: a worker with nothing left to do takes some from the other
SLICES = 2
TURNED = {"light": "dark", "dark": "light"}
# one list per kind of defect; formulas that MathJax could not set never warn while compiling
DEFECTS = """() => {
  const say = e => e.textContent.trim().slice(0, 80);
  const all = s => [...document.querySelectorAll(s)];
  const wide = document.documentElement.clientWidth;
  // what Sphinx writes where an author wrote nothing
  const fileName = /\\.(png|svg|jpe?g|gif)$/i;
  return {
    maths: all('mjx-merror, mjx-mtext[style*="red"], span.math:not(:has(mjx-container))').map(say),
    images: all('main img')
      .filter(i => !i.alt.trim() || fileName.test(i.alt) || i.naturalWidth === 0).map(i => i.src),
    overflow: [document.documentElement.scrollWidth].filter(width => width > wide),
  };
}"""
# on long pages formulas wait until a reader comes near
SET_ALL = """async () => {
  await window.MathJax?.startup?.promise;
  await window.MathJax?.typesetPromise?.([document.querySelector('main') ?? document.body]);
}"""
CONTRAST = """() => [...document.querySelectorAll('.verdict')].map(e => {
  const light = c => {
    const [r, g, b] = c.match(/[\\d.]+/g).map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const style = getComputedStyle(e);
  const pair = [light(style.color), light(style.backgroundColor)].sort((a, b) => b - a);
  return [e.textContent, (pair[0] + 0.05) / (pair[1] + 0.05)];
})"""


def pages(html: Path) -> list[str]:
    return sorted(
        path.relative_to(html).as_posix()
        for path in html.rglob("*.html")
        if not {"_static", "reports", "_sources"} & set(path.relative_to(html).parts)
    )


def open_context(chromium, width: int, height: int, theme: str):
    context = chromium.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
    context.add_init_script(
        f"localStorage.setItem('mode', '{theme}'); localStorage.setItem('theme', '{theme}')"
    )
    return context


def visited(context, site: str, names: list[str], state: str, watch: Callable | None = None) -> Iterator:
    """Yield each page in the given state of loading; meanwhile the next one loads in a second tab.

    ``watch(tab, at)`` listens to a new tab; ``at[0]`` is the name of the page that the tab is at.
    """
    tabs = [(context.new_page(), [""]) for _ in names[:2]]
    for tab, at in tabs if watch else ():
        watch(tab, at)

    def ask(number: int) -> None:
        tab, at = tabs[number % 2]
        at[0] = names[number]
        tab.goto(site + names[number], wait_until="commit")

    for number, name in enumerate(names):
        if number == 0:
            ask(0)
        if number + 1 < len(names):
            ask(number + 1)
        tab, _ = tabs[number % 2]
        tab.wait_for_load_state("load")  # a busy machine may be idle for long before it asks for a script
        tab.wait_for_load_state(state)
        yield name, tab


@pytest.mark.parametrize("part", range(SLICES))
@pytest.mark.parametrize(("width", "height", "theme"), SCREENS)
def test_every_page_is_sound(
    html: Path, site: str, chromium, width: int, height: int, theme: str, part: int
) -> None:
    found: list[str] = []

    def watch(tab, at: list[str]) -> None:
        def say(what: str) -> None:
            found.append(f"{at[0]}: {what}")

        tab.on("console", lambda m: say(f"console: {m.text}") if m.type == "error" else None)
        tab.on("pageerror", lambda error: say(f"script: {error}"))
        tab.on(
            "request",
            lambda request: (
                None
                if request.url.startswith((site, "data:", "blob:"))
                else say(f"asks another machine for {request.url}")
            ),
        )
        tab.on("response", lambda r: say(f"{r.status} {r.url}") if r.status >= 400 else None)

    context = open_context(chromium, width, height, theme)
    for where, page in visited(context, site, pages(html)[part::SLICES], "networkidle", watch):
        page.evaluate(SET_ALL)
        for turned in (theme, TURNED[theme]):
            page.evaluate("theme => { document.documentElement.dataset.theme = theme }", turned)
            defects = page.evaluate(DEFECTS)
            found += [
                f"{where} ({turned}): {kind}: {what}" for kind, list_ in defects.items() for what in list_
            ]
            found += [
                f"{where} ({turned}): the badge {word!r} has contrast {ratio:.1f}, wanted 4.5"
                for word, ratio in page.evaluate(CONTRAST)
                if ratio < 4.5
            ]
    assert not found, "\n".join(found)


def test_what_a_page_does_wrong_while_it_loads_is_told_of_that_page(tmp_path: Path, chromium) -> None:
    """In both tabs, each under the name of its own page."""
    names = [f"{letter}.html" for letter in "abcde"]
    for name in names:
        (tmp_path / name).write_text(f"<script>setTimeout(() => {{ throw '{name}' }}, 100)</script>")
    told: list[tuple[str, str]] = []
    seen = []
    context = open_context(chromium, 390, 844, "light")
    site = tmp_path.as_uri() + "/"
    watch = lambda tab, at: tab.on("pageerror", lambda error: told.append((at[0], str(error))))  # noqa: E731
    for where, page in visited(context, site, names, "networkidle", watch):
        assert page.url == site + where
        seen.append(where)
    assert seen == names
    assert [at for at, _ in sorted(told)] == names
    assert all(at in error for at, error in told)


def test_the_pages_have_formulas_and_the_check_sees_broken_ones(site: str, chromium) -> None:
    page = open_context(chromium, 1280, 900, "light").new_page()
    page.goto(site + "book/drm.html", wait_until="networkidle")
    assert page.locator("mjx-container").count() > 3
    page.evaluate(
        """async () => {
        const broken = document.createElement('p');
        broken.innerHTML = '<span class="math tex2jax_process">\\\\(\\\\frac{a\\\\)</span>'
          + '<span class="math">x</span>';
        document.querySelector('main article').append(broken);
        await MathJax.typesetPromise([broken]);
        const wide = document.createElement('div');
        wide.style.width = '5000px'; wide.textContent = 'wide';
        document.body.append(wide);
        for (const alt of ['', '../_images/a.png']) {
          const image = document.createElement('img');
          image.alt = alt;
          document.querySelector('main article').append(image);
        }
    }"""
    )
    defects = page.evaluate(DEFECTS)
    assert len(defects["maths"]) == 2
    assert defects["overflow"]
    assert len(defects["images"]) == 2


def test_search_finds_a_page(site: str, chromium) -> None:
    page = open_context(chromium, 1280, 900, "light").new_page()
    page.goto(site + "search.html?q=leave-one-out")
    page.wait_for_selector("#search-results li a")
    assert page.locator("#search-results li a").count() >= 1


def test_tables_sort_by_mouse_and_keyboard(site: str, chromium) -> None:
    from playwright.sync_api import expect

    page = open_context(chromium, 1280, 900, "light").new_page()
    page.goto(site + "book/data.html", wait_until="networkidle")
    table = page.locator("table.sortable").first
    heading = table.locator("thead th").nth(2)

    def rows() -> list[int]:
        cells = table.locator("tbody tr td:nth-child(3)").all_text_contents()
        return [int(cell) for cell in cells if cell.strip().isdigit()]

    heading.click()
    expect(heading).to_have_attribute("aria-sort", "ascending")
    assert rows() == sorted(rows())
    heading.get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(heading).to_have_attribute("aria-sort", "descending")
    assert rows() == sorted(rows(), reverse=True)


def test_a_link_to_evidence_opens_it(site: str, chromium) -> None:
    page = open_context(chromium, 390, 844, "light").new_page()
    page.goto(site + "book/claims.html", wait_until="networkidle")
    closed = page.locator("details.sd-dropdown").first
    closed.locator("summary").click()
    assert closed.get_attribute("open") is not None
    assert "marginbook claims" in closed.inner_text()

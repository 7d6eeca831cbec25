"""Every page of the built book in Chromium, once: on a phone and wide, light and dark, seen and heard."""

from __future__ import annotations

from pathlib import Path

import pytest

from .looking import STILL, notebook_pages, open_context, pages, visited

pytestmark = pytest.mark.browser

#: all pages in that many cases: a worker with nothing left to do takes some from the other
SLICES = 6
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
THEMES = ("dark", "light")
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
# one list per kind of defect, of what a reader sees or hears
ACCESS = """() => {
  const all = s => [...document.querySelectorAll(s)];
  const seen = e => e.getClientRects().length > 0 && getComputedStyle(e).visibility !== 'hidden';
  const say = e => (e.outerHTML.match(/^<[^>]*>/)?.[0] ?? '').slice(0, 120);
  const name = e => (e.getAttribute('aria-label') ?? '').trim() || e.textContent.trim() || e.title
    || e.querySelector('img[alt]:not([alt=""]), svg[aria-label], svg title') || e.labels?.length
    || e.getAttribute('aria-labelledby');
  // headings of the article alone: the theme's own are outside it
  const levels = all('article.bd-article :is(h1, h2, h3, h4, h5, h6)')
    .filter(h => seen(h) || h.closest('details')).map(h => [Number(h.tagName[1]), h.textContent.trim()]);
  const ids = all('article.bd-article [id]').map(e => e.id)
    .filter(id => !['proof', 'proof-content'].includes(id));  // sphinx-proof gives them to every proof
  return {
    language: document.documentElement.lang ? [] : ['<html> has no lang'],
    title: document.title.trim() ? [] : ['no title'],
    landmark: all('main').length === 1 ? [] : [`${all('main').length} elements <main>`],
    headings: [
      ...levels.filter(([level]) => level === 1).length === 1 ? [] : ['not exactly one <h1>'],
      ...levels.filter(([level], i) => i && level > levels[i - 1][0] + 1)
        .map(([level, text]) => `h${level} skips a level: ${text}`),
    ],
    names: all('main :is(a[href], button, summary, input, select)').filter(e => seen(e) && !name(e)).map(say),
    sizes: all('article.bd-article img')
      .filter(i => !i.style.width && !(i.getAttribute('width') && i.getAttribute('height'))).map(say),
    tables: all('article.bd-article table').filter(t => t.rows.length > 1 && !t.querySelector('th')).map(say),
    doubled: ids.filter((id, i) => ids.indexOf(id) !== i),
  };
}"""
# of what our own style sheets colour; a background that lets through is blended with those behind it
COLOURS = """selector => [...document.querySelectorAll(selector)].filter(e => e.getClientRects().length)
.map(e => {
  const parse = c => { const v = c.match(/[\\d.]+/g).map(Number); return [...v.slice(0, 3), v[3] ?? 1]; };
  const over = (top, under) => [0, 1, 2].map(i => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
  const layers = [];
  for (let at = e; at; at = at.parentElement) layers.unshift(parse(getComputedStyle(at).backgroundColor));
  const back = layers.reduce((under, top) => over(top, under), [255, 255, 255, 1]);
  const light = c => {
    const [r, g, b] = c.slice(0, 3).map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const pair = [light(over(parse(getComputedStyle(e).color), back)), light(back)].sort((a, b) => b - a);
  return [(e.textContent || e.name).trim().slice(0, 40), (pair[0] + 0.05) / (pair[1] + 0.05)];
})"""
OURS = (
    "a.count, a.count .verdict, .ledger-filter :is(label, select, input, button, output), "
    ".verdict, .take-along a, .rerun summary, .rerun td, .rerun th, table.sortable th"
)
# a redirect, and lists that Sphinx writes by itself
BY_SPHINX = {"index.html", "genindex.html", "search.html", "py-modindex.html", "prf-prf.html"}
TURN = "theme => { document.documentElement.dataset.theme = theme }"


@pytest.mark.parametrize("part", range(SLICES))
def test_every_page_is_sound_and_accessible(html: Path, site: str, chromium, part: int) -> None:
    """Half of the pages come up on a phone and get wide then, the others come up wide and get narrow."""
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

    screens = (PHONE, DESK) if part % 2 else (DESK, PHONE)
    context = open_context(chromium, *screens[0].values(), THEMES[part % 2])
    notebooks = set(notebook_pages(html))
    for where, page in visited(context, site, pages(html)[part::SLICES], "networkidle", watch):
        page.evaluate(SET_ALL)
        page.add_style_tag(content=STILL)
        if where in notebooks:
            found += [f"{where}: {what}" for what in taken_along(page, where)]
        for screen in screens:
            page.set_viewport_size(screen)
            for theme in THEMES:
                page.evaluate(TURN, theme)
                state = f"{where} ({screen['width']} px, {theme})"
                defects = page.evaluate(DEFECTS)
                if screen is DESK and theme == THEMES[0] and where not in BY_SPHINX:
                    defects |= page.evaluate(ACCESS)
                defects["contrast"] = [
                    f"{word!r} has {ratio:.1f}, wanted 4.5"
                    for word, ratio in page.evaluate(COLOURS, OURS)
                    if ratio < 4.5
                ]
                found += [f"{state}: {kind}: {what}" for kind, each in defects.items() for what in each]
    assert not found, "\n".join(dict.fromkeys(found))


def taken_along(page, where: str) -> list[str]:
    """Say what is wrong with the files that a notebook offers, and with its command for other parameters."""
    id, found = where.removeprefix("notebooks/").removesuffix(".html"), []
    page.wait_for_selector(".take-along", state="attached")
    for link, ending in zip(page.locator(".take-along a").all(), (".ipynb", ".md"), strict=True):
        address = link.evaluate("e => e.href")
        if not page.request.get(address).ok or not address.endswith(f"/{id.split('/')[1]}{ending}"):
            found.append(f"offers {address}")
    page.locator(".rerun summary").press("Enter")
    told = page.locator(".rerun[open] pre").inner_text()
    return found + ([] if f"marginbook run {id}" in told else [f"says {told!r}"])


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
    page.evaluate(SET_ALL)
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


def test_the_checks_see_what_is_wrong(site: str, chromium) -> None:
    page = open_context(chromium, 1280, 900, "light").new_page()
    page.goto(site + "book/verdicts.html", wait_until="load")
    page.evaluate("""() => document.querySelector('article.bd-article').insertAdjacentHTML('beforeend', `
      <h1>again</h1><h4>deep</h4><a href="#x"></a><img src="../_static/favicon.svg" alt="x">
      <table><tr><td>1</td></tr><tr><td>2</td></tr></table><p id="two"></p><p id="two"></p>
      <p class="take-along" style="background: #fff"><a style="color: #aaa">pale</a></p>`)""")
    defects = page.evaluate(ACCESS)
    assert {kind: len(list_) for kind, list_ in defects.items() if list_} == {
        "headings": 2, "names": 1, "sizes": 1, "tables": 1, "doubled": 1,
    }  # fmt: skip
    ((word, ratio),) = page.evaluate(COLOURS, ".take-along a")
    assert word == "pale"
    assert ratio == pytest.approx(2.32, abs=0.01)  # of #aaa on white

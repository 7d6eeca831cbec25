"""Every page of the built book in Chromium, once: on a phone and wide, light and dark, seen and heard."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from marginbook.base.rooms import rooms

from .asked import ACCESS, BARE, COLOURS, CUT, DEFECTS, NEXT_FRAMES, OURS, PICTURE, SET_ALL
from .looking import STILL, notebook_pages, open_context, pages, visited

pytestmark = pytest.mark.browser

#: all pages in that many cases: a worker with nothing left to do takes some from the other
SLICES = 6
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
THEMES = ("dark", "light")
# a redirect, and lists that Sphinx writes by itself
BY_SPHINX = {"index.html", "genindex.html", "search.html", "py-modindex.html", "prf-prf.html"}
TURN = "theme => { document.documentElement.dataset.theme = theme }"
AGAIN = 0, 500, 3000  # ms; a machine under load fits formulas later
WITHOUT_PICTURE = re.compile(r"_exercises")
# home and the chapters begin with a picture, as notebooks do
PICTURED = {f"book/{name}.html" for name in ("index", *(room.chapter for room in rooms().values()))}


@pytest.mark.parametrize("part", range(SLICES))
def test_every_page_is_sound_and_accessible(html: Path, site: str, chromium, part: int) -> None:
    """Half of the pages come up on a phone and get wide then, the others come up wide and get narrow.

    Two tabs take turns, and each is left as wide as its last page was.
    """
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

    context = open_context(chromium, *(DESK, PHONE)[part % 2].values(), THEMES[part % 2])
    notebooks = set(notebook_pages(html))
    for where, page in visited(context, site, pages(html)[part::SLICES], watch):
        page.bring_to_front()  # a tab behind another draws no frames
        page.add_style_tag(content=STILL)
        page.evaluate(SET_ALL)
        if where in notebooks:
            found += [f"{where}: {what}" for what in taken_along(page, where)]
        came_up = page.evaluate("[innerWidth, document.documentElement.dataset.theme]")
        for screen in sorted((PHONE, DESK), key=lambda one: one["width"] != came_up[0]):
            page.set_viewport_size(screen)
            found += [f"{state_of(where, screen)}: {what}" for what in cut_off(page)]
            if where in notebooks | PICTURED:
                found += [f"{state_of(where, screen)}: {what}" for what in bad_pictures(page, where, screen)]
            # both, and each turn lays the page out anew: first the one that it is in
            for theme in sorted(THEMES, key=lambda one: one != came_up[1]):
                page.evaluate(TURN, theme)
                state = f"{where} ({screen['width']} px, {theme})"
                defects = page.evaluate(DEFECTS)
                if screen is DESK and theme != came_up[1] and where not in BY_SPHINX:
                    defects |= page.evaluate(ACCESS)
                defects["contrast"] = [
                    f"{word!r} has {ratio:.1f}, wanted 4.5"
                    for word, ratio in page.evaluate(COLOURS, OURS)
                    if ratio < 4.5
                ]
                found += [f"{state}: {kind}: {what}" for kind, each in defects.items() for what in each]
            came_up[1] = theme
    assert not found, "\n".join(dict.fromkeys(found))


def cut_off(page) -> list[str]:
    """Return what is wider than its box, and words that break."""
    for wait in AGAIN:
        page.wait_for_timeout(wait)
        page.evaluate(NEXT_FRAMES)
        cut = page.evaluate(CUT)
        if not any(cut.values()):
            break
    return [
        f"{kind} is cut off; break lines in its source: {what}" for kind, each in cut.items() for what in each
    ]


def state_of(where: str, screen: dict[str, int]) -> str:
    return f"{where} ({screen['width']} px)"


def bad_pictures(page, where: str, screen: dict[str, int]) -> list[str]:
    """Return what keeps a reader from a picture within the first screen, and pictures without captions."""
    top, told = page.evaluate(PICTURE), []
    if not WITHOUT_PICTURE.search(where):
        if top is None:
            told = ["has no picture"]
        elif top > screen["height"]:
            down = top / screen["height"]
            told = [f"the first picture is {down:.2f} screens down; move it up, or fold code"]
    bare = "has no caption; give the cell one (metadata mystnb: figure: caption), which says what to see"
    return told + [f"{bare}: {alt}" for alt in page.evaluate(BARE)]


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


def test_wide_outputs_and_formulas_are_seen_on_a_phone_unless_they_scroll(chromium) -> None:
    def boxes(frame: str, tag: str, *names: str) -> str:
        wide = '<i style="display: inline-block; width: 900px">wide</i>'
        styles = [f"display: block; overflow-x: {how}" for how in ("hidden", "auto")]
        made = [f'<{tag} class="{name}" style="{style}">{wide}</{tag}>' for name in names for style in styles]
        return "".join(f'<div class="{frame}">{box}</div>' for box in made)

    page = open_context(chromium, *PHONE.values(), "light").new_page()
    page.set_content(
        f"""<article class="bd-article">{boxes("math", "mjx-container", "", "smallest")}
        <div class="cell_output">{boxes("output", "pre", "")}</div>
        <p><span class="math"><mjx-container>long{"&nbsp;long" * 90}</mjx-container></span></p></article>"""
    )
    found = {kind: len(each) for kind, each in page.evaluate(CUT).items() if each}
    assert found == {"output": 1, "formula": 3, "formula in a line": 1}
    page.set_viewport_size(DESK)
    page.add_style_tag(content="article { width: 600px }")
    found = {kind: len(each) for kind, each in page.evaluate(CUT).items() if each}
    assert found == {"output": 2, "formula": 4, "formula in a line": 1}


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
    for where, page in visited(context, site, names, watch):
        page.wait_for_timeout(200)
        assert page.url == site + where
        seen.append(where)
    assert seen == names
    assert [at for at, _ in sorted(told)] == names
    assert all(at in error for at, error in told)


def test_the_pages_have_formulas_and_the_check_sees_broken_ones(site: str, chromium) -> None:
    page = open_context(chromium, 1280, 900, "light").new_page()
    page.goto(site + "book/drm.html", wait_until="load")
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
    page.evaluate("""() => document.querySelector('article.bd-article').insertAdjacentHTML('beforeend', `
      <div class="highlight"><pre style="width: 9em; white-space: pre">a line as long as this one</pre></div>
      <table class="fixed"><tr><th><p style="width: 1em; word-break: break-all">broken</p></th></tr></table>
      <div class="cell_output"><img alt="bare"></div>`)""")
    assert {kind: len(list_) for kind, list_ in page.evaluate(CUT).items() if list_} == {
        "code": 1, "broken word": 1,
    }  # fmt: skip
    assert page.evaluate(BARE) == ["bare"]
    assert page.evaluate(PICTURE) > 0
    ((word, ratio),) = page.evaluate(COLOURS, ".take-along a")
    assert word == "pale"
    assert ratio == pytest.approx(2.32, abs=0.01)  # of #aaa on white

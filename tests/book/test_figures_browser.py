"""A figure opens large by a click, a tap or a key, can be scrolled there, and closes again."""

from __future__ import annotations

from pathlib import Path

import axe_playwright_python
import pytest

from .looking import open_context

pytestmark = pytest.mark.browser

PAGES = ["notebooks/clasmk/04_tables.html", "book/performance.html"]  # drawn by cells, and by the book
OPEN = "document.querySelector('dialog.figure-large').open"


def closed(page) -> None:
    page.wait_for_function(f"!{OPEN}", timeout=30_000)


@pytest.fixture(params=PAGES)
def page(request, site: str, chromium):
    """One of the pages on a phone, with the addresses that it asks for in ``page.asked``."""
    tab = open_context(chromium, 390, 844, "dark").new_page()
    tab.asked = []
    tab.on("request", lambda sent: tab.asked.append(sent.url))
    tab.goto(site + request.param, wait_until="load")
    tab.wait_for_selector(".figure-frame", state="attached")
    return tab


def test_every_figure_has_a_button_and_lies_where_it_lay(page) -> None:
    figures, buttons, wider = page.evaluate("""() => [
      document.querySelectorAll('main article img').length,
      document.querySelectorAll('main article img + button.enlarge[aria-label]').length,
      [...document.querySelectorAll('.figure-frame')].filter(e => {
        const frame = e.getBoundingClientRect(), image = e.firstChild.getBoundingClientRect();
        return frame.right > innerWidth || Math.abs(frame.width - image.width) > 1;
      }).length]""")
    assert figures == buttons > 2
    assert wider == 0
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_a_click_opens_the_figure_large_and_every_way_closes_it(page) -> None:
    figure = page.locator("main article img").first
    before = len(page.asked)
    figure.click()
    assert page.evaluate(OPEN)
    alt, wide, small, to_right, down = page.evaluate("""() => {
      const old = document.querySelector('main article img'), large = document.querySelector('dialog img');
      const box = large.parentElement;
      box.scrollTo(10000, 10000);
      return [old.alt && old.alt === large.alt && old.src === large.src, large.width, old.width,
        Math.abs(box.scrollLeft + box.clientWidth - box.scrollWidth) < 2,
        Math.abs(box.scrollTop + box.clientHeight - box.scrollHeight) < 2];
    }""")
    assert alt
    assert wide > 2 * small
    assert (to_right, down) == (True, True)
    assert page.asked[before:] == []  # the picture is there already
    page.keyboard.press("Escape")
    closed(page)
    figure.click()
    page.get_by_role("button", name="Close").click()
    closed(page)
    figure.click()
    page.locator("dialog.figure-large img").click(position={"x": 30, "y": 30})
    assert page.evaluate(OPEN)  # what is inside does not close it
    page.mouse.click(385, 840)
    closed(page)


def test_keys_open_scroll_and_close_and_the_focus_comes_back(page) -> None:
    button = page.locator("button.enlarge").first
    button.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    assert button.evaluate("e => [getComputedStyle(e).opacity, getComputedStyle(e).outlineStyle]") == [
        "1",
        "solid",
    ]
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.matches('dialog .scroll')")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('dialog .scroll').scrollLeft > 0")
    page.keyboard.press("Escape")
    closed(page)
    assert button.evaluate("e => e === document.activeElement")
    button.press("Enter")  # another visit starts at the corner again
    assert page.evaluate("document.querySelector('dialog .scroll').scrollLeft") == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_large_figure_breaks_no_rule_of_access(page, theme: str) -> None:
    page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
    page.evaluate(Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8"))
    run = """where => axe.run(where, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] })
      .then(told => told.violations.map(rule => `${rule.id}: ${rule.nodes[0].html.slice(0, 120)}`))"""
    # a theme in dark colours greys figures, on which a button lies: what it is on does not count
    assert page.evaluate(run, ".figure-frame") == []
    page.locator("main article img").first.click()
    assert page.evaluate(run, "dialog.figure-large") == []
    # white paper, which a dark page turns around with the figure
    turned = page.locator("dialog img").evaluate("e => getComputedStyle(e).filter")
    assert ("invert" in turned) == (theme == "dark")
    paper = page.locator("dialog img").evaluate("e => getComputedStyle(e).backgroundColor")
    assert paper == "rgb(255, 255, 255)"


def test_a_finger_sees_the_button_and_a_tap_opens(site: str, chromium) -> None:
    context = chromium.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(site + PAGES[0], wait_until="load")
    button = page.locator("button.enlarge").first
    button.wait_for()
    assert button.evaluate("e => getComputedStyle(e).opacity") == "1"
    assert min(button.bounding_box()[side] for side in ("width", "height")) >= 24
    button.tap()
    assert page.evaluate(OPEN)
    page.touchscreen.tap(385, 840)
    closed(page)
    page.locator("main article img").first.tap()
    assert page.evaluate(OPEN)


def test_on_a_wide_window_only_the_click_is_new(site: str, chromium) -> None:
    page = open_context(chromium, 1280, 900, "light").new_page()
    page.goto(site + PAGES[0], wait_until="load")
    page.wait_for_selector(".figure-frame", state="attached")
    assert page.locator("button.enlarge").first.evaluate("e => getComputedStyle(e).opacity") == "0"
    page.locator("main article img").first.click()
    box = page.locator("dialog.figure-large")
    assert (
        box.evaluate("e => e.querySelector('.scroll').scrollWidth - e.querySelector('.scroll').clientWidth")
        == 0
    )
    assert box.bounding_box()["width"] <= 1280

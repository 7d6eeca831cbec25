"""The decks of the built book in Chromium: by keys, on a phone, on paper, and with nothing cut."""

from __future__ import annotations

import re

import pytest

from marginbook.book.slides import decks

from .looking import open_context

pytestmark = pytest.mark.browser

READY = "window.Reveal?.isReady()"
#: of a slide: what is not in sight, what is cut, letters that nobody reads at the back of a room
DEFECTS = """slide => {
  const box = slide.getBoundingClientRect();
  const parts = [...slide.children].filter(e => e.tagName !== 'ASIDE');
  const say = e => `${e.className}: ${e.textContent.trim().slice(0, 50)}`;
  const head = slide.querySelector('h1, h2');
  const { left, top } = head.getBoundingClientRect();
  const out = r => r.left < box.left - 1 || r.top < box.top - 1
    || r.right > box.right + 1 || r.bottom > box.bottom - 20;
  return [
    ...slide.contains(document.elementFromPoint(left + 5, top + 5)) ? [] : ['its heading is not in sight'],
    ...parts.filter(e => out(e.getBoundingClientRect())
      || e.offsetTop + e.scrollHeight > slide.clientHeight - 20
      || e.scrollWidth > e.clientWidth + 2).map(e => `is cut: ${say(e)}`),
    ...[...slide.querySelectorAll('mjx-container, img, td')].filter(e => out(e.getBoundingClientRect()))
      .map(e => `sticks out: ${say(e)}`),
    ...[...slide.querySelectorAll('p, li, td')].filter(e => !e.closest('aside, .note')
      && parseFloat(getComputedStyle(e).fontSize) < 16).map(e => `is too small: ${say(e)}`),
    ...[...slide.querySelectorAll('img')].filter(i => !i.alt.trim() || !i.naturalWidth || i.width < 500)
      .map(i => `a picture: ${i.width} px, ${i.alt}`),
    ...[...slide.querySelectorAll('mjx-merror')].map(say),
  ];
}"""

#: on a phone: what is wider than the screen, or too small to read
WIDE = """() => [...document.querySelectorAll('.slides :is(h1, h2, p, li, td, img, mjx-container)')]
  .filter(e => !e.closest('aside'))
  .filter(e => e.getBoundingClientRect().right > 391 || parseFloat(getComputedStyle(e).fontSize) < 10)
  .map(e => e.textContent.slice(0, 60))"""


@pytest.mark.parametrize("room", decks())
def test_a_deck_can_be_shown_by_keys_and_nothing_is_cut(room: str, site: str, chromium) -> None:
    found: list[str] = []
    theme = ("light", "dark")[decks().index(room) % 2]
    page = open_context(chromium, 1280, 720, theme).new_page()
    page.on("console", lambda message: found.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: found.append(str(error)))
    page.on("request", lambda sent: None if sent.url.startswith((site, "data:")) else found.append(sent.url))
    page.goto(f"{site}slides/{room}.html", wait_until="load")
    page.wait_for_function(READY, timeout=60_000)
    assert page.evaluate("document.documentElement.dataset.theme") == theme
    total = page.evaluate("Reveal.getTotalSlides()")
    pressed = 0
    while True:
        at = page.evaluate("Reveal.getIndices().h")
        page.evaluate("Promise.all([...document.querySelectorAll('.present img')].map(i => i.decode()))")
        found += [f"slide {at + 1}: {told}" for told in page.locator(".slides > .present").evaluate(DEFECTS)]
        if page.evaluate("Reveal.isLastSlide()"):
            break
        # an answer comes before the next slide
        for _ in range(1 + page.locator(".present .fragment").count()):
            page.keyboard.press("ArrowRight")
            pressed += 1
        assert page.evaluate("Reveal.getIndices().h") == at + 1
    assert not found, "\n".join(dict.fromkeys(found))
    assert pressed > total - 1  # there were answers to uncover
    page.keyboard.press("Home")
    assert page.evaluate("Reveal.getIndices().h") == 0
    page.keyboard.press("o")
    page.wait_for_function("Reveal.isOverview()")
    page.keyboard.press("Escape")
    page.wait_for_function("!Reveal.isOverview()")
    page.keyboard.press("t")
    assert page.evaluate("document.documentElement.dataset.theme") != theme
    printed = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == total


@pytest.mark.parametrize("room", decks())
def test_on_a_phone_the_slides_are_a_page_to_scroll(room: str, site: str, chromium) -> None:
    page = open_context(chromium, 390, 844, "dark").new_page()
    page.goto(f"{site}slides/{room}.html", wait_until="load")
    page.wait_for_function("window.MathJax?.startup?.promise?.then(() => true)", timeout=60_000)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.evaluate(WIDE) == []
    shown = page.locator(".slides > section")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    assert shown.last.evaluate("e => e.getClientRects().length") == 1
    assert page.locator(".fragment").first.is_visible()


def test_the_checks_see_what_is_wrong(site: str, chromium) -> None:
    page = open_context(chromium, 1280, 720, "light").new_page()
    page.goto(f"{site}slides/{decks()[0]}.html", wait_until="load")
    page.wait_for_function(READY, timeout=60_000)
    slide = page.locator(".slides > .present")
    assert slide.evaluate(DEFECTS) == []
    slide.evaluate("""e => e.querySelector('.words').insertAdjacentHTML('beforeend',
      '<p style="font-size: 9px">small</p><p style="height: 900px; width: 2000px">large</p><img>')""")
    told = [each.partition(":")[0] for each in slide.evaluate(DEFECTS)]
    assert {"is cut", "sticks out", "is too small", "a picture"} <= set(told)
    slide.evaluate("e => { e.style.position = 'relative'; e.style.top = '800px' }")
    assert "its heading is not in sight" in slide.evaluate(DEFECTS)

"""How many frames a second the interactive figures of the built book show while something moves.

Run: python benchmarks/frames.py [--quick], after `make book`; it needs Chromium.
Writes benchmarks/results/frames.csv. In each chapter, in a window of 1280 by 900 pixels, a key moves a point
or a slider makes a step before every frame, as when a reader holds a key down. `rate` is frames by seconds of
the wall: a browser gives at most 60. `median` and `most` are milliseconds that the scripts of a frame take,
the median and the 95th percentile: how near a rate of 60 is to less.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import numpy as np

from marginbook.base.project import resource
from marginbook.base.rooms import rooms
from marginbook.quality.benchmarking import Record, main
from marginbook.quality.benchmarking.goals import FRAMES, NEAR

if TYPE_CHECKING:
    from playwright.sync_api import Page

#: keeps the time of each callback of a frame, before any script is loaded
WATCH = """
window.spent = [];
const ask = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (callback) => ask((now) => {
  const begun = performance.now();
  try { callback(now); } finally { window.spent.push([now, performance.now() - begun]); }
});
"""
#: moves something before each frame; returns when frames began, and how long all their callbacks took
MOVE = """async ([kind, which, frames]) => {
  const movable = kind === "point" ? ".point" : "input[type=range]";
  const element = document.querySelectorAll(`.explore ${movable}`)[which];
  const keys = ["ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown"];
  const press = (key) => element.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  const slide = (value) => {
    element.value = value;
    element.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const [low, high] = [Number(element.min), Number(element.max)];
  const move = (step) => {
    if (kind === "point") press(keys[Math.floor(step / 8) % 4]);
    else slide(low + Math.abs((step * 3) % (2 * (high - low)) - (high - low)));
  };
  const start = element.value;
  window.spent = [];
  await new Promise((done) => {
    let step = 0;
    const next = () => {
      if (step === frames) return done();
      move(step++);
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  });
  const each = new Map();
  for (const [now, spent] of window.spent) each.set(now, (each.get(now) ?? 0) + spent);
  if (kind !== "point") slide(start);
  return [...each];
}"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass


def measure(quick: bool) -> Iterator[Record]:
    """Yield a row for a point and for each slider of every chapter."""
    from playwright.sync_api import sync_playwright

    from marginbook.book.printed_summary import launch

    html = resource("_build", "html")
    if not (html / "index.html").is_file():
        raise SystemExit(f"no built book in {html}: run `make book` first")
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(html)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with sync_playwright() as playwright:
            browser = launch(playwright)
            for room in filter(has_explorable, rooms()):
                page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
                page.add_init_script(WATCH)
                page.goto(f"http://127.0.0.1:{server.server_port}/book/{room}.html")
                page.wait_for_selector(".explore")
                page.locator(".explore").scroll_into_view_if_needed()
                yield from of_chapter(page, room, 60 if quick else 600)
                page.context.close()
            browser.close()
    finally:
        server.shutdown()


def has_explorable(room: str) -> bool:
    """Return whether the chapter of a room loads one."""
    chapter = resource("book", f"{room}.md")
    return chapter.is_file() and "/explore/" in chapter.read_text(encoding="utf-8")


def of_chapter(page: Page, room: str, frames: int) -> Iterator[Record]:
    """Yield the rows of an open chapter."""
    points = page.locator(".explore .point").count()
    moved = [("point", 1, "a point")] if points else []  # the first one of the DRM is x, which needs no fit
    sliders = page.locator(".explore input[type=range]")
    for number in range(sliders.count()):
        if sliders.nth(number).is_visible():
            label = page.locator(f'label[for="{sliders.nth(number).get_attribute("id")}"]').inner_text()
            moved.append(("slider", number, label))
    for kind, number, label in moved:
        page.wait_for_timeout(500)  # what the last one left to draw
        found = np.array(page.evaluate(MOVE, [kind, number, frames]))
        began, spent = found[:, 0], found[1:, 1]
        rate = 1000 * (len(began) - 1) / (began[-1] - began[0])
        yield Record(
            "frames",
            {
                "room": room,
                "what": label,
                "points": points,
                "frames": len(began),
                "rate": f"{rate:.1f}",
                "median": f"{np.median(spent):.2f}",
                "most": f"{np.quantile(spent, 0.95):.2f}",
                "goal": FRAMES,
                "met": "yes" if rate >= NEAR * FRAMES else "no",
            },
        )


if __name__ == "__main__":
    main(measure)

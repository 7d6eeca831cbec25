"""The page of a run, made of stored notebooks: nothing cut, nothing dead, nothing loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from marginbook.notebooks import find
from marginbook.notebooks.page import write_page

pytestmark = pytest.mark.browser

CUT = """[...document.querySelectorAll('.jp-InputArea-editor pre')]
    .filter(code => code.scrollWidth > code.clientWidth + 1).length"""
DEAD = """[...document.querySelectorAll('a[href^="#"]')].map(link => link.getAttribute('href').slice(1))
    .filter(name => !document.getElementById(decodeURIComponent(name)))"""
# what is wider than the window must be in a box that scrolls
OUTSIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module", params=["drm/05_imbalanced", "kfda/02_majorise_minimise", "ldm/07_exercises"])
def written(request, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "page.html"
    assert write_page(find(request.param).read_stored(), path, request.param) is None
    return path


@pytest.mark.parametrize("width", [1280, 390])
def test_code_wraps_and_links_lead_somewhere(written: Path, chromium, width: int) -> None:
    tab = chromium.new_context(viewport={"width": width, "height": 900}).new_page()
    asked, errors = [], []
    tab.on("request", lambda sent: asked.append(sent.url))
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.goto(written.as_uri(), wait_until="load")
    tab.wait_for_selector("mjx-container")
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert errors == []
    assert tab.locator(".jp-InputArea-editor pre").count() > 5
    assert tab.evaluate(CUT) == 0
    assert tab.evaluate(OUTSIDE) == 0
    assert tab.evaluate(DEAD) == []
    assert tab.locator("[data-mml-node=merror]").count() == 0
    assert tab.locator("footer.of-run").is_visible()
    for box in tab.locator("details").all():
        assert not box.locator(":scope > :not(summary)").first.is_visible()

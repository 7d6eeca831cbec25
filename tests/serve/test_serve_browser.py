"""A reader in Chromium: from a page of the book to a form, a run, what it changed, and back."""

from __future__ import annotations

import re

import pytest

from marginbook.serve.command import way_in

pytestmark = pytest.mark.browser
expect = pytest.importorskip("playwright.sync_api").expect
expect.set_options(timeout=30_000)  # a busy machine takes its time to load a frame

OUTSIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture
def tab(listening, chromium):
    port, gate = listening
    tab = chromium.new_context(viewport={"width": 1280, "height": 900}).new_page()
    tab.base = f"http://127.0.0.1:{port}"
    tab.errors, tab.asked = [], []
    tab.on("pageerror", lambda error: tab.errors.append(str(error)))
    tab.on("console", lambda said: tab.errors.append(said.text) if said.type == "error" else None)
    tab.on("request", lambda sent: tab.asked.append(sent.url))
    tab.goto(gate.address())
    yield tab
    assert [error for error in tab.errors if "favicon" not in error] == []
    assert [url for url in tab.asked if not url.startswith((tab.base, "data:", "about:"))] == []


def test_a_reader_runs_a_page_again_and_sees_what_changed(tab) -> None:
    assert tab.url == f"{tab.base}/"  # the token is not in the address any more
    tab.goto(f"{tab.base}/notebooks/toy/01_small.html")
    tab.get_by_role("link", name="Run this page again").click()
    tab.get_by_label("n", exact=True).fill("5")
    tab.get_by_label("dataset").select_option("wine")
    tab.wait_for_url("**/-/run/toy/01_small?n=5&dataset=wine")
    tab.get_by_role("button", name="Run this page again").click()
    tab.wait_for_url(re.compile("/-/runs/[0-9a-f]{16}$"))
    expect(tab.get_by_role("button", name="Cancel")).to_be_visible()
    tab.wait_for_selector("progress[max]")
    tab.wait_for_selector("ol.cells li[data-state=done]")
    tab.wait_for_selector("#compared")  # it loads the result by itself
    expect(tab.get_by_text("2 of 4 outputs differ")).to_be_visible()
    expect(tab.locator("details.changed[open] mark", has_text="line 4")).to_be_visible()
    expect(tab.locator("details.same pre").first).to_be_hidden()
    frame = tab.frame_locator("iframe")
    expect(frame.get_by_text("line 4").first).to_be_visible()
    # the frame has an origin of its own: it sees no cookie of ours, nor our page
    seen = tab.frames[1].evaluate(
        "(() => { try { return parent.document.title } catch { return 'closed' } })()"
    )
    assert seen == "closed"
    for width in (390, 1280):
        tab.set_viewport_size({"width": width, "height": 800})
        assert tab.evaluate(OUTSIDE) == 0
    tab.get_by_role("link", name="The form with these parameters").click()
    expect(tab.get_by_label("n", exact=True)).to_have_value("5")
    expect(tab.get_by_label("dataset")).to_have_value("wine")
    tab.get_by_role("link", name="Runs").click()
    expect(tab.get_by_role("cell", name="n = 5, dataset = wine")).to_be_visible()


def test_what_is_typed_before_the_script_has_come_is_in_the_address(tab) -> None:
    held = []
    tab.route("**/serve.js", lambda asked: held.append(asked))
    with tab.expect_request("**/serve.js"):
        tab.goto(f"{tab.base}/-/run/toy/01_small", wait_until="commit")
    tab.get_by_label("n", exact=True).fill("5")
    assert "?" not in tab.url
    held[0].continue_()
    tab.wait_for_url("**/-/run/toy/01_small?n=5")


def test_cancel_and_the_list(tab) -> None:
    tab.goto(f"{tab.base}/-/run/toy/01_small?pause=60")
    tab.get_by_role("button", name="Run this page again").click()
    tab.get_by_role("button", name="Cancel").click()
    tab.get_by_text("cancelled, asked").wait_for()
    expect(tab.get_by_role("link", name="The form with these parameters")).to_be_visible()


def test_a_value_that_the_browser_lets_through_is_refused_with_a_sentence(tab) -> None:
    tab.goto(f"{tab.base}/-/run/toy/01_small")
    tab.get_by_label("numbers").fill("1, two")
    tab.errors.clear()
    tab.get_by_role("button", name="Run this page again").click()
    tab.get_by_role("alert").wait_for()
    expect(tab.get_by_label("numbers")).to_have_value("1, two")
    tab.errors.clear()  # Chromium notes the answer 422


def test_the_form_works_without_a_mouse_and_without_javascript(listening, chromium) -> None:
    _, gate = listening
    tab = chromium.new_context(java_script_enabled=False).new_page()
    tab.goto(gate.address())
    tab.goto(gate.address().partition("/-/")[0] + "/-/run/toy/01_small")
    tab.get_by_label("n", exact=True).focus()
    tab.keyboard.press("Control+a")
    tab.keyboard.type("2")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("#compared", timeout=60_000)  # the page loads itself again
    expect(tab.get_by_text("outputs differ")).to_be_visible()


def test_another_site_cannot_start_a_run(listening, chromium, tmp_path) -> None:
    """A page elsewhere posts the form in the browser of a reader who has the cookie."""
    port, gate = listening
    context = chromium.new_context()
    tab = context.new_page()
    tab.goto(gate.address())
    evil = tmp_path / "evil.html"
    evil.write_text(
        f'<form method="post" action="http://127.0.0.1:{port}/-/run/toy/01_small"><input name="n" value="4">'
        "</form><script>document.forms[0].submit()</script>"
    )
    other = context.new_page()
    with other.expect_navigation(url=re.compile("/-/run/")) as answer:
        other.goto(evil.as_uri())
    assert answer.value.status == 403
    tab.goto(f"http://127.0.0.1:{port}/-/runs")
    expect(tab.get_by_text("Nothing has been run yet")).to_be_visible()


def test_the_page_that_opens_the_browser_lets_it_in(listening, chromium, tmp_path) -> None:
    """It comes from a file, so the cookie is kept back once: our own page asks again."""
    _, gate = listening
    tab = chromium.new_context().new_page()
    tab.goto(way_in(tmp_path, gate).as_uri())
    tab.get_by_role("heading", name="The book").wait_for()


def test_axe_finds_nothing_on_the_form(tab) -> None:
    from axe_playwright_python.sync_playwright import Axe

    tab.goto(f"{tab.base}/-/run/toy/01_small?n=70")
    # axe puts itself into the page, which our policy forbids to a page: it comes from the driver
    found = Axe().run(tab)
    assert found.response["violations"] == [], found.generate_report()

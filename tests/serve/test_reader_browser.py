"""A reader of the real book, who opens no terminal: three notebooks, a claim and a table, in Chromium."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from marginbook.base.project import root

pytestmark = pytest.mark.browser
expect = pytest.importorskip("playwright.sync_api").expect

#: page, what the reader changes on it, and that it is a list of choices
CHANGES = (
    ("drm/01_the_model", "dataset", "wine", True),
    ("ldm/01_margins_and_model", "lambda1", "10", False),
    ("kfda/01_fisher_by_least_squares", "n_positive", "5", False),
)
MINUTES = 5 * 60_000  # on a busy machine


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where ``marginbook serve`` says that the book is."""
    home = root()
    if home is None or not (home / "_build" / "html" / "index.html").is_file():
        pytest.skip("no built book: run `make book` or `marginbook book` first")
    command = [sys.executable, "-m", "marginbook", "serve", "--port", "0", "--at-once", "2"]
    served = subprocess.Popen(command, cwd=home, stdout=subprocess.PIPE, text=True)
    assert served.stdout is not None
    yield re.search(r"http\S+", served.stdout.readline())[0]
    served.send_signal(signal.SIGINT)
    assert served.wait(30) == 130


@pytest.fixture
def tab(address: str, chromium):
    tab = chromium.new_context(viewport={"width": 1280, "height": 900}).new_page()
    tab.set_default_timeout(MINUTES)
    tab.errors = []
    tab.on("pageerror", lambda error: tab.errors.append(str(error)))
    tab.goto(address)
    tab.wait_for_url("**/book/index.html")
    tab.home = address.partition("/-/")[0]
    yield tab
    assert tab.errors == []


@pytest.mark.parametrize(("page", "name", "value", "choice"), CHANGES)
def test_a_page_is_run_again_and_shows_what_changed(tab, page, name, value, choice) -> None:
    tab.goto(f"{tab.home}/notebooks/{page}.html")
    assert tab.locator(".rerun:visible").count() == 0  # the bar is the same without a terminal
    tab.get_by_role("link", name="Run this page again").click()
    box = tab.get_by_label(name, exact=True)
    box.select_option(value) if choice else box.fill(value)
    tab.get_by_role("button", name="Run this page again").click()
    tab.wait_for_selector("ol.cells li[data-state=now], #compared")  # a run of the same is not done twice
    tab.wait_for_selector("#compared")
    expect(tab.get_by_text(re.compile(r"^[1-9]\d* of \d+ outputs differ"))).to_be_visible()
    assert tab.locator("details.changed[open]").count() > 0
    expect(tab.get_by_text(re.compile(r"^Verdicts: \d+ of \d+ are the published ones"))).to_be_visible()
    expect(tab.frame_locator("iframe").locator("h1").first).to_be_visible(timeout=MINUTES)


def test_a_claim_is_checked_from_its_evidence(tab) -> None:
    tab.goto(f"{tab.home}/book/claims-drm.html#evidence-drm-thm-vi-3")
    link = tab.locator("a.serve-here[href='/-/claims/drm/thm-VI.3']").first
    expect(link).to_be_visible()
    link.click()
    tab.wait_for_selector("mjx-container")  # the statement's formulas are set
    tab.get_by_role("button", name="Check this claim now").click()
    expect(tab.get_by_text("Here and now: holds")).to_be_visible(timeout=MINUTES)
    expect(tab.get_by_text("(the same)")).to_be_visible()


def test_the_quick_slice_of_a_table_is_run_from_its_results(tab) -> None:
    tab.goto(f"{tab.home}/-/experiments/drm/table-9")
    tab.get_by_role("button", name="Run the quick slice now").click()
    expect(tab.get_by_role("heading", name="Beside what is printed")).to_be_visible(timeout=MINUTES)


def test_two_at_once_and_one_that_is_killed(tab) -> None:
    first, second = tab, tab.context.new_page()
    for page in (first, second):
        chosen = random.uniform(0.1, 0.9)  # such a run was never done: it takes a while
        page.goto(f"{tab.home}/-/run/{CHANGES[1][0]}?lambda1={chosen:.12f}")
        page.get_by_role("button", name="Run this page again").click()
        page.wait_for_url(re.compile("/-/runs/[0-9a-f]{16}$"))
    first.wait_for_selector("ol.cells")
    second.wait_for_selector("ol.cells")
    run = second.url.rpartition("/")[2]
    killed = worker_of(run)
    os.kill(killed, signal.SIGKILL)
    expect(second.get_by_role("alert")).to_contain_text("ended by SIGKILL", timeout=MINUTES)
    first.wait_for_selector("#compared")


def worker_of(run: str) -> int:
    """Return the process of a run, by its command line."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for place in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = place.read_bytes().decode().split("\0")
            except OSError:
                continue
            if "marginbook.serve.worker" in words and any(word.endswith(run) for word in words):
                return int(place.parent.name)
        time.sleep(0.1)
    raise AssertionError(f"no process of run {run}")

"""The built book, served on this machine only, and a browser to look at it."""

from __future__ import annotations

import functools
import os
import shutil
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from marginbook.base.project import root


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture(scope="session")
def html() -> Path:
    home = root()
    folder = home / "_build" / "html" if home else Path("_build/html")
    if not (folder / "index.html").is_file():
        pytest.skip(f"no built book in {folder}: run `make book` or `marginbook book` first")
    return folder


@pytest.fixture(scope="session")
def site(html: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(html)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def launched():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path  # there only after `playwright install chromium`
        names = ("chromium", "chromium-browser", "google-chrome", own)
        found = next(filter(None, map(shutil.which, names)), None)
        if found is None:
            pytest.skip(
                "no Chromium here: install the system's package `chromium`, or `playwright install chromium`"
            )
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium refuses to sandbox the root user
        browser = playwright.chromium.launch(executable_path=found, args=sandbox)
        yield browser
        browser.close()


@pytest.fixture
def chromium(launched):
    """Chromium without the tabs of the tests before."""
    yield launched
    for context in launched.contexts:
        context.close()

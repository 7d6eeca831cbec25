"""The built book, served on this machine only."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from marginbook.base.project import root


class Quiet(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # a page asks for forty files, by a few connections

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
def explore() -> Iterator[str]:
    """The book's static files and small pages that load them: no built book is needed."""
    from .explore_page import SCRIPTS, serve

    server = serve(SCRIPTS.parents[1])
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()

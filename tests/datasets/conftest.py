"""A registry of one's own, a cache of one's own, and a web server on this machine."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from marginbook.datasets import download
from marginbook.datasets.registry import File


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the fetched files, empty, with no mirror."""
    monkeypatch.setenv("MARGINBOOK_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("MARGINBOOK_MIRROR", raising=False)
    return tmp_path / "cache" / "data"


@dataclass
class Site:
    """What the server does with a path, and what it was asked."""

    url: str = ""
    pages: dict[str, bytes] = field(default_factory=dict)
    behaviour: dict[str, list[str]] = field(default_factory=dict)
    ranges: list[str | None] = field(default_factory=list)
    hits: int = 0

    def add(self, path: str, body: bytes, *behaviour: str) -> None:
        """Serve a body; each request to the path uses up one behaviour, then it is served properly."""
        self.pages[path] = body
        self.behaviour[path] = list(behaviour)

    def file(self, path: str, body: bytes, part: str = "all") -> File:
        """Return the registry's idea of a path: the hash and size of ``body``."""
        return File(part, self.url + path, hashlib.sha256(body).hexdigest(), len(body))


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A server on 127.0.0.1 that can truncate, stall, fail, redirect, ignore or move ranges, send pieces."""
    state = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.hits += 1
            state.ranges.append(self.headers.get("Range"))
            queue = state.behaviour.get(self.path, [])
            how = queue.pop(0) if queue else ""
            body = state.pages.get(self.path)
            if body is None:
                self.send_error(404)
            elif how == "error":
                self.send_error(503)
            elif how == "to-html":
                self.send_response(302)
                self.send_header("Location", "/login.html")
                self.end_headers()
            elif how == "stall":
                time.sleep(1.5)
            else:
                self._send(body, how)

        def _send(self, body: bytes, how: str) -> None:
            if how.startswith("chunked"):
                self.protocol_version = "HTTP/1.1"  # of this answer: the older one has no bodies in pieces
            start = 0
            asked = self.headers.get("Range")
            if asked and how != "no-range":
                start = 0 if how == "from-start" else int(asked.removeprefix("bytes=").removesuffix("-"))
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
            else:
                self.send_response(200)
            self.send_header("Content-Type", "text/html" if self.path.endswith(".html") else "text/plain")
            rest = body[start:]
            if how.startswith("chunked"):
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                half = rest[: len(rest) // 2]
                self.wfile.write(b"%x\r\n%b\r\n" % (len(half), half))
                if how == "chunked":
                    others = rest[len(half) :]
                    self.wfile.write(b"%x\r\n%b\r\n0\r\n\r\n" % (len(others), others))
                elif how == "chunked, cut in a piece":
                    self.wfile.write(b"%x\r\n%b" % (len(half), half[: len(half) // 2]))
                return
            self.send_header("Content-Length", str(len(rest)))
            self.end_headers()
            self.wfile.write(rest[: len(rest) // 2] if how == "truncate" else rest)

        def log_message(self, *args: object) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    # the end of a test waits for the next poll
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    monkeypatch.setattr(download, "BACK_OFF", 0.01)
    monkeypatch.setattr(download, "TIMEOUT", (1.0, 0.5))
    yield state
    server.shutdown()
    server.server_close()


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Write a small file and return its path."""

    def make(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return make

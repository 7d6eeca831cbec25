"""Servers that hang, trickle, reset, lie or send bombs: the file is refused and the cache stays as it was."""

from __future__ import annotations

import gzip
import hashlib
import os
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from marginbook.datasets import download
from marginbook.datasets.dataset import CorruptData, FetchError
from marginbook.datasets.registry import File

from .conftest import refused

SIZE = 5000
BOMB = gzip.compress(bytes(20_000_000))


class Hostile(BaseHTTPRequestHandler):
    """Each path is a way to behave badly."""

    def do_GET(self) -> None:
        getattr(self, self.path.strip("/"))()

    def _begin(self, length: object, **headers: str) -> None:
        self.send_response(200)
        for name, value in {"Content-Length": str(length), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def reset(self) -> None:
        # closing without lingering sends RST instead of an orderly end
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.connection.close()

    def hang(self) -> None:
        self._begin(SIZE)
        self.wfile.write(b"x" * 300)
        time.sleep(2)

    def trickle(self) -> None:
        self._begin(SIZE)
        for _ in range(100):
            self.wfile.write(b"x")
            time.sleep(0.05)

    def around(self) -> None:
        self._redirect("/around")

    def local(self) -> None:
        self._redirect("file:///etc/hostname")

    def _redirect(self, where: str) -> None:
        self.send_response(302)
        self.send_header("Location", where)
        self.end_headers()

    def noise(self) -> None:
        self.wfile.write(b"\x1b]0;gotcha\x07" + bytes(range(256)))

    def length(self) -> None:
        self._begin("plenty")
        self.wfile.write(b"x" * 10)

    def endless(self) -> None:
        self._begin(10**12)
        while True:
            self.wfile.write(b"x" * 10_000)

    def bomb(self) -> None:
        self._begin(len(BOMB), Content_Encoding="gzip")
        self.wfile.write(BOMB)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def hostile(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *args: object) -> None:
            pass

    server = Server(("127.0.0.1", 0), Hostile)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    monkeypatch.setattr(download, "BACK_OFF", 0.01)
    monkeypatch.setattr(download, "TIMEOUT", (2.0, 0.5))
    monkeypatch.setattr(download, "ATTEMPTS", 2)
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def wanted(url: str, size: int = SIZE) -> File:
    return File("all", url, hashlib.sha256(b"").hexdigest(), size)


def fault(what: str, *values: object) -> object:
    return pytest.param(*values, marks=pytest.mark.fault("download", what))


@pytest.mark.parametrize(
    ("path", "says"),
    [
        fault("connection reset", "reset", "cannot be reached: .*reset by peer .*check the network"),
        fault("redirect in a circle", "around", "Exceeded 30 redirects.*nothing was received"),
        fault("redirect to a local file", "local", "No connection adapters.*nothing was received"),
        fault("an answer that is not HTTP", "noise", r"cannot be reached: [ -~]*\(2 attempts\)"),
    ],
)
def test_a_server_that_sends_nothing_useful(untouched, hostile, told, path, says):
    with refused(untouched, told, FetchError, says):
        download.fetch_url(wanted(f"{hostile}/{path}"))


@pytest.mark.fault("download", "server sends more than the file")
def test_an_endless_answer_ends_soon_after_the_size_of_the_registry(untouched, hostile, told):
    with refused(untouched, told, CorruptData, r"got \d+ bytes and more, wanted 5000$"):
        download.fetch_url(wanted(f"{hostile}/endless"))


@pytest.mark.fault("download", "gzip bomb as content encoding")
def test_a_compressed_answer_is_not_decompressed(untouched, hostile, told):
    with refused(untouched, told, CorruptData):
        download.fetch_url(wanted(f"{hostile}/bomb", len(BOMB)))


@pytest.mark.parametrize(
    ("path", "says", "kept"),
    [
        fault("server hangs in the middle", "hang", r"timed out .*what was received is kept, run the", 300),
        fault("server only trickles", "trickle", r"the server sent only \d+ bytes in 0.2 s .*is kept", 2),
        fault("false Content-Length", "length", r"the connection ended after \d+ of 5000 bytes", 10),
    ],
)
def test_a_server_that_does_not_finish(cache, hostile, told, monkeypatch, path, says, kept):
    """What came is kept, to be continued; nothing is there under the name of the file."""
    monkeypatch.setattr(download, "PATIENCE", 0.2)
    file = wanted(f"{hostile}/{path}")
    with pytest.raises(FetchError, match=says) as error:
        download.fetch_url(file)
    told(error.value)
    assert [found.name for found in cache.iterdir() if found.is_file()] == [f".{file.cache_name}.part"]
    size = os.path.getsize(cache / f".{file.cache_name}.part")
    assert size == kept if path != "trickle" else size >= kept

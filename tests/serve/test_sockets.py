"""What a client can do wrong below the requests: slow, broken, unfinished."""

from __future__ import annotations

import socket
import time

import pytest

from marginbook.serve import guard
from marginbook.serve import listening as sockets

from .conftest import FORM


def _read_until_closed(connection: socket.socket) -> bytes:
    found = b""
    connection.settimeout(10)
    while piece := connection.recv(65536):
        found += piece
    return found


def test_a_slow_head_is_cut_off(listening, monkeypatch) -> None:
    monkeypatch.setattr(sockets, "PATIENCE", 0.5)
    port, _ = listening
    for first in (b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n"):
        with socket.create_connection(("127.0.0.1", port)) as connection:
            began = time.monotonic()
            if first:
                connection.sendall(first)
            assert _read_until_closed(connection) == b""
            assert time.monotonic() - began < 5


def test_a_slow_body_is_cut_off(listening, monkeypatch) -> None:
    monkeypatch.setattr(guard, "PATIENCE", 0.5)
    port, gate = listening
    head = (
        f"POST {FORM} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n"
        f"Cookie: {gate.cookie}=the-token\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        "Connection: close\r\nContent-Length: 100\r\n\r\nn="
    )
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(head.encode())
        assert _read_until_closed(connection).startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize(
    "raw",
    [b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nHost: 127.0.0.1\r\n\r\n",
     b"\x16\x03\x01\x00\r\n\r\n", b"GET /" + b"a" * 40000 + b" HTTP/1.1\r\n\r\n",
     b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n"],
    ids=["no host", "two hosts", "TLS", "long", "absolute"],
)  # fmt: skip
def test_broken_requests_get_a_plain_refusal(listening, raw: bytes) -> None:
    port, _ = listening
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(raw)
        connection.shutdown(socket.SHUT_WR)
        answer = _read_until_closed(connection)
    assert answer.startswith(b"HTTP/1.1 4")
    assert b"Traceback" not in answer

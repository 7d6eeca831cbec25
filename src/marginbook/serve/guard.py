"""What every request passes before anything looks at it: host, origin, token, size and time.

A browser runs the code of any page that it shows, and such code can send requests to this machine. So a
request counts as the reader's only if it names this server (no other name may be bound to the address), comes
from one of its own pages where it changes anything, and carries the token that the terminal showed.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl

from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

ENTER = "/-/enter"
LARGEST_BODY = 64 * 1024
LARGEST_QUERY = 8 * 1024
#: seconds in which a body has to be there
PATIENCE = 10.0
_SAFE = ("GET", "HEAD")

_SHARED = "base-uri 'none'; object-src 'none'; form-action 'self'; frame-ancestors 'self'"
#: for our own pages: no script but the one file
OWN = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    f"frame-src 'self'; {_SHARED}"
)
#: for our own pages with formulas: MathJax, which is one of the book's files, puts styles into the page
MATHS = OWN.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'; font-src 'self'")
#: for pages of the book, which have scripts in them: nothing from another machine
BOOK = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; "
    "style-src 'self' 'unsafe-inline'; "
    f"img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; {_SHARED}"
)
#: for the page of a run: its scripts see no cookie and no other page, and reach nothing
RUN = (
    "sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox; default-src 'none'; "
    "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
    "content-security-policy": OWN,
}


@dataclass(frozen=True)
class Gate:
    """Who may come in.

    Attributes
    ----------
    token : str
    hosts : tuple of str
        What ``Host`` may be, with the port.
    scheme : str
        ``https`` behind a proxy.
    cookie : str
        Name; cookies are shared by all ports of a host, so the port is part of it.
    """

    token: str
    hosts: tuple[str, ...]
    scheme: str = "http"
    cookie: str = "marginbook"

    def address(self) -> str:
        """Return the address that lets a browser in."""
        return f"{self.scheme}://{self.hosts[0]}{ENTER}?token={self.token}"


class Guard:
    """The outermost layer of the application."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self.app, self.gate = app, gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # no web socket is served here
            await send({"type": "websocket.close", "code": 1008})
            return
        send = _with_headers(send)
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        if scope["method"] in _SAFE:
            await self.app(scope, receive, send)
            return
        try:
            body = await asyncio.wait_for(_body(receive, _length(scope)), PATIENCE)
        except TimeoutError:
            await refused(408, "The request took too long to arrive.")(scope, receive, send)
        except _TooLarge:
            await refused(413, f"A request may have {LARGEST_BODY // 1024} kB.")(scope, receive, send)
        except ConnectionError:
            return
        else:
            await self.app(scope, _replay(body, receive), send)

    def _refusal(self, scope: Scope) -> Response | None:
        hosts = _values(scope, b"host")
        if len(hosts) != 1 or hosts[0].lower() not in self.gate.hosts:
            return refused(400, "This server does not go by that name.")
        if len(scope["query_string"]) > LARGEST_QUERY:
            return refused(414, "The address is too long.")
        path = scope["path"]
        if path == ENTER and scope["method"] in _SAFE:
            return self._entering(scope)
        sites = _values(scope, b"sec-fetch-site")
        if not self._has_token(_values(scope, b"cookie")):
            if sites == ["cross-site"] and _values(scope, b"sec-fetch-mode") == ["navigate"]:
                # a link on another site: SameSite=Strict keeps the cookie back, our own page may ask again
                return refused(403, "One moment …", again=scope["method"] in _SAFE)
            return refused(403, "Open the address that `marginbook serve` printed in the terminal.")
        if scope["method"] not in _SAFE and not self._is_ours(_values(scope, b"origin"), sites, hosts[0]):
            return refused(403, "This request comes from another site.")
        return None

    def _entering(self, scope: Scope) -> Response:
        given = dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("token", "")
        if not _same(given, self.gate.token):
            return refused(403, "That token is not the one of this server; it is new at each start.")
        answer = RedirectResponse("/", 303, {"referrer-policy": "no-referrer"})
        answer.set_cookie(
            self.gate.cookie, self.gate.token, path="/", httponly=True, samesite="strict",
            secure=self.gate.scheme == "https",
        )  # fmt: skip
        return answer

    def _has_token(self, cookies: Iterable[str]) -> bool:
        for text in cookies:
            try:
                found = SimpleCookie(text).get(self.gate.cookie)
            except CookieError:
                continue
            if found is not None and _same(found.value, self.gate.token):
                return True
        return False

    def _is_ours(self, origins: list[str], sites: list[str], host: str) -> bool:
        """Return whether a page of the very name that is asked sends this: of our names each is a site."""
        if origins:
            own = host.lower().removesuffix(":443" if self.gate.scheme == "https" else "")
            return [each.lower() for each in origins] == [f"{self.gate.scheme}://{own}"]
        return sites == ["same-origin"]


class _TooLarge(Exception):
    pass


def refused(status: int, why: str, *, again: bool = False) -> Response:
    """Return a page of one sentence."""
    refresh = '<meta http-equiv="refresh" content="0">' if again else ""
    body = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">{refresh}<title>{status}</title></head>'
        f"<body><p>{escape(why)}</p></body></html>"
    )
    return Response(body, status, media_type="text/html")


async def _body(receive: Receive, announced: int) -> bytes:
    if announced > LARGEST_BODY:
        raise _TooLarge
    found = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionError
        found += message.get("body", b"")
        if len(found) > LARGEST_BODY:
            raise _TooLarge
        if not message.get("more_body"):
            return found


def _length(scope: Scope) -> int:
    texts = _values(scope, b"content-length")
    return int(texts[0]) if texts and texts[0].isascii() and texts[0].isdigit() else 0


def _replay(body: bytes, receive: Receive) -> Receive:
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            there = {name.lower() for name, _ in message["headers"]}
            missing = [(n.encode(), v.encode()) for n, v in _HEADERS.items() if n.encode() not in there]
            message = {**message, "headers": [*message["headers"], *missing]}
        await send(message)

    return sending


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())

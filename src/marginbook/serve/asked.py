"""What a request holds, and the pages that say that it is wrong."""

from __future__ import annotations

from html import escape
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from .markup import page

#: fields of a form; a data set each may be ticked
_MOST_FIELDS = 500
_WORDS = {
    403: "This is not allowed.",
    404: "There is nothing at this address.",
    405: "This address cannot be asked in that way.",
    415: "Expected a form.",
}


def named(request: Request) -> str:
    """Return the id that an address names: something to look up, nothing more."""
    return f"{request.path_params['room']}/{request.path_params['name']}"


def pairs(text: bytes) -> dict[str, list[str]]:
    """Return the values of a form or a query by their names."""
    try:
        entries = parse_qsl(
            text.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict"
        )
    except (ValueError, UnicodeError):
        raise HTTPException(400, "This is no form.") from None
    found: dict[str, list[str]] = {}
    for name, value in entries:
        found.setdefault(name, []).append(value)
    return found


async def posted(request: Request) -> dict[str, list[str]]:
    """Return what a form sends; nothing but a form is read."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(415)
    return pairs(await request.body())


async def refused(request: Request, error: Exception) -> Response:
    """Answer what is not there, or not allowed."""
    assert isinstance(error, HTTPException)
    why = _WORDS.get(error.status_code, error.detail)
    body = f'<p>{escape(why)}</p><p><a href="/">The book</a></p>'
    return HTMLResponse(page(str(error.status_code), body), error.status_code, error.headers)


async def broken(request: Request, error: Exception) -> Response:
    """Answer what went wrong here."""
    return HTMLResponse(page("500", "<p>This went wrong here; the terminal has the details.</p>"), 500)

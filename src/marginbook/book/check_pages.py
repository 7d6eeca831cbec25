"""The code of the checks in the built book: a page for each file, and on it a place for each function.

They stand beside the book's own pages: neither the contents nor the search has them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from html import escape
from pathlib import Path

from ..claims import Claim

FOLDER = "checks"  # of the files in the built book
_DEFINED = re.compile(r"^def (\w+)", re.MULTILINE)
_STYLE = (
    "body { font-family: sans-serif; margin: 1rem auto; max-width: 62rem; padding: 0 1rem; } "
    "h1 { font-size: 1.2rem; } pre { overflow-x: auto; font-size: 0.85rem; line-height: 1.4; } "
    ":target { background: Mark; color: MarkText; }"
)


def write(extra: Path, claims: Iterable[Claim]) -> None:
    """Write a page for each file that checks a claim.

    Parameters
    ----------
    extra : path
        What lies in it comes into the built book as it is.
    claims : iterable of Claim
        With their checks imported.
    """
    for module in sorted({claim.module for claim in claims}):
        name = name_of(module)
        target = extra / FOLDER / f"{name}.html"
        target.parent.mkdir(parents=True, exist_ok=True)
        text = Path(str(sys.modules[module].__file__)).read_text(encoding="utf-8")
        target.write_text(page(f"{name}.py", text), encoding="utf-8")


def page(name: str, text: str) -> str:
    """Return the page of a file: its text as it is, and the name of each function as a place to link to."""
    top = "../" * (name.count("/") + 1)
    code = _DEFINED.sub(r'def <span id="\1">\1</span>', escape(text, quote=False))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">'
        f'<title>{escape(name)}</title><link rel="icon" href="{top}_static/favicon.svg">'
        f"<style>{_STYLE}</style></head>\n"
        f'<body><main><h1>{escape(name)}</h1><p><a href="{top}book/claims.html">All claims</a></p>\n'
        f"<pre>{code}</pre></main></body></html>\n"
    )


def name_of(module: str) -> str:
    """Return the place of a module in its package, without ending: ``drm/claims/section_5_stopping``."""
    return module.partition(".")[2].replace(".", "/")


def address(claim: Claim) -> str:
    """Return where the check of a claim is in the built book, from its top."""
    return f"{FOLDER}/{name_of(claim.module)}.html#{claim.function}"

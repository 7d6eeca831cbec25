"""The findings on two pages as a PDF: Chromium prints the built page, with its print style sheet.

Its links lead into the book. Where ``html_baseurl`` in ``_config.yml`` names its public address they are
absolute, and work wherever the PDF is sent. Else they are relative, and work where it lies beside the page.
"""

from __future__ import annotations

import base64
import importlib.util
import os
import re
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

import yaml  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

#: the page in the folder of the built book, and the file beside it
PAGE, NAME = Path("book", "summary.html"), "findings-on-two-pages.pdf"
PAGES = 2
#: stands for the folder of the book until the PDF is written; no machine has this name
_NOWHERE = "https://beside.invalid/"
_PLACE = re.compile(r'<p class="take-along as-pdf">.*?</p>')
_LINK = (
    f'<p class="take-along as-pdf"><a class="reference download internal" download href="{NAME}">'
    "The two pages, A4 (PDF)</a></p>"
)
_URI = re.compile(rb"\(https://beside\.invalid/(book/)?([^()]*)\)")
_DATE = re.compile(rb"\((D:)\d{14}([^()]*)\)")
#: absolute addresses on paper: of the page itself the file would name folders of this machine
_REBASE = """base => {
  const here = new URL('.', location.href);
  for (const link of document.querySelectorAll('article.bd-article a[href]')) {
    const target = link.getAttribute('href');
    if (/^[a-z]+:/i.test(target)) continue;
    link.href = target.startsWith('#') ? base + 'summary.html' + target : new URL(target, base).href;
  }
}"""


class NotPrinted(RuntimeError):
    """The page cannot be printed here; the message says what is missing."""


def chromium(own: str) -> str:
    """Return the path of Chromium, that of the system or `own` of Playwright, or an empty text.

    The one without windows comes first: it starts, and opens pages, in half the time.
    """
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", own)
    found = map(shutil.which, names)
    return next(filter(None, found), "")


def launch(playwright: Playwright) -> Browser:
    """Start Chromium; raise NotPrinted where there is none."""
    program = chromium(playwright.chromium.executable_path)  # there only after `playwright install`
    if not program:
        raise NotPrinted(
            "no Chromium here: install the system's package `chromium-headless-shell` or `chromium`, "
            "or call `playwright install chromium`"
        )
    # Chromium refuses to sandbox the root user
    sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    # the headless shell hints fonts, which rounds the widths of letters to whole pixels and moves line breaks
    return playwright.chromium.launch(executable_path=program, args=["--font-render-hinting=none", *sandbox])


def public_address(config: str) -> str:
    """Return where the book is public, with a slash at the end, or an empty text.

    Parameters
    ----------
    config : str
        The text of ``_config.yml``.
    """
    settings = (yaml.safe_load(config) or {}).get("sphinx") or {}
    url = str((settings.get("config") or {}).get("html_baseurl") or "").rstrip("/")
    return f"{url}/" if url else ""


def print_summary(html: Path, stamp: int, address: str = "") -> Path:
    """Write the PDF beside its page, offer it there for download, and return its path.

    Parameters
    ----------
    html : path
        Folder of the built book.
    stamp : int
        Seconds since 1970: the date that the PDF bears.
    address : str
        As from `public_address`.

    Raises
    ------
    NotPrinted
        There is no page, no browser or no Playwright, the browser fails, or it is not two pages long.
    """
    page = html / PAGE
    if not page.is_file():
        raise NotPrinted("the book is not built, or has no such page")
    if importlib.util.find_spec("playwright") is None:
        raise NotPrinted("no Playwright here; it comes with the extra `test`")
    from playwright.sync_api import Error, sync_playwright

    try:
        with sync_playwright() as playwright:
            browser = launch(playwright)
            made = as_pdf(page, browser, address)
            browser.close()
    except Error as error:
        raise NotPrinted(f"Chromium cannot print it: {str(error).strip().splitlines()[0]}") from None
    if pages(made) != PAGES:
        raise NotPrinted(f"it takes {pages(made)} pages with the fonts of this machine, not {PAGES}")
    target = page.with_name(NAME)
    target.write_bytes(settled(made, stamp))
    link_to_pdf(page)
    return target


def as_pdf(page: Path, browser: Browser, address: str = "") -> bytes:
    """Print a page of the built book; the links of its article lead to `address`, or to pages beside it."""
    context = browser.new_context(color_scheme="light")
    try:
        tab = context.new_page()
        tab.goto(page.resolve().as_uri(), wait_until="load")
        tab.add_style_tag(content=faces())
        tab.evaluate("() => document.fonts.ready.then(() => true)")
        tab.evaluate(_REBASE, f"{address or _NOWHERE}{PAGE.parent}/")
        return bytes(tab.pdf(prefer_css_page_size=True, tagged=True))
    finally:
        context.close()


def faces() -> str:
    """Return the fonts of the PDF as a style sheet: those of Matplotlib, which every machine has."""
    from matplotlib import get_data_path

    folder = Path(get_data_path(), "fonts", "ttf")
    made = []
    for file, weight, style in (
        ("STIXGeneral", 400, "normal"),
        ("STIXGeneralBol", 700, "normal"),
        ("STIXGeneralItalic", 400, "italic"),
    ):
        data = base64.b64encode((folder / f"{file}.ttf").read_bytes()).decode()
        face = f"font-family: STIXGeneral; font-weight: {weight}; font-style: {style}"
        made.append(f"@font-face {{ {face}; src: url(data:font/ttf;base64,{data}) }}")
    return "\n".join(made)


def pages(made: bytes) -> int:
    """Return how many pages a PDF of Chromium has."""
    return len(re.findall(rb"/Type\s*/Page\b", made))


def settled(made: bytes, stamp: int) -> bytes:
    """Give a PDF the date of `stamp`, and relative links where they start nowhere; no byte moves.

    A PDF holds offsets into itself, so that what gets shorter is followed by spaces, which it ignores.
    """
    when = time.strftime("%Y%m%d%H%M%S", time.gmtime(stamp)).encode()
    made = _DATE.sub(rb"(\g<1>" + when + rb"\g<2>)", made)

    def beside(found: re.Match[bytes]) -> bytes:
        return (b"(./" if found[1] else b"(../") + found[2] + b")"

    return _URI.sub(lambda found: beside(found).ljust(len(found[0])), made)


def link_to_pdf(page: Path) -> None:
    """Put the link to the PDF where the page keeps a place for it."""
    text = page.read_text(encoding="utf-8")
    page.write_text(_PLACE.sub(_LINK, text), encoding="utf-8")

"""The files of the built book: a table of what is there, and a bar on the pages of notebooks."""

from __future__ import annotations

import mimetypes
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path

from starlette.responses import FileResponse, Response

from .guard import BOOK

_PAGE = re.compile(r"notebooks/([a-z0-9]+/[0-9]{2}_\w+)\.html")
_ARTICLE = re.compile(rb'<article class="bd-article"[^>]*>')
_TYPES = {".js": "text/javascript", ".woff2": "font/woff2", ".ipynb": "application/x-ipynb+json"}


class Site:
    """The built book.

    Parameters
    ----------
    folder : path
        What Sphinx has written.
    bar : callable
        Given the id of a notebook, the HTML above its page; nothing for a page that cannot be run.
    """

    def __init__(self, folder: Path, bar: Callable[[str], str]) -> None:
        self.folder, self._bar = folder, bar
        self._files: dict[str, Path] = {}
        self._made: float | None = None
        self._lock = threading.Lock()

    @property
    def built(self) -> bool:
        return (self.folder / "index.html").is_file()

    def answer(self, address: str) -> Response | None:
        """Return what stands at an address of the book, or None: the address is only looked up."""
        name = address.removeprefix("/") or "index.html"
        path = self._table().get(name) or self._table().get(f"{name.rstrip('/')}/index.html")
        # a link may have been put in its place since the table was made
        if path is None or path.is_symlink() or not path.is_file() or not self._inside(path):
            return None
        headers = {"content-security-policy": BOOK, "cache-control": "no-cache"}
        if path.suffix == ".html" and name.startswith(("book/", "notebooks/", "index.html")):
            page = _PAGE.fullmatch(path.relative_to(self.folder).as_posix())
            bar = self._bar(page[1]) if page else ""
            return Response(with_bar(path.read_bytes(), bar), headers=headers, media_type="text/html")
        kind = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        return FileResponse(path, headers=headers, media_type=kind)

    def _table(self) -> dict[str, Path]:
        """Return the files by address; made again after the book was built again."""
        try:
            made = (self.folder / "index.html").stat().st_mtime
        except OSError:
            return {}
        with self._lock:
            if made != self._made:
                self._files, self._made = self._walk(), made
            return self._files

    def _walk(self) -> dict[str, Path]:
        found = {}
        for folder, _, names in os.walk(self.folder, followlinks=False):
            for name in names:
                path = Path(folder, name)
                if not path.is_symlink() and self._inside(path):
                    found[path.relative_to(self.folder).as_posix()] = path
        return found

    def _inside(self, path: Path) -> bool:
        return path.resolve().is_relative_to(self.folder.resolve())


def with_bar(page: bytes, bar: str) -> bytes:
    """Return a page of the book with `bar` at the head of its text, and with links beside commands."""
    style = b'<link rel="stylesheet" href="/-/static/serve.css">'
    script = b'<script src="/-/static/book.js" defer></script>'
    page = page.replace(b"</head>", style + script + b"</head>", 1)
    place = _ARTICLE.search(page)
    at = place.end() if place else page.find(b"<body>") + len(b"<body>")
    return page[:at] + bar.encode() + page[at:]

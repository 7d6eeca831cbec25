"""A page with one figure and the script that replaces it, served with the scripts of the book as they are."""

from __future__ import annotations

import re
from http.server import ThreadingHTTPServer
from pathlib import Path

from marginbook.base.project import resource

from .conftest import Quiet

SCRIPTS = resource("book", "_static", "explore")
#: the smallest picture, grey
STILL = "data:image/gif;base64,R0lGODlhAQABAIAAAMLCwgAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw=="
PAGE = """<!doctype html><html lang="en" data-theme="{theme}"><head>
<meta charset="utf-8"><title>{room}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
<style>body {{ font: 16px sans-serif; margin: 1rem }} main {{ max-width: 720px; margin: auto }}
html[data-theme="dark"] body {{ background: #14181e; color: #e6e6e6 }}</style></head>
<body><main><h1>{room}</h1><article class="bd-article"><figure><img class="finding explore-{room}"
alt="A still." width="600" height="300" src="{still}"><figcaption>What the still shows.</figcaption></figure>
{script}<p id="after">The text goes on.</p></article></main></body></html>"""


class ExploreHandler(Quiet):
    """Serves ``/book/<room>.html`` and, below ``/_static``, the book's own files."""

    extensions_map = Quiet.extensions_map | {".js": "text/javascript"}  # whatever this system says

    def do_GET(self) -> None:
        match = re.fullmatch(r"/book/(\w+)\.html(\?dark)?", self.path)
        if not match:
            super().do_GET()
            return
        room, dark = match.groups()
        body = PAGE.format(
            room=room,
            theme="dark" if dark else "light",
            still=STILL,
            script=script_of(room) if room != "numbers" else "",
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def script_of(room: str) -> str:
    """Return the script tag of a chapter, from its source."""
    text = resource("book", f"{room}.md").read_text(encoding="utf-8")
    found = re.search(r"^<script [^\n]*explore/[^\n]*</script>$", text, re.MULTILINE)
    assert found, f"book/{room}.md does not load its explorable"
    return found[0]


def serve(folder: Path) -> ThreadingHTTPServer:
    """Return a server of the book's folder, on this machine only."""
    import functools

    return ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(ExploreHandler, directory=str(folder)))

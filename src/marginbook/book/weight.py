"""What a page need not load: icons that no page shows, and the index of the search outside the search."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

ICONS = "_static/scripts/fontawesome.js"  # of the theme: all icons there are, 1.5 MB
_NAMED = re.compile(r"\bfa-([a-z][a-z0-9-]*)")
_MODIFIERS = frozenset({"solid", "regular", "brands", "lg", "fw", "xs", "sm", "xl", "2x", "spin"})
_SEARCH = re.compile(
    r'[ \t]*<script src="[^"]*(?:searchtools|language_data|searchindex)\.js[^"]*"></script>\n?'
)
_SCRIPT = """\
// The icons of this book, from Font Awesome Free (https://fontawesome.com/license/free, CC BY 4.0).
const ICONS = %s;
const draw = () => {
  for (const old of document.querySelectorAll("i[class*='fa-']")) {
    const name = [...old.classList].map((word) => word.slice(3)).find((word) => word in ICONS);
    if (!name) continue;
    const [wide, path] = ICONS[name];
    const icon = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    for (const { name, value } of old.attributes) icon.setAttribute(name, value);
    icon.setAttribute("viewBox", `0 0 ${wide} 512`);
    icon.setAttribute("aria-hidden", "true");
    icon.classList.add("svg-inline--fa");
    icon.append(document.createElementNS("http://www.w3.org/2000/svg", "path"));
    icon.firstChild.setAttribute("d", path);
    icon.firstChild.setAttribute("fill", "currentColor");
    old.replaceWith(icon);
  }
};
draw();
addEventListener("load", draw); // those that other scripts put in
"""


def lighten(html: Path) -> None:
    """Leave out of a built book what its pages load and do not use.

    Parameters
    ----------
    html : path
        Folder with ``index.html``.
    """
    pages = [path for path in html.rglob("*.html") if "_static" not in path.relative_to(html).parts]
    used: set[str] = set()
    for page in pages:
        text = page.read_text(encoding="utf-8")
        used |= icons(text)
        less = text if page == html / "search.html" else _SEARCH.sub("", text)
        if less != text:
            page.write_text(less, encoding="utf-8")
    script = html / ICONS
    if script.is_file():
        for path in html.glob("_static/scripts/*theme.js"):
            used |= icons(path.read_text(encoding="utf-8"))
        if short := only(used, script.read_text(encoding="utf-8")):
            script.write_text(short, encoding="utf-8")


def icons(text: str) -> set[str]:
    """Return the names of the icons that a page or a script mentions."""
    return set(_NAMED.findall(text)) - _MODIFIERS


def only(names: Iterable[str], script: str) -> str:
    """Return a script that draws the named icons, from the one that has all; nothing if one is not in it."""
    found: dict[str, list[int | str]] = {}
    for name in sorted(names):
        there = re.findall(
            rf'[{{,]"?{re.escape(name)}"?:\[(\d+),512,\[[^\]]*\],"[0-9a-f]+","([^"]+)"\]', script
        )
        if not there:
            return ""
        wide, path = there[-1]  # brands, outlines, and last the solid ones
        found[name] = [int(wide), path]
    return _SCRIPT % json.dumps(found)

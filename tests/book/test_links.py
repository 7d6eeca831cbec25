"""Every link inside the built book ends at a page, and at a place on it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup

pytestmark = pytest.mark.browser


@cache
def soup(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


@cache
def places(path: Path) -> frozenset[str]:
    return frozenset(tag["id"] for tag in soup(path).find_all(id=True))


def dead_links(html: Path) -> list[str]:
    found = []
    for path in sorted(html.rglob("*.html")):
        if {"_static", "reports"} & set(path.relative_to(html).parts):
            continue
        for link in soup(path).find_all("a", href=True):
            url = urlsplit(link["href"])
            if url.scheme or url.netloc:
                continue
            target = (path.parent / unquote(url.path)).resolve() if url.path else path
            anchor = unquote(url.fragment)
            if not target.is_file():
                found.append(f"{path.relative_to(html)}: {link['href']} is not there")
            elif anchor and target.suffix == ".html" and anchor not in places(target):
                found.append(f"{path.relative_to(html)}: {link['href']}: no place of that name")
    return found


def test_no_link_is_dead(html: Path) -> None:
    assert dead_links(html.resolve()) == []


def test_dead_links_and_anchors_are_seen(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="b.html">x</a><a href="#no">y</a><a id="yes" href="#yes">z</a>')
    assert dead_links(tmp_path) == ["a.html: b.html is not there", "a.html: #no: no place of that name"]


def test_pages_load_nothing_from_another_machine(html: Path) -> None:
    loads = {"script": "src", "link": "href", "img": "src", "iframe": "src"}
    found = [
        f"{path.relative_to(html)}: {tag[attribute]}"
        for path in html.rglob("*.html")
        for name, attribute in loads.items()
        for tag in soup(path).find_all(name, attrs={attribute: True})
        if tag[attribute].startswith(("http:", "https:", "//")) and tag.get("rel") != ["canonical"]
    ]
    assert found == []

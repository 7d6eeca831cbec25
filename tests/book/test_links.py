"""Every link inside the built book ends at a page, and at a place on it."""

from __future__ import annotations

from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup

pytestmark = pytest.mark.browser


@cache
def soup(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


class Tags(HTMLParser):
    """Name and attributes of every tag: a tree takes four times as long."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))


@cache
def tags(path: Path) -> list[tuple[str, dict[str, str]]]:
    parser = Tags()
    parser.feed(path.read_text(encoding="utf-8"))
    parser.close()
    return parser.found


@cache
def places(path: Path) -> frozenset[str]:
    return frozenset(attributes["id"] for _, attributes in tags(path) if "id" in attributes)


@cache
def target_of(folder: Path, address: str) -> tuple[Path, bool]:
    target = (folder / unquote(address)).resolve()
    return target, target.is_file()


def dead_links(html: Path) -> list[str]:
    found = []
    for path in sorted(html.rglob("*.html")):
        if {"_static", "reports"} & set(path.relative_to(html).parts):
            continue
        for tag, link in tags(path):
            if tag != "a" or "href" not in link:
                continue
            url = urlsplit(link["href"])
            if url.scheme or url.netloc:
                continue
            target, there = target_of(path.parent, url.path) if url.path else (path, True)
            anchor = unquote(url.fragment)
            if not there:
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
        f"{path.relative_to(html)}: {attributes[loads[tag]]}"
        for path in html.rglob("*.html")
        for tag, attributes in tags(path)
        if attributes.get(loads.get(tag, ""), "").startswith(("http:", "https:", "//"))
        and attributes.get("rel") != "canonical"
    ]
    assert found == []

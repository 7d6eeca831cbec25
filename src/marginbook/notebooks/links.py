"""Links out of a page of a run: into the built book where there is one, words where there is none."""

from __future__ import annotations

import os
import posixpath
import re
import zlib
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

from ..base.project import root
from .catalogue import build_dir

# what MyST writes in the sources, and what Sphinx lists of the pages that it has made of them
ANCHOR = re.compile(r"^(?:\(([\w.:-]+)\)=|:(?:label|name): *([\w.:-]+))\s*$", re.MULTILINE)
_TITLE = re.compile(r"^# +(.+?)\s*$", re.MULTILINE)
_OBJECT = re.compile(r"^(\S+) std:(label|doc) -?\d+ (\S+) ", re.MULTILINE)


@dataclass(frozen=True)
class Links:
    """The links of one page.

    Attributes
    ----------
    id : str
        Of the notebook: links to other pages are relative to it.
    page : path
        The file that will hold the links.
    here : collection of str
        Anchors that the page has itself.
    """

    id: str
    page: Path
    here: Collection[str] = ()

    def __call__(self, text: str, target: str) -> str:
        """Return Markdown for a link to ``#anchor`` or a page ``../room/02_x.ipynb``; `text` may be empty."""
        if target.startswith("#"):
            kind, name = "label", target[1:]
            if name in self.here:
                return f"[{text or name}]({target})"
            document = self._sources.get(name, "")
        else:
            path = target.partition("#")[0].removesuffix(".md").removesuffix(".ipynb")
            kind, name = "doc", posixpath.normpath(posixpath.join("notebooks", self.id, "..", path))
            document = name
        title = self._title(document)
        text = text or title or name
        if (kind, name) in self._built:
            path, _, anchor = self._built[kind, name].partition("#")
            way = Path(os.path.relpath(build_dir("html", path), self.page.parent)).as_posix()
            return f"[{text}]({quote(way)}{f'#{anchor}' if anchor else ''})"
        return f"{text} (in the book{f': “{title}”' if title and title != text else ''})"

    @cached_property
    def _built(self) -> dict[tuple[str, str], str]:
        """Where labels and pages of the built book are, from the inventory that Sphinx puts beside them."""
        inventory = build_dir("html", "objects.inv")
        if not inventory.is_file():
            return {}
        packed = inventory.read_bytes().split(b"\n", 4)[4]
        text = zlib.decompress(packed).decode()
        found = {(kind, name): uri.replace("$", name) for name, kind, uri in _OBJECT.findall(text)}
        return {key: uri for key, uri in found.items() if build_dir("html", uri.partition("#")[0]).is_file()}

    @cached_property
    def _sources(self) -> dict[str, str]:
        """In which text of the checkout each anchor is."""
        home = root()
        if home is None:
            return {}
        return {
            "".join(names): path.relative_to(home).with_suffix("").as_posix()
            for folder in ("book", "notebooks")
            for path in sorted(home.glob(f"{folder}/**/*.md"))
            for names in ANCHOR.findall(path.read_text(encoding="utf-8"))
        }

    def _title(self, document: str) -> str:
        home = root()
        if home is None or not document or not (home / f"{document}.md").is_file():
            return ""
        heading = _TITLE.search((home / f"{document}.md").read_text(encoding="utf-8"))
        return heading[1] if heading else ""

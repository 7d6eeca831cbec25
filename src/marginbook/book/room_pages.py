"""Pages that each room has: its claims, its results, and, where nobody wrote them, a chapter and a reference.

So a room is in the book as soon as it has notebooks. A chapter ``book/<room>.md`` that ``_toc.yml`` names
replaces the one from here.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from ..base.rooms import Room, papers, rooms
from ..experiments import experiments

_SLIDES = """## To teach it

<a href="../slides/{key}.html">Lecture slides</a> of this chapter: one file, which needs no network.

"""


def without_chapter(home: Path) -> list[Room]:
    """Return the rooms that have notebooks in the checkout `home` and that its ``_toc.yml`` does not name."""
    contents = (home / "_toc.yml").read_text(encoding="utf-8")
    return [
        room
        for key, room in rooms().items()
        if any((home / "notebooks" / key).glob("*.md")) and f"notebooks/{key}/" not in contents
    ]


def write(home: Path, source: Path) -> None:
    """Add to the tree `source` what the rooms lack, and all rooms' own references to its bibliography.

    Parameters
    ----------
    home : path
        The checkout.
    source : path
        Copies of its ``_toc.yml`` and ``book``.
    """
    bibliography = source / "book" / "references.bib"
    own = [path for path in (room.paper("references.bib") for room in rooms().values()) if path.is_file()]
    if own and bibliography.is_file():
        with bibliography.open("a", encoding="utf-8") as shared:
            shared.writelines(f"\n{path.read_text(encoding='utf-8')}" for path in own)
    for room in rooms().values():
        for name in lists_of(room):
            if (source / "book" / f"{name}.md").is_file():
                page = source / "book" / f"{name}-{room.key}.md"
                page.write_text(_filled(name, room), encoding="utf-8")
    added = without_chapter(home)
    for room in added:
        for target, name in ((f"{room.key}.md", "chapter"), (f"api/{room.key}.md", "reference")):
            page = source / "book" / target
            if not page.is_file():
                page.parent.mkdir(parents=True, exist_ok=True)
                page.write_text(_filled(name, room), encoding="utf-8")
    if added:
        _enter(source / "_toc.yml", added)


def lists_of(room: Room) -> list[str]:
    """Return which lists a room has a page of: of its claims, of its results."""
    own = {"claims": room.claims, "results": any(id.startswith(f"{room.key}/") for id in experiments())}
    return [name for name, there in own.items() if there]


def short_name(key: str) -> str:
    """Return how the book calls a room where there is little space, such as ``LDM``."""
    room = rooms()[key]
    return room.short or room.title


def _filled(name: str, room: Room) -> str:
    """Return a page from its template; only papers have benchmarks and errata."""
    template = files(__package__).joinpath("room_templates", f"{name}.md.in").read_text(encoding="utf-8")
    return Template(template).substitute(
        key=room.key,
        title=room.title,
        short=short_name(room.key),
        chapter=room.chapter,
        package=room.package,
        cited=f"The paper {{cite:p}}`{room.citation}`" if room.citation else "This subject",
        slides=_SLIDES.format(key=room.key) if room.claims else "",
        sections=_filled("sections", room) if name == "chapter" and room.citation else "",
    )


def unlisted(sections: list[dict[str, str]], added: list[Room]) -> list[dict[str, str]]:
    """Return entries for the pages of rooms in the reference that no pattern among `sections` finds.

    Examples
    --------
    >>> unlisted([{"glob": "book/api/[!i]*"}], [rooms()["ldm"]])
    []
    """
    pages = (f"book/api/{room.key}" for room in added)
    patterns = [each["glob"] for each in sections if "glob" in each]
    return [{"file": page} for page in pages if not any(fnmatchcase(page, each) for each in patterns)]


def _enter(path: Path, added: list[Room]) -> None:
    """Put chapters into a table of contents: after those of the papers, else at its end.

    With them go their lists, and those pages of the reference that no pattern of its own finds.
    """
    import yaml  # type: ignore[import-untyped]  # it comes with jupyter-book

    contents: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    new = [{"file": f"book/{room.key}", "sections": [{"glob": f"notebooks/{room.key}/*"}]} for room in added]
    lists = [part.setdefault("chapters", []) for part in contents.get("parts", [contents])]
    chosen, place = lists[-1], len(lists[-1])
    for chapters in lists:
        for number, chapter in enumerate(chapters, start=1):
            if any(f"notebooks/{key}/" in str(chapter.get("sections")) for key in papers()):
                chosen, place = chapters, number
    chosen[place:place] = new
    for chapters in lists:
        for chapter in chapters:
            name = str(chapter.get("file", "")).removeprefix("book/")
            own = [
                {"file": f"book/{name}-{room.key}", "title": short_name(room.key)}
                for room in added
                if name in lists_of(room)
            ]
            if name == "api/index":
                own = unlisted(chapter.get("sections", []), added)
            if own:
                chapter["sections"] = [*chapter.get("sections", []), *own]
    path.write_text(yaml.safe_dump(contents, sort_keys=False), encoding="utf-8")

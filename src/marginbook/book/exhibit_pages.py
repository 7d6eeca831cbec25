"""From every printed table and figure to the command that makes it again, and to its notebook."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..base.rooms import papers
from ..claims import ROOMS, Claim, Kind
from ..claims.errata import PAPERS
from ..experiments import experiments, load_protocol
from .checked_claims import Checked
from .ledger_pages import notebook_link
from .myst import NOTHING, badge, plain, table
from .search_entries import evidence_anchor

HEADINGS = ["printed", "what it shows", "do it again", "claims", "notebook"]
_PLACE = re.compile(
    r"\b(Table|Figure)s?\s+((?:[IVX]+\b|\d+|, (?=[IVX\d])| and (?=[IVX\d])| to (?=[IVX\d]))+)"
)
_ROMAN = {"I": 1, "V": 5, "X": 10}

Place = tuple[str, int]  # ("Table", 3)


@dataclass(frozen=True)
class Exhibit:
    """A printed table or figure, or a row of figures.

    Attributes
    ----------
    room, name : str
        Such as ``"drm"`` and ``"Table III"``.
    shows : str
    page : str
        A link to where the book has it, if neither a claim nor a run is about it.
    """

    room: str
    name: str
    shows: str
    page: str = ""

    @property
    def places(self) -> frozenset[Place]:
        return mentions(self.name)


def mentions(text: str) -> frozenset[Place]:
    """Return the tables and figures that a text names, ranges included.

    >>> sorted(mentions("Tables II and III; Figures 2 to 4, 9"))
    [('Figure', 2), ('Figure', 3), ('Figure', 4), ('Figure', 9), ('Table', 2), ('Table', 3)]
    """
    found = set()
    for kind, listed in _PLACE.findall(text):
        for piece in re.split(r", | and ", listed.strip()):
            first, _, last = piece.partition(" to ")
            found |= {(kind, number) for number in range(_number(first), _number(last or first) + 1)}
    return frozenset(found)


@cache
def exhibits() -> tuple[Exhibit, ...]:
    """Return every table and figure that the papers print, from each room's ``paper/exhibits.toml``."""
    return tuple(
        Exhibit(key, name, **({"shows": entry} if isinstance(entry, str) else entry))
        for key, room in papers().items()
        if (path := room.paper("exhibits.toml")).is_file()
        for name, entry in tomllib.loads(path.read_text(encoding="utf-8")).items()
    )


def write(folder: Path, checked: Checked) -> None:
    """Write ``exhibits.md`` into a folder."""
    parts = []
    for room in PAPERS:
        own = [exhibit for exhibit in exhibits() if exhibit.room == room]
        parts += [f"(exhibits-{room})=", f"## {ROOMS[room]}", ""]
        rows = [row(exhibit, checked) for exhibit in own]
        parts.append(
            table(HEADINGS, rows, widths=[11, 19, 26, 24, 20], classes="wide cards exhibits")
            if rows
            else "The paper prints neither tables nor figures.\n"
        )
        if others := beyond(room):
            parts += ["Runs of ours that no table or figure asks for:\n", *(_run(id) for id in others)]
    if across := [id for id in experiments() if id.partition("/")[0] not in PAPERS]:
        parts += ["(exhibits-across)=", "## Across the papers", ""]
        parts += ["No paper prints these.\n", *(_run(id) for id in across)]
    folder.joinpath("exhibits.md").write_text("\n".join(parts), encoding="utf-8")


def row(exhibit: Exhibit, checked: Checked) -> list[str]:
    """Return the cells of one table or figure."""
    claims, evidence, shown = checked
    about = claims_about(exhibit, claims.values())
    links = [f"{badge(evidence[c.id].verdict)} [{_tail(c.id)}](#{evidence_anchor(c)})" for c in about]
    # the page of the claim that bears the exhibit's own number comes first
    notebooks = dict.fromkeys(notebook_link(claim.notebook, shown) for claim in about[:1])
    notebooks |= {f"On [another page]({exhibit.page}).": None} if exhibit.page else {}
    return [
        exhibit.name,
        plain(exhibit.shows),
        "\\\n".join(f"`{command}`" for command in commands(exhibit, about)) or NOTHING,
        "\\\n".join(links) or NOTHING,
        " ".join(filter(None, notebooks)) or NOTHING,
    ]


def commands(exhibit: Exhibit, about: Iterable[Claim]) -> list[str]:
    """Return what to type: the runs behind it, else the claims about it, else the list of the data."""
    about = list(about)
    if found := runs_of(exhibit, about):
        return [f"marginbook experiment run {id} --profile paper" for id in found]
    timed = any(path.startswith("benchmarks/") for claim in about for path in claim.depends)
    if about:
        return [
            *([f"make bench PAPER={exhibit.room}"] if timed else []),
            *(f"marginbook claims {claim.id}" for claim in about),
        ]
    return ["marginbook data list"] if exhibit.page == "data.md" else []


def runs_of(exhibit: Exhibit, about: Iterable[Claim]) -> list[str]:
    """Return the experiments that are titled after the exhibit; else those that its first claim reads."""
    own = [id for id in experiments() if id.startswith(f"{exhibit.room}/")]
    if named := [id for id in own if _titled_after(id) & exhibit.places]:
        return named
    read = {path for claim in list(about)[:1] for path in claim.depends}
    return [id for id in own if f"results/{id}.csv" in read]


def claims_about(exhibit: Exhibit, claims: Iterable[Claim]) -> list[Claim]:
    """Return the claims whose place or id names the exhibit, the one about its own numbers first."""
    about = [
        c for c in claims if c.paper == exhibit.room and (mentions(c.where) | _named(c)) & exhibit.places
    ]
    about = [c for c in about if c.kind != Kind.OURS] or about
    # "Table 4" before "Section 5.2, Table 4" and "Tables 2 to 4"
    return sorted(
        about, key=lambda c: (len(mentions(c.where) - exhibit.places), not c.where.startswith(("Tab", "Fig")))
    )


def _named(claim: Claim) -> frozenset[Place]:
    """Return what the id begins with: that of ``drm/table-5-order``, whose place is a section, is Table V."""
    found = re.match(r"(table|fig)-(\d+)(?!\w)", _tail(claim.id))
    return frozenset({("Table" if found[1] == "table" else "Figure", int(found[2]))} if found else ())


def beyond(room: str) -> list[str]:
    """Return the experiments of a room that belong to no table or figure."""
    asked = {place for exhibit in exhibits() if exhibit.room == room for place in exhibit.places}
    return [id for id in experiments() if id.startswith(f"{room}/") and not _titled_after(id) & asked]


def _run(id: str) -> str:
    return f"`marginbook experiment run {id} --profile paper`\n: {_title(id)}\n"


def _titled_after(id: str) -> frozenset[Place]:
    # "Table 4: accuracy" is that table; "Table 4 with other weights" is a run of ours
    head, colon, _ = _title(id).partition(":")
    return mentions(head) if colon else frozenset()


def _title(id: str) -> str:
    return load_protocol(id).title


def _tail(id: str) -> str:
    return id.partition("/")[2]


def _number(text: str) -> int:
    if text.isdigit():
        return int(text)
    values = [_ROMAN[letter] for letter in text]
    return sum(-v if v < max(values[place:]) else v for place, v in enumerate(values))

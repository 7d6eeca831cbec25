"""The findings of the chapters and of the home page, with their pictures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from ..base.rooms import rooms
from ..claims import Claim
from ..claims.findings import Finding, findings, idea
from ..claims.summary import Sentence
from .checked_claims import Checked
from .room_pages import short_name
from .search_entries import evidence_anchor

PICTURES = "findings"  # folder of the pictures, beside the fragments
SMALL = "-card"  # at the end of the names of those on cards
CARD = (4.8, 3.2)  # inches; a card is narrow, and what is drawn larger has letters too small to read there
_HEAD = re.compile(r"(.+?)([:.])(\s|$)")


def write(folder: Path, checked: Checked) -> dict[str, list[Finding]]:
    """Write ``findings-<room>.md`` for every room, ``findings-home.md``, and their pictures.

    `folder` is ``book/_generated`` of the source tree. Returns the findings by room, which take a while to
    compute.

    Raises
    ------
    ValueError
        A finding is not true any more.
    """
    verdicts = {id: str(found.verdict) for id, found in checked.evidence.items()}
    home: dict[str, list[tuple[Finding, str]]] = {}
    found: dict[str, list[Finding]] = {}
    for room in rooms():
        told = found[room] = findings(room)
        refuse_false(told, verdicts)
        pictures = draw(folder, room, told)
        parts = [
            chapter_entry(number, one, pictures.get(number, ""), checked.claims, checked.shown)
            for number, one in enumerate(told, start=1)
        ]
        folder.joinpath(f"findings-{room}.md").write_text("\n".join(parts), encoding="utf-8")
        home[room] = [
            (one, pictures.get(number, "").replace(".png", f"{SMALL}.png"))
            for number, one in enumerate(told, start=1)
            if one.home
        ]
    folder.joinpath("findings-home.md").write_text(home_page(home), encoding="utf-8")
    return found


def home_page(told: Mapping[str, list[tuple[Finding, str]]]) -> str:
    """Return the home page's part: cards, then a list; findings come by room, with their pictures' paths.

    Rooms about several papers have the first cards.
    """
    order = sorted(rooms().values(), key=lambda room: bool(room.citation))
    cards = [
        home_card(one, picture, room.key)
        for room in order
        for one, picture in told.get(room.key, [])[: room.cards]
    ]
    others = [
        f"- {headline(one.home)} [{short_name(key)}]({rooms()[key].chapter}.md)"
        for key, found in told.items()
        for one, _ in found[rooms()[key].cards :]
    ]
    parts = ["\n".join(["::::{grid} 1 1 2 2", ":gutter: 3", "", *cards, "::::", ""])] if cards else []
    if others:
        parts.append("\n".join(["Also:" if cards else "", "", *others, ""]))
    return "\n".join(parts)


def refuse_false(told: Iterable[Finding | Sentence], verdicts: Mapping[str, str]) -> None:
    """Raise ValueError for the first finding that is not true of the verdicts."""
    for one in told:
        if why := one.false(verdicts):
            raise ValueError(f"the finding {one.title!r} is not true any more: {why}; write it anew")


def draw(folder: Path, room: str, told: Sequence[Finding]) -> dict[int, str]:
    """Draw the pictures, that of the idea with them; return the paths, relative to ``book/``, by number.

    Those of the home page are drawn for its cards, too.
    """
    import matplotlib.pyplot as plt

    from ..base.plotting import STYLE

    target = folder / PICTURES
    target.mkdir(exist_ok=True)
    drawings = {str(number): one.picture for number, one in enumerate(told, start=1)} | {"idea": idea(room)}
    paths = {}
    for key, drawing in drawings.items():
        if drawing is None:
            continue
        name = f"{room}-{key}"
        with plt.rc_context(cast(Any, STYLE)):
            figure = drawing()
            # no date, no version: the same picture is the same bytes
            figure.savefig(target / f"{name}.png", metadata={"Software": None})
            if key.isdigit() and told[int(key) - 1].home:
                figure.set_size_inches(*CARD)
                figure.savefig(target / f"{name}{SMALL}.png", metadata={"Software": None})
            plt.close(figure)
        if key.isdigit():
            paths[int(key)] = f"_generated/{PICTURES}/{name}.png"
    return paths


def chapter_entry(
    number: int, one: Finding, picture: str, claims: Mapping[str, Claim], shown: set[str]
) -> str:
    """Return a finding as a section of its chapter."""
    lines = [f"### {number}. {one.title}", "", one.text.strip(), ""]
    if picture:
        lines += [
            f"```{{figure}} {picture}",
            f":alt: {one.alt}",
            ":class: finding",
            "",
            one.caption,
            "```",
            "",
        ]
    needed = [claims[id] for id in one.needs]
    places = Counter(claim.place for claim in needed)
    # for ours, and several claims of one place, the end of the id tells which
    tails = [c.id.partition("/")[2] for c in needed]
    names = [
        f"ours: {tail}" if c.place != c.where else c.place if places[c.place] == 1 else f"{c.place} ({tail})"
        for c, tail in zip(needed, tails, strict=True)
    ]
    # places have commas and semicolons of their own
    evidence = " · ".join(
        f"[{name}](#{evidence_anchor(claim)})" for name, claim in zip(names, needed, strict=True)
    )
    ways = [f"Evidence: {evidence}"] if evidence else []
    id, _, anchor = one.page.partition("#")
    if id in shown:
        ways.append(f"[the notebook]({f'#{anchor}' if anchor else f'../notebooks/{id}.ipynb'})")
    lines += ["{.ways}", " · ".join(ways), ""]
    return "\n".join(lines)


def home_card(one: Finding, picture: str, room: str) -> str:
    """Return a finding as a card of the home page, which leads to its chapter."""
    lines = [":::{grid-item-card}", f":link: {rooms()[room].chapter}", ":link-type: doc", ""]
    if picture:
        lines += [f"```{{image}} {picture}", f":alt: {one.alt}", ":class: finding", "```", ""]
    return "\n".join([*lines, headline(one.home), ":::", ""])


def headline(text: str) -> str:
    """Set what comes before the first colon or full stop in bold, where a text does not begin so.

    >>> headline("It fails: eight points are enough.")
    '**It fails**: eight points are enough.'
    >>> headline("It fails. Here is why.")
    '**It fails.** Here is why.'
    >>> headline("**It fails.** Here is why.")
    '**It fails.** Here is why.'
    """
    if not text or text.startswith("**"):
        return text
    said, mark, _ = found.groups() if (found := _HEAD.match(text)) else (text, "", "")
    rest = text[len(said) + len(mark) :]
    return f"**{said}**{mark}{rest}" if mark == ":" else f"**{said}{mark}**{rest}"

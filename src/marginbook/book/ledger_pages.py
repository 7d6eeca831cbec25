"""The claims in the book: scoreboard, ledger with evidence, the verdicts of a chapter."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..claims import ROOMS, Claim, Evidence
from ..claims.ledger_file import as_text
from ..claims.ledger_file import in_words as counts_in_words
from ..claims.sharpness import blunt, shipped
from . import check_pages
from .checked_claims import Checked
from .myst import NOTHING, badge, dropdown, in_words, plain, powers, table, target, told
from .room_pages import short_name
from .scoreboard_table import ledger_anchor, scoreboard_table
from .search_entries import evidence_anchor, search_entries

HEADINGS = ["verdict", "where", "statement", "shown in"]
WIDTHS = [18, 19, 48, 15]
EVERY = ["verdict", "paper", "where", "shown in"]


def write(folder: Path, checked: Checked) -> None:
    """Write the fragments that pages include: the overview, a ledger and a table of verdicts for each room.

    `folder` is ``book/_generated`` of the source tree.
    """
    claims, evidence, shown = checked
    kinds = {id: claim.kind for id, claim in claims.items()}
    put = {
        "scoreboard.md": scoreboard_table(kinds, evidence),
        "claims.md": overview(claims, evidence, shown) if claims else "No claim has been entered yet.\n",
        "evidence.json": as_text(claims, evidence),
    }
    for room in ROOMS:
        own = {id: claim for id, claim in claims.items() if claim.paper == room}
        parts = [
            f"({ledger_anchor(room)})=",
            "## Verdicts\n",
            counted(own, evidence),
            verdict_table(own, evidence, shown, ledger=True),
            "## Evidence\n",
            *(details(claim, evidence[id], shown) for id, claim in own.items()),
        ]
        put[f"claims-{room}.md"] = "\n".join(parts) if own else "No claim has been entered yet.\n"
        put[f"verdicts-{room}.md"] = verdict_table(own, evidence, shown)
    for name, text in put.items():
        folder.joinpath(name).write_text(text, encoding="utf-8")


def counted(claims: Mapping[str, Claim], evidence: Mapping[str, Evidence]) -> str:
    """Return in a sentence how many claims have which verdict."""
    found = Counter(evidence[id].verdict for id in claims)
    return f"{len(claims)} claims, ours included: {counts_in_words(found)}.\n"


def overview(claims: Mapping[str, Claim], evidence: Mapping[str, Evidence], shown: set[str]) -> str:
    """Return a row for each claim, without formulas, so that the page loads at once."""
    rows = [
        [
            f"{badge(evidence[id].verdict)} {kind(claim)}",
            short_name(claim.paper),
            f"[{claim.place}](#{evidence_anchor(claim)})",
            page_link(claim.notebook, shown) or NOTHING,
        ]
        for id, claim in claims.items()
    ]
    return table(EVERY, rows, widths=[24, 16, 44, 16], classes="sortable fixed cards overview")


def verdict_table(
    claims: Mapping[str, Claim], evidence: Mapping[str, Evidence], shown: set[str], *, ledger: bool = False
) -> str:
    """Return a row for each claim; in the ledger each row has a name that links can point at."""
    rows = []
    for id, claim in claims.items():
        place = f"[{claim.place}](#{evidence_anchor(claim)})"
        rows.append(
            [
                f"{badge(evidence[id].verdict)}\\\n{kind(claim)}",
                target(row_anchor(claim), place) if ledger else place,
                claim.statement,
                page_link(claim.notebook, shown) or NOTHING,
            ]
        )
    return table(HEADINGS, rows, widths=WIDTHS, classes="sortable fixed cards verdicts")


def kind(claim: Claim) -> str:
    """Return the kind of a claim as a label."""
    return f"[{claim.kind}]{{.kind .kind-{claim.kind}}}"


def row_anchor(claim: Claim) -> str:
    """Return the name of a claim's row; its slug alone is the name of the section of a notebook."""
    return f"claim-{claim.slug}"


def details(claim: Claim, found: Evidence, shown: set[str]) -> str:
    items = [f"{kind(claim)} {claim.statement}"]
    items += [f"**Claimed:** {told(found.claimed)}", f"**Measured:** {told(found.measured)}"]
    if found.slack is not None:
        items.append(f"**Slack:** {powers(f'{found.slack:.2g}')}")
    items.append(told(found.why))
    if found.reach is not None:
        items.append(f"**Reached:** {100 * found.reach:.4g} % of the bound.")
    if found.reading:
        items.append(f"**Reading-dependent:** {told(found.reading)}")
    items.append(f"**Rivals:** {rivals(claim)}")
    facts = [f"{name}: {_short(value)}" for name, value in found.sizes.items()]
    facts.append(f"seeds: {_short(found.seeds)}" if found.seeds else "no random numbers")
    items.append("*Computed with* " + "; ".join(map(told, facts)) + ".")
    where = notebook_link(claim.notebook, shown)
    file, _, function = claim.source.partition(": ")
    # in HTML, as MyST warns of a link to a file that is not in the source tree
    code = f'<a href="../{check_pages.address(claim)}"><code>{function}</code> in <code>{file}</code></a>'
    checked = f"Checked by {code}; in a terminal: `marginbook claims {claim.id}`."
    items.append(f"{where} {checked}".lstrip())
    return search_entries(claim) + dropdown(f"{claim.place}: {in_words(found.verdict)}", "\n\n".join(items))


def rivals(claim: Claim) -> str:
    """Return in a sentence which false variants of a claim its check refutes."""
    met = shipped().get(claim.id, [])
    killed = [one.rival for one in met if one.killed]
    left = [one.rival for one in met if not one.killed and not one.erred]
    erred = [one.rival for one in met if one.erred]
    said = [f"refuted {'; '.join(map(told, killed))}"] if killed else []
    said += [f"not noticed {'; '.join(map(told, left))}"] if left else []
    said += [f"no verdict came with {'; '.join(map(told, erred))}"] if erred else []
    mark = "[blunt]{.blunt} no false variant of the statement is known to be refuted by this check"
    mark += f": {told(claim.blunt_because)}" if claim.blunt_because else ""
    return ". ".join([*([mark] if blunt(claim) else []), *said]) + "."


def notebook_link(place: str, shown: set[str]) -> str:
    """Return a sentence that links to the section of a notebook, if the book has that notebook."""
    id = place.partition("#")[0]
    return f"Shown in [{plain(id)}]({_address(place)})." if id in shown else ""


def page_link(place: str, shown: set[str]) -> str:
    """Return the same link as a word for a narrow column, such as drm/02."""
    id = place.partition("#")[0]
    return f"[{id.partition('_')[0]}]({_address(place)})" if id in shown else ""


def _address(place: str) -> str:
    # Markdown's link to a file finds no anchors inside it; an anchor is a name of the whole book
    id, _, anchor = place.partition("#")
    return f"#{anchor}" if anchor else f"../notebooks/{id}.ipynb"


def _short(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_short(each)}" for name, each in value.items())
    if isinstance(value, list | tuple) and len(value) > 8:
        return f"{value[0]}, {value[1]}, …, {value[-1]} ({len(value)} values)"
    if isinstance(value, list | tuple) and value and all(isinstance(each, str) for each in value):
        return ", ".join(f"({each})" if ", " in each else each for each in value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)

"""The claims in the book: scoreboard, ledger with evidence, the verdicts of a chapter."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..claims import ROOMS, Claim, Evidence
from ..claims.sharpness import blunt, shipped
from .myst import NOTHING, badge, dropdown, plain, powers, table, target
from .scoreboard_table import ledger_anchor, scoreboard_table
from .search_entries import evidence_anchor, search_entries

HEADINGS = ["verdict", "kind", "where", "statement", "claimed", "measured", "slack", "page"]


def write(
    folder: Path, claims: Mapping[str, Claim], evidence: Mapping[str, Evidence], shown: set[str]
) -> None:
    """Write the fragments that pages include.

    Parameters
    ----------
    folder : path
        ``book/_generated`` of the source tree.
    claims, evidence : mapping
        By claim id.
    shown : set of str
        Ids of the notebooks in the book: no link goes to another.
    """
    rooms = list(dict.fromkeys(claim.paper for claim in claims.values()))
    kinds = {id: claim.kind for id, claim in claims.items()}
    put = {"scoreboard.md": scoreboard_table(kinds, evidence)}
    ledgers = []
    for room in rooms:
        own = {id: claim for id, claim in claims.items() if claim.paper == room}
        ledgers += [f"({ledger_anchor(room)})=", f"## {ROOMS[room]}\n"]
        ledgers += [ledger_table(own, evidence, shown), "### Evidence\n"]
        ledgers += [details(claim, evidence[id], shown) for id, claim in own.items()]
        put[f"verdicts-{room}.md"] = verdict_table(own, evidence, shown)
    put["claims.md"] = "\n".join(ledgers) or "No claim has been entered yet.\n"
    for name, text in put.items():
        folder.joinpath(name).write_text(text, encoding="utf-8")


def ledger_table(claims: Mapping[str, Claim], evidence: Mapping[str, Evidence], shown: set[str]) -> str:
    rows = []
    for id, claim in claims.items():
        found = evidence[id]
        slack = NOTHING if found.slack is None else f"[{found.slack:.2g}]{{.nowrap}}"
        rows.append(
            [
                badge(found.verdict),
                kind(claim),
                target(row_anchor(claim), f"[{claim.where}](#{evidence_anchor(claim)})"),
                claim.statement,
                powers(found.claimed),
                powers(found.measured),
                slack,
                page_link(claim.notebook, shown) or NOTHING,
            ]
        )
    return table(
        HEADINGS, rows, widths=[13, 10, 10, 29, 9, 13, 8, 8], classes="sortable wide fixed cards ledger"
    )


def verdict_table(claims: Mapping[str, Claim], evidence: Mapping[str, Evidence], shown: set[str]) -> str:
    rows = [
        [
            badge(evidence[id].verdict),
            kind(claim),
            f"[{claim.where}](#{evidence_anchor(claim)})",
            claim.statement,
            page_link(claim.notebook, shown) or NOTHING,
        ]
        for id, claim in claims.items()
    ]
    # "not-reproduced" needs a fifth of the page, which would stay empty beside "holds"
    long = any(len(evidence[id].verdict) > len("corrected") for id in claims)
    widths = [20, 13, 18, 37, 12] if long else [14, 13, 18, 43, 12]
    headings = ["verdict", "kind", "where", "statement", "page"]
    return table(headings, rows, widths=widths, classes="sortable fixed cards verdicts")


def kind(claim: Claim) -> str:
    """Return the kind of a claim as a label."""
    return f"[{claim.kind}]{{.kind .kind-{claim.kind}}}"


def row_anchor(claim: Claim) -> str:
    """Return the name of a claim's row; its slug alone is the name of the section of a notebook."""
    return f"claim-{claim.slug}"


def details(claim: Claim, found: Evidence, shown: set[str]) -> str:
    items = [f"{kind(claim)} {claim.statement}"]
    items += [f"**Claimed:** {powers(found.claimed)}", f"**Measured:** {powers(found.measured)}", found.why]
    if found.reach is not None:
        items.append(f"**Reached:** {100 * found.reach:.4g} % of the bound.")
    if found.reading:
        items.append(f"**Reading-dependent:** {found.reading}")
    items.append(f"**Rivals:** {rivals(claim)}")
    facts = [f"{name}: {_short(value)}" for name, value in found.sizes.items()]
    facts.append(f"seeds: {_short(found.seeds)}" if found.seeds else "no random numbers")
    items.append("*Computed with* " + "; ".join(plain(fact) for fact in facts) + ".")
    where = notebook_link(claim.notebook, shown)
    file, _, function = claim.source.partition(": ")
    checked = f"Checked by `{function}` in `{file}`; in a terminal: `marginbook claims {claim.id}`."
    items.append(f"{where} {checked}".lstrip())
    return search_entries(claim) + dropdown(f"{claim.where}: {found.verdict}", "\n\n".join(items))


def rivals(claim: Claim) -> str:
    """Return in a sentence which false neighbours of a claim its check refutes."""
    met = shipped().get(claim.id, [])
    killed = [one.rival for one in met if one.killed]
    left = [one.rival for one in met if not one.killed]
    said = [f"refuted {'; '.join(map(plain, killed))}"] if killed else []
    said += [f"not noticed {'; '.join(map(plain, left))}"] if left else []
    mark = "[blunt]{.blunt} no false neighbour of the statement is known to be refuted by this check"
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
    if isinstance(value, list | tuple) and len(value) > 8:
        return f"{value[0]}, {value[1]}, …, {value[-1]} ({len(value)} values)"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)

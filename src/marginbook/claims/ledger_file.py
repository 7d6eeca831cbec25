"""The ledger as a file of the repository: every claim, its verdict, and where its evidence is."""

from __future__ import annotations

import re
from collections.abc import Mapping

from . import ROOMS, Claim, Evidence, Kind, scoreboard

NAME = "LEDGER.md"
COMMAND = f"marginbook claims --markdown > {NAME}"
_FENCE = re.compile(r"^(`{3,}|:{3,}).*?^\1\s*$", re.MULTILINE | re.DOTALL)


def markdown(claims: Mapping[str, Claim], evidence: Mapping[str, Evidence]) -> str:
    """Return the ledger as Markdown: a section for each paper, a line for each claim.

    Only the verdict of the evidence is in it, so that the file is the same on every machine.

    Parameters
    ----------
    claims, evidence : mapping
        By claim id.
    """
    lines = [
        "# Every claim, its verdict, and its evidence",
        "",
        f"Written by `{COMMAND}`. A claim leads to the notebook that derives and measures it;",
        "`marginbook claims drm/thm-VI.3` prints what was measured for one. The built book also has the",
        "numbers, a filter, and links into sections. What the verdicts mean: [verdicts](book/verdicts.md).",
    ]
    kinds = {id: claim.kind for id, claim in claims.items()}
    board = scoreboard(kinds, {id: evidence[id] for id in claims})
    for room in dict.fromkeys(claim.paper for claim in claims.values()):
        lines += ["", f"## {ROOMS[room]}"]
        for ours, title in ((False, "Claims of the paper"), (True, "Ours")):
            own = [c for c in claims.values() if c.paper == room and (c.kind == Kind.OURS) == ours]
            if own:
                counts = ", ".join(f"{n} {verdict}" for verdict, n in board[room][ours].items() if n)
                lines += ["", f"{title}: {counts}.", "", *(line(claim, evidence[claim.id]) for claim in own)]
    return "\n".join(lines) + "\n"


def line(claim: Claim, found: Evidence) -> str:
    """Return the entry of one claim."""
    id, _, anchor = claim.notebook.partition("#")
    title = section(id, anchor)
    place = f" In “{title}”." if title else ""
    return (
        f"- [{claim.where}](notebooks/{id}.ipynb), {claim.kind}: **{found.verdict}**. "
        f"{claim.statement.rstrip('.')}.{place} `{claim.id}`"
    )


def section(id: str, anchor: str) -> str:
    """Return the title of the section of a notebook in which an anchor stands, or nothing."""
    from ..notebooks import available

    known = available()
    if id not in known:
        return ""
    # headings are those of the text: a line of code may start with # too
    text = _FENCE.sub("", known[id].text.read_text(encoding="utf-8"))
    before, found, after = text.partition(f"\n({anchor})=\n")
    if not found:
        return ""
    own = re.match(r"(?:\s*\([\w.-]+\)=\n)*\s*#+ (.+)", after)
    headings = re.findall(r"^#+ (.+)$", before, re.MULTILINE)
    return own[1] if own else headings[-1] if headings else ""

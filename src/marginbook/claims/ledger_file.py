"""The ledger as files of the repository: every claim and its verdict, to read, and all evidence as JSON.

And the scoreboard of the README: how many claims of each paper came out how, and ours apart.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from . import ROOMS, Claim, Evidence, Kind, Verdict, scoreboard
from .sharpness import blunt, rivals_killed

NAME = "LEDGER.md"
COMMAND = f"marginbook claims --markdown > {NAME}"
_FENCE = re.compile(r"^(`{3,}|:{3,}).*?^\1\s*$", re.MULTILINE | re.DOTALL)


def record(claim: Claim, item: Evidence) -> dict[str, Any]:
    """Return all that is known of a claim, under the names of `Claim` and `Evidence`."""
    described = {
        "id": claim.id,
        "kind": str(claim.kind),
        "where": claim.where,
        "statement": claim.statement,
        "notebook": claim.notebook,
        "check": claim.source,
        "rivals": list(claim.rivals),
        "rivals_killed": rivals_killed(claim),
        "blunt": blunt(claim),
    }
    return described | asdict(item)


def as_text(claims: Mapping[str, Claim], evidence: Mapping[str, Evidence]) -> str:
    """Return the records of claims as JSON, as ``results/claims/evidence.json`` has those of all."""
    found = [record(claim, evidence[id]) for id, claim in claims.items()]
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def markdown(claims: Mapping[str, Claim], evidence: Mapping[str, Evidence]) -> str:
    """Return the ledger as Markdown: a section for each paper, a line for each claim.

    Only the verdict of the evidence is in it, and of the rivals what the shipped file says, so that it is the
    same on every machine.

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
        "numbers, a filter, and links into sections. What a verdict, a rival and a blunt claim are:",
        "[verdicts](book/verdicts.md).",
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


#: between these lines of a page stands the scoreboard
MARKS = (
    "<!-- scoreboard: `marginbook claims --scoreboard README.md` writes it -->",
    "<!-- end of scoreboard -->",
)


def board(kinds: Mapping[str, Kind], verdicts: Mapping[str, Verdict]) -> str:
    """Return the scoreboard as a table of Markdown: papers down, verdicts across, ours in the last column.

    A verdict that no claim of a paper has got is left out.

    Parameters
    ----------
    kinds, verdicts : mapping
        By claim id.
    """
    rooms = list(dict.fromkeys(id.partition("/")[0] for id in verdicts))
    counts = {(room, ours): Counter[Verdict]() for room in rooms for ours in (False, True)}
    for id, verdict in verdicts.items():
        counts[id.partition("/")[0], kinds[id] == Kind.OURS][verdict] += 1
    used = [verdict for verdict in Verdict if any(counts[room, False][verdict] for room in rooms)]
    rows = [
        ["", *(str(verdict).replace("-", " ") for verdict in used), "ours"],
        ["---", *("--:" for _ in used), "---"],
    ]
    whole, every = Counter[Verdict](), Counter[Verdict]()
    for room in rooms:
        paper, ours = counts[room, False], counts[room, True]
        whole, every = whole + paper, every + ours
        rows.append([ROOMS[room], *(str(paper[verdict] or "") for verdict in used), in_words(ours)])
    rows.append(["**All**", *(str(whole[verdict] or "") for verdict in used), in_words(every)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def in_words(counts: Mapping[Verdict, int]) -> str:
    """Return how many have which verdict, as in ``3 holds, 1 fails``; empty where none has one."""
    return ", ".join(f"{counts[each]} {str(each).replace('-', ' ')}" for each in Verdict if counts.get(each))


def put_board(path: Path, text: str) -> None:
    """Put the scoreboard between its marks in a file.

    Raises
    ------
    ValueError
        The file has no such marks.
    """
    before, first, rest = path.read_text(encoding="utf-8").partition(MARKS[0])
    _, last, after = rest.partition(MARKS[1])
    if not (first and last):
        raise ValueError(f"{path} has no place for the scoreboard: {MARKS[0]} and {MARKS[1]}, each on a line")
    path.write_text(f"{before}{first}\n\n{text}\n{last}{after}", encoding="utf-8")


def line(claim: Claim, found: Evidence) -> str:
    """Return the entry of one claim."""
    id, _, anchor = claim.notebook.partition("#")
    title = section(id, anchor)
    place = f" In “{title}”." if title else ""
    return (
        f"- [{claim.where}](notebooks/{id}.ipynb), {claim.kind}: **{found.verdict}**. "
        f"{claim.statement.rstrip('.')}.{place} {sharp(claim)} `{claim.id}`"
    )


def sharp(claim: Claim) -> str:
    """Return how many of the claim's rivals its check refutes, and whether it is blunt."""
    killed, number = rivals_killed(claim), len(claim.rivals)
    told = "Rivals not run." if killed is None else f"Refutes {killed} of {number} rivals." if number else ""
    return f"{told} **Blunt.**".strip() if blunt(claim) else told


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

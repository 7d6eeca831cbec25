"""The errata of the papers: what is printed, what is true, the evidence, and how much it matters.

An erratum is a claim of a paper whose check came out as `corrected` or `fails`. The verdict is measured. Two
things are not, and stand once in the room's ``claims/errata.toml``: the statement that is true instead, in
words, and what has to change, by the words of `Change`. `severity` follows from the change and the verdict.

A result that did not come out again is no erratum: it may be ours that differs.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from .. import __version__
from ..base.rooms import papers
from . import ROOMS, Claim, Evidence, Kind, Verdict

#: the rooms that are papers, with the key of each in the bibliography
PAPERS = {key: room.citation for key, room in papers().items()}
#: version of the layout of ``errata.json``; it grows when a field changes its meaning or goes
LAYOUT = 1


class Change(StrEnum):
    """What has to change in the statement, from much to little."""

    CONCLUSION = "conclusion"
    SCOPE = "scope"
    FORMULA = "formula"
    ARGUMENT = "argument"
    NUMBER = "number"
    NOTATION = "notation"


class Severity(StrEnum):
    """How much an erratum matters to a reader of the paper."""

    SERIOUS = "serious"
    MODERATE = "moderate"
    SLIGHT = "slight"


#: when each word applies; the book prints this
MEANING = {
    Change.CONCLUSION: "what is concluded is not so, and neither a further condition nor a corrected formula "
    "makes it so",
    Change.SCOPE: "it holds under a condition that is not printed, or in part of what it covers",
    Change.FORMULA: "a formula, a definition or a step of an algorithm does not do what it is for; "
    "corrected, it does",
    Change.ARGUMENT: "a step on the way is wrong; what it is to show holds",
    Change.NUMBER: "a number, a count, a constant or a cost is wrong; what the paper concludes from it stays",
    Change.NOTATION: "a misprinted sign, index or word, which the paper itself puts right elsewhere or which "
    "leaves no other reading",
}
_SEVERITY = {
    Change.CONCLUSION: Severity.SERIOUS,
    Change.SCOPE: Severity.MODERATE,
    Change.FORMULA: Severity.MODERATE,
    Change.ARGUMENT: Severity.SLIGHT,
    Change.NUMBER: Severity.SLIGHT,
    Change.NOTATION: Severity.SLIGHT,
}
_WRONG = (Verdict.CORRECTED, Verdict.FAILS)


class Unclassified(LookupError):
    """A claim did not survive its check, and its room's ``errata.toml`` does not say what is true instead."""


def severity(verdict: Verdict, change: Change) -> Severity:
    """Return how much an erratum matters: the rule of the book.

    What fails without a correction is serious. Otherwise it depends on what has to change: a conclusion is
    serious, a scope or a formula is moderate, an argument, a number or a notation is slight.
    """
    return Severity.SERIOUS if verdict == Verdict.FAILS else _SEVERITY[change]


@dataclass(frozen=True)
class Erratum:
    """One statement of a paper that is not true as printed.

    Attributes
    ----------
    claim : Claim
        Its `statement` is what is printed.
    evidence : Evidence
    change : Change
    true : str
        What is true instead; Markdown with mathematics between dollar signs.
    """

    claim: Claim
    evidence: Evidence
    change: Change
    true: str

    @property
    def severity(self) -> Severity:
        return severity(self.evidence.verdict, self.change)

    def record(self) -> dict[str, Any]:
        """Return the erratum as ``errata.json`` has it."""
        found = self.evidence
        return {
            "id": self.claim.id,
            "paper": self.claim.paper,
            "where": self.claim.where,
            "verdict": str(found.verdict),
            "changes": str(self.change),
            "severity": str(self.severity),
            "printed": self.claim.statement,
            "true": self.true,
            "evidence": {
                "claimed": found.claimed,
                "measured": found.measured,
                "slack": found.slack,
                "why": " ".join(found.why.split()),
                "sizes": found.sizes,
                "seeds": list(found.seeds),
                "notebook": self.claim.notebook,
                "command": f"marginbook claims {self.claim.id}",
            },
        }


def of_a_paper(claim: Claim) -> bool:
    """Return whether a paper prints the statement; what goes beyond the paper is ours."""
    return claim.paper in PAPERS and claim.kind != Kind.OURS


def errata(claims: Mapping[str, Claim], evidence: Mapping[str, Evidence]) -> list[Erratum]:
    """Return the errata, in the order of the ledger.

    Parameters
    ----------
    claims, evidence : mapping
        By claim id.

    Raises
    ------
    Unclassified
        An erratum has no entry in ``errata.toml``.
    """
    wrong = [c for id, c in claims.items() if of_a_paper(c) and evidence[id].verdict in _WRONG]
    known = entries()
    if missing := [claim.id for claim in wrong if claim.id not in known]:
        raise Unclassified(
            f"{', '.join(missing)} did not survive the check and errata.toml does not say what is true "
            "instead: add a table with `changes` and `true`"
        )
    return [Erratum(claim, evidence[claim.id], *known[claim.id]) for claim in wrong]


@cache
def entries() -> dict[str, tuple[Change, str]]:
    """Return what the rooms' ``errata.toml`` hold: by claim id what has to change, and what is true."""
    found = {}
    for room in papers().values():
        path = room.folder / "claims" / "errata.toml"
        for id, table in _tables(path).items() if path.is_file() else ():
            where = f"{room.key}/claims/errata.toml: {id}"
            if set(table) != {"changes", "true"}:
                raise ValueError(f"{where} has {sorted(table)}, expected changes and true")
            if table["changes"] not in list(Change):
                raise ValueError(f"{where} changes {table['changes']!r}, expected {', '.join(Change)}")
            found[id] = (Change(table["changes"]), table["true"])
    return found


def _tables(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def schema() -> dict[str, Any]:
    """Return the JSON schema of ``errata.json``, with a description of every field."""
    text = files(__package__).joinpath("errata.schema.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    fields = found["properties"]
    fields["papers"]["propertyNames"]["enum"] = list(PAPERS)
    one = fields["errata"]["items"]["properties"]
    one["paper"]["enum"] = list(PAPERS)
    one["id"]["pattern"] = f"^({'|'.join(PAPERS)})/.+$"
    return found


def document(found: Iterable[Erratum]) -> dict[str, Any]:
    """Return the content of ``errata.json``."""
    return {
        "$schema": "errata.schema.json",
        "layout": LAYOUT,
        "marginbook": __version__,
        "papers": {room: {"name": ROOMS[room], "citation": key} for room, key in PAPERS.items()},
        "changes": {str(change): meaning for change, meaning in MEANING.items()},
        "errata": [erratum.record() for erratum in found],
    }


def as_json(found: Iterable[Erratum]) -> str:
    """Return the text of ``errata.json``."""
    return json.dumps(document(found), indent=2, ensure_ascii=False) + "\n"

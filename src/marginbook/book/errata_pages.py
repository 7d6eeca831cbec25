"""The errata of the papers as a page, and as ``errata.json`` beside its schema."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from ..claims import ROOMS, Verdict
from ..claims.errata import MEANING, PAPERS, Change, Erratum, Severity, as_json, errata, schema, severity
from .checked_claims import Checked
from .ledger_pages import page_link
from .myst import badge, plain, table, told
from .search_entries import evidence_anchor

NONE = "No statement of the paper that was checked so far needs a correction.\n"
HEADINGS = ["severity", "where", "printed", "true", "evidence"]


def write(folder: Path, checked: Checked) -> None:
    """Write ``errata.md``, its rule, one ``errata-ROOM.md`` for each chapter, and the two files to download.

    `folder` is ``book/_generated`` of the source tree; the files to download go to ``book/_static``.
    """
    found = errata(checked.claims, checked.evidence)
    sections = [section(room, [e for e in found if e.claim.paper == room], checked.shown) for room in PAPERS]
    folder.joinpath("errata.md").write_text("\n".join([summary(found), *sections]), encoding="utf-8")
    for room in PAPERS:
        own = [erratum for erratum in found if erratum.claim.paper == room]
        folder.joinpath(f"errata-{room}.md").write_text(chapter(own), encoding="utf-8")
    folder.joinpath("errata-rule.md").write_text(rule(), encoding="utf-8")
    files = folder.parent / "_static"
    files.mkdir(exist_ok=True)
    files.joinpath("errata.json").write_text(as_json(found), encoding="utf-8")
    text = json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"
    files.joinpath("errata.schema.json").write_text(text, encoding="utf-8")


def summary(found: list[Erratum]) -> str:
    """Return how many errata each paper has, by severity."""
    counts = Counter((erratum.claim.paper, erratum.severity) for erratum in found)
    rows = [
        [f"[{ROOMS[room]}](#errata-{room})", *(str(counts[room, grave]) for grave in Severity)]
        for room in PAPERS
    ]
    rows.append(["**All**", *(f"**{sum(counts[room, grave] for room in PAPERS)}**" for grave in Severity)])
    headings = ["paper", *(mark(grave) for grave in Severity)]
    return table(headings, rows, widths=[52, 16, 16, 16], classes="")


def rule() -> str:
    """Return the words for what has to change, and the severity that follows from each."""
    rows = [["(verdict: fails)", "no correction is known", mark(Severity.SERIOUS)]]
    rows += [[str(change), MEANING[change], mark(severity_of(change))] for change in Change]
    return table(["what changes", "when", "severity"], rows, widths=[18, 64, 18], classes="")


def severity_of(change: Change) -> Severity:
    """Return the severity of a corrected statement."""
    return severity(Verdict.CORRECTED, change)


def section(room: str, found: list[Erratum], shown: set[str]) -> str:
    """Return the errata of one paper, the serious ones first, else in the order of the paper."""
    rows = [row(erratum, shown) for erratum in by_severity(found)]
    head = [
        f"(errata-{room})=",
        f"## {ROOMS[room]}",
        "",
        f"{{cite:p}}`{PAPERS[room]}`, [chapter]({room}.md)",
        "",
    ]
    if not rows:
        return "\n".join([*head, NONE])
    return "\n".join(
        [
            *head,
            table(HEADINGS, rows, widths=[12, 14, 24, 26, 24], classes="sortable wide fixed cards errata"),
        ]
    )


def chapter(found: list[Erratum]) -> str:
    """Return the errata of one paper for its chapter, as a list of definitions, the serious ones first."""
    lines = []
    for erratum in by_severity(found):
        claim, evidence = erratum.claim, erratum.evidence
        lines += [
            f"{mark(erratum.severity)} [{claim.where}](#{evidence_anchor(claim)}) {badge(evidence.verdict)}",
            f": *Printed:* {_sentence(claim.statement)}",
            "",
            f"  *True:* {_sentence(erratum.true)}",
            "",
            f"  *Measured:* {_sentence(told(evidence.measured))}",
            "",
        ]
    return "\n".join(lines) or NONE


def by_severity(found: list[Erratum]) -> list[Erratum]:
    """Return the serious ones first, else in the order of the paper."""
    order = list(Severity)
    return sorted(found, key=lambda erratum: order.index(erratum.severity))


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?")) else f"{text}."


def row(erratum: Erratum, shown: set[str]) -> list[str]:
    """Return the cells of one erratum."""
    claim, found = erratum.claim, erratum.evidence
    # a long name of a file would be broken inside a word
    page = page_link(claim.notebook, shown)
    links = f"[Evidence](#{evidence_anchor(claim)}){f', {page}' if page else ''}."
    return [
        f"{mark(erratum.severity)}\\\n{erratum.change}",
        f"{plain(claim.where)}\\\n`{claim.id}`",
        claim.statement,
        erratum.true,
        f"{badge(found.verdict)} {told(found.measured)}. {links}",
    ]


def mark(grave: Severity) -> str:
    """Return a severity as a word on its colour."""
    return f"[{grave}]{{.verdict .severity-{grave}}}"

"""The findings on two pages: what the authors of the papers get, each sentence with the claims behind it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import yaml  # type: ignore[import-untyped]

from .. import __version__
from ..base.project import root
from ..base.rooms import Room, papers, rooms
from ..claims import Kind, Verdict
from ..claims.errata import Severity, errata
from ..claims.read_as import ReadAs
from ..claims.summary import Sentence, Summary, summaries
from ..datasets.registry import registry
from ..experiments import experiments, load_protocol
from .checked_claims import Checked
from .finding_pages import refuse_false
from .myst import in_words
from .scoreboard_table import ledger_anchor
from .search_entries import evidence_anchor

#: what stands above the three lists of a paper
HEADINGS = ("What holds", "What does not, as printed", "What we could not decide")

#: so many claims of one room are listed; where there are more, their ledger is one link
MANY = 6


def write(folder: Path, checked: Checked, readings: Mapping[str, Sequence[ReadAs]]) -> None:
    """Write ``summary-counts.md``, and the same for ``all``, ``papers``, ``limits`` and ``object``.

    `folder` is ``book/_generated`` of the source tree.

    Raises
    ------
    ValueError
        A sentence is not true any more.
    """
    told = summaries()
    refuse_false((one for summary in told.values() for one in summary), verdicts_of(checked))
    known = rooms()
    across = [one for key, summary in told.items() if not known[key].citation for one in summary]
    each = [paper(known[key], summary, checked) for key, summary in told.items() if known[key].citation]
    home = root()
    config = (home / "_config.yml").read_text(encoding="utf-8") if home else ""
    put = {
        "counts": counts(checked),
        "all": bullets(across, checked),
        "papers": "\n".join(each),
        "limits": limits(checked, readings),
        "object": address(config),
    }
    for name, text in put.items():
        folder.joinpath(f"summary-{name}.md").write_text(text, encoding="utf-8")


def verdicts_of(checked: Checked) -> dict[str, str]:
    """Return the verdicts by claim id, as words."""
    return {id: str(found.verdict) for id, found in checked.evidence.items()}


def of_papers(checked: Checked, room: str = "") -> Counter[str]:
    """Count the verdicts on what the papers claim, or one of them; ours are not counted."""
    return Counter(
        str(checked.evidence[id].verdict)
        for id, claim in checked.claims.items()
        if claim.kind != Kind.OURS and room in ("", claim.paper)
    )


def paper(room: Room, summary: Summary, checked: Checked) -> str:
    """Return the section of one paper: how many statements came out how, then the three lists."""
    found = of_papers(checked, room.key)
    told = ", ".join(_counted(found[word], word) for word in Verdict if found[word])
    parts = [
        f"## {room.title}",
        "",
        f"{{cite:t}}`{room.citation}`. {found.total()} [statements](#{ledger_anchor(room.key)}): {told}. "
        f"[[Errata](#errata-{room.key}), [chapter]({room.chapter}.md).]{{.on-screen}}",
        "",
    ]
    for heading, sentences in zip(HEADINGS, (summary.holds, summary.differs, summary.undecided), strict=True):
        if sentences:
            parts += [f"**{heading}**", "", bullets(sentences, checked, room.key)]
    return "\n".join(parts)


def bullets(sentences: Iterable[Sentence], checked: Checked, room: str = "") -> str:
    """Return sentences as a list, each with the claims that it rests on."""
    return "".join(f"- {_kept_together(one.title)} {ways(one, checked, room)}\n" for one in sentences)


def _kept_together(text: str) -> str:
    """Let no line end before a percent sign, nor inside of a small formula.

    >>> _kept_together("q = 1 keeps 17 %").count("\N{NO-BREAK SPACE}")
    3
    """
    return re.sub(r" (?=[%=<≤≥×])|(?<=[=<≤≥×]) ", "\N{NO-BREAK SPACE}", text)


def ways(one: Sentence, checked: Checked, room: str = "") -> str:
    """Return the ids of a sentence's claims, each a link to its evidence; `room` is that of the section."""
    links = []
    if len(one.needs) > MANY and len(of := {id.partition("/")[0] for id in one.needs}) == 1:
        return f"[[{len(one.needs)} claims](#{ledger_anchor(*of)})]{{.ids}}"
    for id in one.needs:
        shown = id.removeprefix(f"{room}/")
        links.append(f"[{shown}](#{evidence_anchor(checked.claims[id])})")
    notebook, _, anchor = one.page.partition("#")
    if notebook in checked.shown:
        links.append(
            f"[{notebook.partition('_')[0]}]({f'#{anchor}' if anchor else f'../notebooks/{notebook}.ipynb'})"
        )
    return f"[{' '.join(links)}]{{.ids}}"


def _counted(number: int, word: str) -> str:
    """Return a number of verdicts in words.

    >>> _counted(2, "holds"), _counted(1, "fails"), _counted(4, "partly"), _counted(3, "not-reproduced")
    ('2 hold', '1 fails', '4 in part', '3 not reproduced')
    """
    if word in ("holds", "fails") and number != 1:
        return f"{number} {word[:-1]}"
    return f"{number} {'in part' if word == 'partly' else in_words(word)}"


def counts(checked: Checked) -> str:
    """Return what came out for all papers together."""
    found = of_papers(checked)
    stand = found[Verdict.HOLDS] + found[Verdict.REPRODUCED]
    mended = (
        one for one in errata(checked.claims, checked.evidence) if one.evidence.verdict == Verdict.CORRECTED
    )
    changed = Counter(one.severity for one in mended)
    return (
        f"Of {found.total()} statements, tables and figures of the papers, {stand} stand as printed "
        f"(version {__version__} of the book). Another {found[Verdict.CORRECTED]} stand once "
        f"[corrected](errata.md): {changed[Severity.SLIGHT]} of these need another number, notation or step "
        "of the argument, the others a formula or a condition. "
        f"{found[Verdict.FAILS]} fail. Of what we ran again, {found[Verdict.REPRODUCED]} came out, "
        f"{found[Verdict.PARTLY]} in part, and {found[Verdict.NOT_REPRODUCED]} did not; "
        f"{found[Verdict.UNDECIDED]} are undecided, and {found[Verdict.NOT_TESTABLE]} could not be tested.\n"
    )


def limits(checked: Checked, readings: Mapping[str, Sequence[ReadAs]]) -> str:
    """Return what the numbers, and the readings of `all_readings`, say about how much was left to us."""
    found = of_papers(checked)
    plans = [plan for id in experiments() if (plan := load_protocol(id)).room in papers()]
    assumed = {(plan.room, *item) for plan in plans for item in plan.not_stated.items()}
    runs = Counter((room, row.table) for room, rows in readings.items() for row in rows if row.tested)
    several = sum(number > 1 for number in runs.values())
    proofs = sum(claim.kind == Kind.PROOF for claim in checked.claims.values())
    chosen = sum(bool(plan.thresholds) for plan in plans)
    missing = [entry.name for entry in registry().values() if not entry.available]
    return (
        f"- Other numbers do not say who is wrong. The {found[Verdict.NOT_REPRODUCED]} results that were "
        "not reproduced may depend on a setting, a split or a version of the data that we do not "
        f"know.\n- Where the papers leave something open we made {len(assumed)} assumptions, and [list "
        f"them](reproducibility.md). Of {several} tables and figures we ran more than one reading, and "
        f"[the one that agrees best](#readings) counts.\n- {found[Verdict.UNDECIDED]} verdicts are "
        "*undecided*: a wrong run would have passed, too, the splits are too few, the printed means do not "
        "settle the question, or we have not run the solver that the paper used. That speaks neither for nor "
        f"against a method.\n- {len(missing)} of "
        f"{len(registry())} data sets [could not be obtained](data.md), and a public set of the same name "
        f"need not be the one that was used.\n- Random problems can refute the {proofs} equations and "
        "theorems that we checked; they prove none. Nobody "
        "has refereed our proofs and programs.\n- What counts as a difference that matters, as similar or as "
        f"most is our choice, for {chosen} tables and figures.\n"
    )


def address(config: str) -> str:
    """Return where to send an objection: to the public repository, if the configuration names one.

    Parameters
    ----------
    config : str
        The text of ``_config.yml``.
    """
    settings = (yaml.safe_load(config) or {}).get("repository") or {}
    url = str(settings.get("url") or "").rstrip("/")
    return f"Open an issue at <{url}/issues>.\n" if url else "Write to the sender of these pages.\n"

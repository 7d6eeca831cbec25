"""The numbers of the page "Can I trust this?", from the stored reports."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from ..base.project import resource
from ..claims.sharpness import shipped
from . import long_runs_page, trust_page

Rows = list[dict[str, str]]


def write(folder: Path) -> None:
    """Write ``checked.md``: one sentence for each report that is stored."""
    told = [
        rivals([one.killed for met in shipped().values() for one in met]),
        certificates(stored("trust", "certificates"), stored("trust", "conditioning")),
        order(stored("trust", "stability")),
        again(stored("trust", "recheck")),
        robust(stored("robustness", "estimators")),
    ]
    text = "\n".join(f"1. {sentence}" for sentence in told if sentence)
    folder.joinpath("checked.md").write_text(text or "Nothing is stored yet.", encoding="utf-8")


def stored(*parts: str) -> Rows:
    """Return the rows of a file of ``results/``, none if it is not there."""
    path = resource("results", *parts[:-1], f"{parts[-1]}.csv")
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def rivals(killed: list[bool]) -> str:
    """Return how many false statements the checks refuted."""
    if not killed:
        return ""
    return (
        f"**{sum(killed):,} of {len(killed):,} false statements were refuted** when we put them in place of "
        "true ones. [What the checks noticed](verdicts.md)"
    )


def certificates(rows: Rows, hard: Sequence[dict[str, str]] = ()) -> str:
    """Return how many certificates promise no more than is true, also where a problem is nearly singular."""
    asked = [row["honest"] for row in rows if row["honest"] in ("yes", "no")]
    if not asked:
        return ""
    text = f"**{asked.count('yes')} of {len(asked)} certificates are true**, judged with 100 digits"
    # a fit that warned or refused promised nothing
    kept = [row for row in hard if row["outcome"] not in ("warned", "refused", "unknown")]
    if kept:
        beyond = sum(row["outcome"] == "optimistic" for row in kept)
        promised = "promises" if beyond == 1 else "promise"
        text += f"; on [nearly singular problems](#trust-conditioning), {beyond} of {len(kept)} {promised} "
        text += "too much"
    return f"{text}. [Certificates](#trust-certificates)"


def order(rows: Rows) -> str:
    """Return how many answers stay the same when the arithmetic is done in another order."""
    kept = [row["kept"] for row in rows if row["kept"]]
    if not kept:
        return ""
    return (
        f"**{kept.count('yes')} of {len(kept)} answers stay within their limits** when the same data come in "
        "another order, another memory layout, or with two threads. [Stability](#trust-stability)"
    )


def again(rows: Rows) -> str:
    """Return how many stored results came out again."""
    if not rows:
        return ""
    return (
        f"**{trust_page.came_out(rows)}**, drawn at random{trust_page.at_commit(rows)}. "
        "[Computed again](#trust-recheck)"
    )


def robust(rows: Rows) -> str:
    """Return how many fits of random input went wrong."""
    if not rows:
        return ""
    fits, faults = (sum(int(row[name]) for row in rows) for name in ("examples", "fault"))
    return (
        f"**{faults:,} of {fits:,} fits on random, mostly bad input went wrong**: "
        f"{'the others' if faults else 'all'} ended in a solution, a warning or a clear error. "
        f"{' '.join(filter(None, [long_runs_page.fits_told(), '[Bad input](bad_input.md)']))}"
    )

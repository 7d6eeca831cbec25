"""Sharpness: which rivals of the claims their checks refute; computed in parallel, kept, and shipped.

The file ``results/claims/sharpness.csv`` is what the book shows: a run of all rivals costs several times what
all checks cost, so that no reader has to wait for it.

A verdict that changes while its text and its slack stay as they are would have been typed in. So it is also
recorded whether the two sides of the comparison, in words, and the slack change with a rival.
"""

from __future__ import annotations

import csv
import io
import json
import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache

from ..base.at_hand import registries_only
from ..base.project import cache_dir, resource
from ..base.workers import leave_ctrl_c_to_parent
from .catalogue import Claim, listed, rivals_of
from .checking import check, key
from .evidence import Evidence
from .rivals import in_place

FILE = ("results", "claims", "sharpness.csv")
#: how it is told that a check raised an error with a rival
ERROR = "error: "
#: what is said of text and slack
CHANGED, SAME = "changed", "same"


@dataclass(frozen=True)
class Met:
    """What a check said when a rival stood in the place of the claim.

    Attributes
    ----------
    id, rival : str
    verdict : str
        Of the claim itself.
    of_rival : str
        Of the same check, unchanged, with the rival; "error: ..." where it raised one, which refutes nothing.
    text, slack : str
        Whether what was measured or claimed, in words, and the slack are "changed" or the "same" with the
        rival; "" where that is not known, and for a slack that neither has.
    """

    id: str
    rival: str
    verdict: str
    of_rival: str
    text: str = ""
    slack: str = ""

    @property
    def erred(self) -> bool:
        """Whether the check came to no verdict."""
        return self.of_rival.startswith(ERROR)

    @property
    def killed(self) -> bool:
        return not self.erred and self.of_rival != self.verdict

    @property
    def alone(self) -> bool:
        """Whether the verdict changed, and text or slack did not change with it.

        The slack is of the statement as printed: where that fails without the rival, too, it may stay.
        """
        printed = {self.verdict, self.of_rival} != {"corrected", "fails"}
        return self.killed and (self.text == SAME or (printed and self.slack == SAME))

    @property
    def end(self) -> str:
        """How it ended, in a word."""
        return "no verdict" if self.erred else "killed" if self.killed else "survives"


def meet(id: str, number: int, *, fresh: bool = False) -> Met:
    """Run the check of a claim with one of its rivals, or return what was kept."""
    (entry,) = listed([id])
    path = cache_dir("rivals", f"{entry.slug}-{number}-{key(entry)[:16]}.json")
    if not fresh and path.is_file():
        kept = json.loads(path.read_text(encoding="utf-8"))
        if "text" in kept:  # before text and slack were recorded, there was none
            return Met(**kept)
    own, rival = check(id), rivals_of(id)[number]
    with registries_only(), in_place(rival), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a rival breaks may warn, and nothing is to be done about it
        try:
            found = entry.check(**rival.arguments)
        except Exception as error:  # a check that breaks says nothing about the statement
            met = Met(id, rival.what, str(own.verdict), f"{ERROR}{type(error).__name__}")
        else:
            met = Met(id, rival.what, str(own.verdict), str(found.verdict), *_changes(own, found))
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(f".{os.getpid()}.tmp")
    scratch.write_text(json.dumps(asdict(met)), encoding="utf-8")
    scratch.replace(path)
    return met


def _changes(own: Evidence, found: Evidence) -> tuple[str, str]:
    """Return whether the text and the slack of two evidences differ."""
    text = (own.measured, own.claimed) != (found.measured, found.claimed)
    none = own.slack is None and found.slack is None
    return CHANGED if text else SAME, "" if none else CHANGED if own.slack != found.slack else SAME


def meet_all(
    ids: Iterable[str] | None = None,
    *,
    n_jobs: int = -1,
    fresh: bool = False,
    progress: Callable[[Met], None] | None = None,
) -> list[Met]:
    """Let every rival of the claims meet its check, in parallel, and return them in the ledger's order.

    Parameters
    ----------
    ids : iterable of str, optional
        Ids or rooms; all claims by default.
    n_jobs : int
        Worker processes, as in joblib.
    fresh : bool
        Run again even what was kept.
    progress : callable, optional
        Called as each rival is done.
    """
    from joblib import Parallel, delayed

    wanted = [(entry.id, number) for entry in listed(ids) for number in range(len(entry.rivals))]
    done: dict[tuple[str, int], Met] = {}
    stream = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
        delayed(_meet)(id, number, fresh) for id, number in wanted
    )
    for id, number, met in stream:
        done[id, number] = met
        if progress is not None:
            progress(met)
    return [done[each] for each in wanted]


def _meet(id: str, number: int, fresh: bool) -> tuple[str, int, Met]:
    leave_ctrl_c_to_parent()
    return id, number, meet(id, number, fresh=fresh)


def as_csv(found: Iterable[Met]) -> str:
    """Return the text of the shipped file."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["claim", "rival", "verdict", "with the rival", "text", "slack"])
    writer.writerows([met.id, met.rival, met.verdict, met.of_rival, met.text, met.slack] for met in found)
    return out.getvalue()


@cache
def shipped() -> Mapping[str, list[Met]]:
    """Return what the shipped file says, by claim; empty without the file."""
    path = resource(*FILE)
    if not path.is_file():
        return {}
    found: dict[str, list[Met]] = {}
    for row in csv.reader(path.read_text(encoding="utf-8").splitlines()[1:]):
        found.setdefault(row[0], []).append(Met(*row))
    return found


def rivals_killed(claim: Claim) -> int | None:
    """Return how many of the claim's rivals its check refuted; None for rivals that nobody has run."""
    met = {one.rival: one for one in shipped().get(claim.id, [])}
    return sum(met[name].killed for name in claim.rivals) if met.keys() >= set(claim.rivals) else None


def blunt(claim: Claim) -> bool:
    """Return whether no rival of the claim is known to be refuted: an error in it might go unnoticed."""
    return not rivals_killed(claim)

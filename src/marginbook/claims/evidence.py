"""Evidence: what a check computed, and the rules by which its numbers become a verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """What is claimed, and by whom; a claim of kind `ours` counts in the bar of no paper."""

    PROOF = "proof"  # a numbered statement, an equation or an asserted property
    STATEMENT = "statement"  # a sentence of fact
    ARITHMETIC = "arithmetic"  # the paper's text against its own tables
    EXPERIMENT = "experiment"  # an experiment, run again
    OURS = "ours"  # beyond the paper: a theorem, an inference or an extension of ours


class Verdict(StrEnum):
    """What came out.

    The first three are for theorems, formulas and sentences, the other five for tables, figures and
    comparisons.
    """

    HOLDS = "holds"
    CORRECTED = "corrected"
    FAILS = "fails"
    REPRODUCED = "reproduced"
    PARTLY = "partly"
    NOT_REPRODUCED = "not-reproduced"
    UNDECIDED = "undecided"
    NOT_TESTABLE = "not-testable"


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What a check computed.

    Attributes
    ----------
    verdict : Verdict
    measured, claimed : str
        The two sides of the comparison, as short text with units.
    slack : float or None
        How far the measurement is inside (positive) or outside (negative) of what was claimed.
    why : str
        One or two sentences that connect the measurement with the verdict.
    sizes : dict
        Sizes of the problems that were tried, such as ``{"n": [2, 30], "problems": 200}``.
    seeds : tuple of int
    reach : float or None
        For a bound: the largest share of it that was reached, 1 where it is attained.
    reading : str
        Where the text admits several readings: of which one the verdict is, and how far the others are.
    """

    verdict: Verdict
    measured: str
    claimed: str
    slack: float | None
    why: str
    sizes: dict[str, Any] = field(default_factory=dict)
    seeds: tuple[int, ...] = ()
    reach: float | None = None
    reading: str = ""


def decide(as_printed: bool, as_corrected: bool | None = None) -> Verdict:
    """Return the verdict on a theorem from the two measurements.

    `as_corrected` is None where the paper's statement needed no correction.
    """
    if as_printed:
        return Verdict.HOLDS
    return Verdict.CORRECTED if as_corrected else Verdict.FAILS


def decide_below(low: float, high: float, margin: float) -> Verdict:
    """Return the verdict that a mean with the interval [low, high] is at most `margin`; undecided in between.

    >>> str(decide_below(0.1, 0.4, 0.5)), str(decide_below(0.4, 0.6, 0.5)), str(decide_below(0.6, 0.9, 0.5))
    ('holds', 'undecided', 'fails')
    """
    return Verdict.UNDECIDED if low <= margin < high else decide(high <= margin)


def share(agreeing: int, tested: int) -> Verdict:
    """Return the verdict on an experiment of which `agreeing` of `tested` parts came out as printed.

    It is *partly* where more than half of them did. Half of the parts come out by chance alone where each is
    a question of yes or no: exactly half is only enough where that has been measured, as in
    :func:`share_by_chance`.

    >>> [str(share(number, 4)) for number in (4, 3, 2)]
    ['reproduced', 'partly', 'not-reproduced']
    """
    return _settled(agreeing, tested, 2 * agreeing > tested)


def _settled(agreeing: int, tested: int, enough: bool) -> Verdict:
    if tested == 0:
        return Verdict.NOT_TESTABLE
    if agreeing == tested:
        return Verdict.REPRODUCED
    return Verdict.PARTLY if enough else Verdict.NOT_REPRODUCED


def share_open(agreeing: int, open_: int, tested: int) -> Verdict:
    """Return the verdict where the data leave some parts open: undecided if these could turn it.

    >>> str(share_open(3, 1, 4)), str(share_open(4, 0, 4)), str(share_open(0, 1, 4))
    ('undecided', 'reproduced', 'not-reproduced')
    """
    worst, best = share(agreeing, tested), share(agreeing + open_, tested)
    return worst if worst == best else Verdict.UNDECIDED


def share_by_chance(agreeing: int, tested: int, chance: float, most: float) -> Verdict:
    """Return what :func:`share` does, but undecided where `chance` is more than `most`.

    `chance` is how often runs that mean nothing do as well. As it is known, *partly* asks for half of the
    parts, and not for more.

    >>> str(share_by_chance(7, 12, 0.78, 0.05)), str(share_by_chance(2, 12, 0.9, 0.05))
    ('undecided', 'not-reproduced')
    >>> str(share_by_chance(1, 2, 0.01, 0.05))
    'partly'
    """
    verdict = _settled(agreeing, tested, 2 * agreeing >= tested)
    passed = verdict in (Verdict.REPRODUCED, Verdict.PARTLY)
    return Verdict.UNDECIDED if passed and chance > most else verdict


def short(count: float, wanted: float) -> float:
    """Return the margin of a part of a claim that is a count: what it lacks, negative, or inf if nothing.

    The slack of a claim with several parts is the smallest of their margins, so that it is negative where one
    of them fails; a part that only holds or not has no margin of its own.

    >>> min(0.3, short(14, 15)), min(0.3, short(15, 15))
    (-1.0, 0.3)
    """
    return math.inf if count >= wanted else float(count - wanted)


def at_most(value: float, bound: float) -> str:
    """Return the round `bound` as text where `value` is within it, otherwise the value.

    The digits of what rounding made, and of what an iteration left, differ between processors; whether
    they are within the tolerance that decides the verdict does not.

    >>> at_most(4.4e-16, 1e-9), at_most(0.0213, 1e-9), at_most(0.3, 1)
    ('1e-9', '0.021', '1')
    """
    number = bound if value <= bound else value
    return f"{number:.2g}" if not number < 0.01 else f"{number:.0e}".replace("e-0", "e-")


def scoreboard(
    kinds: Mapping[str, Kind], evidence: Mapping[str, Evidence]
) -> dict[str, dict[bool, dict[Verdict, int]]]:
    """Count verdicts by room, those on the paper's claims (False) apart from those on ours (True).

    Parameters
    ----------
    kinds, evidence : mapping
        By claim id.
    """
    board: dict[str, dict[bool, dict[Verdict, int]]] = {}
    for id, item in evidence.items():
        room = board.setdefault(
            id.partition("/")[0], {own: dict.fromkeys(Verdict, 0) for own in (False, True)}
        )
        room[kinds[id] == Kind.OURS][item.verdict] += 1
    return board

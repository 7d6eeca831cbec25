"""Statements of several parts, some of which the data leave open.

A part is about a number that is known up to an interval, by which it is shown, refuted, or left open. Where
those that are open could turn the verdict, it is *undecided*; the sign of a mean decides nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from .evidence import Verdict, share

SHOWN, OPEN, REFUTED = "shown", "open", "refuted"

R = TypeVar("R", bound=Hashable)
#: verdicts on parts, the worst first; that on no parts at all comes last, as it hides no other
RANKS = (Verdict.NOT_REPRODUCED, Verdict.UNDECIDED, Verdict.PARTLY, Verdict.REPRODUCED, share(0, 0))


def at_least(low: float, high: float, bound: float) -> str:
    """Return whether a number with the interval [low, high] is `bound` or more.

    >>> at_least(-0.2, 0.3, -0.5), at_least(-0.2, 0.3, 0.0), at_least(-0.2, -0.1, 0.0)
    ('shown', 'open', 'refuted')
    """
    return SHOWN if low >= bound else REFUTED if high < bound else OPEN


def above(low: float, high: float, bound: float = 0.0) -> str:
    """Return whether a number with the interval [low, high] is more than `bound`.

    >>> above(0.1, 0.3), above(-0.1, 0.3), above(0.0, 0.0)
    ('shown', 'open', 'refuted')
    """
    return SHOWN if low > bound else REFUTED if high <= bound else OPEN


def all_of(parts: Iterable[str]) -> str:
    """Return whether all of several statements are shown.

    >>> all_of([SHOWN, SHOWN]), all_of([SHOWN, OPEN]), all_of([OPEN, REFUTED])
    ('shown', 'open', 'refuted')
    """
    found = set(parts)
    return REFUTED if REFUTED in found else OPEN if OPEN in found else SHOWN


def judged(parts: Iterable[str]) -> Verdict:
    """Return the verdict on all parts: undecided where those that are open could turn it.

    It is *partly* where more than half of the parts are shown, as for the cells of a table.

    >>> str(judged([SHOWN, SHOWN])), str(judged([SHOWN, OPEN])), str(judged([REFUTED, REFUTED, OPEN]))
    ('reproduced', 'undecided', 'not-reproduced')
    """
    found = list(parts)
    shown, total = found.count(SHOWN), len(found)
    worst, best = (share(number, total) for number in (shown, shown + found.count(OPEN)))
    return worst if worst == best else Verdict.UNDECIDED


def unless_open(verdict: Verdict, open_: bool) -> Verdict:
    """Return a verdict, undecided where something that it rests on is open.

    >>> str(unless_open(judged([SHOWN]), True)), str(unless_open(judged([SHOWN]), False))
    ('undecided', 'reproduced')
    """
    return Verdict.UNDECIDED if open_ else verdict


def unless_better(verdict: Verdict, others: Iterable[Verdict], missing: Iterable[str] = ()) -> Verdict:
    """Return the verdict of the reading that agrees best, undecided where another could agree better.

    Parameters
    ----------
    verdict : Verdict
    others : iterable of Verdict
        What each reading comes to if all that is open in it agrees.
    missing : iterable of str
        Readings that have not been run: any of them could agree.

    Examples
    --------
    >>> refuted, part, shown = judged([REFUTED]), judged([SHOWN, SHOWN, REFUTED]), judged([SHOWN])
    >>> str(unless_better(refuted, [refuted])), str(unless_better(refuted, [part]))
    ('not-reproduced', 'undecided')
    >>> str(unless_better(part, [refuted], ["another"])), str(unless_better(shown, [], ["another"]))
    ('undecided', 'reproduced')
    """
    top = RANKS.index(Verdict.REPRODUCED)
    place = RANKS.index(verdict)
    could = any(place < RANKS.index(other) <= top for other in others)
    return unless_open(verdict, place < top and (could or any(True for _ in missing)))


def worst_of(groups: Iterable[Iterable[str]]) -> Verdict:
    """Return the verdict on parts in groups, each judged by itself: a good group does not hide a bad one.

    >>> str(judged([*[SHOWN] * 9, REFUTED])), str(worst_of([[SHOWN] * 9, [REFUTED]]))
    ('partly', 'not-reproduced')
    >>> str(worst_of([]))
    'not-testable'
    """
    return min((judged(parts) for parts in groups), key=RANKS.index, default=share(0, 0))


def tally(parts: Iterable[str]) -> str:
    """Return how many parts are shown, open, and refuted.

    >>> tally([SHOWN, SHOWN, OPEN])
    '2 shown, 1 open, 0 refuted'
    """
    found = list(parts)
    return ", ".join(f"{found.count(word)} {word}" for word in (SHOWN, OPEN, REFUTED))


def best(parts: Mapping[R, Sequence[str]]) -> R:
    """Return the reading with most parts shown; of equals that with fewest refuted, then the first.

    >>> best({"one": [SHOWN, REFUTED], "other": [SHOWN, OPEN]})
    'other'
    """

    def shares(reading: R) -> tuple[float, float]:
        found, total = list(parts[reading]), max(len(parts[reading]), 1)
        return found.count(SHOWN) / total, -found.count(REFUTED) / total

    return max(parts, key=shares)


def told(parts: Mapping[R, Sequence[str]], missing: Iterable[str] = ()) -> str:
    """Return in words which reading agrees best, how far the others are, and which have not been stored."""
    chosen = best(parts)
    others = "; ".join(f"{reading}: {tally(found)}" for reading, found in parts.items() if reading != chosen)
    text = f"{chosen}: {tally(parts[chosen])}." + (f" The others: {others}." if others else "")
    absent = "; ".join(missing)
    return text + (f" Not stored: {absent}." if absent else "")

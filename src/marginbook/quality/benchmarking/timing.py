"""Seconds of calls, peers in turns, and the ratio of their medians."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

WALL, CPU = 0, 1
#: CPU seconds: a first call that takes more is not thrown away
SLOW = 1.0
#: CPU seconds after which something that was called twice is not called again
ENOUGH = 2.0

#: wall and CPU seconds, (runs, 2)
Times: TypeAlias = np.ndarray


def clock(action: Callable[[], Any]) -> tuple[tuple[float, float], Any]:
    """Return wall and CPU seconds of a call, and its result."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = action()
    return (time.perf_counter() - wall, time.process_time() - cpu), result


def in_turns(
    *actions: Callable[..., object], runs: int, prepare: Callable[[], Any] | None = None
) -> tuple[Times, ...]:
    """Return the times of `runs` calls of each action, in turns: all see the same state of the machine.

    Parameters
    ----------
    *actions : callable
        What to time; ours first.
    runs : int
        Calls that count. A first call of each goes before and does not count, unless it takes more than
        `SLOW`; what took more than `ENOUGH` in two calls or more is left out of the turns that remain.
    prepare : callable, optional
        Called before each call, outside the clock; the action gets what it returns.
    """

    def once(action: Callable[..., object]) -> tuple[float, float]:
        if prepare is None:
            return clock(action)[0]
        state = prepare()
        return clock(lambda: action(state))[0]

    found: list[list[tuple[float, float]]] = []
    for action in actions:
        first = once(action)
        found.append([first] if first[CPU] > SLOW else [])
    for turn in range(runs):
        for action, times in zip(actions, found, strict=True):
            tired = len(times) > 1 and sum(seconds[CPU] for seconds in times) > ENOUGH
            if len(times) <= turn and not tired:
                times.append(once(action))
    return tuple(np.array(times) for times in found)


def sampled(action: Callable[[], Any], runs: int = 3, slow: float = SLOW / 2) -> tuple[Times, Any]:
    """Return the times of `runs` calls after one that does not count, or of the only one if it is slow."""
    first, result = clock(action)
    if first[CPU] > slow:
        return np.array([first]), result
    return np.array([clock(action)[0] for _ in range(runs)]), result


@dataclass(frozen=True)
class Ratio:
    """What is compared, and the times of both; for quantities other than time only their ratio.

    Attributes
    ----------
    what : str
        Its name in the table. With "at most" in it the ratio is ours to the peer's, else the peer's to ours.
    ours, peer : array (runs, 2), optional
        Wall and CPU seconds.
    value : float
        The ratio, where no times are given.

    Examples
    --------
    >>> ours, peer = np.array([[2.0, 1.0]]), np.array([[9.0, 8.0], [7.0, 6.0]])
    >>> Ratio("fit against peer", ours, peer).ratio()
    7.0
    >>> Ratio("fit over peer (at most)", ours, peer).ratio(WALL)
    0.25
    """

    what: str
    ours: Times | None = None
    peer: Times | None = None
    value: float = float("nan")

    def ratio(self, clock: int = CPU) -> float:
        """Return the ratio of the medians."""
        if self.ours is None or self.peer is None:
            return self.value
        return self._of(np.median(self.ours[:, clock]), np.median(self.peer[:, clock]))

    def span(self) -> tuple[float, float]:
        """Return the least and the largest ratio of a turn; what was called less often has its last time."""
        if self.ours is None or self.peer is None:
            return self.value, self.value
        turns = range(max(len(self.ours), len(self.peer)))
        found = [
            self._of(*(side[min(turn, len(side) - 1), CPU] for side in (self.ours, self.peer)))
            for turn in turns
        ]
        return min(found), max(found)

    def _of(self, ours: float, peer: float) -> float:
        return float(ours / peer if at_most(self.what) else peer / ours)


def compare(what: str, ours: Callable[[], object], peer: Callable[[], object], runs: int) -> Ratio:
    """Return the ratio of two calls in turns; see :func:`in_turns`."""
    mine, theirs = in_turns(ours, peer, runs=runs)
    return Ratio(what, mine, theirs)


def at_most(what: str) -> bool:
    """Say whether less is better in a row with this name."""
    return "(at most)" in what


@dataclass(frozen=True)
class Line:
    """One size of one line of a scaling table: seconds of `action` against `x`, for `share` equal parts."""

    what: str
    x: str
    value: int
    action: Callable[[], object]
    share: int = 1

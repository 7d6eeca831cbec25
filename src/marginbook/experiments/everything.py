"""All experiments, one after the other: what costs little first, so that there is something to read early."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from ..base.progress import clock
from .protocol import Protocol, experiments, load_protocol
from .standing import standing
from .store import Store


def cheapest_first(profile: str, store: Path | None = None) -> list[tuple[Protocol, float | None]]:
    """Return every experiment with the CPU seconds that a run still takes; those never timed come last.

    Parameters
    ----------
    profile : {"quick", "paper"}
    store : path, optional
        Default: `marginbook.experiments.store.default_path`.
    """
    with Store(store) as results:
        found = [standing(load_protocol(name), profile, results) for name in experiments()]
    left = {each.experiment: each.of_a_run for each in found}
    costs = {name: math.inf if seconds is None else seconds for name, seconds in left.items()}
    return [(load_protocol(name), left[name]) for name in sorted(left, key=lambda name: (costs[name], name))]


def announced(plan: list[tuple[Protocol, float | None]]) -> Iterator[tuple[Protocol, str]]:
    """Yield each experiment of a plan, with a line on where it stands in the plan and what is left."""
    for number, (protocol, _) in enumerate(plan, start=1):
        rest = [seconds for _, seconds in plan[number - 1 :]]
        known = sum(seconds for seconds in rest if seconds is not None)
        untimed = sum(seconds is None for seconds in rest)
        number_of = f"{untimed} experiments that were" if untimed > 1 else "one experiment that was"
        more = f", and {number_of} never timed" if untimed else ""
        left = f"{clock(math.ceil(known))} of CPU left with this one{more}"
        yield protocol, f"{protocol.id}, {number} of {len(plan)}: about {left}"

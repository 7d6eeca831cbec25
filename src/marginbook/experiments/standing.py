"""How far an experiment is: what is done, what is shipped, what is left, and what that costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .protocol import Protocol
from .runner import inspect_inputs, known_timings
from .shipped import shipped
from .store import Outcome, Signature, Store, state

STATES = ("done", "shipped", "stale", "failed", "remaining")


@dataclass(frozen=True)
class Standing:
    """One profile of an experiment.

    Attributes
    ----------
    experiment, title, profile : str
    counts : dict
        Tasks by state. Done: in the store, made by the code, data and settings of now. Stale: in the store,
        made by others. Failed. Shipped: not in the store, but in ``results``. Remaining: nowhere.
    seconds : float or None
        CPU time of all tasks; None where nothing was ever timed.
    left : float or None
        That of the tasks that are neither done nor shipped.
    of_a_run : float or None
        That of what a run would do: all but what is done.
    at_most : bool
        The times are those of larger settings than the profile has.
    failures : list of str
        Tracebacks of tasks that failed.
    commits : tuple of str
        At which the shipped results were made, as far as that was written down.
    code_of_now : bool or None
        Whether the code that made the shipped results is that of now; None where nothing is shipped.
    """

    experiment: str
    title: str
    profile: str
    counts: dict[str, int]
    seconds: float | None
    left: float | None
    of_a_run: float | None
    at_most: bool
    failures: list[str]
    commits: tuple[str, ...] = ()
    code_of_now: bool | None = None

    def record(self) -> dict[str, Any]:
        """Return it for machines."""
        return {
            "id": self.experiment,
            "title": self.title,
            "profile": self.profile,
            "tasks": sum(self.counts.values()),
            **self.counts,
            "cpu_seconds": None if self.seconds is None else round(self.seconds, 1),
            "seconds_left": None if self.left is None else round(self.left, 1),
            "seconds_of_a_run": None if self.of_a_run is None else round(self.of_a_run, 1),
            "at_most": self.at_most,
            "commits": list(self.commits),
            "code_of_now": self.code_of_now,
        }


def standing(protocol: Protocol, profile: str, store: Store, *, trust: bool = False) -> Standing:
    """Count the tasks of a profile by state, and judge what they cost.

    Parameters
    ----------
    protocol : Protocol
    profile : {"quick", "paper"}
    store : Store
    trust : bool
        Count what is stored as done without a look at the code and the data that it was made from.
    """
    tasks = protocol.tasks(profile)
    stored = {outcome.task: outcome for outcome in store.outcomes(protocol.id, profile)}
    here = shipped(protocol)
    judge: Callable[[Outcome], str] = _trusting if trust else _Judge(protocol, profile)
    states = {}
    for task in tasks:
        outcome = stored.get(task)
        states[task] = judge(outcome) if outcome else "shipped" if task in here else "remaining"
    counts = Counter(states.values())
    timings = known_timings(store, protocol, {}, tasks)
    costs = timings.expected(tasks) if timings.known(profile) else None

    def cost(*but: str) -> float | None:
        todo = [task for task, found in states.items() if found not in but]
        return sum(costs[task] for task in todo) if costs is not None else None if todo else 0.0

    return Standing(
        protocol.id,
        protocol.title,
        profile,
        {name: counts[name] for name in STATES},
        cost(),
        cost("done", "shipped"),
        cost("done"),
        profile == "quick" and "settings" in protocol.quick and not timings.measured(tasks),
        [f"{task}\n{stored[task].error}" for task, found in states.items() if found == "failed"],
        here.commits,
        None if trust or profile != "paper" or not here.seconds else here.code == protocol.code(),
    )


def _trusting(outcome: Outcome) -> str:
    return outcome.status


class _Judge:
    """Tells the state of stored outcomes; reads code and data only where something rests on them.

    On a fresh clone nothing does, and what other code made is stale whatever the data are.
    """

    def __init__(self, protocol: Protocol, profile: str) -> None:
        self._protocol, self._profile = protocol, profile
        self._signatures: dict[str, Signature | None] = {}
        self._code = ""

    def __call__(self, outcome: Outcome) -> str:
        if outcome.error is not None:
            return "failed"
        self._code = self._code or self._protocol.code()
        if outcome.signature.code != self._code:
            return "stale"
        name = outcome.task.dataset
        if name not in self._signatures:
            inputs = inspect_inputs(self._protocol, self._profile, [name])
            self._signatures[name] = inputs.signatures.get(name)
        expected = self._signatures[name]
        return "remaining" if expected is None else state(outcome, expected)

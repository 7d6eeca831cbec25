"""What comes out for one mutant: the tests that reach its line run in a copy that has it, until one fails."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from marginbook.book.mutants_stored import COLUMNS, Row, against, sha

from .copies import Copy
from .drawn import Mutant
from .reached import Measured, Reach, Store, Test
from .server import PATIENCE, PRELOADED, Server

#: seconds of tests that run in one fork, after the first: a fork imports the package anew
BATCH = 10.0
#: how much longer a test may take than without the mutant
TIMES = 10.0
#: what Numba may take to compile again
COMPILING = 90.0

Batch = list[tuple[str, list[Test], Measured]]


@dataclass(frozen=True)
class Settings:
    """How hard the tests try.

    Attributes
    ----------
    budget : float
        Seconds of tests, as they take without a mutant, that one mutant may meet.
    slow : float
        Seconds after which a test is not among the fast ones.
    ask : int
        How many test files are asked for a mutant, the nearest first; 0 for all.
    least : float
        Seconds that a test gets, however fast it is without a mutant.
    preload : tuple of str
        What the process imports from which tests are forked.
    """

    budget: float = 30.0
    slow: float = 10.0
    ask: int = 0
    least: float = 10.0
    preload: tuple[str, ...] = PRELOADED


class Worker:
    """A copy of the checkout and a process that tests are forked from.

    Parameters
    ----------
    home, folder, data : Path
        The checkout, a folder of the worker's own, and the data sets that were fetched.
    reach : Reach
    store : Store
        Shared by all workers.
    settings : Settings
    """

    #: who finds what has to do with a mutant, and what its folders and measurements are called
    reached: type[Reach] = Reach
    own = ""

    def __init__(
        self, home: Path, folder: Path, data: Path, reach: Reach, store: Store, settings: Settings
    ) -> None:
        self.copy = Copy(home, folder, data)
        self.server = Server(folder / "log.txt", settings.preload)
        self.home, self.reach, self.store, self.settings = home, reach, store, settings

    def judge(self, mutant: Mutant, seed: int) -> Row:
        """Return what came out for a mutant."""
        begin, met, outcome, killer = time.monotonic(), 0, "no test", ""
        compiled = self.reach.compiled(mutant.file)
        for batch in self._batches(mutant):
            with self.copy.changed(mutant.file, mutant.text, compiled):
                found = self._ask(
                    tests=[[file, self._limits(tests, known, compiled)] for file, tests, known in batch]
                )
            ran = [each[1] for each in found["told"] if each[0] == "running"]
            met += len(ran)
            outcome, killer = _outcome(found, ran)
            if killer:
                break
        source = sha((self.home / mutant.file).read_bytes())
        return Row(
            seed=seed,
            **{name: getattr(mutant, name) for name in COLUMNS if hasattr(mutant, name)},
            outcome=outcome,
            killed_by=killer,
            tests=met,
            seconds=round(time.monotonic() - begin, 1),
            budget=0.0 if self.settings.ask else self.settings.budget,
            source=source,
            against=against(self.home, killer),
        )

    def close(self) -> None:
        """End the process."""
        self.server.close()

    def _batches(self, mutant: Mutant) -> Iterator[Batch]:
        """Yield tests that reach a mutant, by files, until its budget is spent.

        Which tests of a file do is measured here, so that a mutant that the first file kills asks no other.
        """
        left, tried = self.settings.budget, set()
        batch: Batch = []
        first = True
        for lines in self.reach.tiers(mutant.file, mutant.line):
            files = self.reach.tests(mutant.file)[: self.settings.ask or None]
            for place, file in enumerate(files):
                known = self.store.get(file, self._measure, files[place + 1 :])
                tests = []
                for test in known.reach(lines):
                    if test.name not in tried and left > 0:
                        tests.append(test)
                        tried.add(test.name)
                        left -= max(test.cpu, 0.01)
                if tests:
                    batch.append((file, tests, known))
                if batch and (first or sum(test.cpu for _, some, _ in batch for test in some) >= BATCH):
                    yield batch
                    batch, first = [], False
                if left <= 0:
                    break
        if batch:
            yield batch

    def _limits(
        self, tests: list[Test], known: Measured, compiled: set[str]
    ) -> dict[str, tuple[float, float]]:
        """Return the seconds of CPU and of the wall that each test may take.

        One that is the first to ask for a fixture pays for it.
        """
        more = 3 * known.slowest + (COMPILING if compiled else 0.0)
        limits = {}
        for test in tests:
            cpu = max(self.settings.least, TIMES * test.cpu) + more
            limits[test.name] = cpu, PATIENCE * max(cpu, TIMES * test.wall)
        return limits

    def _measure(self, file: str) -> dict[str, Any]:
        """Return which tests of a file run which lines; none where they cannot be run at all."""
        found = self._ask(measure=file, slow=self.settings.slow)
        for kind, *told in found["told"]:
            if kind == "measured":
                return dict(told[0])
        return {"tests": [], "ran": {}, "left_out": 0, "slowest": 0.0}

    def _ask(self, **asked: Any) -> dict[str, Any]:
        self.copy.fresh()
        # of the copy only: a user's folder, and the repository around it, are none of a mutant's business
        environment = {
            "PYTHONPATH": str(self.copy.root / "src"),
            "MARGINBOOK_CACHE": str(self.copy.cache),
            "HOME": str(self.copy.scratch),
            "TMPDIR": str(self.copy.scratch),
            "GIT_CEILING_DIRECTORIES": str(self.copy.root.parent),
        }
        return self.server.run(
            folder=str(self.copy.root),
            scratch=str(self.copy.scratch),
            environment=environment,
            wall=300.0,
            **asked,
        )


def _outcome(found: dict[str, Any], ran: list[str]) -> tuple[str, str]:
    """Return what a fork says of a mutant, and the test that noticed it."""
    failed = [each[1] for each in found["told"] if each[0] == "failed"]
    if failed:
        return "killed", failed[0]
    last = ran[-1] if ran else "before any test"
    if found["timeout"]:
        return "timeout", last
    if found["code"]:
        return "killed", f"{last}: the process ended with {found['code']}"
    return ("survived" if ran else "no test"), ""

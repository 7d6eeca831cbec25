"""Which tests notice a mutant: all that reach it are asked, also after one has failed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from marginbook.book.mutants_stored import Key, Needed, against, sha

from .drawn import Mutant
from .forked import NONE_BEGAN
from .judging import Batch, Worker


@dataclass(frozen=True)
class Asked:
    """What one mutant met; tests are functions, whatever their parameters.

    Attributes
    ----------
    key : tuple
        The mutant.
    source, tests : str
        Hashes of its file, and of all tests.
    met : dict
        Function -> seconds of CPU of its tests that ran, as they take without the mutant.
    noticed : list of str
        The functions of which a test failed or took too long.
    """

    key: Key
    source: str
    tests: str
    met: dict[str, float]
    noticed: list[str]


class EveryoneWorker(Worker):
    """Asks the tests that reach a mutant until the budget is spent, whatever they say."""

    def judge(self, mutant: Mutant, seed: int) -> Any:
        """Return what each test that reaches a mutant says of it."""
        met: dict[str, float] = {}
        noticed: set[str] = set()
        for batch in self._batches(mutant):
            self._all(batch, mutant, met, noticed)
        by_function: dict[str, float] = defaultdict(float)
        for name, seconds in met.items():
            by_function[function(name)] += seconds
        known = sha((self.home / mutant.file).read_bytes()), against(self.home, "")
        rounded = {name: round(seconds, 3) for name, seconds in sorted(by_function.items())}
        return Asked(mutant.key, *known, rounded, sorted({function(name) for name in noticed}))

    def _all(self, batch: Batch, mutant: Mutant, met: dict[str, float], noticed: set[str]) -> None:
        """Run a batch to its end, in a new fork where one was ended."""
        compiled = self.reach.compiled(mutant.file)
        while batch:
            with self.copy.changed(mutant.file, mutant.text, compiled):
                asked = [[file, self._limits(tests, known, compiled)] for file, tests, known in batch]
                found = self._ask(everyone=True, tests=asked)
            seconds = {test.name: test.cpu for _, tests, _ in batch for test in tests}
            ran = [each[1] for each in found["told"] if each[0] == "running"]
            for name in [each[1] for each in found["told"] if each[0] == "failed"]:
                file, _, what = name.partition(": ")
                unable = [test.name for at, tests, _ in batch if at == file for test in tests]
                ran += unable if what == NONE_BEGAN else []
                noticed.update(unable if what == NONE_BEGAN else [name])
            ended = found["timeout"] or found["code"]
            if ended:  # by the last one, or by an import before any
                noticed.update(ran[-1:] or seconds)
                ran = ran or list(seconds)
            met.update({name: seconds.get(name, 0.0) for name in ran})
            if not ended:
                return
            if not set(ran) & set(seconds):  # only tests that the mutant gave other parameters
                return
            left = [
                (file, [test for test in tests if test.name not in met], known)
                for file, tests, known in batch
            ]
            batch = [each for each in left if each[1]]


def function(name: str) -> str:
    """Return the name of a test without its parameters."""
    return name.partition("[")[0]


def counted(all_asked: Iterable[Asked], seed: int) -> list[Needed]:
    """Return for each test function how many mutants it met, noticed, and noticed alone."""
    listed = list(all_asked)
    seconds: dict[str, float] = defaultdict(float)
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for one in listed:
        for name, cpu in one.met.items():
            seconds[name] = max(seconds[name], cpu)
            counts[name][0] += 1
        for name in one.noticed:
            counts[name][1] += 1
            counts[name][2] += len(one.noticed) == 1
    return [
        Needed(name, round(seconds[name], 3), *counts[name], seed, len(listed)) for name in sorted(counts)
    ]

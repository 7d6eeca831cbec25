"""Claims in the place of tests: each check is an item of pytest, and what it says is compared with before.

They are found in a folder ``src/marginbook/<room>/claims``. No check takes evidence from the cache, and none
what another one has left in the memory of the process.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
#: what is rounding: whether smaller numbers are small enough, the bounds of the checks decide
RELATIVE, ABSOLUTE = 1e-6, 1e-9


class Claims:
    """Collects the claims of a room, and tells what became of verdicts and numbers.

    An item fails where the check raises an error or comes to another verdict. Other numbers are told only.

    Parameters
    ----------
    known : dict or None
        Name of an item -> verdict and numbers without a mutant; None for what is another one each time. None
        tells what is there, and compares nothing.
    tell : callable
    """

    def __init__(self, known: Mapping[str, tuple[str | None, ...]] | None, tell: Callable[..., None]) -> None:
        self.known, self.tell = known, tell

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        if file_path.parent.name != "claims":
            return None
        module = _Module.from_parent(parent, path=file_path)
        module.claims = self
        return module

    def hear(self, name: str, said: tuple[str, str]) -> None:
        """Compare the verdict and the numbers of a claim with those that are known."""
        if self.known is None:
            self.tell("evidence", name, said)
            return
        for kind, before, after in zip(("verdict", "numbers"), self.known[name], said, strict=True):
            if what := difference(before, after):
                self.tell(kind, name, what)
                assert kind != "verdict", what


class _Module(pytest.File):
    claims: Claims

    def collect(self) -> Iterator[pytest.Item]:
        from marginbook.claims import ledger

        for id, claim in ledger([self.path.parents[1].name]).items():
            if claim.module.rpartition(".")[2] == self.path.stem:
                if self.claims.known is None:
                    self.claims.tell("reads", *claim.depends)
                item = _Check.from_parent(self, name=id)
                item.claims, item.check = self.claims, claim.check
                yield item


class _Check(pytest.Item):
    claims: Claims
    check: Callable[[], Any]

    def runtest(self) -> None:
        from marginbook.base.at_hand import registries_only
        from marginbook.claims.rivals import Rival, in_place

        alone = in_place(Rival("nothing else"))  # it empties the caches of functions
        with alone, registries_only(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = self.check()
            except Exception as error:
                self.claims.tell("error", self.nodeid, f"{type(error).__name__}: {error}")
                raise
        numbers = f"{found.measured}; {found.claimed}; slack {found.slack}; reach {found.reach}"
        self.claims.hear(self.nodeid, (str(found.verdict), numbers))


def difference(before: str | None, after: str) -> str:
    """Return what became of a text other than by rounding; nothing if nothing did, or nobody knows."""
    if before is None:
        return ""
    if _NUMBER.split(before) != _NUMBER.split(after):
        return f"{before} became {after}"
    for one, other in zip(_NUMBER.findall(before), _NUMBER.findall(after), strict=True):
        if not math.isclose(float(one), float(other), rel_tol=RELATIVE, abs_tol=ABSOLUTE):
            return f"{one} became {other}"
    return ""

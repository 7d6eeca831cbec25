"""What the claims of a room say of a mutant of its models, solvers and estimators."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import PurePosixPath
from typing import Any

from marginbook.book.mutants_stored import ClaimRow, against

from .claimed import difference
from .drawn import Mutant
from .judging import Worker
from .reached import Measured, Reach, Test

#: folders of a room whose mutants its claims meet
WHERE = ("model", "solvers", "estimators")


def of_a_room(file: str) -> bool:
    """Return whether a file is in a folder of a room that claims are about."""
    parts = PurePosixPath(file).parts
    return len(parts) > 4 and parts[3] in WHERE


class ClaimReach(Reach):
    """The claims of a room, in one folder, in the place of files of tests."""

    def tests(self, file: str) -> list[str]:
        """Return the folder of the claims."""
        return ["/".join((*PurePosixPath(file).parts[:3], "claims"))]


class ClaimWorker(Worker):
    """Lets claims judge: from the fastest on, until one comes to another verdict or to none."""

    reached, own = ClaimReach, "claims-"
    _heard: list[list[Any]]

    def judge(self, mutant: Mutant, seed: int) -> ClaimRow:
        """Return what came out for a mutant."""
        self._heard = []
        row = super().judge(mutant, seed)
        (folder,) = self.reach.tests(mutant.file)
        told = {kind: said for kind, *said in reversed(self._heard)}  # the first of each kind
        outcome, how = row.outcome, ""
        if outcome == "killed":
            outcome = "verdict" if "verdict" in told else "error"
            how = told[outcome][1] if outcome in told else ""
        elif outcome == "survived":
            outcome = "nothing"
            if "numbers" in told:
                outcome, (name, what) = "numbers", told["numbers"]
                how = f"{_claim(name)}: {what}"
        elif outcome == "no test":
            outcome = "no claim"
        ran = [_claim(each[1]) for each in self._heard if each[0] == "running"]
        changed = {
            "outcome": outcome,
            "against": against(self.home, row.killed_by, folder),
            "how": " ".join(how.split())[:200],
            "claims": " ".join(ran),
            "left_out": self.store.get(folder, self._measure).left_out,
        }
        return ClaimRow(**asdict(row) | changed)

    def _limits(
        self, tests: list[Test], known: Measured, compiled: set[str]
    ) -> dict[str, tuple[float, float]]:
        return super()._limits(tests, replace(known, slowest=0.0), compiled)  # they share no fixture

    def _measure(self, folder: str) -> dict[str, Any]:
        """Return which claims run which lines and what they say, as far as they say it twice."""
        self._heard = []
        measured = super()._measure(folder)
        first = _evidence(self._heard)
        limits = dict.fromkeys(first, (10 * self.settings.slow, 200 * self.settings.slow))
        again = _evidence(super()._ask(claims=None, tests=[[folder, limits]])["told"])
        measured["said"] = {
            name: [
                None if difference(one, other) else one
                for one, other in zip(said, again.get(name, said), strict=True)
            ]
            for name, said in first.items()
        }
        beside = [name for kind, *names in self._heard if kind == "reads" for name in names]
        paper = (self.home / folder).with_name("paper")
        beside += [path.relative_to(self.home).as_posix() for path in paper.glob("*") if path.is_file()]
        measured["ran"] |= {
            name: measured["ran"].get(name, {}) for name in beside
        }  # it holds until these change
        self._heard = []
        return measured

    def _ask(self, **asked: Any) -> dict[str, Any]:
        known = None
        if "tests" in asked:
            known = self.store.get(asked["tests"][0][0], self._measure).said
        found = super()._ask(claims=known, **asked)
        self._heard += found["told"]
        return found


def _evidence(told: list[list[Any]]) -> dict[str, list[str]]:
    return {each[1]: each[2] for each in told if each[0] == "evidence"}


def _claim(name: str) -> str:
    return name.rpartition("::")[2]

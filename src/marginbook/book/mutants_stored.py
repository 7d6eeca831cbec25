"""The stored rows of ``make mutants``: one for each time that a mutant was tried, the newest last.

Tests have tried those of one file, the claims of its room those of the other.
"""

from __future__ import annotations

import csv
import hashlib
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

CSV, CLAIMS_CSV, TESTS_CSV = "mutants.csv", "claims.csv", "tests.csv"
EQUIVALENT = "equivalent.toml"
#: what came out: a test failed, or took ten times its time; or nothing happened; or no test runs the line
OUTCOMES = ("killed", "timeout", "survived", "no test")
#: a check came to another verdict, or raised an error, or took ten times its time; or it told other numbers
#: only; or nothing happened; or no check runs the line
OF_CLAIMS = ("verdict", "error", "timeout", "numbers", "nothing", "no claim")
NOTICED = ("killed", "timeout", "verdict", "error")
Key = tuple[str, str, str, int]


@dataclass(frozen=True)
class Row:
    """One mutant and what came out; the attributes are the columns of the file.

    Attributes
    ----------
    seed : int
        Of the sample.
    file, room, kind : str
    line : int
        Its number when it was mutated.
    operator : str
        Cosmic Ray's name of the change.
    occurrence : int
        Which of the operator's mutants on lines with this text.
    before, after : str
        The line, and what it became.
    outcome, killed_by : str
        One of `OUTCOMES`, and the test that failed or took too long.
    tests, seconds : int, float
        How many tests it met, and how long that took.
    budget : float
        How many seconds of tests, as they take without it, it might meet; 0 if not all test files were asked.
    source, against : str
        Hashes of the file, and of the test that noticed, or of all tests if none did.
    """

    seed: int
    file: str
    room: str
    kind: str
    line: int
    operator: str
    occurrence: int
    before: str
    after: str
    outcome: str
    killed_by: str
    tests: int
    seconds: float
    budget: float
    source: str
    against: str

    @property
    def key(self) -> Key:
        return self.file, self.before, self.operator, self.occurrence

    @property
    def judges(self) -> str:
        """The folder of what judges it."""
        return "tests"


@dataclass(frozen=True)
class ClaimRow(Row):
    """One mutant and what came out where claims stood in the place of tests.

    Attributes
    ----------
    how : str
        What became of the verdict or of a number, or the error.
    claims : str
        The ids of the claims whose checks ran the line, until one noticed or the budget was spent.
    left_out : int
        How many claims of the room were too slow to be asked.
    """

    how: str
    claims: str
    left_out: int

    @property
    def judges(self) -> str:
        return f"src/marginbook/{self.room}/claims"


@dataclass(frozen=True)
class Needed:
    """What a test function, with all its parameters, did where all tests met each mutant of a sample.

    Attributes
    ----------
    test : str
    seconds : float
        Of CPU, of its tests that met a mutant.
    met, noticed, alone : int
        How many mutants it met, how many it noticed, and how many nobody else noticed.
    seed, mutants : int
        Of the sample, and its size.
    """

    test: str
    seconds: float
    met: int
    noticed: int
    alone: int
    seed: int
    mutants: int


COLUMNS = [each.name for each in fields(Row)]
SomeRow = TypeVar("SomeRow", bound=Row)


def read(path: Path, of: type[SomeRow]) -> list[SomeRow]:
    """Return the rows of a file in its order, none if it is not there."""
    if not path.is_file():
        return []
    whole: dict[str, type] = dict.fromkeys(("seed", "line", "occurrence", "tests", "left_out"), int)
    kinds: dict[str, type] = whole | {"seconds": float, "budget": float}
    with path.open(encoding="utf-8", newline="") as file:
        return [
            of(**{name: kinds.get(name, str)(value) for name, value in row.items()})
            for row in csv.DictReader(file)
        ]


def read_needed(path: Path) -> list[Needed]:
    """Return the test functions of a file, none if it is not there."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Needed(row["test"], float(row["seconds"]), *(int(row[name]) for name in _COUNTS))
            for row in csv.DictReader(file)
        ]


_COUNTS = ("met", "noticed", "alone", "seed", "mutants")


def equivalents(path: Path) -> dict[Key, dict[str, str]]:
    """Return the mutants of which someone judged that they change nothing that could be noticed."""
    if not path.is_file():
        return {}
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("mutant", [])
    return {(one["file"], one["line"], one["operator"], one["occurrence"]): one for one in entries}


def history(rows: Iterable[SomeRow], home: Path) -> list[tuple[SomeRow, SomeRow]]:
    """Return for each mutant of each sample the first row and the last, if the code still has its line.

    Parameters
    ----------
    rows : iterable of Row
    home : Path
        The folder that has ``src/marginbook``.
    """
    met: dict[tuple[int, Key], list[SomeRow]] = defaultdict(list)
    for row in rows:
        met[row.seed, row.key].append(row)
    lines = {name: _lines(home / name) for name in {file for _, (file, *_) in met}}
    return [(some[0], some[-1]) for (_, key), some in met.items() if key[1] in lines[key[0]]]


def fresh(pairs: Iterable[tuple[SomeRow, SomeRow]]) -> list[tuple[SomeRow, SomeRow]]:
    """Return the pairs without those whose mutant a sample with a smaller seed has, too."""
    first: dict[Key, int] = {}
    listed = list(pairs)
    for _, last in listed:
        first[last.key] = min(last.seed, first.get(last.key, last.seed))
    return [pair for pair in listed if pair[1].seed == first[pair[1].key]]


def outdated(rows: Iterable[SomeRow], home: Path) -> list[SomeRow]:
    """Return those whose mutated file, or what decided, is not what it was."""
    source = cache(lambda name: sha((home / name).read_bytes()) if (home / name).is_file() else "")
    tests = cache(partial(against, home))
    return [
        row
        for row in rows
        if row.source != source(row.file) or row.against != tests(row.killed_by.partition(":")[0], row.judges)
    ]


def against(home: Path, killer: str, judges: str = "tests") -> str:
    """Return a hash of the file of the test that noticed a mutant, or of all in a folder if none did."""
    file = home / killer.partition(":")[0]
    if killer and file.is_file():
        return sha(file.read_bytes())
    return sha(b"".join(path.read_bytes() for path in sorted((home / judges).rglob("*.py"))))


def sha(content: bytes) -> str:
    """Return twelve digits of a hash: enough to tell versions of a file apart."""
    return hashlib.sha256(content).hexdigest()[:12]


def _lines(path: Path) -> set[str]:
    if not path.is_file():
        return set()
    return {line.strip() for line in path.read_text(encoding="utf-8").splitlines()}

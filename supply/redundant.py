"""Which tests could go? Suggestions from what ``make mutants`` has measured; nothing is run or deleted here.

A test function is named where one other function of its file runs all lines of the package that it runs,
takes no longer, and no stored mutant was noticed by it. That is no proof: it may still ask something of these
lines that the other one does not ask. To decide, try the mutants of its lines without it.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mutating.reached import Measured, Store

from marginbook.book.mutants_stored import CSV, NOTICED, Row, read
from marginbook.cli.stopping import one_sentence

ROOT = Path(__file__).resolve().parents[1]


class Function:
    """A test function with all its parameters: the lines of the package that it runs, and its seconds."""

    def __init__(self) -> None:
        self.lines: set[tuple[str, int]] = set()
        self.cpu = 0.0


def main() -> int:
    """Print the suggestions as CSV, and how much is known."""
    rows = read(ROOT / "results" / "mutants" / CSV, Row)
    killers = {_function(row.killed_by) for row in rows if row.outcome in NOTICED}
    tests = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py"))
    known = dict(measured(ROOT, tests))
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["test", "seconds", "lines", "runs all of them", "its seconds", "its lines"])
    every = [functions(each) for each in known.values()]
    found = [line for each in every for line in suggestions(each, killers)]
    writer.writerows(found)
    told = f"{len(found)} of {sum(map(len, every))} test functions in the {len(known)} of {len(tests)} files"
    print(f"{told} that are measured; not named: {len(killers)} that noticed a mutant", file=sys.stderr)
    return 0


def measured(home: Path, tests: list[str]) -> Iterator[tuple[str, Measured]]:
    """Yield the files whose stored measurement holds: see `mutating.reached`."""

    def absent(file: str) -> dict[str, Any]:
        raise LookupError(file)

    stores = [Store(home, folder) for folder in sorted((home / "_build" / "mutants").glob("measured-*"))]
    for file in tests:
        for store in stores:
            try:
                yield file, store.get(file, absent)
                break
            except LookupError:
                pass


def functions(known: Measured) -> dict[str, Function]:
    """Return the functions of a file of tests."""
    found: dict[str, Function] = defaultdict(Function)
    for test in known.tests:
        found[_function(test.name)].cpu += test.cpu
    for file, lines in known.ran.items():
        for line, numbers in lines.items() if file.startswith("src/") else ():
            for number in numbers if line else ():  # line 0 stands for what the import left
                found[_function(known.tests[number].name)].lines.add((file, line))
    return dict(found)


def suggestions(found: dict[str, Function], killers: set[str]) -> Iterator[list[object]]:
    """Yield a function, what it takes and runs, and the same of the other; of two equal ones only one."""
    gone: set[str] = set()
    for name, one in sorted(found.items(), key=lambda item: (-item[1].cpu, item[0])):
        better = [
            (other.cpu, rival)
            for rival, other in found.items()
            if rival not in {name, *gone} and one.lines <= other.lines and other.cpu <= one.cpu
        ]
        if one.lines and better and name not in killers:
            rival = min(better)[1]
            gone.add(name)
            other = found[rival]
            yield [name, f"{one.cpu:.2f}", len(one.lines), rival, f"{other.cpu:.2f}", len(other.lines)]


def _function(name: str) -> str:
    return name.partition("[")[0]


if __name__ == "__main__":
    with one_sentence():
        sys.exit(main())

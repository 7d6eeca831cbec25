"""Which tests run a line, and how long they take: measured once for each test file, kept by what they read.

A test file is measured in a process of its own, when a mutant first asks for it. The measurement holds while
all files are the same of which it ran a line.
"""

from __future__ import annotations

import ast
import json
import re
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from marginbook.book.mutants_stored import sha

from .statements import chain, head, in_functions, last, named

Lines = dict[str, set[int]]  # file -> numbers
_JITTED = re.compile(r"@(\w+\.)*(njit|jit|vectorize|guvectorize)\b")
ABOUT = ("left_out", "slowest", "said")  # these are kept as they are


@dataclass(frozen=True)
class Test:
    """One test as it ran without a mutant: seconds of its processes, and of a clock on the wall."""

    name: str
    cpu: float
    wall: float


@dataclass
class Measured:
    """What one test file runs.

    Attributes
    ----------
    tests : list of Test
        Those that pass and are fast.
    ran : dict
        File -> line -> numbers of tests, of lines that only an import runs none; at line 0 all, as each of
        them may use what the import left.
    read : dict
        File -> hash of its content.
    left_out : int
        Tests that were skipped, slow or failed.
    slowest : float
        The most seconds of CPU that a test took, one that was left out, too.
    said : dict
        What tests say besides passing; see `mutating.claimed`.
    """

    tests: list[Test]
    ran: dict[str, dict[int, list[int]]]
    read: dict[str, str] = field(repr=False)
    left_out: int = 0
    slowest: float = 0.0
    said: dict[str, Any] = field(default_factory=dict, repr=False)

    def reach(self, lines: Lines) -> list[Test]:
        """Return the tests that run one of some lines, the fastest first."""
        numbers = {
            number
            for file, wanted in lines.items()
            for line, numbers in self.ran.get(file, {}).items()
            if line in wanted
            for number in numbers
        }
        return sorted((self.tests[number] for number in numbers), key=lambda test: (test.cpu, test.name))


class Store:
    """The measurements, one file each; what is not there, or does not hold any more, is measured.

    Parameters
    ----------
    home : Path
        The checkout.
    folder : Path
    """

    def __init__(self, home: Path, folder: Path) -> None:
        self.home, self.folder = home, folder
        self._known: dict[str, Measured] = {}
        self._hashes: dict[str, str] = {}
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._all = threading.Lock()

    def get(self, file: str, measure: Callable[[str], dict[str, Any]], later: Iterable[str] = ()) -> Measured:
        """Return what a test file runs; `measure` returns tests, lines and the number of tests left out.

        Of `later`, files that will be asked for, some are measured while another worker measures this one.
        """
        ahead = iter(later)
        with self._all:
            lock = self._locks[file]
        while not lock.acquire(blocking=False):
            other = next((each for each in ahead if each not in self._known), None)
            if other is None:
                lock.acquire()
                break
            self.get(other, measure, ahead)
        try:
            if file not in self._known:
                self._known[file] = self._stored(file) or self._new(file, measure)
            return self._known[file]
        finally:
            lock.release()

    def _stored(self, file: str) -> Measured | None:
        path = self._path(file)
        if not path.is_file():
            return None
        kept = json.loads(path.read_text(encoding="utf-8"))
        if any(self._hash(name) != known for name, known in kept["read"].items()):
            return None
        ran = {
            name: {int(line): kept["sets"][number] for line, number in lines.items()}
            for name, lines in kept["ran"].items()
        }
        tests = [Test(*each) for each in kept["tests"]]
        return Measured(tests, ran, kept["read"], **{name: kept[name] for name in ABOUT if name in kept})

    def _new(self, file: str, measure: Callable[[str], dict[str, Any]]) -> Measured:
        found = measure(file)
        sets: dict[tuple[int, ...], int] = {}  # many lines are run by the same tests
        kept = {
            "tests": found["tests"],
            **{name: found[name] for name in ABOUT if name in found},
            "read": {name: self._hash(name) for name in sorted({file, *found["ran"]})},
            "ran": {
                name: {line: sets.setdefault(tuple(numbers), len(sets)) for line, numbers in lines.items()}
                for name, lines in found["ran"].items()
            },
            "sets": [list(each) for each in sets],
        }
        path = self._path(file)
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch = path.with_suffix(".tmp")
        scratch.write_text(json.dumps(kept), encoding="utf-8")
        scratch.replace(path)
        known = self._stored(file)
        assert known is not None
        return known

    def _path(self, file: str) -> Path:
        return self.folder / (file.replace("/", "-") + ".json")

    def _hash(self, name: str) -> str:
        if name not in self._hashes:
            path = self.home / name
            inside = ",".join(sorted(each.name for each in path.glob("*.py")))  # their own hashes are beside
            self._hashes[name] = sha(path.read_bytes()) if path.is_file() else inside
        return self._hashes[name]


class Reach:
    """The test files and lines that have to do with a mutant.

    Parameters
    ----------
    home : Path
        The checkout.
    graph : dict
        File of package or tests -> the files that it imports.
    """

    def __init__(self, home: Path, graph: dict[str, list[str]]) -> None:
        self.home, self.graph = home, graph
        self.users: dict[str, list[str]] = {}
        for user, used in graph.items():
            for name in used:
                self.users.setdefault(name, []).append(user)
        tests = [name for name in graph if name.startswith("tests/") and "/test_" in name]
        self._imported = {test: len(_distances([test], graph)) for test in tests}

    def tests(self, file: str) -> list[str]:
        """Return all test files: examples in the file, what imports it, the nearest first, then the others.

        Those with the name of the file or its folder come first; of others that are as near those of its
        room, then those that import less. Others may reach it, too: the ledger loads claims by their names.
        """
        far = _distances([file], self.users)
        own = [file] if ">>> " in self._text(file) else []
        room, stem, end = Path(file).parts[2], Path(file).stem, len(self.graph)

        def order(test: str) -> tuple[object, ...]:
            name, folder = Path(test).stem.removeprefix("test_"), Path(test).parts[1]
            alike = test in far and name in (stem, room) and folder in (room, Path(test).name)
            return (not alike, far.get(test, end), folder != room, self._imported[test], test)

        return own + sorted(self._imported, key=order)

    def tiers(self, file: str, line: int) -> list[Lines]:
        """Return the lines whose tests a change of a line concerns: those that surely do, then the others.

        What is run by an import concerns the functions of the file first, then whatever imports the file; an
        argument's default the body of the function; a compiled function, in which no line can be seen to run,
        what calls it by its name.
        """
        tree = ast.parse(self._text(file))
        within = list(chain(tree, line))
        if not within:
            return [{file: {line}}]
        around = [each for each in within if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
        if around and around[-1] is within[-1]:  # in the head of a function, not in its body
            body = set(range(within[-1].body[0].lineno, last(within[-1]) + 1))
            if self._jitted(file, within[-1]):
                return [self._callers(file, within[-1].name)]
            return [{file: body}] + ([] if len(around) > 1 else [{file: {0}}])
        for function in around:
            if self._jitted(file, function):
                return [self._callers(file, function.name)]
        if around:
            return [{file: head(within[-1])}]
        return [{file: in_functions(tree)}, {file: {0}}]

    def compiled(self, file: str) -> set[str]:
        """Return the files with compiled functions into which a change of a file may have been compiled."""
        near = _distances([file], self.users)
        return {name for name in near if name.startswith("src/") and _JITTED.search(self._text(name))}

    def _jitted(self, file: str, function: Any) -> bool:
        lines = self._text(file).splitlines()
        return any(_JITTED.match(lines[each.lineno - 1].strip()) for each in function.decorator_list)

    def _callers(self, file: str, name: str) -> Lines:
        """Return the lines, not compiled themselves, that name a compiled function or one that calls it."""
        names, found = {name}, defaultdict[str, set[int]](set)
        waiting = list(names)
        while waiting:
            wanted = waiting.pop()
            for user in _distances([file], self.users):
                if not re.search(rf"\b{wanted}\b", self._text(user)):
                    continue
                tree = ast.parse(self._text(user))
                for at in named(tree, wanted):
                    functions = [x for x in chain(tree, at) if isinstance(x, ast.FunctionDef)]
                    outer = next((each for each in functions if self._jitted(user, each)), None)
                    if outer is None:
                        found[user] |= {at} if functions else in_functions(tree)
                    elif outer.name not in names:
                        names.add(outer.name)
                        waiting.append(outer.name)
        return dict(found)

    def _text(self, file: str) -> str:
        return (self.home / file).read_text(encoding="utf-8")


def _distances(start: Iterable[str], edges: dict[str, list[str]]) -> dict[str, int]:
    distance = dict.fromkeys(start, 0)
    waiting = deque(distance)
    while waiting:
        here = waiting.popleft()
        for there in edges.get(here, ()):
            if there not in distance:
                distance[there] = distance[here] + 1
                waiting.append(there)
    return distance

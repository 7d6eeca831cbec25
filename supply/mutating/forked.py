"""What a fork of `mutating.server` does: one file of tests after the other, watched by a plugin of pytest."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from json import dumps
from pathlib import Path
from types import FrameType
from typing import IO, Any

import pytest

from .claimed import Claims

OPTIONS = ("-x", "-q", "-n0", "-p", "no:randomly", "-p", "no:cacheprovider", "--tb=line")
#: pytest's numbers for "all passed" and "no test was left"
FINE = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
NONE_BEGAN = "no test could begin"
#: one for all processes of a test that is measured; see `measure`
CONTEXT = "MUTANTS_CONTEXT"


def run(asked: Mapping[str, Any], answers: IO[str]) -> int:
    """Run or measure tests; return the exit code.

    Parameters
    ----------
    asked : dict
        ``folder``, the copy of the checkout, and ``scratch``, an empty folder. ``measure``: a file of tests,
        of which each is noted that takes less than ``slow`` seconds of CPU. Or ``tests``: a list of pairs, a
        file and its tests, each with the seconds of CPU and wall that it may take; run until one fails, with
        ``everyone`` to the end, or until one takes too long.
        ``wall``: what an import may take. ``claims``, if a file is a folder of claims: see `Claims`.
    answers : file
        Where lines of JSON are written.
    """

    def tell(*found: Any) -> None:
        answers.write(dumps(found) + "\n")
        answers.flush()

    more = [Claims(asked["claims"], tell)] if "claims" in asked else []
    if "measure" in asked:
        return measure(asked["measure"], asked["folder"], asked["scratch"], asked["slow"], tell, more)
    everyone = bool(asked.get("everyone"))
    options = [each for each in OPTIONS if not (everyone and each == "-x")]
    for number, (file, tests) in enumerate(asked["tests"]):
        code = pytest.main(
            [*options, *_doctest(file), f"--basetemp={asked['scratch']}/{number}", file],
            plugins=[_Chosen(tests, asked["wall"], tell), *more],
        )
        if code not in FINE and not (everyone and code == pytest.ExitCode.TESTS_FAILED):
            tell("failed", f"{file}: {NONE_BEGAN}")  # the first that is told counts
            if not everyone:
                return int(code)
    return 0


class _Chosen:
    """Runs chosen tests in their order, and ends the process when one takes too long."""

    def __init__(self, tests: Mapping[str, tuple[float, float]], otherwise: float, tell: Any) -> None:
        self.tests, self.tell, self.otherwise = tests, tell, otherwise
        self._rank = {name: rank for rank, name in enumerate(tests)}

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        # a mutant may change the parameters that stand in a name: then all of that function are run
        functions = {name.partition("[")[0] for name in self._rank.keys() - {item.nodeid for item in items}}
        left = [item for item in items if item.nodeid in self.tests or _function(item) in functions]
        gone = set(map(id, items)) - set(map(id, left))
        config.hook.pytest_deselected(items=[item for item in items if id(item) in gone])
        items[:] = sorted(left, key=lambda item: self._rank.get(item.nodeid, len(self._rank)))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        cpu, wall = self.tests.get(item.nodeid, (self.otherwise, self.otherwise))
        self.tell("begins", item.nodeid, wall)
        self.tell("running", item.nodeid)
        signal.setitimer(signal.ITIMER_PROF, cpu)  # nobody handles its signal: that ends the process
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            self.tell("begins", "", self.otherwise)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.tell("failed", report.nodeid)


def measure(
    file: str, folder: str, scratch: str, slow: float, tell: Any, plugins: Sequence[object] = ()
) -> int:
    """Run a file of tests under coverage and tell which test ran which line; return 0 if it could.

    What a test starts as a process of its own is measured too: ``sitecustomize.py`` in the scratch folder
    starts coverage there, and the environment names the test.
    """
    import coverage

    seen = Path(scratch) / "coverage"
    seen.mkdir(parents=True)
    pattern = folder.replace(",", "?")  # coverage takes a comma for the end of a path
    include = [f"{pattern}/src/*", f"{pattern}/tests/*"]
    start = seen / "sitecustomize.py"
    start.write_text("import coverage\ncoverage.process_startup()\n", encoding="utf-8")
    settings = [f"data_file = {seen}/part", "parallel = true", "sigterm = true", f"context = ${{{CONTEXT}}}"]
    listed = "include =\n  " + "\n  ".join(include)
    rules = seen / "rules"
    rules.write_text("\n".join(["[run]", *settings, listed, ""]), encoding="utf-8")
    os.environ |= {
        "COVERAGE_PROCESS_START": str(rules),
        "PYTHONPATH": os.pathsep.join([str(seen), os.environ["PYTHONPATH"]]),
        CONTEXT: "",
    }
    watch = coverage.Coverage(data_file=str(seen / "whole"), include=include, config_file=False)
    timed = _Timed(watch, slow, tell)
    options = [each for each in OPTIONS if each != "-x"]
    watch.start()
    code = pytest.main(
        [*options, *_doctest(file), "-m", "not browser and not urls", f"--basetemp={scratch}/t", file],
        plugins=[timed, *plugins],
    )
    watch.stop()
    watch.save()
    data = watch.get_data()
    for part in seen.glob("part*"):
        other = coverage.CoverageData(str(part))
        try:
            other.read()
        except coverage.CoverageException:  # of a process that was killed while it wrote
            continue
        data.update(other)
    good = {name: number for number, (name, *_) in enumerate(timed.good)}
    ran: dict[str, dict[int, list[int]]] = {}
    for path in data.measured_files():
        inside = os.path.relpath(path, folder)
        lines: dict[int, set[int]] = defaultdict(set)
        for line, contexts in data.contexts_by_lineno(path).items():
            lines[line] |= {good[name] for name in contexts if name in good}
        lines[0] = set(good.values())
        ran[inside] = {line: sorted(numbers) for line, numbers in sorted(lines.items())}
    about = {"left_out": timed.left_out, "slowest": round(timed.slowest, 3)}
    tell("measured", {"tests": timed.good, "ran": ran, **about})
    return 0 if code in (*FINE, pytest.ExitCode.TESTS_FAILED) else int(code)


class _Timed:
    """Notes the tests that pass and are fast; ends the others by an exception that nothing catches."""

    def __init__(self, watch: Any, slow: float, tell: Any) -> None:
        self.watch, self.slow, self.tell = watch, slow, tell
        self.good: list[tuple[str, float, float]] = []
        self.left_out, self.slowest = 0, 0.0
        self._passed = True
        signal.signal(signal.SIGPROF, self._end)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.tell("begins", item.nodeid, 60 + 20 * self.slow)
        self.watch.switch_context(item.nodeid)
        os.environ[CONTEXT] = item.nodeid
        self._passed = True
        cpu, wall = _cpu(), time.monotonic()
        signal.setitimer(signal.ITIMER_PROF, self.slow)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            cpu, wall = _cpu() - cpu, time.monotonic() - wall
            self.slowest = max(self.slowest, cpu)
            if self._passed and cpu <= self.slow:
                self.good.append((item.nodeid, round(cpu, 3), round(wall, 3)))
            else:
                self.left_out += 1
            self.watch.switch_context("")
            os.environ[CONTEXT] = ""
            self.tell("begins", "", 600)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._passed = self._passed and report.outcome == "passed"

    @staticmethod
    def _end(_: int, frame: FrameType | None) -> None:
        while frame:
            if frame.f_globals.get("__name__", "").startswith("coverage."):  # it may hold its lock
                signal.setitimer(signal.ITIMER_PROF, 0.01)
                return
            frame = frame.f_back
        raise _Slow


class _Slow(BaseException):
    """A test has taken its time; no `except Exception` stops it, and hypothesis does not try again."""


def _cpu() -> float:
    """Return the seconds of CPU of this process and of those that have ended of which it is the parent."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _doctest(file: str) -> list[str]:
    return ["--doctest-modules"] if file.startswith("src/") and file.endswith(".py") else []


def _function(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


if __name__ == "__main__":
    sys.exit("a fork of mutating.server calls this")

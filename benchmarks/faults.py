"""When things break: ``python benchmarks/faults.py`` kills a run 50 times and runs the tests of faults.

Writes ``results/faults/kills.csv``, a row per kill, and ``results/faults/faults.csv``, a row per fault with
what the user is told and the test that causes it. A few minutes; ``--kills 3`` is a taste without a file.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from marginbook.cli.stopping import keeping, one_sentence
from marginbook.experiments.schema import READ, is_sound

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "results" / "faults"
ROOMS = HERE.parent / "tests" / "experiments" / "rooms"
EXPERIMENT = "toyroom/many"
TASKS = 1200
SEED = 9
STARTING = 8.0  # seconds, within which a run on a busy machine begins to work
COMMAND = [sys.executable, "-c", "from marginbook.experiments.command import experiment; experiment()"]
KILL_FIELDS = ("kill", "phase", "seconds", "before", "after", "lost", "doubled", "torn", "same_bytes")
FAULT_FIELDS = ("part", "fault", "told", "test", "outcome")


def start(store: Path, out: Path) -> subprocess.Popen[bytes]:
    """Start the run with two workers, in a process group of its own."""
    path = os.pathsep.join([str(HERE.parent / "src"), str(ROOMS)])
    return subprocess.Popen(
        [*COMMAND, "run", EXPERIMENT, "--n-jobs", "2", "--store", store, "--out", out],
        env={**os.environ, "MARGINBOOK_ROOMS": "toyroom", "PYTHONPATH": path},
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def stored(store: Path) -> list[tuple[Any, ...]]:
    """Return the rows of a store, each with its checksum."""
    if not store.exists():
        return []
    with sqlite3.connect(store, timeout=60) as db:
        try:
            return db.execute(READ).fetchall()
        except sqlite3.OperationalError:  # the tables are not there yet
            return []
        finally:
            found = db.execute("PRAGMA integrity_check").fetchall()
            assert found == [("ok",)], found


def kill(times: int, folder: Path, seed: int = SEED) -> list[dict[str, object]]:
    """Kill a run with all its workers at random moments, go on each time, and count what went wrong.

    One kill in five hits the start, at any moment of it; the others hit the work, up to 1.5 seconds after
    the first new result.
    """
    undisturbed = start(folder / "whole", folder / "a")
    assert undisturbed.wait() == 0
    moments, rows = random.Random(seed), []
    store, out = folder / "killed", folder / "b"
    for number in range(1, times + 1):
        before = stored(store)
        began, process = time.monotonic(), start(store, out)
        phase = "start" if number % 5 == 1 else "work"
        if phase == "work":
            while process.poll() is None and len(stored(store)) == len(before):
                time.sleep(0.05)
        time.sleep(moments.uniform(0, STARTING if phase == "start" else 1.5))
        with suppress(ProcessLookupError):  # it had ended, with all tasks done
            os.killpg(process.pid, signal.SIGKILL)
        seconds = time.monotonic() - began
        process.wait()
        row = {"kill": number, "phase": phase, "seconds": f"{seconds:.2f}"}
        rows.append({**row, **counted(before, stored(store))})
        print(*rows[-1].values(), flush=True)
    before = stored(store)
    began, resumed = time.monotonic(), start(store, out)
    assert resumed.wait() == 0
    names = ("many.csv", "many.provenance.json")
    pairs = [[folder / run / "toyroom" / name for run in "ab"] for name in names]
    same = all(one.read_bytes() == other.read_bytes() for one, other in pairs)
    end = {"kill": "", "phase": "resumed", "seconds": f"{time.monotonic() - began:.2f}"}
    rows.append({**end, **counted(before, stored(store)), "same_bytes": "yes" if same else "no"})
    return rows


def counted(before: Iterable[tuple[Any, ...]], after: list[tuple[Any, ...]]) -> dict[str, int]:
    """Return how many results there are, and how many were lost or changed, are doubled, are torn."""
    keys, rows = {row[:5] for row in after}, set(after)
    before = list(before)
    return {
        "before": len(before),
        "after": len(after),
        "lost": sum(row not in rows for row in before),
        "doubled": len(after) - len(keys),
        "torn": sum(not is_sound(row) for row in after),
    }


class Told:
    """A plugin of pytest that collects what the tests of faults say."""

    def __init__(self) -> None:
        self.faults: dict[str, tuple[str, str]] = {}
        self.rows: list[dict[str, str]] = []

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            if mark := item.get_closest_marker("fault"):
                self.faults[item.nodeid] = (mark.args[0], mark.args[1])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or (report.when == "setup" and report.outcome == "skipped"):
            part, fault = self.faults[report.nodeid]
            told = [str(value) for name, value in report.user_properties if name == "told"]
            test = report.nodeid.partition("[")[0]
            row = (part, fault, told[-1] if told else "", test, report.outcome)
            self.rows.append(dict(zip(FAULT_FIELDS, row, strict=True)))


def tell(match: str = "") -> list[dict[str, str]]:
    """Run the tests of faults, or those that match, and return a row for each fault that is known."""
    plugin = Told()
    os.chdir(HERE.parent)
    chosen = ["-m", "fault", *(["-k", match] if match else [])]
    code = pytest.main([*chosen, "-p", "no:xdist", "-p", "no:cacheprovider", "-q", "tests"], [plugin])
    if code == pytest.ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    if code != pytest.ExitCode.OK:
        raise SystemExit(f"the tests of faults ended with {code!r}; nothing was written")
    kept = []
    if match:
        with (RESULTS / "faults.csv").open(encoding="utf-8", newline="") as file:
            kept = list(csv.DictReader(file))
    rows = {(row["part"], row["fault"]): row for row in [*kept, *plugin.rows]}
    return [row for _, row in sorted(rows.items())]


def write(name: str, fields: tuple[str, ...], rows: Iterable[dict[str, Any]]) -> None:
    """Write rows as CSV among the results."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    with (RESULTS / name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fields, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--only", choices=("kills", "faults"), help="only one of the two")
    parser.add_argument(
        "--match", default="", help="as pytest's -k: measure these faults again, keep the others"
    )
    given = parser.parse_args()
    if given.only != "faults" and not given.match:
        with tempfile.TemporaryDirectory() as folder:
            rows = kill(given.kills, Path(folder))
        if given.kills >= 50:
            write("kills.csv", KILL_FIELDS, rows)
    if given.only != "kills" and given.kills >= 50:
        write("faults.csv", FAULT_FIELDS, tell(given.match))


if __name__ == "__main__":
    with one_sentence(), keeping("tables that were measured whole are written"):
        main()

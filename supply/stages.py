"""How long the commands take, whole and stage by stage, for the book's page.

``python supply/stages.py`` (`make stages`) runs `make book` in a clean build folder with empty caches, then
`make test`, then each stage of it alone from where it began, then `make check` after a small change. The
environment is set up, and the machine should have nothing else to do. The times go to
``results/ci/stages.csv``, those of the unit tests by folder to ``results/ci/folders.csv``. CPU time is that
of the whole machine, where Linux counts it: kernels of a detached server are no children of this script.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

from marginbook.base.checkout import commit
from marginbook.cli.stopping import keeping, one_sentence
from marginbook.quality.benchmarking.environment import cores, processor

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "results" / "ci" / "stages.csv"
FOLDERS = OUT.with_name("folders.csv")
#: where Linux counts what the cores do
COUNTED = Path("/proc/stat")
#: target of the Makefile -> what it does
STAGES = {
    "book": "fetch data, execute all notebooks, check all claims, compile",
    "test": "the six stages below, types beside unit tests",
    "lint": "ruff: rules and format",
    "types": "mypy",
    "unit": "unit tests and doctests",
    "notebooks": "stored outputs come out again (nbval, strict), where the book has not just shown it",
    "strict": "compile the book, any warning fails",
    "browser": "the built book in Chromium",
    "check": "lint, types and the nearest tests, after a change of one module",
}
#: what pytest writes in the stage `unit`: the time of each test
REPORT = "unit.xml"
#: the module that `make check` finds changed
CHANGED = ROOT / "src" / "marginbook" / "ldm" / "model" / "objective.py"


def main() -> int:
    """Run, print, write; the exit code is 1 if a stage failed, and nothing is written then."""
    options = _options()
    if not options.stages:
        shutil.rmtree(ROOT / "_build", ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        rows = list(measured(options.stages or STAGES, Path(folder)))
        report = Path(folder) / REPORT
        tests = by_folder(report) if report.is_file() else []
    for row in rows:
        print("{stage:10} {wall_seconds:6} s, {cpu_seconds:6} s of CPU, {tests} tests".format(**row))
    if None in {row["tests"] for row in rows}:
        return 1
    if not options.stages:
        write(OUT, rows)
        write(FOLDERS, tests)
    return 0


def write(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Write rows as CSV; without rows there is no file."""
    path.unlink(missing_ok=True)
    if rows:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        print(f"wrote {path.relative_to(ROOT)}")


def by_folder(report: Path) -> list[dict[str, object]]:
    """Return what the tests of each folder took by a report of pytest, the longest first."""
    seconds: Counter[str] = Counter()
    tests: Counter[str] = Counter()
    for case in ET.parse(report).getroot().iter("testcase"):
        first, *others = case.get("classname", "").split(".")
        inside = len(others) > 1 and first == "tests" and (ROOT / "tests" / others[0]).is_dir()
        name = f"tests/{others[0]}" if inside else first
        seconds[name] += float(case.get("time", 0))
        tests[name] += 1
    return [
        {"folder": name, "seconds": round(took), "tests": tests[name]} for name, took in seconds.most_common()
    ]


def measured(stages: Iterable[str], folder: Path) -> Iterator[dict[str, object]]:
    """Yield a row for each stage, with caches in a folder; after `make test` they are as before it."""
    caches, before = folder / "caches", folder / "before"
    caches.mkdir()
    environment = {
        **os.environ,
        "MARGINBOOK_CACHE": str(caches / "marginbook"),
        "MYPY_CACHE_DIR": str(caches / "mypy"),
    }
    environment.pop("MARGINBOOK_MIRROR", None)
    at = commit()
    for stage in stages:
        if stage == "test":
            shutil.copytree(caches, before, symlinks=True)
        told = {"PYTEST_ADDOPTS": f"--junitxml={folder / REPORT}"} if stage == "unit" else {}
        with edited(CHANGED) if stage == "check" else nullcontext():
            row = measure(stage, environment | told) | {"commit": at}
        if stage == "test":
            shutil.rmtree(caches)
            before.rename(caches)
        yield row


@contextmanager
def edited(file: Path) -> Iterator[None]:
    """Add a comment to a file, and take it away again."""
    text = file.read_bytes()
    file.write_bytes(text + b"\n\n# a change\n")
    try:
        yield
    finally:
        file.write_bytes(text)


def measure(stage: str, environment: Mapping[str, str]) -> dict[str, object]:
    """Return one row; `tests` is None for a stage that failed."""
    start, before = time.monotonic(), busy()
    done = subprocess.run(
        ["make", "--no-print-directory", stage], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    wall, after = time.monotonic() - start, busy()
    if done.returncode:
        print(done.stdout[-3000:], done.stderr[-3000:], sep="\n", file=sys.stderr)
    return {
        "stage": stage,
        "what": STAGES[stage],
        "wall_seconds": round(wall),
        "cpu_seconds": "" if before is None or after is None else round(after - before),
        "tests": None if done.returncode else passed(done.stdout),
        "machine": f"{processor()}, {cores()} cores",
    }


def busy() -> float | None:
    """Return the seconds that all cores together have worked since the machine started; None if unknown."""
    if not COUNTED.is_file():
        return None
    user, nice, system, _, _, interrupts, soft = map(int, COUNTED.read_text().split()[1:8])
    return (user + nice + system + interrupts + soft) / os.sysconf("SC_CLK_TCK")


def passed(said: str) -> int:
    """Return how many tests passed, by the last lines of all runs of pytest in an output."""
    return sum(map(int, re.findall(r"(\d+) passed\b.* in \d", said)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "stages", nargs="*", choices=[*STAGES, []], help="only these; nothing is written then"
    )
    return parser.parse_args()


if __name__ == "__main__":
    with one_sentence(), keeping("nothing was written"):
        sys.exit(main())

"""What the two commands cost, stage by stage: wall clock and CPU, for the book's page.

``python supply/stages.py`` (`make stages`) runs each stage of `make book` and `make test` in a clean build
folder, on a machine that should have nothing else to do, and writes ``results/ci/stages.csv``. The data and
claims caches are empty at the start, the environment is set up.
"""

from __future__ import annotations

import argparse
import csv
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from marginbook.base.checkout import commit
from marginbook.cli.stopping import keeping, one_sentence

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "results" / "ci" / "stages.csv"
#: target of the Makefile -> what it does
STAGES = {
    "book": "fetch data, execute all notebooks, check all claims, compile",
    "lint": "ruff: rules and format",
    "types": "mypy",
    "unit": "unit tests and doctests",
    "notebooks": "stored outputs come out again (nbval, strict), where the book has not just shown it",
    "strict": "compile the book, any warning fails",
    "browser": "the built book in Chromium",
}


def main() -> int:
    """Run, print, write; the exit code is 1 if a stage failed, and nothing is written then."""
    options = _options()
    with tempfile.TemporaryDirectory() as empty:
        if not options.stages:
            shutil.rmtree(ROOT / "_build", ignore_errors=True)
        environment = {**os.environ, "MARGINBOOK_CACHE": empty}
        environment.pop("MARGINBOOK_MIRROR", None)
        rows = [measure(stage, environment) for stage in options.stages or STAGES]
    for row in rows:
        print("{stage:10} {wall_seconds:6} s, {cpu_seconds:6} s of CPU, {tests} tests".format(**row))
    if None in {row["tests"] for row in rows}:
        return 1
    if not options.stages:
        OUT.parent.mkdir(parents=True, exist_ok=True)
        with OUT.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        print(f"wrote {OUT.relative_to(ROOT)}")
    return 0


def measure(stage: str, environment: Mapping[str, str]) -> dict[str, object]:
    """Return one row; `tests` is None for a stage that failed."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(
        ["make", "--no-print-directory", stage], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode:
        print(done.stdout[-3000:], done.stderr[-3000:], sep="\n", file=sys.stderr)
    passed = re.findall(r"(\d+) passed", done.stdout)
    return {
        "stage": stage,
        "what": STAGES[stage],
        "wall_seconds": round(wall),
        "cpu_seconds": round(cpu),
        "tests": None if done.returncode else int(passed[-1]) if passed else 0,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "commit": commit(),
    }


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

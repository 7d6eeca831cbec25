"""Run the case files of ``benchmarks/`` one after the other, each in a process of its own; compare, and draw.

A run that was stopped goes on with the first file that it did not finish, as long as nothing was committed
and the machine is the same.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from . import tables
from .environment import ONE_THREAD, environment, load
from .tables import FACTOR

if TYPE_CHECKING:
    from rich.console import Console

#: a machine with more runnable processes than this is not quiet
QUIET = 0.5


@cache
def console() -> Console:
    """Return standard output; rich is imported where a suite is run, not where its tables are read."""
    from rich.console import Console

    return Console(width=150, highlight=False)


def run_suite(
    files: Mapping[str, Sequence[str]],
    folder: Path,
    argv: Sequence[str] | None = None,
    on_request: Sequence[str] = (),
) -> int:
    """Measure, compare with the committed tables, draw; return the exit code.

    Parameters
    ----------
    files : mapping
        Names of case files, without ``.py``, by room.
    folder : path
        Where they are; tables go to its ``results``.
    argv : sequence of str, optional
        Arguments instead of those of the command line.
    on_request : sequence of str
        Rooms that are left out where none is named.
    """
    about = "Time our solvers beside their peers. A run that was stopped goes on where it was."
    but = f", but {', '.join(on_request)}" if on_request else ""
    parser = argparse.ArgumentParser(prog="make bench", description=about)
    parser.add_argument(
        "rooms", nargs="*", metavar="PAPER", help=f"some of {', '.join(files)}; all if none is named" + but
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, for a look; nothing is compared")
    parser.add_argument("--again", action="store_true", help="measure also what a stopped run has finished")
    parser.add_argument(
        "--fail-on-regression", action="store_true", help="exit with 1 if a ratio is worse than committed"
    )
    given = parser.parse_args(argv)
    if unknown := set(given.rooms) - set(files):
        parser.error(f"nothing is called {', '.join(sorted(unknown))}; choose from {', '.join(files)}")
    rooms = given.rooms or [room for room in files if room not in on_request]
    wanted = [file for room in rooms for file in files[room]]
    try:
        failed = _measure(wanted, folder, quick=given.quick, again=given.again)
    except KeyboardInterrupt:
        console().print(
            "stopped; the same command goes on with the file that was being measured", style="bold"
        )
        return 130
    if failed:
        console().print(f"not measured, see above: {', '.join(failed)}", style="bold red")
        return 1
    if given.quick:
        console().print("small sizes; the tables are in _build/bench/quick")
        return 0
    worse = report(folder.parent, folder / "results")
    draw(folder.parent / "_build" / "bench")
    return int(given.fail_on_regression and worse)


def _measure(wanted: Sequence[str], folder: Path, *, quick: bool, again: bool) -> list[str]:
    """Run the files that are not done yet; return those that failed."""
    notes = folder.parent / "_build" / "bench" / f"progress{'-quick' * quick}.json"
    done = [] if again else finished(notes, identity(folder.parent))
    if done:
        console().print(f"measured before: {', '.join(done)} (--again measures them again)")
    if not quick and (busy := load()) > QUIET:
        console().print(f"other work is running here (load {busy:.1f}): times will be noisy", style="yellow")
    failed, begun = [], time.perf_counter()
    for number, file in enumerate(wanted, start=1):
        if file in done:
            continue
        minutes = (time.perf_counter() - begun) / 60
        console().print(
            f"[{number}/{len(wanted)}] {file}.py, after {minutes:.1f} min", style="bold", markup=False
        )
        command = [sys.executable, str(folder / f"{file}.py"), *(["--quick"] if quick else [])]
        if subprocess.run(command, env={**os.environ, **ONE_THREAD}).returncode:
            failed.append(file)
            continue
        done.append(file)
        note(notes, identity(folder.parent), done)
    if not failed:  # these are measured; a run of other files that was stopped can still go on
        note(notes, identity(folder.parent), [file for file in done if file not in wanted])
    return failed


def identity(home: Path) -> list[str]:
    """Return what the parts of one run have in common: the commit, the processor, the versions."""
    try:
        head = subprocess.run(
            ["git", "-C", str(home), "rev-parse", "HEAD"], capture_output=True, encoding="utf-8"
        ).stdout.strip()
    except FileNotFoundError:
        head = ""
    place = environment()
    return [head, *(place[key] for key in place if key not in ("date", "blas"))]


def finished(notes: Path, who: list[str]) -> list[str]:
    """Return the files that a stopped run with the same identity has finished."""
    if not notes.is_file():
        return []
    told = json.loads(notes.read_text(encoding="utf-8"))
    return list(told["done"]) if told["identity"] == who else []


def note(notes: Path, who: list[str], done: list[str]) -> None:
    """Store what is finished."""
    notes.parent.mkdir(parents=True, exist_ok=True)
    part = notes.with_suffix(".part")
    part.write_text(json.dumps({"identity": who, "done": done}), encoding="utf-8")
    os.replace(part, notes)


def report(home: Path, results: Path) -> bool:
    """Print which ratios are worse than in the committed tables, and return whether there are any."""
    worse, compared = [], 0
    for path in sorted(results.glob("*.csv")):
        old = tables.committed(home, path)
        if old is None:
            continue
        compared += 1
        worse += tables.regressions(old, tables.parsed(path.read_text(encoding="utf-8")))
    if not compared:
        console().print("no committed tables to compare with", style="yellow")
    elif not worse:
        console().print(f"no ratio is more than {FACTOR:g} times worse than committed", style="green")
    else:
        console().print(f"WORSE THAN COMMITTED by more than {FACTOR:g} times:", style="bold red")
        for each in worse:
            console().print(f"  {each}", style="red", markup=False)
    return bool(worse)


def draw(folder: Path) -> None:
    """Write the figures of the performance page."""
    from . import figures  # matplotlib takes a second to import

    folder.mkdir(parents=True, exist_ok=True)
    for name in figures.write_all(folder):
        console().print(f"figure: _build/bench/{name}")

"""Thousands of bad inputs for every public estimator and function, each in a process that may die.

``python -m tests.robustness.campaign --examples 2000`` writes ``results/robustness/``: what became of the
examples of every estimator and function. A worker that dies or does not answer is a fault of the example that
it was at; another worker goes on behind it.
"""

from __future__ import annotations

import argparse
import csv
import faulthandler
import json
import multiprocessing
import os
import platform
import re
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from marginbook.cli.stopping import keeping, one_sentence

with one_sentence():  # these imports take seconds
    import numpy as np
    import scipy
    import sklearn
    from hypothesis import HealthCheck, Phase, given, seed, settings
    from numba.core import event

    from marginbook.base.checkout import commit
    from marginbook.base.project import PACKAGE

    from .candidates import cases, public_estimators
    from .functions import FUNCTIONS
    from .judging import KINDS, outcome

#: seconds that one example may take beside compiling, and the first of a worker
LIMIT, FIRST = 20.0, 240.0
#: messages of each kind that are stored
SHOWN = 10
#: examples that are drawn with one seed
BLOCK = 50
#: of a process that waits and does not compute, so many seconds count as one
PATIENCE = 30.0
#: bytes of address space that a worker may have
MEMORY = 6 * 2**30
#: workers that are started for one name, before the rest of its examples is given up
LIVES = 20
FOLDER = PACKAGE.parents[1] / "results" / "robustness"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the campaign; return 1 if there was a fault."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="estimators and functions; all by default")
    parser.add_argument("--examples", type=int, default=2000)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    every = {**dict.fromkeys(public_estimators(), "estimators"), **dict.fromkeys(FUNCTIONS, "functions")}
    said: Counter[tuple[str, str]] = Counter()
    examples: dict[tuple[str, str], str] = {}
    faults = 0
    for kind in ("estimators", "functions"):
        rows = []
        for name in [name for name in asked.names or every if every[name] == kind]:
            row, found = run(name, asked.examples, asked.seed)
            rows.append(row)
            faults += row["fault"]
            for each in found:
                pattern = (
                    each["kind"],
                    re.sub(rf"{name}|[-+\w.]*\d[-+\w.]*|'.*?'|\[.*?\]", "", each["what"])[:50],
                )
                said[pattern] += 1
                examples.setdefault(pattern, each["what"])
            found = [each for each in found if each["kind"] == "fault"]
            print(" ".join(f"{key}={value}" for key, value in row.items()), flush=True)
            for fault in {fault["what"]: fault for fault in reversed(found)}.values():
                print("  FAULT", fault["what"], fault["case"], sep="\n    ", flush=True)
        if rows:
            _write(asked.folder / f"{kind}.csv", rows)
    common = [
        {"kind": kind, "message": examples[kind, pattern], "count": count}
        for kind in ("input", "parameter", "problem", "warned")
        for (group, pattern), count in said.most_common()
        if group == kind
    ]
    if common:
        kinds = [row["kind"] for row in common]
        _write(
            asked.folder / "messages.csv",
            [r for k, r in enumerate(common) if kinds[:k].count(r["kind"]) < SHOWN],
        )
    return int(bool(faults))


def run(name: str, examples: int, start: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the counts of outcomes for `name`, and all of them."""
    done: list[dict[str, Any]] = []
    for life in range(LIVES):
        if len(done) >= examples:
            break
        with tempfile.TemporaryDirectory() as folder:
            journal = Path(folder) / "journal"
            journal.touch()
            reason = _watched(name, examples - len(done), start + life, journal)
            lines = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
            lines = [line for line in lines if "case" in line]
        begun = [line for line in lines if "kind" not in line]
        done += [line for line in lines if "kind" in line]
        if reason and len(begun) * 2 > len(lines):  # one was begun and not ended
            done.append({"kind": "fault", "what": reason, "case": begun[-1]["case"], "seconds": LIMIT})
        elif reason:
            raise RuntimeError(f"the worker of {name} failed between examples: {reason}")
        elif life and not lines:
            break
    counts = Counter(line["kind"] for line in done)
    row = {"name": name, "examples": len(done)} | {kind: counts[kind] for kind in KINDS}
    row["slowest"] = round(max((line["seconds"] for line in done[1:]), default=0.0), 2)
    row |= {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "sklearn": sklearn.__version__,
        "commit": commit("results") or "",
    }
    return row, done


def work(name: str, examples: int, number: int, journal: Path) -> None:
    """Draw the examples and write each to `journal` before it runs, and its outcome behind."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which has a sentence for it
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    faulthandler.enable()
    strategy = cases(name) if name in public_estimators() else FUNCTIONS[name]
    with journal.open("a", encoding="utf-8", buffering=1) as stream:
        event.register("numba:compile", _Compiled(stream))

        def each(case: Any) -> None:
            print(json.dumps({"case": repr(case)}), file=stream)
            begin = time.process_time()
            found = outcome(case.run)
            line = {"kind": found.kind, "what": found.what, "case": repr(case)}
            print(json.dumps(line | {"seconds": time.process_time() - begin}), file=stream)

        # within a run hypothesis draws near what it drew before; many short ones go further
        for block, first in enumerate(range(0, examples, BLOCK)):
            drawing = settings(
                max_examples=min(BLOCK, examples - first),
                database=None,
                deadline=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            seed(1000 * number + block)(drawing(given(strategy)(each)))()


class _Compiled(event.Listener):
    """Writes a line whenever a function begins or ends to compile: its time is not the example's."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def on_start(self, event: Any) -> None:
        print(json.dumps({"compiles": True}), file=self.stream)

    on_end = on_start


def _watched(name: str, examples: int, number: int, journal: Path) -> str:
    """Run a worker; return why it was ended, or "" if it ended by itself."""
    # a fork has imported everything already
    start = multiprocessing.get_context("fork" if hasattr(os, "fork") else "spawn")
    worker = start.Process(target=work, args=(name, examples, number, journal))
    worker.start()
    try:
        size, since = 0, _spent(worker.pid)
        while worker.is_alive():
            worker.join(0.2)
            grown = journal.stat().st_size
            if grown != size:
                size, since = grown, _spent(worker.pid)
            spent = _spent(worker.pid) - since if worker.is_alive() else 0.0
            if spent > FIRST or (spent > LIMIT and journal.read_bytes().count(b"\n") > 2):
                worker.kill()
                worker.join()
                return f"no answer after {LIMIT:g} s"
    finally:
        if worker.is_alive():
            worker.kill()
    return f"the process ended with {worker.exitcode}" if worker.exitcode else ""


def _spent(pid: int | None) -> float:
    """Return the processor seconds of a process, fewer than those of the clock on a busy machine."""
    if not Path("/proc").is_dir():
        return time.monotonic()
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return 0.0  # it has just ended
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") + time.monotonic() / PATIENCE


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".part")
    with partial.open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    os.replace(partial, path)


if __name__ == "__main__":
    with one_sentence(), keeping("tables of groups that were run whole are written"):
        sys.exit(main())

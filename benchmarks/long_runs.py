"""An hour of each: does memory grow, is work lost, is a process left behind?

``python benchmarks/long_runs.py`` runs three things side by side for ``--minutes 60``: `serve`, with a reader
who opens pages, starts runs and cancels some; `experiment`, a table by its paper's protocol; `fuzzing`, bad
input for all estimators in one process. Then each is ended by Ctrl-C, and what it left is counted. Writes
``results/faults/long_runs.csv``, a row per minute, and ``long_run_ends.csv``. It needs the built book.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import psutil
from faults import HERE, stored, write

from marginbook.base.checkout import commit
from marginbook.cli.stopping import keeping, one_sentence
from marginbook.experiments.schema import is_sound
from marginbook.quality.benchmarking.environment import cores, processor
from marginbook.serve.runs import KEPT

HOME = HERE.parent
MINUTE_FIELDS = ("run", "minute", "operations", "memory", "largest", "processes", "files")
END_FIELDS = ("run", "what", "minutes", "operations", "lost", "faults", "left", "code", "machine", "commit")
#: a notebook whose parameter may be any number of an interval: no two runs are the same
RERUN, PARAMETER, BETWEEN = "ldm/01_margins_and_model", "lambda1", (0.1, 0.9)
#: a table of many tasks, none above a minute, that takes longer than the hour
TABLE = "study/accuracy"
MIB = 2**20


class LongRun:
    """A process, and what happens to it until its time is over.

    Attributes
    ----------
    operations, lost, faults : int
        What it did; what was asked and is not there; what ended otherwise than it should.
    """

    name = what = ""
    command: tuple[str, ...] = ()

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.operations = self.lost = self.faults = 0
        self.log = (folder / f"{self.name}.log").open("w+b")
        self.process = psutil.Popen(
            [sys.executable, *self.command, *self.more()],
            cwd=HOME,
            stdout=self.log,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )

    def more(self) -> list[str]:
        """Return what is added to the command."""
        return []

    def printed(self) -> str:
        """Return what the process has printed."""
        return (self.folder / f"{self.name}.log").read_text(encoding="utf-8", errors="replace")

    def work(self, over: Callable[[], bool]) -> None:
        """Keep the process busy until its time is over."""
        while not over():
            time.sleep(1)
            self.count()

    def count(self) -> None:
        """Set `operations`."""

    def settle(self) -> None:
        """Set `lost` and `faults`, after the process has ended."""

    def sample(self, minute: int) -> dict[str, object]:
        """Return its memory in MiB, that of the largest of its children, and what it has open."""
        children = self.process.children(recursive=True)
        sizes = [0]
        for child in children:
            with suppress(psutil.Error):  # it has ended since
                sizes.append(child.memory_info().rss)
        row = (
            self.name,
            minute,
            self.operations,
            f"{self.process.memory_info().rss / MIB:.1f}",
            f"{max(sizes) / MIB:.1f}",
            len(children),
            self.process.num_fds(),
        )
        return dict(zip(MINUTE_FIELDS, row, strict=True))

    def kept_busy(self, over: Callable[[], bool]) -> None:
        """As `work`; what the reader meets there and did not expect is a fault, and is told."""
        try:
            self.work(over)
        except Exception as error:
            self.faults += 1
            print(f"{self.name}: {type(error).__name__}: {error}", flush=True)

    def kill(self) -> None:
        """End it, and what it has started, however the hour ended."""
        with suppress(psutil.NoSuchProcess):
            for process in [*self.process.children(recursive=True), self.process]:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
        self.log.close()

    def end(self) -> tuple[int, int]:
        """Press Ctrl-C; return the exit code, and how many processes are left."""
        children = self.process.children(recursive=True)
        self.process.send_signal(signal.SIGINT)
        try:
            code = self.process.wait(60)
        except psutil.TimeoutExpired:
            self.process.kill()
            code = self.process.wait(60)
        _, left = psutil.wait_procs(children, timeout=10)
        return code, len(left)


class Serving(LongRun):
    """`operations` are requests; a run is lost if its file is not there, or never came to its end."""

    name, what = "serve", "requests and runs of a reader"
    command = ("-m", "marginbook", "serve", "--port", "0", "--waiting", "3")

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.random, self.asked = random.Random(0), list[str]()
        self.runs = HOME / "_build" / "serve"

    def work(self, over: Callable[[], bool]) -> None:
        while not (found := re.search(r"http\S+", self.printed())):
            if self.process.poll() is not None:
                raise SystemExit(self.printed())
            time.sleep(0.2)
        base = found[0].partition("/-/")[0]
        html = HOME / "_build" / "html"
        pages = [path.relative_to(html).as_posix() for path in sorted(html.rglob("*.html"))]
        with httpx.Client(base_url=base, headers={"origin": base}, timeout=120) as client:
            client.get(found[0])
            while not over():
                for page in self.random.sample(pages, 10):
                    self.get(client, page)
                self.bad(client)
                self.run(client, over)
                time.sleep(1)

    def get(self, client: httpx.Client, page: str) -> None:
        self.operations += 1
        self.faults += client.get(f"/{page}").status_code != 200

    def bad(self, client: httpx.Client) -> None:
        """Ask what is refused: another host, a body that is too long, an address that leads out."""
        answers = (
            client.get("/", headers={"host": "example.org"}),
            client.post("/-/claims/drm/thm-VI.3", content=b"a" * 10**6),
            client.get("/%2e%2e/%2e%2e/etc/passwd"),
        )
        self.operations += len(answers)
        self.faults += sum(not 400 <= answer.status_code < 500 for answer in answers)

    def run(self, client: httpx.Client, over: Callable[[], bool]) -> None:
        """Start a run with a value that no run had, look at it until it ends; cancel one in four."""
        answer = client.post(f"/-/run/{RERUN}", data={PARAMETER: f"{self.random.uniform(*BETWEEN):.12f}"})
        self.operations += 1
        if answer.status_code != 303:
            self.faults += 1
            return
        at = answer.headers["location"]
        self.asked.append(at.rpartition("/")[2])
        stop = time.monotonic() + (self.random.uniform(0, 8) if len(self.asked) % 4 == 0 else 900)
        while client.get(f"{at}/progress").headers.get("x-run-over") == "no":
            self.operations += 1
            if time.monotonic() > stop or over():
                client.post(f"{at}/cancel")
            time.sleep(0.5)

    def settle(self) -> None:
        for id in self.asked[-KEPT:]:  # of older ones the server has deleted the files, as it says
            try:
                state = json.loads((self.runs / id / "run.json").read_text(encoding="utf-8"))["state"]
            except OSError:
                self.lost += 1
            else:
                self.faults += state not in ("done", "cancelled")


class Measuring(LongRun):
    """`operations` are rows of the store; a row is lost if its checksum is wrong, or the store forgot it."""

    name, what = "experiment", f"tasks of {TABLE}"
    command = ("-m", "marginbook", "experiment", "run", TABLE, "--profile", "paper", "--n-jobs", "2")

    def more(self) -> list[str]:
        return ["--store", str(self.folder / "store"), "--out", str(self.folder / "out")]

    def count(self) -> None:
        self.operations = max(self.operations, len(stored(self.folder / "store")))

    def settle(self) -> None:
        rows = stored(self.folder / "store")
        self.lost = max(0, self.operations - len(rows))
        self.operations = len(rows)
        self.faults += sum(not is_sound(row) for row in rows)


class Fuzzing(LongRun):
    """`operations` are fits with bad input, all of one process; what may not come back is a fault."""

    name, what = "fuzzing", "fits with bad input"
    command = (str(Path(__file__)), "--child")

    def more(self) -> list[str]:
        return [str(self.folder / "fits")]

    def count(self) -> None:
        with suppress(OSError, ValueError):  # not begun yet, or half written
            self.operations, self.faults = map(int, (self.folder / "fits").read_text().split())

    settle = count


RUNS: tuple[type[LongRun], ...] = (Serving, Measuring, Fuzzing)


def fuzz(told: Path) -> None:
    """Fit all estimators to bad input, block after block of other seeds, until Ctrl-C."""
    import resource

    from hypothesis import HealthCheck, Phase, given, seed, settings

    sys.path.insert(0, str(HOME))
    from tests.robustness.campaign import BLOCK, MEMORY
    from tests.robustness.candidates import cases, public_estimators
    from tests.robustness.judging import outcome

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    drawing = settings(
        max_examples=BLOCK,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    counts = [0, 0]

    def each(case: Any) -> None:
        found = outcome(case.run)
        counts[0] += 1
        if found.kind == "fault":
            counts[1] += 1
            print(found.what, case, flush=True)

    with one_sentence():
        for block in range(10**6):
            for name in public_estimators():
                seed(10**6 + block)(drawing(given(cases(name))(each)))()
                told.write_text("{} {}".format(*counts))


def measure(kinds: list[type[LongRun]], minutes: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Run all side by side; return a row per minute and one per end."""
    rows: list[dict[str, Any]] = []
    ends: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        begin, about = time.monotonic(), (f"{processor()}, {cores()} cores", commit() or "")
        over = threading.Event()
        runs = [kind(Path(folder)) for kind in kinds]
        threads = [threading.Thread(target=run.kept_busy, args=(over.is_set,), daemon=True) for run in runs]
        try:
            for thread in threads:
                thread.start()
            for minute in clock(minutes, begin):
                for run in runs:
                    if run.process.poll() is not None:
                        raise SystemExit(
                            f"{run.name} has ended after {minute} minutes: {run.printed()[-2000:]}"
                        )
                    rows.append(run.sample(minute))
                    print(*rows[-1].values(), flush=True)
            over.set()
            for run, thread in zip(runs, threads, strict=True):
                thread.join(120)
                code, left = run.end()
                run.settle()
                counted = (run.name, run.what, minutes, run.operations, run.lost, run.faults, left, code)
                ends.append(dict(zip(END_FIELDS, (*counted, *about), strict=True)))
                print(*ends[-1].values(), flush=True)
                if run.faults:
                    print(run.printed()[-5000:], flush=True)
        finally:
            for run in runs:
                run.kill()
    return rows, ends


def clock(minutes: int, begin: float) -> Iterator[int]:
    """Yield each minute as it is over."""
    for minute in range(1, minutes + 1):
        time.sleep(max(0.0, begin + 60 * minute - time.monotonic()))
        yield minute


def main() -> None:
    # a shell without a terminal lets what it starts, and what that starts, ignore Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = {kind.name: kind for kind in RUNS}
    parser.add_argument("runs", nargs="*", metavar="RUN", help=f"of {', '.join(names)}; all by default")
    parser.add_argument("--minutes", type=int, default=60, help="fewer than 60 write no file")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        fuzz(given.child)
        return
    if unknown := set(given.runs) - set(names):
        parser.error(f"no run {', '.join(sorted(unknown))}; choose from {', '.join(names)}")
    rows, ends = measure([names[name] for name in given.runs or names], given.minutes)
    if given.minutes >= 60 and not given.runs:
        write("long_runs.csv", MINUTE_FIELDS, rows)
        write("long_run_ends.csv", END_FIELDS, ends)


if __name__ == "__main__":
    with one_sentence(), keeping("nothing is written of hours that were not whole"):
        main()

"""How fit, predictions, memory and pickles grow with the rows, beside SVC and LinearSVC.

``python benchmarks/growth.py`` measures every case of ``growth_cases.py`` at 2,000 to 50,000 rows of 20
features with one thread, each in a process of its own with a limit of time and of memory. A run that was
stopped goes on where it was; ``--again`` begins anew. ``python benchmarks/growth.py --rows 200`` is a look:
its table is in _build/bench/quick. ``--grid`` times a grid search with 20 classes instead.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import product
from pathlib import Path
from typing import Any

from marginbook.cli.stopping import keeping, one_sentence

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
with one_sentence():  # these imports take seconds
    from growth_cases import PEERS, cases, certificate, data, kind, searches

SIZES = (2000, 5000, 10_000, 20_000, 50_000)
#: of one case at one size: CPU seconds, and GiB beyond what Python and its libraries take
SECONDS, GIB = 100.0, 8.0
#: rows of a first fit, which compiles, and of a look
FEW, QUICK = 600, 200
#: CPU seconds that are measured at least
LEAST = 0.2
#: of the grid search: rows, classes, folds
GRID_ROWS, CLASSES, FOLDS = 2000, 20, 3
Row = dict[str, str]


def measure(name: str, n: int, labels: Path) -> Row:
    """Fit, ask, pickle, in this process; called in a fresh one."""
    import numpy as np

    from marginbook.quality.benchmarking.environment import short
    from marginbook.quality.benchmarking.memory import forget_peak, resident

    X, y, asked, truth = data(n)
    make = cases()[name]
    warnings.simplefilter("ignore")
    few = min(n, FEW)
    with suppress(MemoryError, ValueError):  # compiles; what it refuses, it may not refuse of all rows
        make(few).fit(X[:few], y[:few]).predict(asked[:10])
    _limit_memory()
    before, model = forget_peak(), make(n)
    first = _seconds(lambda: model.fit(X, y))
    memory = resident()[1] - before
    fitted = _again(lambda: model.fit(X, y), first)
    answers = model.predict(asked)
    asked_for = _again(lambda: model.predict(asked))
    np.save(labels, answers)
    return {
        "peer": PEERS[kind(model)],
        "fit_s": f"{fitted:.4g}",
        "predict_s": f"{asked_for:.4g}",
        "memory_mb": f"{max(memory, 0) / 1e6:.4g}",
        "pickle_bytes": str(len(pickle.dumps(model))),
        "certificate": certificate(model, X, y),
        "accuracy": f"{float(np.mean(answers == truth)):.4f}",
        "ended": "",
        **short(),
    }


def _seconds(work: Callable[[], Any], times: int = 1) -> float:
    began = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - began) / times


def _again(work: Callable[[], Any], took: float | None = None) -> float:
    """Return the CPU seconds of `work`; what is short is repeated: the clock may tick in 4 ms."""
    took = _seconds(work) if took is None else took
    times = 1
    while took * times < LEAST and times < 10_000:
        times = min(max(2 * times, int(LEAST / max(took, 1e-4)) + 1), 10_000)
        took = _seconds(work, times)
    return took


def _limit_memory() -> None:
    if sys.platform != "linux":
        return
    import resource

    now = next(
        int(line.split()[1]) * 1024
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        if line.startswith("VmSize")
    )
    resource.setrlimit(resource.RLIMIT_AS, (now + int(GIB * 2**30), resource.RLIM_INFINITY))


def child(arguments: list[str], seconds: float) -> dict[str, Any]:
    """Return what this file says with `arguments` in a process of its own, or why it says nothing."""
    from marginbook.quality.benchmarking.environment import ONE_THREAD

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        process = subprocess.Popen(
            [sys.executable, __file__, *arguments, "--seconds", str(seconds), "--out", str(out)],
            env=os.environ | ONE_THREAD,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            # CPU is limited below; the wall only for what sleeps, or shares the processor
            _, errors = process.communicate(timeout=4 * seconds + 120)
        except BaseException as stop:
            process.kill()
            process.wait()
            if not isinstance(stop, subprocess.TimeoutExpired):
                raise
            return {"ended": f"no answer after {4 * seconds + 120:.0f} s"}
        if out.is_file():
            said = dict(json.loads(out.read_text(encoding="utf-8")))
            # the process has a minute more: for Python, the first fit and the predictions
            if float(said.get("fit_s") or 0.0) > seconds:
                return {"ended": f"over {seconds:.0f} CPU seconds"}
            return said
    if process.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return {"ended": f"over {seconds:.0f} CPU seconds, or out of memory"}
    return {"ended": (errors.strip().splitlines() or ["died"])[-1][:300]}


def answer(options: argparse.Namespace) -> None:
    """Be that process."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (int(options.seconds) + 60, resource.RLIM_INFINITY))
    try:
        if options.grid:
            said: dict[str, Any] = searched(options.case, options.rows[0])
        else:
            said = measure(options.case, options.rows[0], options.labels)
    except (MemoryError, ValueError, TypeError) as error:
        said = {"ended": f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]}
    options.out.write_text(json.dumps(said), encoding="utf-8")


def grow(options: argparse.Namespace, path: Path) -> None:
    """Measure what the table lacks, size by size; what was too dear at one size is not tried at the next."""
    from marginbook.quality.benchmarking.tables import parsed, write

    rows = keyed(parsed(path.read_text(encoding="utf-8"))) if path.is_file() else {}
    labels = path.parent / "growth-labels"
    if path.parent.name == "results":
        labels = HERE.parent / "_build" / "bench" / "growth-labels"
    labels.mkdir(parents=True, exist_ok=True)
    names = [name for name in cases() if not options.only or options.only.lower() in name.lower()]
    names = list(dict.fromkeys([*PEERS.values(), *names]))
    if options.again:
        rows = {key: row for key, row in rows.items() if key[0] not in names or key[1] not in options.rows}
    dear: dict[str, int] = {}  # the smallest size at which it was
    for (name, n), row in rows.items():
        if row["ended"]:
            dear[name] = min(n, dear.get(name, n))
    for n, name in product(options.rows, names):
        if (name, n) not in rows and n < dear.get(name, n + 1):
            file = labels / f"{name.replace('/', '_')}-{n}.npy"
            said = child(["--case", name, "--rows", str(n), "--labels", str(file)], options.seconds)
            rows[name, n] = {"estimator": name, "rows": str(n), **said}
            if said["ended"]:
                dear[name] = n
            write(path, [compared(row, rows, labels) for row in _sorted(rows)])
            print(f"{n:>6} {name}: {said['ended'] or said}", flush=True)


def keyed(rows: list[Row]) -> dict[tuple[str, int], Row]:
    """Return the rows of the table by estimator and size."""
    return {(row["estimator"], int(row["rows"])): row for row in rows}


def _sorted(rows: Mapping[tuple[str, int], Row]) -> list[Row]:
    return [rows[key] for key in sorted(rows, key=lambda key: (key[0] not in PEERS.values(), *key))]


def compared(row: Row, rows: Mapping[tuple[str, int], Row], labels: Path) -> Row:
    """Return a row with its ratios to the peer, and the share of labels that the exact machine gives."""
    name, n = row["estimator"], int(row["rows"])
    peer = rows.get((row.get("peer", ""), n), {})
    found = dict(row)
    for column in ("fit_s", "predict_s", "memory_mb", "pickle_bytes"):
        both = [float(each.get(column) or 0.0) for each in (row, peer)]
        found[f"{column.partition('_')[0]}_ratio"] = f"{both[0] / both[1]:.3g}" if all(both) else ""
    exact = name.rpartition(", ")[0] if "landmarks" in name else name
    files = [labels / f"{each.replace('/', '_')}-{n}.npy" for each in (name, exact)]
    found.setdefault("labels_equal", "")
    if exact != name and all(file.is_file() for file in files):
        import numpy as np

        ours, theirs = (np.load(file) for file in files)
        found["labels_equal"] = f"{float(np.mean(ours == theirs)):.4f}"
    return found


def searched(name: str, n: int) -> Row:
    """Time one grid search in this process."""
    from sklearn.model_selection import GridSearchCV

    X, y, asked, truth = data(n, CLASSES)
    warnings.simplefilter("ignore")
    model, grid = next((model, grid) for each, _, model, grid in searches() if each == name)
    model.fit(X[:200], y[:200])  # compiles
    _limit_memory()
    began = time.process_time()
    search = GridSearchCV(model, grid, cv=FOLDS).fit(X, y)
    took = time.process_time() - began
    return {
        "classes": str(CLASSES),
        "points": str(len(next(iter(grid.values())))),
        "folds": str(FOLDS),
        "search_s": f"{took:.4g}",
        "accuracy": f"{search.score(asked, truth):.4f}",
        "ended": "",
    }


def grid(options: argparse.Namespace, path: Path) -> None:
    """Time the grid searches that the table lacks."""
    from marginbook.quality.benchmarking.tables import parsed, write

    n = options.rows[0]
    rows = {} if options.again or not path.is_file() else keyed(parsed(path.read_text(encoding="utf-8")))
    for name, peer, _, _ in searches():
        if (name, n) not in rows:
            said = child(["--grid", "--case", name, "--rows", str(n)], options.seconds)
            rows[name, n] = {"estimator": name, "rows": str(n), "peer": peer, **said}
            ours, theirs = (float(rows[each, n].get("search_s") or 0.0) for each in (name, peer))
            rows[name, n]["ratio"] = f"{ours / theirs:.3g}" if theirs and ours else ""
            write(path, list(rows.values()))
            print(f"{n:>6} {name}: {rows[name, n]}", flush=True)


@contextmanager
def noting(name: str, folder: Path) -> Iterator[None]:
    """Note on what machine a run measured, also one that is stopped; not of a run with nothing to do."""
    from threadpoolctl import threadpool_limits

    from marginbook.quality.benchmarking.case_file import note
    from marginbook.quality.benchmarking.environment import load

    table = folder / f"{name}.csv"
    begun, busy, before = time.perf_counter(), load(), table.read_bytes() if table.is_file() else b""
    try:
        yield
    finally:
        if table.is_file() and table.read_bytes() != before:
            with threadpool_limits(1):  # as in the processes that measured
                note(folder, name, time.perf_counter() - begun, busy)


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", help=f"sizes; {' '.join(map(str, SIZES))} by default")
    parser.add_argument("--only", help="cases with this in their name")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="CPU seconds of a case at one size")
    parser.add_argument("--again", action="store_true", help="measure what is in the table once more")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} rows, for a look")
    parser.add_argument("--grid", action="store_true", help="a grid search with 20 classes instead")
    for name, of in (("--case", str), ("--out", Path), ("--labels", Path)):
        parser.add_argument(name, type=of, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.rows = options.rows or ([QUICK] if options.quick else None)
    usual_sizes = options.rows is None or set(options.rows) <= {*SIZES, GRID_ROWS}
    options.rows = options.rows or ([GRID_ROWS] if options.grid else list(SIZES))
    if options.case:
        answer(options)
        return 0
    folder = HERE / "results" if usual_sizes else HERE.parent / "_build" / "bench" / "quick"
    folder.mkdir(parents=True, exist_ok=True)
    name = "growth-grid" if options.grid else "growth"
    with noting(name, folder):
        (grid if options.grid else grow)(options, folder / f"{name}.csv")
    return 0


if __name__ == "__main__":
    with one_sentence(), keeping("the same command goes on with the case that was being measured"):
        sys.exit(main())

"""Measure what larger data and more machines take: time, memory, distance to the fit in memory, lost workers.

Run: python benchmarks/large.py fits [--rows N] [--folder DIR]
     python benchmarks/large.py cluster [--experiment ID] [--profile quick|paper] [--kills N]
Writes benchmarks/results/large.csv and large-cluster.csv. Each fit is a process of its own, whose largest
resident memory the system tells; this one stays small, because a child starts with the record of its parent.
10 million rows of 50 features take 2 GB of disk in DIR and half an hour. "cluster" runs experiments on three
worker processes, kills busy ones, and compares the exported bytes with those of one process.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import json
import os
import platform
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

OUT = Path(__file__).parent / "results"
FEATURES, SEED, FILLED = 50, 9, 10
ROWS, GOAL_MIB = 10_000_000, 2048
COLUMNS = (
    "what", "source", "rows", "features", "file_mib", "seconds", "cpu_seconds", "peak_mib", "goal_mib",
    "passes", "certificate", "difference",
)  # fmt: skip
CLUSTER = (
    "experiment", "profile", "tasks", "killed", "runs", "done", "given_up", "lost", "twice", "same_bytes",
    "seconds_dask", "seconds_one",
)  # fmt: skip
#: what is measured: model, source, and the case that it must equal
CASES = {
    "drm-parquet": ("DRM", "Parquet"),
    "drm-dask": ("DRM", "Parquet as Dask arrays"),
    "drm-memory": ("DRM", "in memory"),
    "ldm-parquet": ("LDM", "Parquet"),
    "ldm-memory": ("LDM", "in memory"),
    "drm-libsvm": ("DRM", "LIBSVM text"),
    "ldm-libsvm": ("LDM", "LIBSVM text"),
}


def pairs(rows: int, sparse: bool) -> Iterator[tuple[Any, Any]]:
    """Yield rows of a noisy linear rule; of sparse ones, 10 of 50 features are not zero."""
    import numpy as np

    direction = np.random.default_rng(SEED).normal(size=FEATURES).astype(np.float32)
    size = 2**14
    for number, start in enumerate(range(0, rows, size)):
        rng, m = np.random.default_rng([SEED, number]), min(size, rows - start)
        X = rng.standard_normal((m, FEATURES), dtype=np.float32) + 0.1 * direction
        if sparse:
            X *= rng.permuted(np.tile(np.arange(FEATURES) < FILLED, (m, 1)), axis=1)
        score = X @ direction
        noise = 0.5 * np.linalg.norm(direction) * rng.standard_normal(m)
        yield X, (score + noise > np.median(score)).astype(np.int8)


def write(path: Path, rows: int) -> None:
    """Write the file of a case: Parquet, or LIBSVM's text."""
    from sklearn.datasets import dump_svmlight_file

    from marginbook.large import Pairs, write_parquet

    if path.suffix == ".parquet":
        write_parquet(Pairs(lambda: pairs(rows, sparse=False)), path)
        return
    with path.open("wb") as file:
        for X, y in pairs(rows, sparse=True):
            dump_svmlight_file(X, y, file, zero_based=False)


def fit(case: str, path: Path, result: Path) -> dict[str, Any]:
    """Fit in this process and return what it took; keep the numbers of the model in `result`."""
    import numpy as np

    from marginbook.drm import DRMClassifier
    from marginbook.large import LibsvmFiles, ParquetFiles, fit_drm, fit_ldm
    from marginbook.ldm import LDMClassifier

    model_name, how = case.split("-", 1)
    drm = model_name == "drm"
    source: Any = LibsvmFiles(path) if path.suffix == ".libsvm" else ParquetFiles(path)
    rows = source.n_rows
    model: Any = (
        DRMClassifier(1e-2, 10.0, "linear", fit_intercept=True)
        if drm
        else LDMClassifier(C=1000.0 / rows, kernel="linear", fit_intercept=True, random_state=0)
    )
    began = time.perf_counter(), time.process_time()
    if how == "memory":
        X, y, start = None, np.empty(rows, dtype=np.int64), 0
        for chunk in source:
            X = np.empty((rows, chunk.X.shape[1])) if X is None else X
            X[start : start + len(chunk.y)], y[start : start + len(chunk.y)] = _dense(chunk.X), chunk.y
            start += len(chunk.y)
        began = time.perf_counter(), time.process_time()  # of the fit alone
        model.fit(X, y)
    elif how == "dask":
        import dask

        with dask.config.set(scheduler="threads", num_workers=1):
            model.fit(*source.dask_arrays())
    else:
        (fit_drm if drm else fit_ldm)(model, source)
    took = time.perf_counter() - began[0], time.process_time() - began[1]
    np.savez(result, numbers=model.maps_.R if drm else np.append(model.coef_, model.intercept_))
    return {
        "rows": rows,
        "seconds": took[0],
        "cpu_seconds": took[1],
        "passes": 1 if drm else model.n_iter_ + 1 if how != "memory" else "",
        "certificate": model.kkt_residual_ if drm else model.dual_gap_ / abs(model.objective_),
        "objective": None if drm else model.objective_,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def _dense(X: Any) -> Any:
    return X.toarray() if hasattr(X, "toarray") else X


def alone(*arguments: object) -> dict[str, Any]:
    """Run this script in a process of its own and return what it printed."""
    command = [sys.executable, __file__, *map(str, arguments)]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **threads}
    )
    found: dict[str, Any] = json.loads(done.stdout or "{}")
    return found


def measure_fits(rows: int, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield all cases: at all rows, and at a tenth where the solver in memory takes long."""
    tenth = rows // 10
    for size, suffix, cases in (
        (rows, "parquet", ("drm-memory", "drm-parquet", "drm-dask", "ldm-parquet")),
        (tenth, "parquet", ("ldm-memory", "ldm-parquet")),
        (rows, "libsvm", ("drm-memory", "drm-libsvm", "ldm-libsvm")),
        (tenth, "libsvm", ("ldm-memory", "ldm-libsvm")),
    ):
        path = folder / f"rows.{suffix}"
        alone("write", path, size)
        for case in cases:
            result = folder / f"{case}.npz"
            found = alone("fit", case, path, result)
            reference = folder / f"{case.split('-')[0]}-memory.npz"
            found["difference"] = (
                "" if not reference.exists() or reference == result else distance(result, reference)
            )
            model, source = CASES[case]
            if suffix == "libsvm":
                source = f"{source}, {FILLED} of {FEATURES} filled".replace("in memory", "the same in memory")
            row = {"what": model, "source": source, "features": FEATURES, "goal_mib": GOAL_MIB, **found}
            row["file_mib"] = path.stat().st_size / 2**20
            print(row, file=sys.stderr, flush=True)
            yield row
        for left in (path, *folder.glob("*.npz")):
            left.unlink()


def distance(result: Path, reference: Path) -> float:
    """Return the largest difference of the numbers of two models, as a share of the largest number."""
    import numpy as np

    ours, theirs = (np.load(path)["numbers"] for path in (result, reference))
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def measure_cluster(client: Any, experiment: str, profile: str, folder: Path, kills: int) -> dict[str, Any]:
    """Run an experiment on three worker processes, killing busy ones, and again in one process."""
    from rich.console import Console

    from marginbook.experiments import export, load_protocol, run
    from marginbook.experiments.store import Store

    quiet, took = Console(file=io.StringIO()), {}
    client.wait_for_workers(3)
    killer = Killer(client, folder / "dask.sqlite", kills)
    killer.start()
    began = time.perf_counter()
    reports: list[Any] = []
    while not reports or (reports[-1].failed and len(reports) < 3):  # as a user does: the same command again
        store = folder / "dask.sqlite"
        reports.append(run(experiment, profile, dask=client.scheduler.address, store=store, console=quiet))
        killed = killer.stop()
    took["dask"] = time.perf_counter() - began
    began = time.perf_counter()
    run(experiment, profile, n_jobs=1, store=folder / "one.sqlite", console=quiet)
    took["one"] = time.perf_counter() - began
    files = {}
    for name in took:
        written = export(experiment, profile, store=folder / f"{name}.sqlite", out=folder / name)
        files[name] = [without_seconds(path) for path in written if ".timing." not in path.name]
    with Store(folder / "dask.sqlite") as store:
        done = [outcome.task for outcome in store.outcomes(experiment, profile) if outcome.error is None]
    possible = sum(
        task.dataset not in reports[-1].missing for task in load_protocol(experiment).tasks(profile)
    )
    return {
        "experiment": experiment,
        "profile": profile,
        "tasks": possible,
        "killed": killed,
        "runs": len(reports),
        "done": reports[-1].done,
        "given_up": sum(len(report.failed) for report in reports),
        "lost": possible - len(set(done)),
        "twice": sum(report.ran - len(report.failed) for report in reports) - len(set(done)),
        "same_bytes": "yes" if files["dask"] == files["one"] else "no",
        "seconds_dask": took["dask"],
        "seconds_one": took["one"],
    }


def without_seconds(path: Path) -> str:
    """Return the text of a file; of a table, without the seconds that some experiments measure themselves."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".csv":
        return text
    heading, *rows = csv.reader(io.StringIO(text))
    timed = {place for place, name in enumerate(heading) if "seconds" in name}
    kept = [[cell for place, cell in enumerate(row) if place not in timed] for row in (heading, *rows)]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(kept)
    return out.getvalue()


class Killer(threading.Thread):
    """Sends SIGKILL to a worker that is at a task, `kills` times, each after more results were stored."""

    def __init__(self, client: Any, store: Path, kills: int) -> None:
        super().__init__(daemon=True)
        self.client, self.store, self.kills = client, store, kills
        self.killed, self._over = 0, threading.Event()

    def run(self) -> None:
        before = -1
        while self.killed < self.kills and not self._over.wait(0.3):
            busy = [address for address, tasks in self.client.processing().items() if tasks]
            if busy and self._stored() > before and self._kill(busy[self.killed % len(busy)]):
                self.killed, before = self.killed + 1, self._stored()

    def _stored(self) -> int:
        if not self.store.exists():
            return 0
        with contextlib.closing(sqlite3.connect(self.store, timeout=10)) as db:
            try:
                return int(db.execute("SELECT count(*) FROM results").fetchone()[0])
            except sqlite3.OperationalError:  # the table is not there yet
                return 0

    def stop(self) -> int:
        self._over.set()
        self.join()
        return self.killed

    def _kill(self, address: str) -> bool:
        try:
            (pid,) = self.client.run(os.getpid, workers=[address]).values()
            os.kill(pid, signal.SIGKILL)
        except (OSError, ValueError, KeyError):  # it has just gone
            return False
        return True


def stored(path: Path, columns: tuple[str, ...], key: tuple[str, ...], new: list[dict[str, Any]]) -> None:
    """Write rows and environment in place of the file's rows with the same key."""
    import numpy as np

    place = {"python": platform.python_version(), "numpy": np.__version__, "machine": platform.machine()}
    rows = [{**{name: _cell(row.get(name, "")) for name in columns}, **place} for row in new]
    fresh = {tuple(row[name] for name in key) for row in rows}
    if path.exists():
        with path.open(newline="", encoding="utf-8") as file:
            kept = [row for row in csv.DictReader(file) if tuple(row[name] for name in key) not in fresh]
        rows = kept + rows
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*columns, *place], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    fits = commands.add_parser("fits", help="time, memory and distance of fits from files")
    fits.add_argument("--rows", type=int, default=ROWS)
    fits.add_argument("--folder", type=Path, help="where the files go while they are needed")
    cluster = commands.add_parser("cluster", help="experiments on three workers that are killed")
    cluster.add_argument("--experiment", action="append", help="default: all")
    cluster.add_argument("--profile", default="quick")
    cluster.add_argument("--kills", type=int, default=1, help="workers killed in each run, at most")
    for name, arguments in (("write", ("path", "rows")), ("fit", ("case", "path", "result"))):
        inner = commands.add_parser(name)
        for argument in arguments:
            inner.add_argument(argument)
    given = parser.parse_args()
    act: dict[str, Callable[[], None]] = {
        "fits": lambda: _fits(given),
        "cluster": lambda: _cluster(given),
        "write": lambda: write(Path(given.path), int(given.rows)),
        "fit": lambda: print(json.dumps(fit(given.case, Path(given.path), Path(given.result)))),
    }
    act[given.command]()


def _fits(given: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        for row in measure_fits(given.rows, Path(folder)):
            if given.rows == ROWS:  # other sizes are for a look
                stored(OUT / "large.csv", COLUMNS, ("what", "source", "rows"), [row])


def _cluster(given: argparse.Namespace) -> None:
    from distributed import Client, LocalCluster

    from marginbook.experiments import ExperimentError, experiments

    for experiment in given.experiment or experiments():
        with (  # a cluster for each: a worker that was killed while it started may not come back
            tempfile.TemporaryDirectory() as disk,
            LocalCluster(
                n_workers=3,
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
                local_directory=disk,
            ) as cluster,
            Client(cluster.scheduler_address, set_as_default=False) as client,
        ):
            try:
                row = measure_cluster(client, experiment, given.profile, Path(disk), given.kills)
            except ExperimentError as error:  # its data are not here
                print(error, file=sys.stderr, flush=True)
                continue
        print(row, file=sys.stderr, flush=True)
        stored(OUT / "large-cluster.csv", CLUSTER, ("experiment", "profile"), [row])


if __name__ == "__main__":
    from marginbook.cli.stopping import keeping, one_sentence

    with one_sentence(), keeping("the rows that were measured are written"):
        main()

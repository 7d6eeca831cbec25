"""A worker killed in the middle of a run over a cluster: nothing lost, nothing twice, one process's bytes."""

from __future__ import annotations

import io
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import pytest
from rich.console import Console

from marginbook.experiments.export import export
from marginbook.experiments.runner import run

distributed = pytest.importorskip("distributed")
QUIET = Console(file=io.StringIO())
TASKS = 24


@pytest.fixture
def cluster(tmp_path):
    """A scheduler and three workers, each a process of its own that nobody starts again."""
    places, processes = tmp_path / "scheduler.json", []

    def start(*command: object) -> None:
        processes.append(
            subprocess.Popen(
                [sys.executable, "-m", "dask", *map(str, command)],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )

    start("scheduler", "--port", 0, "--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", places)
    for name in "abc":
        start(
            "worker", "--scheduler-file", places, "--name", name, "--nthreads", 1, "--no-nanny",
            "--no-dashboard", "--local-directory", tmp_path / name,
        )  # fmt: skip
    try:
        with distributed.Client(scheduler_file=str(places), timeout=30, set_as_default=False) as client:
            client.wait_for_workers(3, timeout=30)
            yield client
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_worker_killed_at_work_loses_and_doubles_nothing(tmp_path, cluster):
    store, killed, recorded = tmp_path / "dask.sqlite", [], []

    def kill_a_busy_worker() -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not 2 <= _stored(store) < TASKS - 6:
            time.sleep(0.02)
        busy = [address for address, tasks in cluster.processing().items() if tasks]
        (pid,) = cluster.run(os.getpid, workers=busy[:1]).values()
        os.kill(pid, signal.SIGKILL)
        killed.append(pid)
        recorded.append(_stored(store))

    killer = threading.Thread(target=kill_a_busy_worker)
    killer.start()
    report = run("toyroom/slow", "paper", dask=cluster.scheduler.address, store=store, console=QUIET)
    killer.join()
    assert len(killed) == 1
    assert 0 < recorded[0] < TASKS  # in the middle
    assert len(cluster.scheduler_info(n_workers=-1)["workers"]) == 2
    assert (report.asked, report.done, report.ran, report.failed) == (TASKS, TASKS, TASKS, [])
    assert _stored(store) == TASKS
    again = run("toyroom/slow", "paper", dask=cluster.scheduler.address, store=store, console=QUIET)
    assert (again.done, again.ran) == (TASKS, 0)
    here = tmp_path / "here.sqlite"
    run("toyroom/slow", "paper", n_jobs=2, store=here, console=QUIET)
    for name in (store, here):
        export("toyroom/slow", "paper", store=name, out=tmp_path / name.stem)
    for file in ("slow.csv", "slow.provenance.json"):
        dask, joblib = (tmp_path / name.stem / "toyroom" / file for name in (store, here))
        assert dask.read_bytes() == joblib.read_bytes()


def _stored(path) -> int:
    if not path.exists():
        return 0
    with sqlite3.connect(path, timeout=10) as db:
        try:
            return db.execute("SELECT count(*) FROM results WHERE status = 'done'").fetchone()[0]
        except sqlite3.OperationalError:  # the table is not there yet
            return 0

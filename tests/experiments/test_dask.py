"""The same experiment over a cluster of real worker processes."""

from __future__ import annotations

import io
from unittest.mock import MagicMock

import pytest
from rich.console import Console

from marginbook.experiments.errors import ExperimentError
from marginbook.experiments.export import export
from marginbook.experiments.runner import run
from marginbook.experiments.workers import workers

distributed = pytest.importorskip("distributed")
QUIET = Console(file=io.StringIO())


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    import dask

    # a worker that dies is not tried three more times
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}):
        found = distributed.LocalCluster(
            n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None,
            local_directory=str(tmp_path_factory.mktemp("dask")),
        )  # fmt: skip
    with found:
        yield found


@pytest.fixture(scope="module", autouse=True)
def room_for_workers():
    import os
    from pathlib import Path

    import marginbook

    from .conftest import ROOMS

    with pytest.MonkeyPatch.context() as patch:
        places = [str(Path(marginbook.__file__).parents[1]), str(ROOMS), os.environ.get("PYTHONPATH", "")]
        patch.setenv("PYTHONPATH", os.pathsep.join(places))
        patch.syspath_prepend(str(ROOMS))
        yield


def test_a_cluster_gives_the_bytes_of_one_process(tmp_path, cluster):
    for name, options in (("dask", {"dask": cluster.scheduler_address}), ("here", {"n_jobs": 1})):
        report = run("toyroom/random", "paper", store=tmp_path / name, console=QUIET, **options)
        assert (report.done, report.ran, report.failed) == (12, 12, [])
        export("toyroom/random", "paper", store=tmp_path / name, out=tmp_path / f"{name}-files")
    for file in ("random.csv", "random.provenance.json"):
        dask, here = (tmp_path / f"{name}-files" / "toyroom" / file for name in ("dask", "here"))
        assert dask.read_bytes() == here.read_bytes()


def test_failures_and_lost_workers_are_failed_tasks(tmp_path, cluster):
    report = run(
        "toyroom/trouble", "paper", store=tmp_path / "s", dask=cluster.scheduler_address, console=QUIET,
        datasets=["blobs"], methods=["nearest", "raises", "dies"], splits=[1],
    )  # fmt: skip
    errors = {outcome.task.method: outcome.error for outcome in report.failed}
    # a task that shared the dying worker may be lost with it; the next run gets it
    assert "KilledWorker" in errors["dies"]
    assert len(errors) + report.done == 3
    again = run(
        "toyroom/trouble", "paper", store=tmp_path / "s", dask=cluster.scheduler_address, console=QUIET,
        datasets=["blobs"], methods=["nearest", "raises"], splits=[1],
    )  # fmt: skip
    assert again.done == 1
    assert "ZeroDivisionError" in again.failed[0].error


def test_no_scheduler_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr("marginbook.experiments.workers.CONNECT_SECONDS", 1)
    with pytest.raises(
        ExperimentError, match=r"no Dask scheduler at tcp://127.0.0.1:9 .*dask scheduler"
    ) as caught:
        run("toyroom/random", store=tmp_path / "s", dask="tcp://127.0.0.1:9", console=QUIET)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("threads", "tasks"), [({"one": 3, "other": 1}, 8), ({}, 2)])
def test_each_thread_of_a_cluster_has_a_task_at_hand_beside_its_own(monkeypatch, threads, tasks):
    """Without any, as where the last worker has just gone, a task waits for the next worker."""
    client = MagicMock(nthreads=lambda: threads)
    monkeypatch.setattr(distributed, "Client", lambda *_, **__: client)
    with workers(1, "tcp://127.0.0.1:9", 100) as (_, at_once, at_hand):
        assert (at_once, at_hand) == (tasks / 2, tasks)

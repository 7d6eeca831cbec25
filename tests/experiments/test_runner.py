"""Runs: the same numbers wherever a task runs, resumption, failures, stale results."""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import Future
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from marginbook.experiments import one_task, runner, workers
from marginbook.experiments.errors import ExperimentError
from marginbook.experiments.export import export
from marginbook.experiments.one_task import measure_task
from marginbook.experiments.protocol import Protocol, Task, load_protocol
from marginbook.experiments.runner import Report, known_timings, run
from marginbook.experiments.store import Outcome, Signature, Store

from .conftest import COMMAND, ROOMS


def quiet(experiment: str | Protocol, profile: str = "quick", **options: object) -> Report:
    return run(experiment, profile, console=Console(file=io.StringIO()), **{"n_jobs": 1, **options})


def stored(path: Path, experiment: str) -> list[tuple]:
    with Store(path) as store:
        return [(o.task, o.signature, dict(o.values), o.error) for o in store.outcomes(experiment)]


def test_processes_give_the_bits_that_one_process_gives(tmp_path):
    one, two = tmp_path / "one.sqlite", tmp_path / "two.sqlite"
    assert quiet("toyroom/folds", "paper", store=one).done == 30
    assert quiet("toyroom/folds", "paper", store=two, n_jobs=2).done == 30
    assert stored(one, "toyroom/folds") == stored(two, "toyroom/folds")


def test_quick_gives_the_numbers_of_paper(tmp_path):
    path = tmp_path / "s.sqlite"
    for profile in ("quick", "paper"):
        quiet("toyroom/folds", profile, store=path, datasets=["blobs"], methods=["forest"], splits=[2])
    (_, _, quick, _), (_, _, paper, _) = stored(path, "toyroom/folds")
    assert quick == paper


def test_all_methods_meet_the_same_rows(tmp_path):
    path = tmp_path / "s.sqlite"
    quiet("toyroom/random", store=path)
    spread: dict[tuple, set] = {}
    for task, _, values, _ in stored(path, "toyroom/random"):
        spread.setdefault((task.dataset, task.split), set()).add(values["spread"])
    assert len(spread) == 6
    assert all(len(values) == 1 for values in spread.values())
    assert len(set.union(*spread.values())) == 6


def test_a_second_run_has_nothing_to_do(tmp_path):
    path = tmp_path / "s.sqlite"
    assert (quiet("toyroom/folds", store=path).ran, quiet("toyroom/folds", store=path).ran) == (4, 0)
    more = quiet("toyroom/folds", store=path, splits=[1, 2, 3])
    assert (more.asked, more.ran, more.done) == (6, 2, 6)


def test_failures_are_kept_told_and_tried_again(tmp_path):
    path = tmp_path / "s.sqlite"
    options = {
        "store": path,
        "datasets": ["blobs"],
        "methods": ["nearest", "raises", "textless"],
        "splits": [1],
    }
    report = quiet("toyroom/trouble", **options)
    assert (report.asked, report.done, report.ran) == (3, 1, 3)
    errors = {outcome.task.method: outcome.error for outcome in report.failed}
    assert "ZeroDivisionError: this method always fails" in errors["raises"]
    assert "experiments" in errors["raises"]
    assert "wanted a number, a text or None" in errors["textless"]
    again = quiet("toyroom/trouble", **options)
    assert (again.ran, len(again.failed)) == (2, 2)


@pytest.mark.fault("store", "a task brings its worker down")
def test_a_task_that_kills_its_worker_does_not_take_the_others_along(tmp_path, told):
    report = quiet(
        "toyroom/trouble", store=tmp_path / "s.sqlite", n_jobs=2, datasets=["blobs"],
        methods=["nearest", "dies"], splits=[1],
    )  # fmt: skip
    assert report.done == 1
    assert [outcome.task.method for outcome in report.failed] == ["dies"]
    assert report.failed[0].error == "its worker process died twice: killed, or out of memory"
    told(report.failed[0].error)


def test_missing_data_skip_their_tasks_only(tmp_path):
    report = quiet("toyroom/trouble", store=tmp_path / "s.sqlite", methods=["nearest"])
    assert (report.asked, report.done) == (4, 2)
    assert list(report.missing) == ["nowhere"]
    assert "nowhere" in report.missing["nowhere"]


def test_a_measure_without_the_metric_fails(tmp_path):
    protocol = replace(load_protocol("toyroom/folds"), metric="auc")
    report = quiet(protocol, store=tmp_path / "s.sqlite", methods=["nearest"], splits=[1])
    assert "without the protocol's metric 'auc'" in report.failed[0].error


def test_changed_settings_or_data_are_run_again(tmp_path, monkeypatch):
    path, protocol = tmp_path / "s.sqlite", load_protocol("toyroom/folds")
    assert quiet(protocol, store=path).ran == 4
    other = replace(protocol, settings={**protocol.settings, "neighbours": 1})
    assert quiet(other, store=path).ran == 4
    monkeypatch.setenv("TOYROOM_SOURCE", "1" * 64)
    assert quiet(other, store=path).ran == 4
    assert quiet(other, store=path).ran == 0


def test_changed_code_makes_results_stale_but_comments_do_not(tmp_path, monkeypatch):
    shutil.copytree(ROOMS / "toyroom", tmp_path / "newroom")
    tables, protocol = (
        tmp_path / "newroom" / "experiments" / "__init__.py",
        tmp_path / "newroom" / "paper" / "protocol.toml",
    )
    protocol.write_text(protocol.read_text().replace("toyroom", "newroom"))
    monkeypatch.setenv("MARGINBOOK_ROOMS", "newroom")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))

    def ran() -> str:
        command = [
            *COMMAND,
            "run",
            "newroom/folds",
            "--n-jobs",
            "1",
            "--store",
            tmp_path / "s",
            "--out",
            tmp_path,
        ]
        shown = subprocess.run(command, capture_output=True, text=True)
        assert shown.returncode == 0, shown.stderr
        return shown.stdout.splitlines()[0]

    assert "4 run now" in ran()
    tables.write_text(tables.read_text().replace("# a sum", "# the sum"))
    assert "0 run now" in ran()
    tables.write_text(tables.read_text().replace("np.sqrt(", "np.cbrt("))
    status = [*COMMAND, "status", "newroom/folds", "--profile", "quick", "--store", tmp_path / "s"]
    shown = subprocess.run(status, capture_output=True, text=True).stdout.splitlines()
    (row,) = [line for line in shown if line.startswith("newroom/folds")]
    assert row.split()[1:7] == ["quick", "0", "0", "4", "0", "0"]
    assert "4 run now" in ran()


def test_a_worker_with_other_code_is_not_believed():
    expected = Signature("new", "d", "s")
    task = Task("r/t", "a", 1, "x", "quick")
    odd = runner._checked(Outcome(task, Signature("old", "d", "s"), {"m": 1}), expected)
    assert odd.error == "the worker has other code than this process; update and restart the workers"
    good = Outcome(task, expected, {"m": 1})
    assert runner._checked(good, expected) is good


def test_a_task_whose_worker_is_lost_fails_with_the_reason():
    def submit(protocol: Protocol, task: Task) -> Future:
        future = Future()
        future.set_exception(OSError("the line is cut"))
        return future

    task = Task("r/t", "a", 1, "x", "quick")
    (outcome,) = runner._as_finished(submit, 2, load_protocol("toyroom/folds"), [task])
    assert (outcome.task, outcome.error) == (task, "OSError: the line is cut")


def test_longest_first_by_stored_timings_else_by_rows(tmp_path):
    protocol = load_protocol("toyroom/folds")
    tasks = protocol.tasks("paper", methods=["nearest"], splits=[1, 2])
    with Store(tmp_path / "s.sqlite") as store:
        costs = known_timings(store, protocol, {"blobs": 100, "wine": 300}, tasks).expected(tasks)
        assert costs[tasks[-1]] == pytest.approx(3 * costs[tasks[0]])
        for split, seconds in ((3, 4.0), (4, 6.0)):
            timed = replace(tasks[0], split=split)
            store.record(Outcome(timed, Signature("", "", ""), {}, seconds, 100))
        costs = known_timings(store, protocol, {"blobs": 100, "wine": 300}, tasks).expected(tasks)
        assert {t.dataset: costs[t] for t in tasks} == {"blobs": 5.0, "wine": pytest.approx(15.0)}


@pytest.mark.parametrize("threads", [1, 2])
def test_a_task_uses_one_thread_of_blas_or_as_many_as_asked(threads):
    """Asked of a worker, where the number of threads was set before the first task."""
    from joblib.externals.loky import get_reusable_executor

    pool = get_reusable_executor(max_workers=1, initializer=workers._start_worker, initargs=(threads,))
    try:
        counts = pool.submit(_blas_threads).result()
    finally:
        pool.shutdown(kill_workers=True)
    assert counts
    assert set(counts) == {threads}


def _blas_threads() -> list[int]:
    from threadpoolctl import threadpool_info

    np.ones((2, 2)) @ np.ones((2, 2))
    return [library["num_threads"] for library in threadpool_info()]


def test_one_task_is_a_pure_function_of_its_key():
    protocol, task = load_protocol("toyroom/folds"), Task("toyroom/folds", "blobs", 1, "forest", "quick")
    began = time.process_time()
    first, second = measure_task(protocol, task), measure_task(protocol, task)
    assert 0 <= first.seconds + second.seconds <= time.process_time() - began
    assert first.error is None
    assert first.values == second.values
    assert first.values["seed"] == task.seed


def test_where_the_system_does_not_tell_the_processor_python_does(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(one_task, "Path", lambda _: SimpleNamespace(read_text=lambda **_: "flags : fpu\n"))
    for told in ("", "a model"):
        known = {"processor": lambda told=told: told, "machine": lambda: "x86"}
        monkeypatch.setattr(one_task, "platform", SimpleNamespace(**known))
        assert one_task._processor() == (told or "x86")


def test_threads_of_a_task_are_timed_too_unless_another_task_runs_beside_it(monkeypatch: pytest.MonkeyPatch):
    protocol, task = load_protocol("toyroom/folds"), Task("toyroom/folds", "blobs", 1, "nearest", "quick")
    ticks = {"process_time": count(0, 10).__next__, "thread_time": count().__next__}
    monkeypatch.setattr(one_task, "time", SimpleNamespace(**ticks))
    alone, measure, beside = measure_task(protocol, task), protocol.measure(), []

    def with_another(*arguments: object) -> object:
        if not beside:
            beside.append(None)
            beside[0] = measure_task(protocol, task)
        return measure(*arguments)

    monkeypatch.setattr(Protocol, "measure", lambda _: with_another)
    monkeypatch.setattr(Protocol, "code", lambda _: "a")
    outer, inner = measure_task(protocol, task), beside[0]
    assert [(each.environment["clock"], each.seconds) for each in (alone, outer, inner)] == [
        ("process", 10),
        ("thread", 3),
        ("thread", 1),
    ]


def test_threads_of_one_process_may_start_together(monkeypatch):
    """As in a Dask worker, whose first tasks fingerprint the code together: `ast` does not bear that."""
    from concurrent.futures import ThreadPoolExecutor

    from marginbook.experiments import protocol as module

    at_work, most = 0, 0

    def fingerprint(*objects: object, messages: bool) -> str:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        time.sleep(0.02)
        at_work -= 1
        return "code"

    monkeypatch.setattr(module, "fingerprint", fingerprint)
    protocol = load_protocol("toyroom/slow")
    with ThreadPoolExecutor(8) as pool:
        tasks = protocol.tasks("quick", splits=[1, 2, 3, 4])
        outcomes = list(pool.map(lambda task: measure_task(protocol, task), tasks))
    assert [outcome.error for outcome in outcomes] == [None] * 8
    assert most == 1


@pytest.mark.fault("Ctrl-C", "in experiment run")
def test_ctrl_c_keeps_what_was_finished_and_leaves_no_process(tmp_path, start, told):
    path = tmp_path / "s.sqlite"
    process = start("run", "toyroom/slow", "--n-jobs", 2, "--store", path, "--out", tmp_path)
    _wait_for(path, "toyroom/slow", 3)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.splitlines()[-1] == "stopped; finished tasks are kept, the same command resumes"
    assert "Traceback" not in errors
    assert _ends(process.pid)
    kept = len(stored(path, "toyroom/slow"))
    assert 3 <= kept < 24
    assert quiet("toyroom/slow", store=path, n_jobs=2).ran == 24 - kept
    told(errors.splitlines()[-1])


@pytest.mark.fault("TERM", "to experiment run")
def test_term_ends_the_workers_too(tmp_path, start, told):
    """As a manager of a cluster sends it: to the one process that it started."""
    path = tmp_path / "s.sqlite"
    process = start("run", "toyroom/slow", "--n-jobs", 2, "--store", path, "--out", tmp_path)
    _wait_for(path, "toyroom/slow", 3)
    process.terminate()
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert errors.splitlines()[-1] == "stopped; finished tasks are kept, the same command resumes"
    assert _ends(process.pid)
    told(errors.splitlines()[-1])


@pytest.mark.fault("store", "two runs at once")
def test_two_runs_at_once_share_one_store(tmp_path, start, told):
    path = tmp_path / "s.sqlite"
    runs = [
        start("run", "toyroom/slow", "--n-jobs", 1, "--store", path, "--out", tmp_path / name)
        for name in ("a", "b")
    ]
    shown = [process.communicate(timeout=60) for process in runs]
    assert [process.returncode for process in runs] == [0, 0], shown
    assert len(stored(path, "toyroom/slow")) == 24
    ran = [int(out.split(" tasks done, ")[1].split()[0]) for out, _ in shown]
    assert (
        24 <= sum(ran) <= 26
    )  # each may do again the one task that the other was at when it ran out of others
    assert min(ran) > 0
    alone = export("toyroom/slow", "quick", store=path, out=tmp_path / "c")
    files = [(tmp_path / name / "toyroom" / "slow.csv").read_bytes() for name in ("a", "b")]
    assert files[0] == files[1] == alone[0].read_bytes()
    told("")


def _wait_for(path: Path, experiment: str, tasks: int) -> None:
    deadline = time.monotonic() + 30
    while not path.exists() or len(stored(path, experiment)) < tasks:
        assert time.monotonic() < deadline, "the run does not get on"
        time.sleep(0.02)


def _ends(group: int) -> bool:
    """Wait for all processes of a group to be gone."""
    for _ in range(200):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def test_a_scheduler_that_goes_away_ends_the_run_and_is_no_failed_task():
    """Dask then cancels what it was asked for."""
    future = Future()
    future.cancel()
    future.set_running_or_notify_cancel()
    task = Task("toyroom/folds", "blobs", 1, "forest", "quick")
    with pytest.raises(ExperimentError, match="the Dask scheduler went away; finished tasks are kept"):
        list(runner._as_finished(lambda *_: future, 1, load_protocol("toyroom/folds"), [task]))

"""The remaining time of runs that are simulated: nothing waits here."""

from __future__ import annotations

import heapq
import io
import random
import re
from types import SimpleNamespace

import pytest
from rich.console import Console

from marginbook.base import progress
from marginbook.experiments.progress import RunProgress
from marginbook.experiments.protocol import Task, load_protocol
from marginbook.experiments.runner import known_timings
from marginbook.experiments.store import Outcome, Signature, Store
from marginbook.experiments.timings import Timings

N_ROWS = {f"d{i}": n for i, n in enumerate((200, 400, 700, 1500, 4000, 9000, 20_000, 60_000, 140_000))}
SECONDS = {"slow": 100.0, "middle": 10.0, "fast": 1.0}
TASKS = [
    Task("r/t", dataset, split, method, "paper")
    for dataset in N_ROWS for split in range(1, 11) for method in SECONDS
]  # fmt: skip


def capped(task: Task) -> float:
    """At most 1000 rows are used, of which some splits take longer than others."""
    noise = random.Random(task.seed).lognormvariate(0, 0.3)
    return SECONDS[task.method] * min(N_ROWS[task.dataset], 1000) / 1000 * noise


def growing(task: Task) -> float:
    return SECONDS[task.method] * N_ROWS[task.dataset] / 1000


def by_data_set(timings: Timings, tasks: list[Task]) -> list[Task]:
    return sorted(tasks, key=lambda task: (-N_ROWS[task.dataset], task))


def told(monkeypatch, takes, order=Timings.order, workers=2, failing=()) -> list[tuple[float, float, float]]:
    """Simulate a run; return the share done, the remaining time that was told, and the true one, by line."""
    now = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now.seconds))
    out, timings = io.StringIO(), Timings(N_ROWS)
    free, ends = [0.0] * workers, []
    for task in order(timings, TASKS):
        end = heapq.heappop(free) + takes(task)
        heapq.heappush(free, end)
        ends.append((end, task))
    last = max(free)
    found = []
    with RunProgress("r/t", TASKS, timings, Console(file=out, width=200)) as bar:
        for now.seconds, task in sorted(ends):
            before = out.tell()
            error = "E: no" if task.method in failing else None
            seconds = 0.0 if error else takes(task)
            bar.finished(
                task, Outcome(task, Signature("", "", ""), {}, seconds, N_ROWS[task.dataset], error=error)
            )
            line = re.search(r"(\d+)/270 tasks, about (\d+):(\d\d):(\d\d) left", out.getvalue()[before:])
            if line:
                done, hours, minutes, rest = map(int, line.groups())
                found.append((done / 270, 3600 * hours + 60 * minutes + rest, last - now.seconds))
    assert f"270/270 tasks, done in {progress.clock(last)}" in out.getvalue()
    return found


def wrong(lines, until=0.95):
    between = [line for line in lines if 1 / 3 <= line[0] < until]
    assert len(between) > 5
    return [(left, true) for _, left, true in between if not true / 2 <= left <= 2 * true]


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("takes", [capped, growing])
def test_from_a_third_on_the_remaining_time_is_right_within_a_factor_of_two(monkeypatch, takes, workers):
    assert wrong(told(monkeypatch, takes, workers=workers)) == []


@pytest.mark.parametrize("takes", [capped, growing])
def test_data_sets_that_were_not_timed_yet_are_judged_by_the_others(monkeypatch, takes):
    """As when all of a data set came before the next; nobody knows that the smallest stay below the cap."""
    assert wrong(told(monkeypatch, takes, by_data_set), until=0.5) == []


def test_failures_count_as_done_but_teach_nothing(monkeypatch):
    assert wrong(told(monkeypatch, capped, failing=("middle",))) == []


def test_nothing_is_told_before_something_is_timed(monkeypatch):
    assert told(monkeypatch, capped, failing=tuple(SECONDS)) == []


def test_one_worker_takes_as_long_as_all_tasks_together():
    timings = Timings(N_ROWS)
    for task in TASKS:
        timings.learn(task, 2.0)
    assert RunProgress("r/t", TASKS, timings, Console(quiet=True)).left(0.0) == 2.0 * len(TASKS)


def test_one_task_of_each_cell_goes_first_then_the_longest(monkeypatch):
    timings = Timings(N_ROWS)
    ahead = timings.order(TASKS)[: len(N_ROWS) * len(SECONDS)]
    assert {task.split for task in ahead} == {1}
    for task in TASKS:
        timings.learn(task, capped(task))
    costs = timings.expected(TASKS)
    assert [costs[task] for task in timings.order(TASKS)] == sorted(costs.values(), reverse=True)


def test_a_new_timing_replaces_that_of_the_same_task():
    timings, task = Timings(N_ROWS), TASKS[0]
    timings.learn(task, 100.0)
    timings.learn(task, 2.0)
    assert timings.expected([task]) == {task: 2.0}


def test_status_and_run_judge_alike(tmp_path):
    """A data set that was not timed, larger than the timed ones, of a method that uses 1000 rows at most."""
    protocol = load_protocol("toyroom/folds")
    sizes = {"blobs": 5000, "wine": 100_000}
    new, old = (
        protocol.tasks("paper", methods=["nearest"], splits=[1], datasets=[name])[0]
        for name in ("wine", "blobs")
    )
    with Store(tmp_path / "s.sqlite") as store:
        timings = Timings(sizes)
        for name, n in (("blobs", 5000), ("gone", 1000), ("older", 20_000)):
            task = Task(old.experiment, name, 1, "nearest", "paper")
            store.record(Outcome(task, Signature("", "", ""), {}, 7.0, n))
            timings.learn(task, 7.0, n)
        found = known_timings(store, protocol, sizes, [new, old]).expected([new, old])
    assert found == pytest.approx(timings.expected([new, old]))
    assert found[old] == 7.0
    assert 7 <= found[new] < 2 * 7

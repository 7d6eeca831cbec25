"""The queue with workers that only sleep: order, limits, cancelling, restart."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from marginbook.serve.queue import Queue, QueueFull, marked
from marginbook.serve.runs import Run, Runs

#: takes as long as it is told, in a child, and says that it is done
WORKER = """
import json, pathlib, subprocess, sys
folder = pathlib.Path(sys.argv[1])
run = json.loads((folder / "run.json").read_text())
subprocess.run(["sleep", str(run["values"]["pause"])], start_new_session=True)
(folder / "result.json").write_text('{"ok": true}')
"""


@pytest.fixture
def queue(queues):
    return lambda **limits: queues(command=[sys.executable, "-c", WORKER], **limits)


def begin(queue: Queue, pause: float, key: str) -> Run:
    return queue.submit("notebook", "toy/01_small", {"pause": pause}, {}, key)


def until(queue: Queue, run: Run, *states: str) -> Run:
    for _ in range(600):
        if (found := queue.runs.get(run.id)).state in states:
            return found
        time.sleep(0.02)
    raise AssertionError(found)


def test_two_at_once_and_the_third_waits(queue) -> None:
    three = queue(at_once=2)
    first, second, third = (begin(three, 30, key) for key in "abc")
    states = [three.runs.get(run.id).state for run in (first, second, third)]
    assert states == ["running", "running", "waiting"]
    assert three.ahead(third) == 2
    assert three.cancel(first).state == "cancelled"
    assert until(three, third, "running").began is not None
    assert three.runs.get(second.id).state == "running"


def test_the_order_is_that_of_asking(queue) -> None:
    one = queue(at_once=1)
    runs = [begin(one, 0, key) for key in "abcd"]
    ended = [until(one, run, "done") for run in runs]
    assert [run.began for run in ended] == sorted(run.began for run in ended)


def test_a_full_queue_refuses(queue) -> None:
    small = queue(at_once=1, waiting=2)
    for key in "abc":
        begin(small, 30, key)
    with pytest.raises(QueueFull, match="2 runs wait already"):
        begin(small, 30, "d")
    assert begin(small, 30, "b").state == "waiting"  # that one is there already


def test_a_full_queue_is_told_with_when_to_come_back(serving, monkeypatch) -> None:
    client = serving(at_once=1, waiting=0)
    monkeypatch.setattr("marginbook.serve.subjects.Subjects.key", lambda *_: "one")
    answer = client.post("/-/run/toy/01_small", data={"n": "4"})
    assert answer.status_code == 429
    assert answer.headers["retry-after"]


@pytest.mark.parametrize(
    ("code", "status", "advice"),
    [(errno.ENOSPC, 507, "Free some space"), (errno.EACCES, 500, "Let the server write in its folder")],
)
def test_a_run_that_cannot_be_stored_is_told_with_what_to_do(
    serving, monkeypatch, code: int, status: int, advice: str
) -> None:
    def refused(*_: object) -> None:
        raise OSError(code, os.strerror(code), "run.json")

    client = serving(at_once=1)
    monkeypatch.setattr("marginbook.serve.subjects.Subjects.key", lambda *_: "one")
    monkeypatch.setattr("marginbook.serve.runs._write", refused)
    answer = client.post("/-/run/toy/01_small", data={"n": "4"})
    assert answer.status_code == status
    assert f"The run cannot be stored: {os.strerror(code)}. {advice}, and ask again." in answer.text
    assert len(client.queue.runs) == 0


def test_what_waits_can_be_cancelled(queue) -> None:
    one = queue(at_once=1)
    begin(one, 30, "a")
    waiting = begin(one, 30, "b")
    assert one.cancel(waiting).state == "cancelled"
    assert one.cancel(waiting).state == "cancelled"
    assert begin(one, 30, "b").id != waiting.id


def test_cancelling_ends_what_has_left_the_process_group(queue) -> None:
    one = queue()
    run = begin(one, 30, "a")
    for _ in range(200):
        if len(marked(run.id)) >= 2:
            break
        time.sleep(0.02)
    one.cancel(run)
    assert marked(run.id) == []


def test_equal_runs_are_made_once(queue) -> None:
    one = queue()
    run = begin(one, 0, "a")
    until(one, run, "done")
    assert begin(one, 0, "a").id == run.id
    assert begin(one, 0, "other code").id != run.id


def test_a_restart_keeps_the_list(queue, home: Path) -> None:
    before = queue(at_once=1)
    done = until(before, begin(before, 0, "a"), "done")
    running, waiting = begin(before, 30, "b"), begin(before, 30, "c")
    before.close()
    after = queue()
    assert {run.id for run in after.runs.all()} == {done.id, running.id, waiting.id}
    assert after.runs.get(done.id) == before.runs.get(done.id)
    for run in (running, waiting):
        assert after.runs.get(run.id).state == "failed"
        assert "the server ended" in after.runs.get(run.id).message
    assert begin(after, 0, "a").id == done.id  # the cache, too


def test_a_damaged_entry_is_left_out(home: Path, queue) -> None:
    first = queue()
    runs = [until(first, begin(first, 0, key), "done") for key in "ab"]
    (first.runs.place(runs[0]) / "run.json").write_text('{"id": ')
    assert [run.id for run in Runs(home / "_build" / "serve").all()] == [runs[1].id]


def test_a_run_ends_with_its_server(home: Path, tmp_path: Path) -> None:
    """A server that is killed cannot end its runs; they look for it themselves."""
    folder = tmp_path / "run"
    folder.mkdir()
    program = f"""
import os, subprocess, sys, time
subprocess.Popen([sys.executable, "-c", '''
import os, threading, time
from marginbook.serve.worker import _end_with
threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
time.sleep(60)
'''], env={{**os.environ, "MARGINBOOK_RUN": "orphan-{tmp_path.name}"}})
time.sleep(1.5)
"""
    subprocess.run([sys.executable, "-c", program], check=True)
    for _ in range(250):
        if not marked(f"orphan-{tmp_path.name}"):
            return
        time.sleep(0.02)
    raise AssertionError("it goes on")


def test_old_runs_are_forgotten(home: Path, monkeypatch) -> None:
    monkeypatch.setattr("marginbook.serve.runs.KEPT", 3)
    runs = Runs(home / "_build" / "serve")
    for number in range(5):
        run = runs.add("notebook", "toy/01_small", {}, {}, str(number))
        runs.change(run.id, state="done")
        time.sleep(0.002)
    assert len(runs) == 3
    assert len(list((home / "_build" / "serve").iterdir())) == 3
    assert json.loads((runs.place(run) / "run.json").read_text())["state"] == "done"

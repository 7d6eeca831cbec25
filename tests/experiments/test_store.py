"""The store: what it keeps, what counts as done, and what it says when the disk will not have it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from marginbook.experiments.errors import StoreError
from marginbook.experiments.protocol import Task
from marginbook.experiments.store import Outcome, Signature, Store, is_current, state

TASK = Task("r/t", "a", 1, "x", "paper")
SIGNATURE = Signature("code", "data", "settings")
DONE = Outcome(
    TASK, SIGNATURE, {"m": 0.1 + 0.2, "n": 3, "s": "é", "none": None}, 1.5, 10, "f00", {"python": "3"}
)


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "deep" / "store.sqlite") as opened:
        yield opened


def test_an_outcome_comes_back_as_it_was(store):
    assert store.get(TASK) is None
    assert store.record(DONE)
    assert store.get(TASK) == DONE
    with Store(store.path) as again:
        assert again.outcomes("r/t") == [DONE]
        assert again.outcomes("r/t", "quick") == again.outcomes("r/u") == []


def test_nan_survives(store):
    store.record(replace(DONE, values={"m": float("nan")}))
    assert store.get(TASK).values["m"] != store.get(TASK).values["m"]


def test_the_first_current_result_stays(store):
    store.record(DONE)
    assert not store.record(replace(DONE, values={"m": 9.0}))
    assert not store.record(Outcome(TASK, SIGNATURE, error="late failure"))
    assert store.get(TASK) == DONE


@pytest.mark.parametrize("what", ["code", "data", "settings"])
def test_a_stale_result_is_replaced(store, what):
    store.record(DONE)
    newer = replace(DONE, signature=replace(SIGNATURE, **{what: "new"}), values={"m": 9.0})
    assert state(store.get(TASK), newer.signature) == "stale"
    assert not is_current(store.get(TASK), newer.signature)
    assert store.record(newer)
    assert store.get(TASK) == newer


def test_a_failure_is_replaced_by_a_result(store):
    store.record(Outcome(TASK, SIGNATURE, error="Traceback"))
    assert state(store.get(TASK), SIGNATURE) == "failed"
    assert store.record(DONE)
    assert state(store.get(TASK), SIGNATURE) == "done"


def test_outcomes_are_sorted_by_key(store):
    tasks = [replace(TASK, split=split, method=m) for split in (10, 9, 2) for m in "yx"]
    for task in tasks:
        store.record(replace(DONE, task=task))
    assert [o.task for o in store.outcomes("r/t")] == sorted(tasks)


def test_a_claim_holds_against_living_processes_only(store):
    assert store.claim(TASK)
    with Store(store.path) as other:
        assert not other.claim(TASK)
    code = f"""
from marginbook.experiments.store import Store; from marginbook.experiments.protocol import Task
store = Store({str(store.path)!r}); print(store.claim(Task("r/t", "a", 2, "x", "paper")))"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "True\n"
    assert not store.claim(replace(TASK, split=2))
    store.drop_dead_claims()  # that process has ended, and this one forgets its own
    assert store.claim(replace(TASK, split=2))
    assert store.claim(TASK)


def test_a_recorded_task_is_no_longer_claimed(store):
    store.claim(TASK)
    store.record(DONE)
    assert store.claim(TASK)


def test_many_writers_lose_nothing(tmp_path):
    path = tmp_path / "store.sqlite"
    code = f"""
import sys
from dataclasses import replace
from marginbook.experiments.store import Store, Outcome, Signature
from marginbook.experiments.protocol import Task
with Store({str(path)!r}) as store:
    for split in range(100):
        task = Task("r/t", "a", split, "x", "paper")
        store.claim(task)
        store.record(Outcome(task, Signature("c", "d", "s"), {{"writer": sys.argv[1]}}))"""
    writers = [subprocess.Popen([sys.executable, "-c", code, name], stderr=subprocess.PIPE) for name in "ab"]
    assert [w.communicate()[1] for w in writers] == [b"", b""]
    with Store(path) as store:
        assert [o.task.split for o in store.outcomes("r/t")] == list(range(100))


@pytest.mark.fault("store", "another file given as the store")
def test_another_file_is_not_overwritten(tmp_path, told):
    path = tmp_path / "notes.txt"
    path.write_text("these are my notes, not a data base\n" * 100)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"notes.txt is not a store of results .*--store PATH") as error:
        Store(path)
    assert path.read_bytes() == before
    told(error.value)


@pytest.mark.fault("store", "folder that cannot be made")
def test_a_folder_that_cannot_be_made(tmp_path, told):
    (tmp_path / "file").touch()
    with pytest.raises(
        StoreError, match=r"cannot make the folder of the store .*File exists; give another with --store"
    ) as error:
        Store(tmp_path / "file" / "store.sqlite")
    told(error.value)


def test_who_only_reads_writes_nothing(tmp_path):
    nowhere = tmp_path / "none" / "store.sqlite"
    with Store.to_read(nowhere) as store:
        assert list(store.outcomes("toyroom/folds", "quick")) == []
    assert list(tmp_path.iterdir()) == []
    with Store(tmp_path / "store.sqlite") as store:
        store.record(DONE)
    with Store.to_read(tmp_path / "store.sqlite") as store:
        assert list(store.outcomes(TASK.experiment, TASK.profile)) == [DONE]


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write in read-only folders"
)
def test_a_read_only_folder(tmp_path):
    (tmp_path / "locked").mkdir(mode=0o555)
    with pytest.raises(StoreError, match=r"cannot be written .*give another with --store PATH"):
        Store(tmp_path / "locked" / "store.sqlite")


@pytest.mark.skipif(
    not Path("/proc/self").is_dir(), reason="needs Linux's /proc, where nobody may create files"
)
def test_a_place_where_even_root_may_not_write():
    with pytest.raises(
        StoreError, match=r"the store /proc/.*cannot be written .*give another with --store PATH"
    ):
        Store("/proc/self/store.sqlite")


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits on the size of files")
@pytest.mark.fault("store", "file may not grow (limit of the system)")
def test_a_full_disk_is_one_line_and_keeps_what_was_finished(tmp_path, told):
    path = tmp_path / "store.sqlite"
    code = f"""
import resource
from dataclasses import replace
from marginbook.experiments.store import Store, Outcome, Signature, StoreError
from marginbook.experiments.protocol import Task
with Store({str(path)!r}) as store:
    store.record(Outcome(Task("r/t", "a", 0, "x", "paper"), Signature("c", "d", "s")))
    long = {{"t": "x" * 5000}}
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
    try:
        for split in range(1, 1000):
            store.record(Outcome(Task("r/t", "a", split, "x", "paper"), Signature("c", "d", "s"), long))
    except StoreError as error:
        print(split, error)"""
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert shown.stdout, shown.stderr
    finished, message = shown.stdout.split(" ", 1)
    assert "cannot be written" in message
    assert "free some space and run again: finished tasks are kept" in message
    assert message.count("\n") == 1
    told(message)
    with Store(path) as store:
        assert [o.task.split for o in store.outcomes("r/t")] == list(range(int(finished)))

"""Stores that are damaged or foreign, logs left behind, a clock that jumps; exports that are cut short."""

from __future__ import annotations

import io
import itertools
import os
import random
import shutil
import sqlite3
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

from marginbook.experiments.errors import ExperimentError, StoreError
from marginbook.experiments.export import ResultsKept, export, read_results
from marginbook.experiments.runner import Report, run
from marginbook.experiments.store import Store

from .conftest import digest, refused

ID = "toyroom/folds"
# marginbook.experiments.export is the function; the module of that name is only in sys.modules
EXPORTING = sys.modules[export.__module__]


def quiet(store: Path, said: io.StringIO | None = None) -> Report:
    return run(ID, store=store, n_jobs=1, console=Console(file=said or io.StringIO(), width=300))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished store and its export; made once, for all tests copy it."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MARGINBOOK_ROOMS", "toyroom")
        patch.syspath_prepend(str(Path(__file__).parents[1] / "experiments" / "rooms"))
        quiet(folder / "s.sqlite")
        export(ID, "quick", store=folder / "s.sqlite", out=folder / "out")
    return folder


@pytest.fixture
def store(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(whole / "s.sqlite", tmp_path))


def comes_out_again(store: Path, whole: Path, tmp_path: Path) -> None:
    """The export of a store has the bytes of the undisturbed one."""
    table = export(ID, "quick", store=store, out=tmp_path / "again")[0]
    assert table.read_bytes() == (whole / "out" / "toyroom" / "folds.csv").read_bytes()


@pytest.mark.fault("store", "digit of a result changed on the disk")
def test_a_changed_digit_is_noticed_and_the_task_is_run_again(store, whole, tmp_path, told):
    raw = store.read_bytes()
    with Store(store) as opened:
        accuracy = f'"accuracy": {opened.outcomes(ID)[0].values["accuracy"]}'.encode()
    assert raw.count(accuracy) >= 1
    store.write_bytes(raw.replace(accuracy, accuracy[:-1] + (b"1" if accuracy[-1:] != b"1" else b"2"), 1))
    with Store(store) as opened:
        assert len(opened.outcomes(ID)) == 3
    said = io.StringIO()
    report = quiet(store, said)
    assert (report.ran, report.done) == (1, 4)
    told(said.getvalue().splitlines()[0])
    assert "1 stored results were damaged on the disk" in said.getvalue()
    comes_out_again(store, whole, tmp_path)


@pytest.mark.fault("store", "bytes of the file overwritten")
def test_overwritten_bytes_never_become_a_result(store, whole, tmp_path, told):
    """Thirty stores, each with noise at a random place: an error in one line, or the same bytes."""
    dice, raw, errors = random.Random(5), store.read_bytes(), []
    for number in range(30):
        start, length = dice.randrange(len(raw)), dice.choice([1, 16, 700])
        path = tmp_path / f"{number}.sqlite"
        path.write_bytes((raw[:start] + dice.randbytes(length) + raw[start + length :])[: len(raw)])
        try:
            assert quiet(path).done == 4
            comes_out_again(path, whole, tmp_path)
        except StoreError as error:
            errors.append(str(error))
            assert "\n" not in errors[-1]
    assert errors
    told(min((error for error in errors if "damaged" in error), default=errors[0], key=len))


@pytest.mark.fault("store", "file cut short")
def test_a_store_that_was_cut_short(store, told):
    store.write_bytes(store.read_bytes()[: store.stat().st_size // 2])
    with pytest.raises(StoreError, match=r"is damaged .*move it away and run again") as error:
        quiet(store)
    told(error.value)


@pytest.mark.fault("store", "data base of another program")
def test_the_data_base_of_another_program_is_left_alone(tmp_path, told):
    path = tmp_path / "photos.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE photos (name)")
    db.close()
    with refused(tmp_path, told, StoreError, "is not a store of results .*it holds photos"):
        quiet(path)


def _write_and_leave(path: Path, left: Path) -> None:
    """Write a result, and copy the store as a process that is killed now would leave it."""
    with Store(path) as opened:
        opened._db.execute("PRAGMA wal_autocheckpoint = 0")
        done = opened.outcomes(ID)[0]
        opened._db.execute("DELETE FROM results")
        opened.record(done)
        for suffix in ("", "-wal"):
            shutil.copy(f"{path}{suffix}", f"{left}{suffix}")


@pytest.mark.fault("store", "write-ahead log left behind")
def test_a_log_left_behind_is_read(store, tmp_path, told):
    left = tmp_path / "left.sqlite"
    _write_and_leave(store, left)
    assert Path(f"{left}-wal").stat().st_size > 0
    with Store(left) as opened:
        opened.verify()
        assert len(opened.outcomes(ID)) == 1
    told("")


@pytest.mark.fault("store", "write-ahead log torn")
def test_a_torn_log_counts_up_to_its_last_whole_transaction(store, tmp_path, told):
    left = tmp_path / "left.sqlite"
    _write_and_leave(store, left)
    log = Path(f"{left}-wal")
    log.write_bytes(log.read_bytes()[:-500])
    with Store(left) as opened:
        opened.verify()
        assert opened.outcomes(ID) == []  # rows deleted, the record not yet written: never half of it
    assert quiet(left).done == 4
    told("")


@pytest.mark.fault("store", "clock that jumps years, forwards and back")
def test_a_jumping_clock_changes_nothing(whole, tmp_path, monkeypatch, told):
    jumps = itertools.cycle([0.0, 1e9, -1e9, 3e8])
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + next(jumps))
    assert quiet(tmp_path / "s.sqlite").done == 4
    comes_out_again(tmp_path / "s.sqlite", whole, tmp_path)
    with Store(tmp_path / "s.sqlite") as opened:
        assert all(0 <= outcome.seconds < 60 for outcome in opened.outcomes(ID))
    told("")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.fault("export", "killed at every step of an export")
def test_an_export_killed_at_any_step_leaves_whole_files(store, whole, tmp_path, told):
    """A child ends without clean-up before its n-th sync or rename; every file is the old or the new one."""
    new = {path.name: path.read_bytes() for path in (whole / "out" / "toyroom").iterdir()}
    killed = 0
    for step in range(1, 7):
        out = tmp_path / str(step)
        (out / "toyroom").mkdir(parents=True)
        for name in new:
            (out / "toyroom" / name).write_text("dataset,split,method\n")
        child = os.fork()
        if child == 0:
            try:
                _die_at(step)
                export(ID, "quick", store=store, out=out)
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
        killed += 1
        for name, body in new.items():
            assert (out / "toyroom" / name).read_bytes() in (b"dataset,split,method\n", body)
        left = next(path for path in (out / "toyroom").iterdir() if path.suffix == ".tmp")
        os.utime(left, (1, 1))
        export(ID, "quick", store=store, out=out)
        assert (out / "toyroom" / "folds.csv").read_bytes() == new["folds.csv"]
        assert not left.exists()
    assert killed == 6
    told("")


def _die_at(step: int) -> None:
    count = itertools.count(1)

    def dying(function):
        def call(*arguments):
            if next(count) == step:
                os._exit(9)
            return function(*arguments)

        return call

    EXPORTING.os.fsync = dying(os.fsync)
    Path.replace = dying(Path.replace)  # type: ignore[method-assign]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        pytest.param(
            b"\xff\xfe\x00junk" * 9, "is damaged", marks=pytest.mark.fault("export", "damaged table")
        ),
        pytest.param(b"x\n", "no column 'dataset'", marks=pytest.mark.fault("export", "another table there")),
    ],
)
def test_a_damaged_table_is_neither_read_nor_replaced(store, tmp_path, told, body, says):
    table = tmp_path / "out" / "toyroom" / "folds.csv"
    table.parent.mkdir(parents=True)
    table.write_bytes(body)
    with refused(tmp_path / "out", told, ResultsKept, rf"was left as it is: .*{says}.*--replace"):
        export(ID, "quick", store=store, out=tmp_path / "out")
    with pytest.raises(ExperimentError, match=r"folds.csv is damaged .*marginbook experiment export"):
        read_results(ID, "quick", tmp_path / "out")
    export(ID, "quick", store=store, out=tmp_path / "out", replace=True)
    assert len(read_results(ID, "quick", tmp_path / "out")) == 4


@pytest.mark.fault("export", "disk full while a table is written")
def test_an_export_that_cannot_be_written_leaves_the_old_files(store, tmp_path, told, monkeypatch):
    export(ID, "quick", store=store, out=tmp_path / "out")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(EXPORTING.os, "fsync", full)
    before = digest(tmp_path / "out")
    with refused(tmp_path / "out", told, ExperimentError, "No space left .*results stay in the store"):
        export(ID, "quick", store=store, out=tmp_path / "out")
    assert digest(tmp_path / "out") == before

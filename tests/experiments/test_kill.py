"""``kill -9`` at ten random moments, and the files of an undisturbed run."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import sys
import time
from pathlib import Path

import pytest

from marginbook.experiments.schema import READ, is_sound

SEED = 20


@pytest.mark.skipif(sys.platform == "win32", reason="needs process groups and SIGKILL")
@pytest.mark.fault("store", "kill -9 of the whole process group")
def test_killed_ten_times_and_resumed_gives_the_same_bytes(tmp_path, start, told):
    undisturbed = start(
        "run", "toyroom/slow", "--n-jobs", 2, "--store", tmp_path / "whole", "--out", tmp_path / "a"
    )
    assert undisturbed.wait(timeout=60) == 0
    moments, rows = random.Random(SEED), []
    store, out = tmp_path / "killed", tmp_path / "b"
    for kill in range(10):
        # with and without worker processes; some kills hit the start, most of them the work
        process = start("run", "toyroom/slow", "--n-jobs", 1 + kill % 2, "--store", store, "--out", out)
        before = _results(store)
        while kill % 4 != 0 and process.poll() is None and _results(store) == before:
            time.sleep(0.01)
        time.sleep(moments.uniform(0, 0.15 if kill % 4 else 1.0))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        after = _results(store)
        assert before.items() <= after.items()  # nothing lost, nothing changed; keys are there once
        rows.append(len(after))
    assert len({count for count in rows if 0 < count < 24}) >= 4, rows
    resumed = start("run", "toyroom/slow", "--n-jobs", 2, "--store", store, "--out", out)
    shown = resumed.communicate(timeout=60)
    assert resumed.returncode == 0, shown
    for name in ("slow.csv", "slow.provenance.json"):
        assert (out / "toyroom" / name).read_bytes() == (tmp_path / "a" / "toyroom" / name).read_bytes()
    assert sorted(path.name for path in (out / "toyroom").iterdir() if not path.name.endswith(".tmp")) == [
        "slow.csv", "slow.provenance.json", "slow.timing.csv",
    ]  # fmt: skip
    told("")


def _results(store: Path) -> dict[tuple, tuple]:
    if not store.exists():
        return {}
    with sqlite3.connect(store, timeout=10) as db:
        try:
            rows = db.execute(READ).fetchall()
        except sqlite3.OperationalError:  # the tables are not there yet
            return {}
    assert all(is_sound(row) for row in rows)
    assert len({row[:5] for row in rows}) == len(rows)
    return {row[:5]: row for row in rows}

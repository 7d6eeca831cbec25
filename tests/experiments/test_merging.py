"""Results of a second machine: taken if they are of the same code, data and settings, and nothing is lost."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from click.testing import CliRunner
from rich.console import Console

from marginbook.experiments.command import experiment
from marginbook.experiments.errors import ExperimentError, StoreError
from marginbook.experiments.export import export
from marginbook.experiments.merging import Merged, merge
from marginbook.experiments.runner import run
from marginbook.experiments.store import Store


def made(store, **options):
    return run(
        "toyroom/folds", "quick", store=store, n_jobs=1, console=Console(file=io.StringIO()), **options
    )


def test_two_halves_make_the_file_of_one_run(tmp_path):
    whole, first, second = (tmp_path / name for name in ("whole", "first", "second"))
    made(whole)
    made(first, splits=[1])
    made(second, splits=[2])
    assert merge(second, first) == [Merged("toyroom/folds", "quick", 2, 0, 0, ())]
    for store, out in ((whole, "a"), (first, "b")):
        export("toyroom/folds", "quick", store=store, out=tmp_path / out)
    assert (tmp_path / "a/toyroom/folds.csv").read_bytes() == (tmp_path / "b/toyroom/folds.csv").read_bytes()
    assert made(first).ran == 0


def test_what_is_here_stays_and_what_is_stale_is_not_taken(tmp_path):
    made(tmp_path / "ours", methods=["nearest"])
    made(tmp_path / "theirs")
    with Store(tmp_path / "theirs") as theirs, Store(tmp_path / "ours") as ours:
        before = ours.outcomes("toyroom/folds")
        forest = [each for each in theirs.outcomes("toyroom/folds") if each.task.method == "forest"]
        old = replace(forest[0].signature, code="of old")
        assert theirs.record(replace(forest[0], signature=old))
    assert merge(tmp_path / "theirs", tmp_path / "ours") == [Merged("toyroom/folds", "quick", 1, 2, 1, ())]
    with Store(tmp_path / "ours") as ours:
        kept = ours.outcomes("toyroom/folds")
    assert [each for each in kept if each.task.method == "nearest"] == before
    assert [each for each in kept if each.task.method == "forest"] == [forest[1]]


def test_a_failure_is_not_taken(tmp_path):
    made(tmp_path / "theirs", methods=["nearest"], splits=[1])
    with Store(tmp_path / "theirs") as theirs:
        (done,) = theirs.outcomes("toyroom/folds")
        theirs.record(replace(done, task=replace(done.task, split=2), error="it failed"))
    assert merge(tmp_path / "theirs", tmp_path / "ours") == [Merged("toyroom/folds", "quick", 1, 0, 0, ())]


def test_what_cannot_be_merged_is_told(tmp_path):
    with pytest.raises(ExperimentError, match="no store"):
        merge(tmp_path / "none", tmp_path / "ours")
    assert not (tmp_path / "none").exists()
    made(tmp_path / "ours", methods=["nearest"], splits=[1])
    with pytest.raises(ExperimentError, match="name another"):
        merge(tmp_path / "ours", tmp_path / "ours")
    (tmp_path / "text").write_text("not a store\n" * 100, encoding="utf-8")
    with pytest.raises(StoreError, match="not a store of results"):
        merge(tmp_path / "text", tmp_path / "ours")


def test_the_command_tells_what_it_took(tmp_path):
    made(tmp_path / "theirs")
    made(tmp_path / "ours", methods=["nearest"], splits=[1])
    command = ["merge", str(tmp_path / "theirs"), "--store", str(tmp_path / "ours")]
    told = CliRunner().invoke(experiment, command)
    assert told.exit_code == 0
    assert told.output == "toyroom/folds, quick: 3 taken, 1 known here\n"
    again = CliRunner().invoke(experiment, command)
    assert again.output == "toyroom/folds, quick: 0 taken, 4 known here\n"
    with Store(tmp_path / "empty"):
        pass
    told = CliRunner().invoke(experiment, ["merge", str(tmp_path / "empty"), "--store", str(tmp_path / "o")])
    assert "has no finished result" in told.output
    told = CliRunner().invoke(experiment, ["merge", str(tmp_path / "none")])
    assert told.exit_code == 1
    assert "there is no store" in told.output

"""Stored rows are computed again: what is the same is said to be, what was changed is found."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from rich.console import Console

from marginbook.base.weka import WekaMissing
from marginbook.datasets.dataset import DatasetNotFetched
from marginbook.experiments import export, load_protocol, run
from marginbook.experiments.command import experiment
from marginbook.experiments.protocol import Protocol, Task
from marginbook.experiments.recheck import OTHER, PRESENT, TOLERANCE, differences, recheck

QUIET = Console(quiet=True)


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with results of a toy experiment."""
    monkeypatch.setenv("MARGINBOOK_HOME", str(tmp_path))
    for name in ("pyproject.toml", "_toc.yml"):
        (tmp_path / name).touch()
    store = tmp_path / "store.sqlite"
    run("toyroom/folds", "paper", n_jobs=1, store=store, console=QUIET)
    return export("toyroom/folds", "paper", store=store, out=tmp_path / "results")[0]


def test_rows_that_come_out_again_are_the_same(stored: Path) -> None:
    found = recheck(load_protocol("toyroom/folds"), 3, console=QUIET)
    assert len({each.task for each in found}) == 3
    assert all(each.same for each in found)
    assert found == recheck(load_protocol("toyroom/folds"), 3, console=QUIET)


def test_without_a_seed_the_draw_is_that_of_the_command(stored: Path) -> None:
    def drawn(**seed: int) -> list[Task]:
        return [each.task for each in recheck(load_protocol("toyroom/folds"), 2, console=QUIET, **seed)]

    (default,) = (each.default for each in experiment.commands["recheck"].params if each.name == "seed")
    assert drawn() == drawn(seed=default)
    assert drawn(seed=-1) != drawn(seed=default)  # or nothing is tested


def test_a_changed_number_is_found_and_named(
    stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pd.read_csv(stored)
    metric = load_protocol("toyroom/folds").metric
    frame[metric] += 0.25
    frame.to_csv(stored, index=False)
    out = tmp_path / "recheck.csv"
    monkeypatch.setattr(sys.modules[recheck.__module__], "commit", lambda *_: "abc")
    done = CliRunner().invoke(experiment, ["recheck", "toyroom/folds", "--rows", "2", "--out", str(out)])
    assert done.exit_code == 1
    assert pd.read_csv(out)[["made by", "commit"]].to_numpy().tolist() == [[PRESENT, "abc"]]
    monkeypatch.setattr(Protocol, "code", lambda self: "changed")
    CliRunner().invoke(experiment, ["recheck", "toyroom/folds", "--rows", "2", "--out", str(out)])
    assert pd.read_csv(out)["made by"].tolist() == [OTHER]
    assert f": {metric}, by " in done.stderr
    assert pd.read_csv(out)[["rows", "same"]].to_numpy().tolist() == [[2, 0]]


def test_an_experiment_without_results_does_not_end_the_others(stored: Path) -> None:
    done = CliRunner().invoke(experiment, ["recheck", "--rows", "1"])
    assert done.exit_code == 0, done.output
    assert "not compared: drm/table-8 has no stored results yet" in done.stderr
    assert "toyroom/folds" in done.output
    stored.unlink()
    assert "no experiment has stored results" in CliRunner().invoke(experiment, ["recheck"]).stderr


@pytest.mark.parametrize(
    ("lacking", "told"),
    [
        (DatasetNotFetched("fetch it", "toy"), "toyroom/folds on "),
        (DatasetNotFetched("no URL is allowed"), "4 rows, such as toyroom/folds "),
        (WekaMissing("install it"), "4 rows, such as toyroom/folds "),
    ],
    ids=["data", "URL", "Weka"],
)
def test_what_lacks_data_or_weka_is_not_compared(
    stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacking: Exception, told: str
) -> None:
    def fails(*_: object) -> None:
        raise lacking

    monkeypatch.setattr(Protocol, "rows" if isinstance(lacking, WekaMissing) else "load", fails)
    out = tmp_path / "recheck.csv"
    done = CliRunner().invoke(experiment, ["recheck", "toyroom/folds", "--rows", "4", "--out", str(out)])
    assert done.exit_code == 1, done.output
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("not compared: ")]
    assert line.startswith(f"not compared: {told}")
    assert line.endswith("run `marginbook data fetch toy`" if "on" in told.split() else str(lacking))
    assert "no row was compared" in done.stderr
    (row,) = pd.read_csv(out, keep_default_na=False).to_dict("records")
    assert (row["rows"], row["same"], row["largest"]) == (0, 0, "")


def test_rows_that_could_be_compared_decide_over_those_that_could_not(
    stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = Protocol.load

    def fails(self: Protocol, name: str) -> object:
        if name == absent:
            raise DatasetNotFetched("fetch it", "toy")
        return load(self, name)

    absent = load_protocol("toyroom/folds").datasets[0]
    monkeypatch.setattr(Protocol, "load", fails)
    done = CliRunner().invoke(experiment, ["recheck", "toyroom/folds", "--rows", "100"])
    assert done.exit_code == 0, done.output
    assert done.stderr.count("not compared: ") == 1
    assert f"on {absent}: not on this machine" in done.stderr


def test_the_difference_of_a_certificate_counts_as_it_is() -> None:
    stored = {"dual_gap": 1.0e-7, "kkt_residual": 0.1, "accuracy": 1.0e-7}
    now = {"dual_gap": 1.1e-7, "kkt_residual": 0.2, "accuracy": 1.1e-7}
    far = {name for name, difference in differences(stored, now) if difference > TOLERANCE}
    assert far == {"kkt_residual", "accuracy"}


def test_what_is_empty_in_any_way_is_the_same_and_differs_from_all_else() -> None:
    empty = [None, "", math.nan]
    for old in empty:
        for new in empty:
            assert list(differences({"a": old}, {"a": new})) == [("a", 0.0)]
        for full in (0.0, "text"):
            assert list(differences({"a": old}, {"a": full})) == [("a", math.inf)]
            assert list(differences({"a": full}, {"a": old})) == [("a", math.inf)]

"""The program that measures growth: one case in a process, what refuses, the gap of the peers, two runs."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.svm import SVC, LinearSVC

from marginbook.base.project import resource
from marginbook.quality.benchmarking import tables


@pytest.fixture
def growth(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(resource("benchmarks")))
    module = importlib.import_module("growth")
    monkeypatch.setattr(module, "LEAST", 0.0)  # nothing is repeated for the sake of the clock
    monkeypatch.setattr(module, "_limit_memory", lambda: None)  # this process goes on
    return module


@pytest.mark.parametrize("name", ["SVC rbf", "LinearSVC", "LSSVM, 1000 landmarks"])
def test_a_case_is_measured(growth: Any, tmp_path: Path, name: str) -> None:
    pytest.importorskip("resource", reason="memory is not measured on Windows")
    row = growth.measure(name, 200, tmp_path / "labels.npy")
    assert row["ended"] == ""
    assert row["peer"] == growth.PEERS["linear" if name == "LinearSVC" else "rbf"]
    assert 0.6 < float(row["accuracy"]) < 1
    assert int(row["pickle_bytes"]) > 500
    assert np.load(tmp_path / "labels.npy").shape == (2000,)
    what, _, value = row["certificate"].rpartition(" ")
    assert what == ("kkt_residual_" if "LSSVM" in name else "relative gap")
    assert 0 <= float(value) < 0.1


def test_the_gap_of_a_peer_is_that_of_its_problem(growth: Any) -> None:
    X, y, *_ = growth.data(150)
    for make in (SVC, LinearSVC):
        exact, crude = make(tol=1e-9), make(tol=0.5)
        gaps = [
            importlib.import_module("growth_cases").peer_gap(each.fit(X, y), X, y) for each in (exact, crude)
        ]
        assert 0 <= gaps[0] < 1e-5 < gaps[1]


class Refuses(SVC):
    def fit(self, X: Any, y: Any) -> Any:
        if len(X) <= 150:
            raise MemoryError(f"{len(X)} rows")
        return super().fit(X, y)


def test_what_refuses_the_first_fit_is_measured_all_the_same(
    growth: Any, tmp_path: Path, monkeypatch
) -> None:
    pytest.importorskip("resource", reason="memory is not measured on Windows")
    monkeypatch.setattr(growth, "FEW", 100)
    monkeypatch.setattr(growth, "cases", lambda: {"one": lambda n: Refuses()})
    assert growth.measure("one", 200, tmp_path / "labels.npy")["ended"] == ""
    with pytest.raises(MemoryError, match="150 rows"):
        growth.measure("one", 150, tmp_path / "labels.npy")


def test_what_was_too_dear_is_left_out_of_larger_sizes_only(
    growth: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def child(arguments: list[str], seconds: float) -> dict[str, str]:
        name, n = arguments[1], int(arguments[3])
        asked.append((name, n))
        return {"peer": "SVC rbf", "fit_s": "2", "ended": "too long" if name == "dear" and n > 300 else ""}

    monkeypatch.setattr(growth, "child", child)
    monkeypatch.setattr(growth, "cases", lambda: {"dear": None})
    options = argparse.Namespace(rows=[400, 200, 300, 500], only=None, again=False, seconds=1.0)
    growth.grow(options, tmp_path / "growth.csv")
    assert [n for name, n in asked if name == "dear"] == [400, 200, 300]


def test_again_measures_what_is_named_and_keeps_the_rest(growth: Any, tmp_path: Path, monkeypatch) -> None:
    asked = []

    def child(arguments: list[str], seconds: float) -> dict[str, str]:
        asked.append((arguments[1], arguments[3]))
        return {"peer": "SVC rbf", "fit_s": "2", "ended": ""}

    monkeypatch.setattr(growth, "child", child)
    monkeypatch.setattr(growth, "cases", lambda: dict.fromkeys([*growth.PEERS.values(), "LDM", "DRM"]))
    path = tmp_path / "growth.csv"
    row = {"peer": "SVC rbf", "fit_s": "9", "ended": ""}
    tables.write(path, [{"estimator": name, "rows": "100", **row} for name in ("SVC rbf", "DRM", "LDM")])
    options = argparse.Namespace(rows=[100], again=True, only="ldm", seconds=1.0)
    with growth.noting("growth", tmp_path):
        growth.grow(options, path)
    assert asked == [("SVC rbf", "100"), ("LinearSVC", "100"), ("LDM", "100")]
    found = {each["estimator"]: each["fit_s"] for each in tables.parsed(path.read_text())}
    assert found == {"SVC rbf": "2", "LinearSVC": "2", "DRM": "9", "LDM": "2"}
    place = tables.parsed((tmp_path / "environment.csv").read_text())
    assert [(each["file"], bool(each["cpu"])) for each in place] == [("growth", True)]


def test_a_run_with_nothing_to_do_notes_no_machine(growth: Any, tmp_path: Path) -> None:
    with growth.noting("growth", tmp_path):
        pass
    assert not (tmp_path / "environment.csv").exists()


def test_kernels_on_matrices_and_grids_have_a_peer_of_their_kind(growth: Any) -> None:
    cases = importlib.import_module("growth_cases")
    made = {name: make(2000) for name, make in growth.cases().items()}
    matrices = {
        name: model
        for name, model in made.items()
        if {"rank", "shape"} <= model.get_params(deep=False).keys()
    }
    assert matrices
    assert {model.get_params()["shape"] for model in matrices.values()} == {(5, 4)}
    peers = {name: peer for name, peer, *_ in cases.searches()}
    assert set(peers.values()) <= set(peers)
    assert peers["LowRankSVMClassifier, rank 2"] == "SVC linear"
    assert peers["LDMClassifier rbf"] == "SVC rbf"


@pytest.mark.parametrize(("limit", "ended"), [(1e-4, "over 0 CPU seconds"), (60.0, "")])
def test_a_fit_that_takes_longer_than_it_may_is_too_dear(
    growth: Any, tmp_path: Path, limit: float, ended: str
) -> None:
    pytest.importorskip("resource", reason="memory is not measured on Windows")
    arguments = ["--case", "SVC rbf", "--rows", "200", "--labels", str(tmp_path / "labels.npy")]
    assert growth.child(arguments, limit)["ended"] == ended


def test_the_page_tells_the_limits(growth: Any) -> None:
    text = resource("book", "performance.md").read_text(encoding="utf-8")
    assert f"Each fit is given {growth.SECONDS:.0f} seconds and {growth.GIB:.0f} GiB." in text
    rows = tables.parsed(resource("benchmarks", "results", "growth.csv").read_text(encoding="utf-8"))
    assert all(float(row["fit_s"]) <= growth.SECONDS for row in rows if row["fit_s"])

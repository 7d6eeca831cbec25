"""Exported files: fixed form, no dates, nothing lost silently."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from importlib.metadata import PackageNotFoundError

import pytest
from rich.console import Console

from marginbook.base.checkout import commit
from marginbook.experiments import one_task
from marginbook.experiments.errors import ExperimentError
from marginbook.experiments.export import ResultsKept, export, read_results, results_path, write_atomically
from marginbook.experiments.one_task import data_hash
from marginbook.experiments.protocol import Task, load_protocol
from marginbook.experiments.runner import inspect_inputs, run
from marginbook.experiments.store import Outcome, Store


def made(store, profile="quick", **options):
    return run(
        "toyroom/folds", profile, store=store, n_jobs=1, console=Console(file=io.StringIO()), **options
    )


def test_the_csv_is_sorted_and_written_in_one_way(tmp_path):
    protocol = load_protocol("toyroom/folds")
    signature = inspect_inputs(protocol, "quick", ["blobs"]).signatures["blobs"]
    values = {"accuracy": 1 / 3, "b": None, "a": 7, "text": 'say "a, b"', "nan": float("nan"), "tiny": 1e-300}
    with Store(tmp_path / "s") as store:
        for split, method in ((2, "nearest"), (1, "nearest"), (1, "forest")):
            task = Task(protocol.id, "blobs", split, method, "quick")
            place = {"python": "3.11", "clock": "thread" if split == 2 else "process"}
            store.record(Outcome(task, signature, values, 0.5, 120, "f00", place))
    table, timing, provenance = export(protocol, "quick", store=tmp_path / "s", out=tmp_path)
    row = '0.333333333333,7,,nan,"say ""a, b""",1e-300'
    assert table.read_text() == (
        "dataset,split,method,accuracy,a,b,nan,text,tiny\n"
        f"blobs,1,forest,{row}\nblobs,1,nearest,{row}\nblobs,2,nearest,{row}\n"
    )
    assert timing.read_text().splitlines()[:2] == [
        "dataset,split,method,seconds,clock",
        "blobs,1,forest,0.5000,process",
    ]
    assert timing.name == "folds.timing.csv"
    assert json.loads(provenance.read_text())["environments"] == [{"python": "3.11"}]


def test_two_runs_give_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        made(tmp_path / f"{name}.sqlite")
        export("toyroom/folds", "quick", store=tmp_path / f"{name}.sqlite", out=tmp_path / name)
    for file in ("folds.csv", "folds.provenance.json"):
        assert (tmp_path / "a/toyroom" / file).read_bytes() == (tmp_path / "b/toyroom" / file).read_bytes()


def test_provenance_tells_what_was_used_and_nothing_of_the_place(tmp_path):
    import platform

    import numpy

    made(tmp_path / "s", methods=["nearest"])
    text = export("toyroom/folds", "quick", store=tmp_path / "s", out=tmp_path)[2].read_text()
    found = json.loads(text)
    assert found["tasks"] == {"exported": 2, "in the profile": 4}
    arrays = data_hash(load_protocol("toyroom/folds").load("blobs"))
    assert found["data"] == {"blobs": {"sha256": "0" * 64, "arrays": arrays, "rows": 120}}
    assert found["settings"] == {"neighbours": 3, "trees": 5}
    assert found["protocol"] == load_protocol("toyroom/folds").hash
    (environment,) = found["environments"]
    assert environment["numpy"] == numpy.__version__
    assert environment.get("commit") == commit("results")
    assert {"blas", "processor"} < environment.keys()
    assert str(tmp_path) not in text
    assert platform.node() not in text
    assert not re.search(r"20\d\d-\d\d-\d\d|\d\d:\d\d:\d\d", text)


def test_results_that_the_store_lacks_are_not_overwritten(tmp_path):
    made(tmp_path / "whole", "paper", datasets=["blobs"])
    table = export("toyroom/folds", "paper", store=tmp_path / "whole", out=tmp_path)[0]
    before = table.read_bytes()
    made(tmp_path / "part", "paper", datasets=["blobs"], splits=[1])
    with pytest.raises(ResultsKept, match=r"holds 12 results that the store lacks .*--replace"):
        export("toyroom/folds", "paper", store=tmp_path / "part", out=tmp_path)
    assert table.read_bytes() == before
    export("toyroom/folds", "paper", store=tmp_path / "part", out=tmp_path, replace=True)
    assert len(table.read_text().splitlines()) == 1 + 3


def test_stale_and_failed_results_are_not_exported(tmp_path):
    made(tmp_path / "s")
    changed = replace(load_protocol("toyroom/folds"), settings={"neighbours": 9, "trees": 5})
    with pytest.raises(
        ExperimentError, match="has no quick results to export; run: marginbook experiment run"
    ):
        export(changed, "quick", store=tmp_path / "s", out=tmp_path)


def test_results_are_read_back(tmp_path):
    made(tmp_path / "s")
    export("toyroom/folds", "quick", store=tmp_path / "s", out=tmp_path)
    frame = read_results("toyroom/folds", "quick", tmp_path)
    assert list(frame.columns[:4]) == ["dataset", "split", "method", "accuracy"]
    assert frame["method"].tolist() == ["forest", "nearest", "forest", "nearest"]
    with Store(tmp_path / "s") as store:
        exact = [outcome.values["spread"] for outcome in store.outcomes("toyroom/folds")]
    assert frame["spread"].tolist() == pytest.approx(exact, rel=1e-11)


def test_without_results_the_command_is_told(tmp_path):
    with pytest.raises(ExperimentError, match=r"run: marginbook experiment run toyroom/slow --profile quick"):
        read_results("toyroom/slow", "quick", tmp_path)


def test_default_places(monkeypatch, tmp_path):
    for name in ("pyproject.toml", "_toc.yml"):
        (tmp_path / name).touch()
    monkeypatch.setenv("MARGINBOOK_HOME", str(tmp_path))
    assert results_path("drm/table-8") == tmp_path / "results/drm/table-8.csv"
    assert results_path("drm/table-8", "quick") == tmp_path / "_build/results/drm/table-8.csv"


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically({path: "new\udc80"})
    assert path.read_text() == "old"
    assert [found.name for found in tmp_path.iterdir()] == ["t.csv"]
    with pytest.raises(ExperimentError, match=r"cannot write .*File exists; results stay .*--out DIR"):
        write_atomically({path / "below.csv": "new"})


@pytest.mark.parametrize("java", [False, True])
def test_the_version_of_weka_is_told_where_java_can_be_called(monkeypatch, java):
    def version(package):
        if package != "jpype1" or not java:
            raise PackageNotFoundError(package)
        return "1.5.0"

    monkeypatch.setattr(one_task.importlib.metadata, "version", version)
    monkeypatch.setattr(one_task, "weka_version", lambda: "3.8.6")
    assert one_task._versions.__wrapped__().get("weka") == ("3.8.6" if java else None)

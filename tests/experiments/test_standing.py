"""What tables cost and what is shipped, before anything is run."""

from __future__ import annotations

import csv
import json
import math
import shutil
import subprocess
import sys
from statistics import median

import pytest

from marginbook.base.project import PACKAGE, resource
from marginbook.experiments import runner, standing
from marginbook.experiments import shipped as shipped_module
from marginbook.experiments.measured_by import measured_by
from marginbook.experiments.protocol import Task, experiments, load_protocol
from marginbook.experiments.runner import known_timings
from marginbook.experiments.shipped import shipped
from marginbook.experiments.showing import compact, duration, show
from marginbook.experiments.store import Outcome, Signature, Store
from marginbook.experiments.timings import Timings

TABLE = "drm/table-8"


@pytest.fixture
def protocol():
    return load_protocol(TABLE)


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "s.sqlite") as opened:
        yield opened


@pytest.fixture
def total() -> float:
    """Seconds that the shipped table took, read without our code."""
    with resource("results", f"{TABLE}.timing.csv").open(newline="") as file:
        return math.fsum(float(row["seconds"]) for row in csv.DictReader(file))


def test_a_fresh_store_reads_no_data_and_imports_no_measure(protocol, store, total, monkeypatch):
    def never(*given: object) -> None:
        raise AssertionError("read though nothing rests on it")

    monkeypatch.setattr(type(protocol), "load", never)
    monkeypatch.setattr(type(protocol), "measure", never)
    paper = standing.standing(protocol, "paper", store).record()
    tasks = len(protocol.tasks("paper"))
    assert [paper[name] for name in ("tasks", *standing.STATES)] == [tasks, 0, tasks, 0, 0, 0]
    assert paper["cpu_seconds"] == paper["seconds_of_a_run"] == pytest.approx(total, abs=0.1)
    assert paper["seconds_left"] == 0  # what is shipped need not be run
    quick = standing.standing(protocol, "quick", store).record()
    assert quick["remaining"] == quick["tasks"] == len(protocol.tasks("quick"))
    assert 0 < quick["seconds_left"] == quick["seconds_of_a_run"] < paper["seconds_of_a_run"]


def test_quick_settings_make_it_at_most(store):
    smaller, same = (load_protocol(name) for name in ("kfda/table-1", TABLE))
    assert "settings" in smaller.quick
    assert "settings" not in same.quick
    assert [standing.standing(p, "quick", store).at_most for p in (smaller, same)] == [True, False]
    assert not standing.standing(smaller, "paper", store).at_most


@pytest.mark.parametrize(
    ("seconds", "at_most", "shown"),
    [(90.0, True, "≤0:00:45"), (90.0, False, "0:00:45"), (0.0, True, "0:00:00"), (None, True, "?")],
)
def test_a_bound_of_a_time_is_shown_as_one(seconds, at_most, shown):
    assert duration({"cpu_seconds": seconds, "at_most": at_most}, workers=2) == shown


def test_done_stale_failed_and_shipped_are_told_apart(protocol, store):
    one, other, third, *_ = protocol.tasks("paper", datasets=["glass2"], splits=[1])
    now = runner.inspect_inputs(protocol, "paper", ["glass2"]).signatures["glass2"]
    store.record(Outcome(one, now, {"g_mean": 0.5}, 3.0, 214))
    store.record(Outcome(other, Signature("other code", now.data, now.settings), {"g_mean": 0.5}, 3.0, 214))
    store.record(Outcome(third, now, error="Traceback\nE: no"))
    found = standing.standing(protocol, "paper", store)
    shipped_too = len(protocol.tasks("paper")) - 3
    assert found.counts == {"done": 1, "shipped": shipped_too, "stale": 1, "failed": 1, "remaining": 0}
    assert len(found.failures) == 1
    assert found.failures[0].endswith("E: no")
    assert 0 < found.left < found.of_a_run < found.seconds


def test_other_data_make_it_stale(protocol, store):
    task = protocol.tasks("paper", datasets=["glass2"], splits=[1])[0]
    now = runner.inspect_inputs(protocol, "paper", ["glass2"]).signatures["glass2"]
    store.record(Outcome(task, Signature(now.code, "other data", now.settings), {"g_mean": 0.5}, 3.0, 214))
    assert standing.standing(protocol, "paper", store).counts["stale"] == 1


@pytest.mark.parametrize(
    "text", ["", "dataset,split\n1,2\n", "dataset,split,method,seconds\na,x,b,1\n", "\0"]
)
def test_damaged_timings_are_no_timings(protocol, tmp_path, monkeypatch, text):
    monkeypatch.setattr("marginbook.experiments.shipped.resource", lambda *parts: tmp_path.joinpath(*parts))
    folder = tmp_path / "results" / "drm"
    folder.mkdir(parents=True)
    (folder / "table-8.csv").write_text("dataset,split,method\n")
    (folder / "table-8.timing.csv").write_text(text)
    (folder / "table-8.provenance.json").write_text(text)
    found = shipped(protocol)
    assert (dict(found.seconds), dict(found.n_rows)) == ({}, {})


def test_shipped_timings_hold_up_to_the_factor_that_is_measured(protocol, store):
    tasks = protocol.tasks("paper", datasets=["glass2", "ecoli4"], methods=["DRM(R)", "NB"])
    before = known_timings(store, protocol, {}, tasks).expected(tasks)
    took = dict(shipped(protocol).seconds)
    assert before == {task: took[task.dataset, task.split, task.method] for task in tasks}
    timings = known_timings(store, protocol, {}, tasks)
    first = next(task for task in tasks if task.dataset == "glass2")
    timings.learn(first, 3 * before[first])
    after = timings.expected(tasks)
    others = [task for task in tasks if (task.dataset, task.method) != (first.dataset, first.method)]
    assert {task: after[task] for task in others} == pytest.approx({t: 3 * before[t] for t in others})
    # where the method was timed on the set, that is what counts
    assert after[first] == pytest.approx(3 * before[first])


def test_a_set_that_is_not_shipped_takes_what_the_others_did(protocol, store):
    (task,) = protocol.tasks("paper", datasets=["glass2"], methods=["NB"], splits=[1])
    other = Task(task.experiment, "no such set", 1, "NB", "quick")
    took = [seconds for (_, _, method), seconds in shipped(protocol).seconds.items() if method == "NB"]
    assert known_timings(store, protocol, {}, [other]).expected([other]) == {other: median(took)}


def test_what_was_assumed_of_a_method_has_a_factor_of_its_own():
    tasks = {(m, d): Task("r/t", d, 1, m, "paper") for m in "xy" for d in ("a", "b")}
    timings = Timings({})
    for task in tasks.values():
        timings.assume(task, 10.0)
    timings.learn(tasks["x", "a"], 20.0)
    timings.learn(tasks["y", "a"], 80.0)
    expected = timings.expected(tasks.values())
    assert [expected[tasks[m, "b"]] for m in "xy"] == [20.0, 80.0]
    assert [task.dataset for task in timings.order(tasks.values())][:2] == ["a", "b"]


def test_status_and_list_for_machines_and_people(cli, tmp_path, total, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    store = ("--store", str(tmp_path / "s"))
    paper = json.loads(cli("experiment", "status", TABLE, "--profile", "paper", "--json", *store).output)
    assert [row["id"] for row in paper] == [TABLE]
    assert paper[0]["cpu_seconds"] == pytest.approx(total, abs=0.1)
    (row,) = [r for r in json.loads(cli("experiment", "list", "--json", *store).output) if r["id"] == TABLE]
    assert row["paper"]["cpu_seconds"] == paper[0]["cpu_seconds"]
    assert row["paper"]["shipped"] == paper[0]["shipped"] > 0
    shown = cli("experiment", "status", "--n-jobs", "2", *store).output
    assert "…" not in shown
    assert max(map(len, shown.splitlines()[:-3])) <= 80  # the last three lines explain
    rest = json.loads(cli("experiment", "status", "--json", *store).output)
    half = math.ceil(max(row["seconds_left"] or 0 for row in rest) / 2)
    assert half > 0
    assert f"{half // 3600}:{half // 60 % 60:02d}:{half % 60:02d}" in shown


@pytest.mark.parametrize("id", experiments())
def test_the_module_of_a_measure_is_found_without_importing_it(id):
    protocol = load_protocol(id)
    folder = PACKAGE / id.partition("/")[0]
    assert measured_by(folder, protocol.package, protocol.table) == protocol.measure().__module__


def test_what_cannot_be_read_is_left_to_the_import(tmp_path):
    assert measured_by(tmp_path, "toy", "a") is None
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "__init__.py").write_text(
        "from .one import f\ndef g(): ...\nEXPERIMENTS = {'a': f, 'b': g, 'c': f()}\n"
    )
    found = [measured_by(tmp_path, "toy", table) for table in "abcd"]
    assert found == ["toy.experiments.one", "toy.experiments", None, None]


def test_results_of_other_code_are_named_with_their_commits(protocol, store, cli, tmp_path, monkeypatch):
    home = tmp_path / "results" / "drm"
    home.mkdir(parents=True)
    for end in (".csv", ".timing.csv", ".provenance.json"):
        shutil.copy(resource("results", f"{TABLE}{end}"), home)
    monkeypatch.setattr(shipped_module, "resource", tmp_path.joinpath)
    file = home / "table-8.provenance.json"
    about = json.loads(file.read_text())

    def told(code: str) -> tuple[bool | None, str]:
        file.write_text(json.dumps(about | {"code": code, "environments": [{"commit": "abc123"}]}))
        one = standing.standing(protocol, "paper", store)
        line = cli("experiment", "status", TABLE, "--store", str(tmp_path / "s")).output.splitlines()[-1]
        return one.code_of_now, line

    assert told(protocol.code()) == (True, "shipped: 1 experiment, all current")
    now, line = told("0" * 64)
    assert now is False
    assert line.startswith("shipped: 1 experiment; 1 was made by other code than the present, and ")
    assert line.endswith("drm/table-8 (abc123)")
    assert standing.standing(protocol, "quick", store).code_of_now is None


def test_an_export_without_results_of_its_own_says_where_they_are(cli, tmp_path):
    shown = cli("experiment", "export", TABLE, "--store", str(tmp_path / "s"))
    assert shown.exit_code == 1
    told = shown.output.replace("\n", " ")
    for piece in (
        "has no paper results of drm/table-8",
        "results/drm/table-8.csv",
        "marginbook experiment run",
    ):
        assert piece in told
    quick = cli("experiment", "export", TABLE, "--profile", "quick", "--store", str(tmp_path / "s"))
    assert "drm/table-8 has no quick results to export; run: marginbook experiment run" in quick.output


def test_the_status_of_everything_imports_no_room(tmp_path):
    program = """
import sys
from marginbook.cli import main
try:
    main(["experiment", "status", "--json", "--store", sys.argv[1]])
except SystemExit as end:
    print("\\n" + " ".join(sorted(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "s")], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    modules = done.stdout.splitlines()[-1].split()
    assert {"sklearn", "pandas", "numba", "marginbook.drm", "marginbook.study"}.isdisjoint(modules)
    assert "marginbook.experiments" in modules


def test_a_table_that_is_too_wide_becomes_paragraphs_without_lines_between(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "20")
    table = compact("experiment", "done", "failed")
    table.add_row("drm/a-long-name-that-does-not-fit", "3", "0")
    table.add_row("drm/b", "4", "1")
    show(table)
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines[-3:] == ["  done 3", "drm/b", "  done 4, failed 1"]

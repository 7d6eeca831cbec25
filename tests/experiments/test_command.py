"""``marginbook experiment``: help with examples, exit codes, one-line errors."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner, Result

from marginbook.experiments import command, everything
from marginbook.experiments.command import experiment
from marginbook.experiments.protocol import Protocol, load_protocol
from marginbook.experiments.showing import compact


@pytest.fixture
def call(tmp_path):
    def call(*arguments: str, store: bool = True, columns: str = "120") -> Result:
        extra = ["--store", str(tmp_path / "s.sqlite")] if store else []
        return CliRunner().invoke(experiment, [*arguments, *extra], env={"COLUMNS": columns})

    return call


@pytest.mark.parametrize("command", [[], ["list"], ["run"], ["status"], ["export"], ["compare"]])
def test_help_has_an_example(command):
    shown = CliRunner().invoke(experiment, [*command, "--help"])
    assert shown.exit_code == 0
    assert "Example:\n    marginbook experiment " in shown.output


def test_run_export_compare(call, tmp_path):
    shown = call("run", "toyroom/folds", "--n-jobs", "1", "--out", str(tmp_path))
    assert shown.exit_code == 0, shown.output
    assert "toyroom/folds (quick): 4 of 4 tasks done, 4 run now, 0 failed" in shown.output
    assert (tmp_path / "toyroom" / "folds.csv").is_file()
    again = call("run", "toyroom/folds", "--n-jobs", "1", "--out", str(tmp_path))
    assert "4 of 4 tasks done, 0 run now" in again.output
    assert "tracebacks" not in again.output  # nothing failed
    compared = call(
        "compare", "toyroom/folds", "--profile", "quick", "--out", str(tmp_path), "--json", store=False
    )
    rows = json.loads(compared.output)
    assert [row["verdict"] for row in rows if row["dataset"] == "wine"] == [
        "not printed",
        *["not-testable"] * 2,
    ]
    table = call("compare", "toyroom/folds", "--profile", "quick", "--out", str(tmp_path), store=False)
    assert "Original folds" in table.output
    counted = json.loads(call("list", "--json").output)
    (row,) = [row for row in counted if row["id"] == "toyroom/folds"]
    assert row["title"] == "Original folds"
    assert (row["quick"]["tasks"], row["quick"]["done"]) == (4, 4)
    assert (row["paper"]["tasks"], row["paper"]["done"], row["paper"]["shipped"]) == (30, 0, 0)
    assert row["quick"]["cpu_seconds"] >= 0
    assert row["paper"]["cpu_seconds"] is None
    assert "4 of 4" in call("list").output


def test_failures_and_missing_data_end_with_1(call, tmp_path):
    options = ["--n-jobs", "1", "--out", str(tmp_path), "--splits", "1"]
    shown = call("run", "toyroom/trouble", *options, "--methods", "nearest,raises")
    assert shown.exit_code == 1
    assert "failed: toyroom/trouble blobs split 1 raises (quick): ZeroDivisionError: this" in shown.output
    assert "skipped nowhere: " in shown.output
    shown = call("run", "toyroom/trouble", *options[:4], "--methods", "raises")
    assert "failed: 2 tasks, such as toyroom/trouble blobs split 1 raises (quick): Zero" in shown.output
    assert shown.output.count("ZeroDivisionError") == 2  # at once, and with the number at the end
    status = call("status", "toyroom/trouble", "--profile", "quick", "--tracebacks")
    assert status.exit_code == 0
    assert "Traceback (most recent call last)" in status.output
    for extra, code in ((), 1), (("--skip-missing",), 0):
        assert call("run", "toyroom/trouble", *options, "--methods", "nearest", *extra).exit_code == code


def test_all_runs_what_costs_least_first_and_says_what_is_left(call, tmp_path, monkeypatch):
    """Timed in the store; what was never timed comes last, and a second run has nothing left to do."""
    monkeypatch.setattr(everything, "experiments", lambda: ["toyroom/random", "toyroom/folds"])
    store, options = tmp_path / "s.sqlite", ["--n-jobs", "1", "--out", str(tmp_path)]
    assert call("run", "toyroom/folds", *options, "--splits", "1").exit_code == 0
    planned = [(protocol.id, left) for protocol, left in everything.cheapest_first("quick", store)]
    assert [name for name, _ in planned] == ["toyroom/folds", "toyroom/random"]
    assert planned[0][1] is not None
    assert planned[1][1] is None
    shown = call("run", "--all", *options)
    assert shown.exit_code == 0, shown.output
    first, second = (
        shown.output.index(f"toyroom/{name}, {place} of 2: about ")
        for place, name in enumerate(("folds", "random"), start=1)
    )
    assert first < shown.output.index("toyroom/folds (quick): 4 of 4 tasks done") < second
    assert "of CPU left with this one, and one experiment that was never timed" in shown.output
    assert all(left == 0 for _, left in everything.cheapest_first("quick", store))


def test_json_has_letters_as_they_are(call, monkeypatch):
    titled = replace(load_protocol("toyroom/folds"), title="½ of Fréchet’s")
    monkeypatch.setattr(command, "experiments", lambda: ["toyroom/folds"])
    monkeypatch.setattr(command, "load_protocol", lambda _: titled)
    assert '"title": "½ of Fréchet’s"' in call("list", "--json").output


def test_what_is_left_is_that_of_this_experiment_and_those_after_it():
    plan = [
        (load_protocol(f"toyroom/{name}"), seconds) for name, seconds in (("random", 60.0), ("folds", 5.0))
    ]
    first, second = (line for _, line in everything.announced(plan))
    assert first.endswith("1 of 2: about 0:01:05 of CPU left with this one")
    assert second.endswith("2 of 2: about 0:00:05 of CPU left with this one")


def test_only_the_column_that_may_be_folded_is():
    table = compact("id", "title", "total", folded="title")
    assert [column.no_wrap for column in table.columns] == [True, False, True]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--all", "toyroom/folds"], "not both"),
        (["--all", "--splits", "1"], "whole experiments"),
    ],
)
def test_all_stands_alone(call, arguments, message):
    shown = call("run", *arguments)
    assert shown.exit_code == 2
    assert message in shown.output


def test_a_method_that_lacks_an_extra_is_one_line_and_is_tried_once(call, tmp_path, monkeypatch):
    measured, whole = [], Protocol.measure

    def without_imblearn(protocol):
        def measure(fold, method, settings):
            measured.append(method)
            if method == "raises":
                raise ModuleNotFoundError("No module named 'imblearn'", name="imblearn")
            return whole(protocol)(fold, method, settings)

        return measure

    monkeypatch.setattr(Protocol, "measure", without_imblearn)
    options = ["--n-jobs", "1", "--out", str(tmp_path), "--datasets", "blobs", "--methods", "nearest,raises"]
    shown = call("run", "toyroom/trouble", *options)
    assert shown.exit_code == 1
    assert measured.count("raises") == 1
    assert "skipped raises: imblearn is not installed: pip install 'marginbook[experiments]'" in shown.output
    assert ", 0 failed" in shown.output
    assert (
        "0 run now, 0 failed" in (again := call("run", "toyroom/trouble", *options, "--skip-missing")).output
    )
    assert again.exit_code == 0
    assert measured.count("raises") == 2  # it was not stored as a failure


def test_sets_to_fetch_are_one_line_with_one_command(call, tmp_path, monkeypatch):
    monkeypatch.setenv("MARGINBOOK_CACHE", str(tmp_path / "empty"))
    names = ["sonar", "heart", "planning", "vote"]
    options = ["--n-jobs", "1", "--out", str(tmp_path), "--splits", "1", "--methods", "SVM-0"]
    shown = call("run", "ldm/table-2", *options, "--datasets", ",".join(names))
    assert shown.exit_code == 1
    (line,) = [line for line in shown.output.splitlines() if "skipped" in line]
    assert line.startswith("  skipped 4 sets (")
    assert set(line.partition("`marginbook data fetch ")[2].removesuffix("`").split()) == set(names)


def test_stand_ins_are_told(call, tmp_path, monkeypatch):
    listed = {row["id"]: row for row in json.loads(call("list", "--json").output)}
    assert set(listed["ldm/table-4"]["stand_ins"]) == {"chess"}
    assert "stand_ins" not in listed["ldm/table-2"]
    assert "ldm/table-4, quick: on chess as a stand-in, " in call("list").output
    monkeypatch.setenv("MARGINBOOK_CACHE", str(tmp_path / "empty"))
    options = ["--n-jobs", "1", "--out", str(tmp_path), "--methods", "MAMC"]
    assert "chess is a stand-in, " in call("run", "ldm/table-4", *options).output
    assert "stand-in" not in call("run", "ldm/table-4", *options, "--profile", "paper").output


def test_status_counts_and_judges_the_time_left(call, tmp_path):
    call("run", "toyroom/folds", "--n-jobs", "1", "--out", str(tmp_path), "--splits", "1")
    shown = call("status", "toyroom/folds").output.splitlines()
    rows = [line.replace("│", " ").split() for line in shown if "toyroom" in line]
    assert rows[0][1:7] == ["quick", "2", "0", "0", "0", "2"]
    assert "?" not in rows[0]
    assert rows[1][1:] == ["paper", "0", "0", "0", "0", "30", "?", "?"]


@pytest.mark.parametrize("command", ["status", "list"])
def test_a_narrow_terminal_cuts_no_name(call, command):
    shown = call(command, columns="40").output
    lines = shown[: shown.index("CPU: of all tasks")].splitlines()
    assert "…" not in shown
    assert max(map(len, lines)) <= 40
    ids = [line.strip() for line in lines if not line.startswith(" ")]
    assert "toyroom/folds" in ids
    assert {line.split()[0] for line in call(command).output.splitlines() if "/" in line} >= set(ids)


def test_a_partial_run_leaves_fuller_files_alone(call, tmp_path):
    out = ["--n-jobs", "1", "--out", str(tmp_path)]
    call("run", "toyroom/folds", *out)
    other = ["--store", str(tmp_path / "other.sqlite")]
    shown = call("run", "toyroom/folds", *out, "--splits", "1", *other, store=False)
    assert shown.exit_code == 0
    assert "note: " in shown.output
    assert "holds 2 results that the store lacks" in shown.output
    refused = call(
        "export", "toyroom/folds", "--profile", "quick", "--out", str(tmp_path), *other, store=False
    )
    assert refused.exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["run", "toyroom/fold"], 2, "no experiment 'toyroom/fold'; did you mean toyroom/folds"),
        (["run"], 2, "name experiments (`marginbook experiment list`), or give --all"),
        (["run", "toyroom/folds", "--datasets", "wines"], 2, "no data set 'wines'; did you mean wine?"),
        (
            ["run", "toyroom/folds", "toyroom/slow", "--datasets", "wine"],
            2,
            "toyroom/slow has no data set 'wine'",
        ),
        (["run", "toyroom/folds", "--splits", "one"], 2, "'one' is not a list of numbers such as 1,2"),
        (["run", "toyroom/folds", "--datasets", ","], 2, "expected names with commas"),
        (["run", "toyroom/folds", "--n-jobs", "0"], 2, "0 worker processes cannot be"),
        (["run", "toyroom/folds", "--profile", "fast"], 2, "'fast' is not one of 'quick', 'paper'"),
        (["export", "toyroom/folds"], 1, "has no paper results to export"),
        (["status", "toyroom/folder"], 2, "did you mean toyroom/folds"),
    ],
)
def test_errors_are_one_line(call, arguments, code, message):
    shown = call(*arguments)
    assert shown.exit_code == code
    assert message in shown.output
    assert "Traceback" not in shown.output
    assert len([line for line in shown.output.splitlines() if line.startswith("Error")]) == 1

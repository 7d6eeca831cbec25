"""A second run of some stored rows: drawn by lot, compared number by number, and put before the claims."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from click.testing import CliRunner
from rich.console import Console

from marginbook.base import at_hand
from marginbook.experiments import ExperimentError, export, load_protocol, run, second_run
from marginbook.experiments.command import experiment
from marginbook.experiments.protocol import Protocol
from marginbook.experiments.recheck import stored_rows

QUIET = Console(quiet=True)


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with results of a toy experiment."""
    monkeypatch.setenv("MARGINBOOK_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for name in ("pyproject.toml", "_toc.yml"):
        (tmp_path / name).touch()
    store = tmp_path / "store.sqlite"
    run("toyroom/folds", "paper", n_jobs=1, store=store, console=QUIET)
    return export("toyroom/folds", "paper", store=store, out=tmp_path / "results")[0]


@pytest.fixture
def costs(stored: Path) -> dict[str, float]:
    """The stored seconds, made unequal: the first task takes as long as all others."""
    timing = stored.with_suffix(".timing.csv")
    frame = pd.read_csv(timing)
    frame["seconds"] = 1.0
    frame.loc[0, "seconds"] = len(frame) - 1.0
    frame.to_csv(timing, index=False)
    return {"all": float(frame["seconds"].sum()), "tasks": len(frame)}


@pytest.mark.parametrize("share", [0.3, 0.5, 1.0])
def test_the_lot_takes_a_share_of_the_seconds(costs: dict[str, float], share: float) -> None:
    protocol = load_protocol("toyroom/folds")
    lots = {seed: second_run.drawn(protocol, share, seed) for seed in range(8)}
    seconds = stored_rows(protocol)[1]
    for lot in lots.values():
        taken = sum(seconds[task] for task in lot)
        assert share * costs["all"] - 1 < taken <= share * costs["all"]
        assert len(set(lot)) == len(lot)
    assert len({tuple(lot) for lot in lots.values()}) > 1 or share == 1.0
    assert second_run.drawn(protocol, share, 3) == lots[3]


def test_a_share_less_than_any_task_is_the_shortest(costs: dict[str, float]) -> None:
    assert len(second_run.drawn(load_protocol("toyroom/folds"), 1e-9, 0)) == 1


def test_other_code_is_refused(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Protocol, "code", lambda self: "other")
    with pytest.raises(ExperimentError, match="made by other code than the present"):
        second_run.drawn(load_protocol("toyroom/folds"), 1.0, 0)
    done = CliRunner().invoke(experiment, ["twice", "toyroom/folds"])
    assert done.exit_code == 1
    assert done.stderr.startswith("left out: the results of toyroom/folds were made by other code")
    assert "nothing was run a second time" in done.stderr


def test_the_command_runs_compares_and_goes_on(stored: Path, tmp_path: Path) -> None:
    metric = load_protocol("toyroom/folds").metric
    frame = pd.read_csv(stored)
    frame.loc[0, metric] *= 1 + 1e-7
    frame.to_csv(stored, index=False)
    asked = ["twice", "toyroom/folds", "--share", "1", "--threads", "1"]
    done = CliRunner().invoke(experiment, asked)
    assert done.exit_code == 0, done.output
    (row,) = pd.read_csv(tmp_path / "results" / "twice" / "processor" / "numbers.csv").to_dict("records")
    assert (row["rows"], row["1e-06"], row["more"]) == (len(frame), 1, 0)
    assert row["0"] == row["cells"] - 1
    assert row["where"].endswith(f": {metric}")
    assert not (
        tmp_path / "results" / "twice" / "processor" / "verdicts.csv"
    ).exists()  # nobody claims anything of toys
    about = json.loads((tmp_path / "results" / "twice" / "processor" / "about.json").read_text())
    assert (about["share"], about["threads"], about["other"]) == (1.0, 1, {})
    assert "none of 0 verdicts changes" in done.stdout
    again = CliRunner().invoke(experiment, asked)
    assert "1 of 1" not in again.stderr  # nothing is run a third time
    assert again.stdout == done.stdout


def test_a_second_run_has_two_threads_unless_told_otherwise() -> None:
    page = CliRunner().invoke(experiment, ["twice", "--help"]).stdout
    assert re.search(r"BLAS\s+threads\s+per\s+worker\.\s+\[default:\s+2;", page)


def test_what_no_stored_row_was_made_with_is_told(stored: Path) -> None:
    path = stored.with_suffix(".provenance.json")
    about = json.loads(path.read_text())
    for made in about["environments"]:
        made["numpy"] = "0.1"
    path.write_text(json.dumps(about))
    assert list(second_run.other(["toyroom/folds"])) == ["numpy"]


def test_a_name_that_is_no_file_is_refused(stored: Path) -> None:
    done = CliRunner().invoke(experiment, ["twice", "--name", "../up"])
    assert done.exit_code == 2
    assert "small letters, digits and hyphens" in done.stderr


def test_every_step_has_its_count(stored: Path) -> None:
    frame = pd.read_csv(stored)
    metric = load_protocol("toyroom/folds").metric
    second = frame.copy()
    steps = [0.0, 1e-13, 1e-10, 1e-7, 1e-4, 0.5]
    second[metric] = second[metric].astype(float)
    second.loc[: len(steps) - 1, metric] *= [1 + step for step in steps][: len(second)]
    row = second_run.beside("toyroom/folds", second)
    moved = min(len(steps), len(second))
    assert [row[name] for name in ("1e-12", "1e-09", "1e-06", "1e-03", "more")][: moved - 1] == [1] * (
        moved - 1
    )
    assert second_run.totals([row, row])["cells"] == 2 * row["cells"]


def test_replaced_rows_keep_their_places() -> None:
    frame = pd.DataFrame(
        {
            "dataset": list("aab"),
            "split": [1, 2, 1],
            "method": ["m"] * 3,
            "x": [1.0, 2.0, 3.0],
            "note": ["", "", ""],
        }
    )
    second = pd.DataFrame({"dataset": ["a"], "split": [2], "method": ["m"], "x": [9.0], "note": ["new"]})
    assert second_run.replaced(frame, second)["x"].tolist() == [1.0, 9.0, 3.0]
    assert second_run.replaced(frame, second)["note"].tolist() == ["", "new", ""]
    pd.testing.assert_frame_equal(second_run.replaced(frame, frame), frame)


def test_a_verdict_changes_with_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The claims about DRM's Table V read the rows that are put in the place of the stored ones."""
    monkeypatch.delenv("MARGINBOOK_ROOMS")
    frame = second_run.read_results("drm/table-5")
    same = second_run.verdicts("drm/table-5", frame)
    assert {row["claim"] for row in same} == {claim.id for claim in second_run.claims_of("drm/table-5")}
    assert all(row["first"] == row["second"] for row in same)
    other = frame.assign(accuracy=frame["accuracy"].where(frame["method"].str.startswith("DRM"), 0.01))
    assert any(row["first"] != row["second"] for row in second_run.verdicts("drm/table-5", other))


def test_a_verdict_hangs_on_no_set_of_a_url(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, ...]] = []

    def asked() -> SimpleNamespace:
        seen.append(at_hand.kinds())
        return SimpleNamespace(verdict="holds")

    monkeypatch.setattr(second_run, "claims_of", lambda _: [SimpleNamespace(id="a", check=asked)])
    monkeypatch.setattr(second_run, "check", lambda _: SimpleNamespace(verdict="holds"))
    second_run.verdicts("toyroom/folds", pd.DataFrame())
    assert seen == [at_hand.REGISTRIES]

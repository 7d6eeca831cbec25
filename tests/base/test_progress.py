"""Progress without a terminal: lines at intervals, also while nothing ends; durations of notebooks."""

from __future__ import annotations

import io
import json
import time
from types import SimpleNamespace

import pytest
from rich.console import Console

from marginbook.base import progress
from marginbook.base.progress import Progress, Stages
from marginbook.datasets import progress as fetching
from marginbook.notebooks import available, durations
from marginbook.notebooks.durations import Durations


@pytest.fixture
def out(monkeypatch):
    """What is written, and a clock that stands still until it is moved."""
    now = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now.seconds))
    text = io.StringIO()
    return SimpleNamespace(now=now, text=text, console=Console(file=text, width=40))


def test_a_line_every_ten_seconds_and_one_for_each_thing_with_a_name(out):
    with Progress("claims", 274, "checked", out.console) as bar:
        for out.now.seconds in range(0, 42, 2):
            bar.ended()
        bar.ended("drm/05_imbalanced executed in 53 s")
    assert out.text.getvalue().splitlines() == [
        "claims: 7/274 checked, 0:00:12 so far",
        "claims: 13/274 checked, 0:00:24 so far",
        "claims: 19/274 checked, 0:00:36 so far",
        "claims: 22/274 checked, drm/05_imbalanced executed in 53 s, 0:00:40 so far",
    ]


def test_what_ends_at_once_needs_no_line(out):
    with Progress("claims", 3, "checked", out.console) as bar:
        for _ in range(3):
            bar.ended()
    assert out.text.getvalue() == ""


def test_lines_come_also_while_nothing_ends(monkeypatch):
    monkeypatch.setattr(progress, "LINE_EVERY", 0.02)
    text = io.StringIO()
    with Progress("claims", 2, "checked", Console(file=text)) as bar:
        deadline = time.monotonic() + 30
        while "0/2 checked" not in text.getvalue():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        bar.ended()
        bar.ended()
    assert text.getvalue().splitlines()[-1].startswith("claims: 2/2 checked, done in ")


def test_stages_follow_each_other(out, monkeypatch):
    monkeypatch.setattr("rich.console.Console", lambda stderr: out.console)
    with Stages() as stages:
        stages.at("notebooks", 0, 2)
        stages.expect(lambda elapsed: 90.0 - elapsed)
        stages.at("notebooks: drm/01 executed in 3 s", 1, 2)
        stages.at("notebooks", 2, 2)
        stages.at("generated pages", 0, 0)
        out.now.seconds = 30.0
        stages.at("writing output", 40, 100)
        out.now.seconds = 45.0
        stages.at("writing output", 60, 100)
    assert out.text.getvalue().splitlines() == [
        "notebooks: 1/2, drm/01 executed in 3 s, about 0:01:30 left",
        "notebooks: 2/2, done in 0:00:00",
        "generated pages",
        "writing output: 60/100, 0:00:15 so far",
    ]


def test_a_fetch_tells_how_much_came(monkeypatch):
    monkeypatch.setattr(fetching, "LINE_EVERY", -1.0)
    text = io.StringIO()
    lines = fetching.progress_for(Console(file=text))
    lines.plan(4_000_000)
    lines.advance(1_500_000)
    lines.advance(1_000_000)
    lines.done("toy")
    assert text.getvalue().splitlines() == ["1.5 of 4.0 MB", "2.5 of 4.0 MB", "fetched toy"]


def test_the_name_of_a_set_is_one_word_in_any_width():
    text = io.StringIO()
    fetching.progress_for(Console(file=text, width=10)).done("page-blocks-13vs4")
    assert text.getvalue() == "fetched page-blocks-13vs4\n"


def test_notebooks_are_judged_by_what_they_took_before_on_this_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(durations, "build_dir", lambda *parts: tmp_path.joinpath(*parts))
    shipped = tmp_path / "shipped.json"
    shipped.write_text(json.dumps({"a": 10.0, "b": 30.0, "c": 20.0}))
    monkeypatch.setattr(durations, "SHIPPED", shipped)
    slow = Durations(["a", "b", "c"], 1)
    assert [slow.expected(id) for id in "abc"] == [10.0, 30.0, 20.0]
    assert slow.left(0.0) == pytest.approx(60.0)
    assert slow.ended("a", 40.0) == "executed in 40 s"
    assert [slow.expected(id) for id in "bc"] == [120.0, 80.0]
    assert slow.expected("never timed") == 80.0
    assert slow.ended("b", 1.0, failed=True) == "failed in 1 s"
    assert 40.0 < slow.left(41.0) < 120.0
    assert slow.ended("c", 80.0) == "executed in 80 s"
    again = Durations(["a", "b", "c"], 1)
    assert [again.expected(id) for id in "abc"] == [40.0, 30.0, 80.0]


def test_damaged_durations_cost_nothing_but_the_estimate(tmp_path, monkeypatch):
    monkeypatch.setattr(durations, "build_dir", lambda *parts: tmp_path.joinpath(*parts))
    (tmp_path / "executed").mkdir()
    (tmp_path / "executed" / "seconds.json").write_text('{"a": "x')
    assert Durations(["a"], 2).ended("a", 3.0) == "executed in 3 s"
    assert json.loads((tmp_path / "executed" / "seconds.json").read_text()) == {"a": 3.0}


def test_shipped_durations_are_of_notebooks_that_there_are():
    shipped = json.loads(durations.SHIPPED.read_text(encoding="utf-8"))
    assert set(shipped) <= set(available())
    assert len(shipped) > len(available()) / 2
    assert min(shipped.values()) > 0

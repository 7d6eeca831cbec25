"""Tables: whole or not at all; what counts as a regression; which rows are the same comparison."""

from __future__ import annotations

import csv

import pytest

from marginbook.quality.benchmarking import environment, tables
from marginbook.quality.benchmarking.goals import goals

from ...git import repository

RATIOS = list(dict.fromkeys(goal.table for goal in goals() if not goal.x))


def test_a_table_comes_back(tmp_path):
    path = tmp_path / "results" / "a.csv"
    tables.write(path, [{"what": "fit, n=5", "ratio": "2"}, {"what": 'a "b"', "least": "1"}])
    assert tables.parsed(path.read_text()) == [
        {"what": "fit, n=5", "ratio": "2", "least": ""},
        {"what": 'a "b"', "ratio": "", "least": "1"},
    ]


def test_a_table_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    tables.write(path, [{"what": "old"}])

    def full(self, rows):
        self.writerow(next(iter(rows)))
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(csv.DictWriter, "writerows", full)
    with pytest.raises(OSError, match="No space left"):
        tables.write(path, [{"what": "new"}, {"what": "newer"}])
    assert path.read_text() == "what\nold\n"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(ValueError, match=r"no rows for a\.csv"):
        tables.write(path, [])


def row(what, ratio):
    return {"what": what, "ratio": str(ratio), "goal": ""}


@pytest.mark.parametrize(
    ("what", "old", "new", "factor"),
    [
        ("fit against peer", 150, 99, 150 / 99),
        ("fit against peer", 150, 101, None),
        ("fit against peer", 150, 1000, None),
        ("fit over peer (at most)", 1.0, 1.6, 1.6),
        ("fit over peer (at most)", 1.0, 1.4, None),
        ("fit over peer (at most)", 1.0, 0.1, None),
    ],
)
def test_worse_by_more_than_half_is_a_regression(what, old, new, factor):
    found = tables.regressions([row(what, old)], [row(what, new)])
    assert [each.factor for each in found] == ([pytest.approx(factor)] if factor else [])
    assert all(str(each).startswith(f"{what}: {new:.3g}, committed {old:.3g}, ") for each in found)


def test_regressions_start_with_the_worst_and_a_lost_ratio_is_one():
    old = [row("a against b", 10), row("c against d", 10), row("only before", 1), row("e against f", 2)]
    new = [row("a against b", 5), row("c against d", 1), row("only now", 1), row("e against f", "nan")]
    found = [each.what for each in tables.regressions(old, new)]
    assert found == ["e against f", "c against d", "a against b"]


def test_sizes_in_columns_tell_rows_apart():
    cells = {"m": "5", "what": "x (at most)", "goal": "2"}
    rows = [{**cells, "C": "1.0", "value": "1"}, {**cells, "C": "10", "value": "1"}]
    worse = [rows[0], {**rows[1], "C": "10.0", "value": "9"}]
    assert [each.what for each in tables.regressions(rows, worse)] == ["x (at most), m=5, C=10"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("fit, q=1, waveform, N=1000", "fit, q=1, waveform, N=1000, at least: (8) is 3e-04 above after 3 s"),
        ("over SVC, C=1, gap 2e-06, 9 % support vectors", "over SVC, C=1, gap 1e-06, 8 % support vectors"),
        ("to its F, 10 sweeps, hinge", "to its F, 12 sweeps, hinge"),
        ("by its rule, 3e-05 above, q=1", "by its rule, 2e-07 below, q=1"),
    ],
)
def test_what_is_measured_in_a_name_does_not_matter(one, other):
    assert tables.name({"what": one}) == tables.name({"what": other})


@pytest.mark.parametrize("table", RATIOS)
def test_names_without_what_is_measured_are_still_of_one_row_each(table):
    rows = [row for row in tables.stored(table) if row.get("ratio") or row.get("goal")]
    names = [tables.name(row) for row in rows]
    assert len(names) > 5
    assert sorted(names) == sorted(set(names))
    assert tables.regressions(rows, rows) == []


def test_the_committed_rows_are_those_of_the_last_commit(tmp_path):
    path = tmp_path / "a.csv"
    tables.write(path, [{"what": "old"}])
    repository(tmp_path)
    tables.write(path, [{"what": "new"}])
    assert tables.committed(tmp_path, path) == [{"what": "old"}]
    assert tables.committed(tmp_path, tmp_path / "b.csv") is None


def test_the_environment_names_machine_versions_and_threads():
    place = environment.environment()
    assert place["cpu"]
    assert int(place["cores"]) >= 1
    assert place["numpy"][0].isdigit()
    assert "thread" in place["blas"]
    assert set(environment.short()) == {"python", "numpy", "machine"}
    assert all(value == "1" for value in environment.ONE_THREAD.values())

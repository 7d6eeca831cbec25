"""The page about bad input shows what the campaigns stored."""

import csv

from marginbook.base.public import public_estimators
from marginbook.book import bad_input_pages

PLACE = {"python": "3.11.7", "numpy": "2.0", "scipy": "1.14", "sklearn": "1.6"}
COUNTS = dict.fromkeys(("certified", "warned", "answered", "input", "parameter", "problem"), 1)


def _store(folder, name, *rows):
    with (folder / f"{name}.csv").open("w", newline="") as stream:
        table = csv.DictWriter(stream, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def test_it_counts_what_is_stored(tmp_path, monkeypatch):
    monkeypatch.setattr(bad_input_pages, "resource", lambda *parts: tmp_path / parts[-1])
    assert "not stored" in bad_input_pages.page()
    row = {"name": "LDMClassifier", "examples": 8, **COUNTS, "fault": 2, "slowest": 0.25, **PLACE}
    _store(tmp_path, "estimators", row, row | {"name": "MDOClassifier", "fault": 0, "slowest": 1.5})
    _store(tmp_path, "functions", row | {"name": "aggregate"})
    _store(tmp_path, "messages", {"kind": "input", "message": "Input X contains NaN_.", "count": 3})
    checked = {"name": "LDMClassifier", "passed": 57, "skipped": 1, "expected": 0, "failed": 0}
    _store(tmp_path, "checks", checked | {"skips": "check_x: why", "sklearn": "1.6"})
    fuzzed = {"format": "keel", "seconds": 30, "files": 1234, "right": 1, "refused": 1233, "messages": 9}
    _store(tmp_path, "parsers", fuzzed | {"branches": 50, "faults": 0, "atheris": "3.0.0"})
    text = bad_input_pages.page()
    assert "16 fits of 2 estimators: 2 certified" in text
    assert "6 refused by a clear error, **2 faults**. The slowest took 1.5 processor seconds" in text
    assert "8 calls of 1 functions" in text
    assert "NaN\\_." in text
    assert "57 checks passed, 0 failed" in text
    assert "1,234 files in 30 seconds, grown by atheris 3.0.0" in text
    assert "check\\_x: why" in text


def test_it_says_what_was_not_measured_and_of_which_commit_the_rest_is():
    named = [{"name": name, "commit": "abc"} for name in public_estimators()]
    assert bad_input_pages._since(named) == ""
    assert "`LDMClassifier` has not been measured" in bad_input_pages._since(
        [row for row in named if row["name"] != "LDMClassifier"]
    )
    assert "`Former` is no longer public" in bad_input_pages._since([*named, {"name": "Former"}])
    assert (bad_input_pages.at(named[0]), bad_input_pages.at({})) == (", at commit abc", "")


def test_what_the_repository_stores_has_no_fault():
    for name, column in (
        ("estimators", "fault"),
        ("functions", "fault"),
        ("checks", "failed"),
        ("parsers", "faults"),
    ):
        rows = bad_input_pages._rows(name)
        assert rows, name
        assert [row for row in rows if int(row[column])] == []

"""The end of a build names the sets that are not here, by table; with all of them it is silent."""

from __future__ import annotations

import re
import sys

import pytest
from click.testing import CliRunner

from marginbook.book import command, missing_data
from marginbook.book.making import Built
from marginbook.datasets import command as fetching
from marginbook.datasets import registry


@pytest.fixture
def here(monkeypatch):
    """Sets that seem to be on this machine; all others are not."""
    found: set[str] = set()
    names = {id(source): name for name, entry in registry().items() for source in entry.sources}
    monkeypatch.setattr(missing_data, "is_here", lambda source: names[id(source)] in found)
    return found


@pytest.fixture
def run(monkeypatch):
    """Call ``marginbook data`` and collect the names of the sets that it would fetch."""

    def call(asked: list[str], words: list[str]) -> None:
        def fetch(entries, *options):
            asked.extend(entry.name for entry in entries)
            return []

        monkeypatch.setattr(fetching, "fetch", fetch)
        assert CliRunner().invoke(fetching.data, words).exit_code == 0

    return call


def test_every_missing_set_of_a_table_is_counted(here):
    entries = {entry.name: entry for entry in registry().values() if entry.available and entry.used_by}
    assert 2 < len(missing_data.lines()) <= 22
    assert missing_data.lines()[0].startswith(f"{len(entries)} optional data sets are not here; ")
    here.update(set(entries) - {"sonar", "promoters"})
    head, *tables, everything = missing_data.lines()
    assert head.startswith("2 optional data sets")
    fetch = "marginbook data fetch --table"
    assert tables == [
        f"  ldm/table-1, ldm/table-2, ldm/table-3: promoters, sonar; {fetch} ldm/table-1",
        f"  kfda/table-2, clasmk/table-3, clasmk/table-4: sonar; {fetch} kfda/table-2",
    ]
    assert "all of them: marginbook data fetch;" in everything
    here.update(entries)
    assert missing_data.lines() == []


def test_each_table_has_all_its_names_and_a_command_that_fetches_them(here, run):
    for line in missing_data.lines()[1:-1]:
        tables, names, command = re.fullmatch(r"  (.+): (.+); marginbook data (.+)", line).groups()
        asked: list[str] = []
        run(asked, command.split())
        assert set(names.split(", ")) <= set(asked)
        assert all(
            table in registry()[name].used_by for name in names.split(", ") for table in tables.split(", ")
        )


def test_the_build_says_so_at_its_end(here, monkeypatch, tmp_path):
    built = Built(tmp_path / "index.html", cached=False)
    monkeypatch.setattr(sys.modules["marginbook.book.making"], "make_book", lambda **given: built)
    shown = CliRunner().invoke(command.book_command, [])
    assert shown.exit_code == 0
    assert shown.stderr.splitlines()[-len(missing_data.lines()) :] == missing_data.lines()
    assert shown.stdout.endswith("index.html\n")
    here.update(registry())
    assert "data" not in CliRunner().invoke(command.book_command, []).output

"""The end of a build names the sets that are not here, by table; with all of them it is silent."""

from __future__ import annotations

import sys

import pytest
from click.testing import CliRunner

from marginbook.book import command, missing_data
from marginbook.book.making import Built
from marginbook.datasets import registry


@pytest.fixture
def here(monkeypatch):
    """Sets that seem to be on this machine; all others are not."""
    found: set[str] = set()
    names = {id(source): name for name, entry in registry().items() for source in entry.sources}
    monkeypatch.setattr(missing_data, "is_here", lambda source: names[id(source)] in found)
    return found


def test_every_missing_set_of_a_table_is_counted(here):
    entries = {entry.name: entry for entry in registry().values() if entry.available and entry.used_by}
    assert 2 < len(missing_data.lines()) <= 22
    assert missing_data.lines()[0].startswith(f"{len(entries)} optional data sets are not here; ")
    here.update(set(entries) - {"sonar", "promoters"})
    head, *tables, commands = missing_data.lines()
    assert head.startswith("2 optional data sets")
    assert tables == [
        "  ldm/table-1, ldm/table-2, ldm/table-3: promoters, sonar",
        "  kfda/table-2, clasmk/table-3, clasmk/table-4: sonar",
    ]
    assert "`marginbook data fetch`" in commands
    here.update(entries)
    assert missing_data.lines() == []


def test_the_build_says_so_at_its_end(here, monkeypatch, tmp_path):
    built = Built(tmp_path / "index.html", cached=False)
    monkeypatch.setattr(sys.modules["marginbook.book.making"], "make_book", lambda **given: built)
    shown = CliRunner().invoke(command.book_command, [])
    assert shown.exit_code == 0
    assert shown.stderr.splitlines()[-len(missing_data.lines()) :] == missing_data.lines()
    assert shown.stdout.endswith("index.html\n")
    here.update(registry())
    assert "data" not in CliRunner().invoke(command.book_command, []).output

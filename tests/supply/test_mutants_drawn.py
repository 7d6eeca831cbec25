"""Which mutants are drawn, what Cosmic Ray makes of them, and what is stored."""

from __future__ import annotations

import csv
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from marginbook.book import mutants_page

from .scripts import ROOT
from .tiny_package import FILES, SUMS


@pytest.fixture
def drawn(mutants: ModuleType) -> ModuleType:
    pytest.importorskip("cosmic_ray", reason="make mutants installs it")
    return mutants.drawn


def test_a_seed_draws_the_same_and_an_edit_elsewhere_draws_no_others(
    home: Path, mutants: ModuleType, drawn: ModuleType
) -> None:
    places = mutants.places
    names = places.files(home)
    assert names == [SUMS]

    def keys(seed: int) -> list[Any]:
        return [each.key for each in drawn.sample(home, places.places(home, names), 8, seed)]

    first = keys(1)
    assert len(set(first)) == 8
    assert keys(1) == first != keys(2)
    (home / SUMS).write_text(FILES[SUMS].replace("LIMIT = 10\n", "LIMIT = 10\n# a comment\n"))
    assert keys(1) == first


def test_no_mutant_changes_only_an_annotation_and_all_are_python(home: Path, drawn: ModuleType) -> None:
    every = drawn.sample(home, drawn.places(home, [SUMS]), 1000, 1)
    assert len(every) == 9
    assert not [each for each in every if "BitOr" in each.operator]  # of `list | None`
    for each in every:
        compile(each.text, SUMS, "exec")
        assert each.after != each.before
        assert each.before == FILES[SUMS].splitlines()[each.line - 1].strip()
    assert {each.kind for each in every} == {"model", "certificates"}  # of the function `gap`


def test_what_only_makes_code_fast_stays(home: Path, drawn: ModuleType) -> None:
    (home / SUMS).write_text("@cache\n@other\ndef f(a):\n    return a\n")
    every = drawn.sample(home, drawn.places(home, [SUMS]), 1000, 1)
    assert [(each.before, each.after) for each in every] == [("@other", "")]


def test_special_kinds_have_a_few_of_each_file(drawn: ModuleType) -> None:
    sizes = {("a", "model"): 1000, ("b", "certificates"): 4, ("c", "claims"): 1000, ("d", "verdict rules"): 1}
    given = drawn.shares(sizes, 104)
    assert sum(given.values()) == 104
    assert (given["b", "certificates"], given["d", "verdict rules"]) == (3, 1)
    assert given["a", "model"] == pytest.approx(4 * given["c", "claims"], abs=4)
    assert drawn.shares(sizes, 10_000) == sizes


def test_the_command_draws_tries_and_stores(
    home: Path, mutants: ModuleType, drawn: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = replace(mutants.Settings(), preload=("pytest",), least=1.0)
    monkeypatch.setattr(mutants, "Settings", lambda **asked: replace(quick, **asked))
    monkeypatch.setattr(sys, "argv", ["mutants.py", "--number", "3", "--n-jobs", "1"])
    mutants.main()
    rows = mutants_page.read(home / "results/mutants/mutants.csv")
    assert len({row.key for row in rows}) == 3
    mutants.main()
    assert mutants_page.read(home / "results/mutants/mutants.csv") == rows


# what is stored


def test_each_equivalent_mutant_can_still_be_made() -> None:
    entries = mutants_page.equivalents(ROOT / "results" / "mutants" / mutants_page.EQUIVALENT)
    for (file, line, _, _), one in entries.items():
        assert set(one) == {"file", "line", "operator", "occurrence", "became", "reason"}
        assert one["reason"]
        assert line in [each.strip() for each in (ROOT / file).read_text(encoding="utf-8").splitlines()]


def test_each_equivalent_mutant_is_one_of_cosmic_rays(
    drawn: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = mutants_page.equivalents(ROOT / "results" / "mutants" / mutants_page.EQUIVALENT)
    for key, one in entries.items():
        made = drawn.matching(ROOT, *key)
        assert made is not None, key
        assert made.after == one["became"]


def test_the_stored_rows_are_whole() -> None:
    path = ROOT / "results" / "mutants" / mutants_page.CSV
    if path.is_file():
        with path.open(newline="") as file:
            assert next(csv.reader(file)) == mutants_page.COLUMNS
    for row in mutants_page.read(path):
        assert row.outcome in mutants_page.OUTCOMES
        assert bool(row.killed_by) == (row.outcome in mutants_page.NOTICED)

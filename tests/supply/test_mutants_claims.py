"""Mutants of a tiny package meet the claims of its room: what is noticed, and what is only seen."""

from __future__ import annotations

import csv
import json
import sys
from argparse import Namespace
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from marginbook.book import mutants_stored

from .scripts import ROOT
from .test_mutants import mutant
from .tiny_package import SUMS

CLAIMS = "src/marginbook/toy/claims"
FILES = {
    "src/marginbook/base/__init__.py": "",
    "src/marginbook/base/at_hand.py": "from contextlib import nullcontext as registries_only\n",
    "src/marginbook/claims/__init__.py": """from importlib import import_module
from types import SimpleNamespace


def ledger(rooms):
    (room,) = rooms
    module = import_module(f"marginbook.{room}.claims.sums")
    return {
        f"{room}/{name}": SimpleNamespace(module=module.__name__, check=check, depends=["results/a.csv"])
        for name, check in module.CHECKS.items()
    }
""",
    "src/marginbook/claims/rivals.py": """from contextlib import nullcontext as in_place

Rival = str
""",
    f"{CLAIMS}/__init__.py": "",
    f"{CLAIMS}/sums.py": """import time
from types import SimpleNamespace

from marginbook.toy.model.sums import gap, total, unseen


def said(right, measured):
    verdict = "holds" if right else "fails"
    return SimpleNamespace(verdict=verdict, measured=str(measured), claimed="", slack=measured, reach=None)


def slow():
    while True:
        gap(2, 1)


CHECKS = {
    "gap": lambda: said(gap(5, 2) > 0, gap(5, 2)),
    "total": lambda: said(total([1, 2]) == 3, 3),
    "unsteady": lambda: said(unseen(2000) > 0, unseen(2000) + time.time() % 1000),
    "slow": slow,
}
""",
}


@pytest.fixture
def room(home: Path) -> Path:
    for name, text in FILES.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    return home


def test_what_claims_say(room: Path, mutants: ModuleType) -> None:
    changes = [
        ("a - b", "b - a", "verdict", "holds became fails"),
        ("a - b", "a - b + 1", "numbers", "toy/gap: 3 became 4"),
        ("a - b", "a - b + 1e-12", "nothing", ""),
        ("a - b", "a - c", "error", "NameError: name 'c' is not defined"),
        ("count + values.pop()", "count + values[-1]", "timeout", ""),
        ("a * b", "a / b", "no claim", ""),
        ("1000", "999", "nothing", ""),
        ('"""Sums."""', "import nothing", "error", ""),
    ]
    rows: list[Any] = []
    asked = mutants.Settings(preload=("pytest",), least=1.0, slow=1.0)
    made = [mutant(room, mutants, *change[:2]) for change in changes]
    mutants.try_all(room, made, asked, 1, 1, rows.append, mutants.ClaimWorker)
    assert [(row.outcome, row.how) for row in rows[:7]] == [change[2:] for change in changes[:7]]
    assert (rows[7].outcome, rows[7].killed_by) == ("error", f"{CLAIMS}: no test could begin")
    assert rows[0].killed_by == f"{CLAIMS}/sums.py::toy/gap"
    assert [row.claims for row in rows[1:7]] == ["toy/gap"] * 3 + ["toy/total", "", "toy/unsteady"]
    assert {row.left_out for row in rows} == {1}
    kept = json.loads(next((room / "_build" / "mutants").glob("claims-measured-1/*.json")).read_text())
    assert kept["said"][f"{CLAIMS}/sums.py::toy/unsteady"] == ["holds", None]
    assert kept["read"]["results/a.csv"] == ""  # a file that is not there yet
    path = room / "results" / "claims.csv"
    for row in rows:
        mutants.Keeper(path).append(row)
    assert mutants_stored.read(path, mutants.ClaimRow) == rows
    assert not mutants_stored.outdated(rows, room)
    (room / CLAIMS / "more.py").write_text("one = 1\n")  # it could notice what nothing has
    again = {row.outcome for row in mutants_stored.outdated(rows, room)}
    assert again == {"numbers", "nothing", "no claim", "error"}


@pytest.fixture
def claimed(mutants: ModuleType) -> ModuleType:
    """The module that compares; the script's folder is on the path."""
    return sys.modules["mutating.claimed"]


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ("at most 1e-9; slack 0.25", "at most 1e-9; slack 0.2500000001", ""),
        ("slack 3e-15", "slack -4e-12", ""),
        ("slack 0.25", "slack 0.26", "0.25 became 0.26"),
        ("slack None", "slack 0.26", "slack None became slack 0.26"),
        ("3 of 4", "3 of 5", "4 became 5"),
        (None, "anything", ""),
    ],
)
def test_rounding_is_no_difference(claimed: ModuleType, before: str | None, after: str, what: str) -> None:
    assert claimed.difference(before, after) == what


def test_only_what_claims_are_about_is_drawn(
    room: Path, mutants: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def sample(home: Path, found: Any, number: int, seed: int, wanted: Any, most: int) -> list[Any]:
        asked.append((number, seed, most, wanted(SUMS, "model"), wanted(f"{CLAIMS}/sums.py", "claims")))
        return []

    monkeypatch.setattr(mutants.drawn, "sample", sample)
    monkeypatch.setattr(mutants.places, "places", lambda home, names: {})
    options = Namespace(claims=True, files=None, kinds=None, number=20, seed=2)
    assert mutants.draw(room, options) == []
    assert asked == [(mutants.drawn.WHOLE, 2, 20, True, False)]


def test_defaults_are_of_what_is_asked(mutants: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["mutants.py", "--claims", "--budget", "5"])
    options = mutants._options()
    assert (options.number, options.budget, options.slow) == (300, 5.0, 20.0)
    monkeypatch.setattr(sys, "argv", ["mutants.py"])
    options = mutants._options()
    assert (options.number, options.budget, options.slow) == (2000, 30.0, 10.0)


def test_the_stored_rows_are_whole() -> None:
    path = ROOT / "results" / "mutants" / mutants_stored.CLAIMS_CSV
    if path.is_file():
        with path.open(newline="") as file:
            assert next(csv.reader(file)) == [each.name for each in fields(mutants_stored.ClaimRow)]
    for row in mutants_stored.read(path, mutants_stored.ClaimRow):
        assert row.outcome in mutants_stored.OF_CLAIMS
        assert bool(row.killed_by) == (row.outcome in mutants_stored.NOTICED)

"""Which tests are needed: all that reach a mutant say what they noticed, also after one has failed."""

from __future__ import annotations

from argparse import Namespace
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from marginbook.book.mutants_stored import TESTS_CSV, Needed, read_needed

from .test_mutants import mutant
from .tiny_package import TESTS

TWICE = """

def test_gap_again():
    assert gap(4, 1) == 3


def test_gap_and_more():
    assert gap(total([2, 2]), 0) == 4
"""


def options(**changes: Any) -> Namespace:
    return Namespace(**{"seed": 1, "n_jobs": 1, "budget": 30.0, "slow": 10.0, "ask": 0} | changes)


@pytest.fixture
def everyone(home: Path, mutants: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what asks all tests about changes of a line, and returns what is stored."""
    with (home / TESTS).open("a") as file:
        file.write(TWICE)
    monkeypatch.setattr(mutants, "_settings", lambda _: mutants.Settings(preload=("pytest",), least=1.0))

    def ask(changes: dict[str, str]) -> dict[str, Needed]:
        made = [mutant(home, mutants, *change) for change in changes.items()]
        assert mutants.ask_everyone(made, options()) == 0
        found = read_needed(home / "results" / "mutants" / TESTS_CSV)
        return {one.test.rpartition("::")[2]: one for one in found}

    return ask


def test_all_that_notice_are_told(everyone: Any, capsys: pytest.CaptureFixture[str]) -> None:
    found = everyone({"a - b": "a + b"})
    counts = {name: (one.met, one.noticed, one.alone) for name, one in found.items()}
    # two tests of one function count as one; with b = 0 nothing can be seen
    assert counts == {"test_gap": (1, 1, 0), "test_gap_again": (1, 1, 0), "test_gap_and_more": (1, 0, 0)}
    assert {(one.seed, one.mutants) for one in found.values()} == {(1, 1)}
    assert "3 test functions met a mutant; 0 noticed one that no other did" in capsys.readouterr().out


def test_one_that_takes_too_long_notices_it_and_the_others_are_asked(everyone: Any) -> None:
    found = everyone({"count + values.pop()": "count + values[-1]"})
    counts = {name: (one.met, one.noticed, one.alone) for name, one in found.items()}
    assert counts == {"test_total": (1, 1, 0), "test_gap_and_more": (1, 1, 0)}


def test_who_notices_it_alone_is_counted_and_a_file_that_cannot_begin_notices(everyone: Any) -> None:
    found = everyone({"LIMIT = 10": "LIMIT = 11", '"""Sums."""': "import nothing"})
    assert found["test_elsewhere"].alone == 1
    assert {one.noticed for name, one in found.items() if name != "test_elsewhere"} == {1}
    assert found["test_elsewhere"].noticed == 2


def test_what_was_asked_is_kept(home: Path, mutants: ModuleType, everyone: Any, monkeypatch: Any) -> None:
    first = everyone({"a - b": "a + b"})
    asked: list[str] = []
    known = mutants.try_all

    def count(at: Path, some: list[Any], *rest: Any) -> None:
        asked.extend(each.before for each in some)
        known(at, some, *rest)

    monkeypatch.setattr(mutants, "try_all", count)
    both = everyone({"a - b": "a + b", "LIMIT - 3": "LIMIT + 3"})
    assert asked == ["return LIMIT - 3"]
    assert both["test_gap"] == replace(first["test_gap"], mutants=2)
    kept = home / "_build" / "mutants" / "everyone-1-30-10-0.jsonl"
    text = kept.read_text()
    kept.write_text(text + text[:40])  # as a run leaves it that was cut off
    asked.clear()
    everyone({"a - b": "a + b", "LIMIT - 3": "LIMIT + 3"})
    assert asked == []
    with (home / TESTS).open("a") as file:  # another test could notice more
        file.write("\n\ndef test_another():\n    assert gap(9, 3) == 6\n")
    assert everyone({"a - b": "a + b"})["test_another"].noticed == 1


def test_a_mutant_that_renames_the_tests_it_hangs_ends(mutants: ModuleType) -> None:
    worker = object.__new__(mutants.EveryoneWorker)
    asked: list[Any] = []

    def ask(**of: Any) -> dict[str, Any]:
        asked.append(of)
        return {"told": [["running", f"{TESTS}::test_named[11]"]], "timeout": True, "code": 0}

    worker._ask, worker._limits = ask, lambda *_: {}
    worker.copy = SimpleNamespace(changed=lambda *_: nullcontext())
    worker.reach = SimpleNamespace(compiled=lambda _: set())
    test = SimpleNamespace(name=f"{TESTS}::test_named[10]", cpu=0.1)
    noticed: set[str] = set()
    worker._all([(TESTS, [test], None)], SimpleNamespace(file="", text=""), {}, noticed)
    assert (len(asked), noticed) == (1, {f"{TESTS}::test_named[11]"})

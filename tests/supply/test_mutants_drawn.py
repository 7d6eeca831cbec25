"""Which mutants are drawn, what Cosmic Ray makes of them, and what is stored."""

from __future__ import annotations

import csv
import re
import sys
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from marginbook.book import mutants_stored

from . import made_operators
from .scripts import ROOT
from .tiny_package import FILES, SUMS, TESTS


@pytest.fixture
def drawn(mutants: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The module that draws; with a few operators of our own where `make mutants` has not installed any."""
    if find_spec("cosmic_ray") is None:
        made_operators.install(monkeypatch)
        monkeypatch.setattr(mutants.places, "version", lambda name: "made")
    mutants.places.operators.cache_clear()
    yield mutants.drawn
    mutants.places.operators.cache_clear()


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
    every = drawn.places(home, names)
    assert [each.key for each in drawn.sample(home, every, 3, 1)] == first[:3]
    certificates = drawn.sample(home, every, 8, 1, lambda file, kind: kind == "certificates")
    assert [each.key for each in certificates] == [key for key in first if key[1] == "return a - b"]
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


def test_pictures_and_rivals_stay(home: Path, mutants: ModuleType, drawn: ModuleType) -> None:
    (home / "src/marginbook/toy/claims").mkdir(parents=True, exist_ok=True)
    for name in ("drawing", "finding_pictures", "table_pictures", "depicted"):
        (home / f"src/marginbook/toy/claims/{name}.py").write_text("HEIGHT = 3 + 4\n")
    assert [Path(each).stem for each in mutants.places.files(home)] == ["depicted", "sums"]
    (home / SUMS).write_text("RIVALS = (\n    Rival(\n        2 + 3\n    ),\n    rival(4 + 5),\n)\n")
    every = drawn.sample(home, drawn.places(home, [SUMS]), 1000, 1)
    assert {each.before for each in every} == {"rival(4 + 5),"}


def test_special_kinds_have_a_few_of_each_file(drawn: ModuleType) -> None:
    sizes = {("a", "model"): 1000, ("b", "certificates"): 4, ("c", "claims"): 1000, ("d", "verdict rules"): 1}
    given = drawn.shares(sizes, 104)
    assert sum(given.values()) == 104
    assert (given["b", "certificates"], given["d", "verdict rules"]) == (3, 1)
    assert given["a", "model"] == pytest.approx(4 * given["c", "claims"], abs=4)
    assert drawn.shares(sizes, 10_000) == sizes


def test_a_smaller_sample_is_the_first_part_of_a_whole_one(
    drawn: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With three of each special file among 40, half of these would be certificates."""
    monkeypatch.setattr(drawn, "WHOLE", 200)
    every = {}
    for k in range(20):
        kind, name = "certificates" if k < 5 else "model", f"{k}.py"
        (tmp_path / name).write_text("".join(f"a{j} = {j}\n" for j in range(40)))
        every[name] = [drawn.Place(name, kind, j + 1, j, (("NumberReplacer", 2 * j, 0),)) for j in range(40)]
    whole, small = (drawn.sample(tmp_path, every, number, 1) for number in (200, 40))
    assert small == whole[:40]
    parts = [each for seed in range(1, 31) for each in drawn.sample(tmp_path, every, 40, seed)]
    for some, error in ((whole, 0.01), (parts, 0.03)):  # without regard to the quotas it would be a quarter
        share = sum(each.kind == "certificates" for each in some) / len(some)
        assert share == pytest.approx((15 + 185 / 4) / 200, abs=error)


def test_the_command_draws_tries_and_stores(
    home: Path, mutants: ModuleType, drawn: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = replace(mutants.Settings(), preload=("pytest",), least=1.0)
    monkeypatch.setattr(mutants, "Settings", lambda **asked: replace(quick, **asked))
    monkeypatch.setattr(sys, "argv", ["mutants.py", "--number", "3", "--n-jobs", "1"])
    mutants.main()
    rows = mutants_stored.read(home / "results/mutants/mutants.csv", mutants.Row)
    assert len({row.key for row in rows}) == 3
    mutants.main()
    assert mutants_stored.read(home / "results/mutants/mutants.csv", mutants.Row) == rows


def test_those_that_are_said_to_change_nothing_are_tried(
    home: Path,
    mutants: ModuleType,
    drawn: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    quick = replace(mutants.Settings(), preload=("pytest",), least=1.0)
    monkeypatch.setattr(mutants, "Settings", lambda **asked: quick)
    options = Namespace(budget=30.0, slow=10.0, ask=0, seed=1, n_jobs=1)
    unseen = (SUMS, "return max(a, 1000)", "NumberReplacer", 0)
    assert mutants.try_equivalent([unseen], options) == 0
    assert "1 that are said to change nothing: 0 noticed" in capsys.readouterr().out
    assert mutants.try_equivalent(
        [unseen, (SUMS, "return a - b", "ReplaceBinaryOperator_Sub_Add", 0)], options
    )
    assert f"killed: {SUMS}:24 {TESTS}::test_gap" in capsys.readouterr().out
    assert mutants.try_equivalent([(SUMS, "return a - c", "ReplaceBinaryOperator_Sub_Add", 0)], options)
    assert "makes nothing of this line" in capsys.readouterr().out
    assert not (home / "results").exists()


# what counts as a certificate


def _kinds(mutants: ModuleType, file: str) -> tuple[str, dict[str, str]]:
    """Return the kind of a file, and those of its functions and classes."""
    text = (ROOT / "src/marginbook" / file).read_text(encoding="utf-8")
    found = mutants.places.kinds(f"src/marginbook/{file}", text)
    lines = enumerate(text.splitlines(), start=1)
    heads = {k: each[1] for k, line in lines if (each := re.match(r" *(?:def|class) (\w+)", line))}
    return found[0], {name: found.get(k, found[0]) for k, name in heads.items()}


@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("smm/model/objective.py", "dual_bound feasible"),
        ("smm/solvers/block_descent_one_start.py", "bound"),
        ("smm/solvers/global_bound.py", "bound"),
        ("clasmk/solvers/dinkelbach.py", "bound _bounds_at _least_form"),
        ("clasmk/solvers/sphere_steps.py", "lower_bound bound_all"),
        ("clasmk/solvers/mkl.py", "_least_bound"),
        ("ldm/model/linear.py", "Certificate bound gap"),
        ("ldm/solvers/leave_one_out_bound.py", "error_bound"),
        ("ldm/solvers/hard_margin.py", "_feasible"),
        ("ldm/estimators/training.py", "left_out_bound warn_of_gap"),
        ("drm/model/objective.py", "kkt_residual"),
    ],
)
def test_what_computes_a_gap_a_residual_or_a_bound_is_a_certificate(
    mutants: ModuleType, file: str, names: str
) -> None:
    found = _kinds(mutants, file)[1]
    assert {found[name] for name in names.split()} == {"certificates"}


def test_what_only_has_such_a_name_is_none(mutants: ModuleType) -> None:
    stems = {"active_sets": "ldm/solvers/active_sets.py", "trust_constr": "clasmk/solvers/trust_constr.py"}
    for stem, name in mutants.places.FALSE_FRIENDS:
        assert _kinds(mutants, stems[stem])[1][name] == "solvers"


def test_each_file_of_verdict_rules_is_there(mutants: ModuleType) -> None:
    for stem in mutants.places.VERDICT_RULES:
        assert _kinds(mutants, f"claims/{stem}.py")[0] == "verdict rules"
    assert _kinds(mutants, "claims/show.py")[0] == "claims"


# what is stored


def test_each_equivalent_mutant_can_still_be_made_and_was_read_twice() -> None:
    entries = mutants_stored.equivalents(ROOT / "results" / "mutants" / mutants_stored.EQUIVALENT)
    for (file, line, _, _), one in entries.items():
        assert set(one) == {"file", "line", "operator", "occurrence", "became", "reason", "read"}
        assert one["reason"]
        assert re.fullmatch(r"agreed( with another reason)?, \d{4}-\d\d-\d\d", one["read"])
        assert line in [each.strip() for each in (ROOT / file).read_text(encoding="utf-8").splitlines()]


def test_each_equivalent_mutant_is_one_of_cosmic_rays(mutants: ModuleType) -> None:
    pytest.importorskip("cosmic_ray", reason="make mutants installs it")
    entries = mutants_stored.equivalents(ROOT / "results" / "mutants" / mutants_stored.EQUIVALENT)
    for key, one in entries.items():
        made = mutants.drawn.matching(ROOT, *key)
        assert made is not None, key
        assert made.after == one["became"]


def test_the_stored_rows_are_whole() -> None:
    path = ROOT / "results" / "mutants" / mutants_stored.CSV
    if path.is_file():
        with path.open(newline="") as file:
            assert next(csv.reader(file)) == mutants_stored.COLUMNS
    for row in mutants_stored.read(path, mutants_stored.Row):
        assert row.outcome in mutants_stored.OUTCOMES
        assert bool(row.killed_by) == (row.outcome in mutants_stored.NOTICED)

"""Mutation testing of a tiny package: what is drawn, what comes out, and that nothing stays changed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from marginbook.book import mutants_stored

from .scripts import ROOT
from .tiny_package import FILES, SUMS, TESTS


def mutant(home: Path, mutants: ModuleType, before: str, after: str) -> Any:
    """Return a mutant made by hand: for what happens to one, Cosmic Ray is not needed."""
    text = (home / SUMS).read_text()
    line = 1 + text[: text.index(before)].count("\n")
    shown = text.splitlines()[line - 1].strip()
    return mutants.Mutant(
        SUMS, "model", line, "Made", 0, 0, shown, shown.replace(before, after), text.replace(before, after)
    )


def tried(home: Path, mutants: ModuleType, changes: dict[str, str], **settings: Any) -> list[Any]:
    """Return the rows of changes, in their order."""
    rows: list[Any] = []
    asked = mutants.Settings(preload=("pytest",), least=1.0, **settings)
    made = [mutant(home, mutants, *change) for change in changes.items()]
    mutants.try_all(home, made, asked, 1, 1, rows.append)
    return rows


def test_what_comes_out(home: Path, mutants: ModuleType) -> None:
    before = {path: path.read_bytes() for path in home.rglob("*.py")}
    rows = tried(
        home,
        mutants,
        {
            "a - b": "a + b",
            "count + values.pop()": "count + values[-1]",
            "a * b": "a / b",
            "1000": "999",
            "start: int = 0": "start: int = 1",
            "LIMIT - 3": "LIMIT + 3",
            "LIMIT = 10": "LIMIT = 11",
            '"""Sums."""': "import nothing",
        },
    )
    assert [row.outcome for row in rows] == [
        "killed",
        "timeout",
        "no test",
        "survived",
        "killed",
        "killed",  # by a process that the test started
        "killed",
        "killed",
    ]
    assert rows[0].killed_by in (f"{TESTS}::test_gap[5]", f"{TESTS}::test_gap[7]")
    assert rows[1].killed_by == f"{TESTS}::test_total"
    assert (rows[2].tests, rows[3].tests) == (0, 1)
    assert [row.killed_by for row in rows[5:7]] == [f"{TESTS}::test_elsewhere"] * 2
    assert rows[7].killed_by == f"{TESTS}: no test could begin"
    assert not mutants.outdated(rows, home)
    assert {path: path.read_bytes() for path in before} == before
    copy = home / "_build" / "mutants" / "worker-0" / "checkout"
    assert (copy / SUMS).read_bytes() == before[home / SUMS]
    assert (copy / SUMS).stat().st_mtime_ns == (home / SUMS).stat().st_mtime_ns


def test_without_a_mutant_nothing_is_noticed(home: Path, mutants: ModuleType) -> None:
    rows = tried(home, mutants, {"a - b": "a - b", "LIMIT = 10": "LIMIT = 10"})
    assert [row.outcome for row in rows] == ["survived"] * 2
    assert rows[0].tests == 2  # not the one that fails anyway


def test_a_slow_test_is_not_ended_while_coverage_holds_its_lock(
    mutants: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mutating import forked

    armed: list[float] = []
    monkeypatch.setattr(forked.signal, "setitimer", lambda _, seconds: armed.append(seconds))
    test: Any = SimpleNamespace(f_globals={"__name__": "tests.test_sums"}, f_back=None)
    lock: Any = SimpleNamespace(f_globals={"__name__": "coverage.collector"}, f_back=test)
    called: Any = SimpleNamespace(f_globals={"__name__": "threading"}, f_back=lock)
    for frame in (lock, called):
        forked._Timed._end(0, frame)
    assert armed == [0.01, 0.01]
    with pytest.raises(forked._Slow):
        forked._Timed._end(0, test)


def test_a_measurement_holds_until_what_was_run_changes(home: Path, mutants: ModuleType) -> None:
    store = mutants.Store(home, home / "_build" / "measured")
    asked = []

    def measure(file: str) -> dict[str, Any]:
        asked.append(file)
        ran = {SUMS: {0: [0], 12: [0]}, TESTS: {0: [0]}}
        return {"tests": [["a", 1.0, 2.0]], "ran": ran, "left_out": 0, "slowest": 3.0}

    known = store.get(TESTS, measure)
    assert [test.name for test in known.reach({SUMS: {12, 13}})] == ["a"]
    assert known.reach({SUMS: {13}}) == []
    again = mutants.Store(home, home / "_build" / "measured").get(TESTS, measure)
    assert (again, len(asked)) == (known, 1)
    (home / SUMS).write_text("changed = True\n")
    mutants.Store(home, home / "_build" / "measured").get(TESTS, measure)
    assert len(asked) == 2


def test_who_waits_for_a_measurement_makes_another(home: Path, mutants: ModuleType) -> None:
    store = mutants.Store(home, home / "_build" / "measured")
    begun, other_made = threading.Event(), threading.Event()
    asked = []

    def slowly(file: str) -> dict[str, Any]:
        begun.set()
        assert other_made.wait(60)  # would wait in vain for one who waits
        return quickly(file)

    def quickly(file: str) -> dict[str, Any]:
        asked.append(file)
        return {"tests": [], "ran": {file: {0: []}}, "left_out": 0, "slowest": 0.0}

    def at_once(file: str) -> dict[str, Any]:
        other_made.set()
        return quickly(file)

    first = threading.Thread(target=store.get, args=(TESTS, slowly))
    first.start()
    assert begun.wait(60)
    assert list(store.get(TESTS, at_once, [TESTS, SUMS]).read) == [TESTS]
    first.join()
    assert asked == [SUMS, TESTS]


COMPILED = """from .helpers import njit, HALF


@njit()
def inner(x):
    return x * HALF


@njit(
    fastmath=True,
)
def outer(x):
    return inner(x)


def solve(x):
    return outer(x) + 1
"""


def test_compiled_code_is_reached_through_its_names(home: Path, mutants: ModuleType) -> None:
    folder = home / "src" / "marginbook" / "toy" / "solvers"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "fast.py").write_text(COMPILED)
    (folder / "helpers.py").write_text("HALF = 0.5\nnjit = None\n")
    (home / "tests" / "test_fast.py").write_text(
        "from marginbook.toy.solvers.fast import inner, solve\n\n\ndef test_inner():\n    inner(1)\n"
    )
    reach = mutants.Worker.reached(home, mutants.check.graph())
    fast = "src/marginbook/toy/solvers/fast.py"
    assert reach.tiers(fast, 6) == [{fast: {17}, "tests/test_fast.py": {5}}]
    assert reach.tiers(fast, 13) == reach.tiers(fast, 10) == [{fast: {17}}]
    assert reach.tiers(fast, 17) == [{fast: {17}}]
    assert reach.compiled("src/marginbook/toy/solvers/helpers.py") == {fast}
    assert reach.tests(fast)[0] == "tests/test_fast.py"


def test_what_numba_keeps_is_put_away_and_comes_back(home: Path, mutants: ModuleType) -> None:
    from mutating.copies import Copy

    kept = home / "src" / "marginbook" / "toy" / "model" / "__pycache__"
    kept.mkdir()
    for name in ("sums.total-8.py311.nbi", "sums.total-8.py311.1.nbc", "other.f-1.py311.nbi"):
        (kept / name).write_text(name)
    copy = Copy(home, home / "_build" / "one", home / "nowhere")
    there = copy.root / kept.relative_to(home)
    with copy.changed(SUMS, "", [SUMS]):
        assert (copy.root / SUMS).read_text() == ""
        assert [path.name for path in there.iterdir()] == ["other.f-1.py311.nbi"]
        (there / "sums.total-8.py311.nbi").write_text("of the mutant")
        (there / "sums.total-9.py311.nbi").write_text("of the mutant")
    assert (copy.root / SUMS).read_text() == FILES[SUMS]
    assert {path.name: path.read_text() for path in there.iterdir()} == {
        path.name: path.name for path in kept.iterdir()
    }


def test_rows_are_kept_and_what_changed_is_tried_again_when_asked(
    home: Path, mutants: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    made = [mutant(home, mutants, *change) for change in (("a - b", "a + b"), ("a * b", "a / b"))]
    row = mutants.Row(
        *(1, SUMS, "toy", "model", made[0].line, "Made", 0, made[0].before, made[0].after, "killed"),
        *(f"{TESTS}::test_gap", 1, 0.5, 30.0, mutants_stored.sha((home / SUMS).read_bytes())),
        mutants_stored.against(home, f"{TESTS}::test_gap"),
    )
    path = home / "results" / "mutants" / "mutants.csv"
    mutants.Keeper(path).append(row)
    mutants.Keeper(path).append(replace(row, seed=2))
    rows = mutants_stored.read(path, mutants_stored.Row)
    assert rows == [row, replace(row, seed=2)]

    def waiting(seed: int = 1, again: bool = True, budget: float = 30.0, ask: int = 0) -> list[Any]:
        asked = Namespace(seed=seed, again=again, budget=budget, ask=ask)
        return list(mutants.waiting(made, mutants_stored.read(path, mutants_stored.Row), asked, home))

    assert waiting() == [made[1]]
    assert waiting(seed=3) == made
    (home / "tests" / "test_other.py").write_text("")  # not the test that noticed
    assert waiting() == [made[1]]
    with (home / TESTS).open("a") as file:
        file.write("# changed\n")
    assert waiting(again=False) == [made[1]]
    assert waiting() == made
    assert "1 rows are of other code or tests: --again tries them" in capsys.readouterr().out
    survivor = {"outcome": "survived", "killed_by": "", "against": mutants_stored.against(home, "")}
    current = {"source": mutants_stored.sha((home / SUMS).read_bytes())}
    mutants.Keeper(path).append(replace(row, **survivor, **current))
    assert waiting() == [made[1]]
    assert waiting(budget=60) == made  # it would meet more tests now
    assert waiting(budget=60, ask=3) == [made[1]]


def test_ctrl_c_ends_everything_and_keeps_what_was_done(
    home: Path, mutants: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    program = home / "program.py"
    program.write_text(
        f"import sys; sys.path.insert(0, {str(ROOT / 'supply')!r})\n"
        "import mutants\nfrom pathlib import Path\n"
        f"home = Path({str(home)!r}); mutants.check.ROOT = home\n"
        f"text = (home / {SUMS!r}).read_text()\n"
        "def made(text):\n"
        f"    return mutants.Mutant({SUMS!r}, 'model', 11, 'Made', 0, 0, 'a', 'b', text)\n"
        f"noted = \"open({str(home / 'pid')!r}, 'w').write(str(__import__('os').getpid()))\"\n"
        "endless = 'count + values[-1]; ' + noted\n"
        "slow = made(text.replace('count + values.pop()', endless))\n"
        "settings = mutants.Settings(preload=('pytest',), least=300)\n"
        "keep = lambda row: print(row.outcome, flush=True)\n"
        "mutants.try_all(home, [made('import nothing'), slow], settings, 1, 1, keep)\n"
    )
    process = subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, text=True, cwd=home)
    assert process.stdout is not None
    assert process.stdout.readline() == "killed\n"
    pid = ""
    while not pid:
        time.sleep(0.05)
        pid = (home / "pid").read_text() if (home / "pid").is_file() else ""
    process.send_signal(signal.SIGINT)
    assert process.wait(20) != 0
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)
    assert (home / "_build/mutants/worker-0/checkout" / SUMS).read_text() == FILES[SUMS]

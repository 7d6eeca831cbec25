"""The script that runs the tests as other processors compute, and the table of what came out."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from marginbook.base.project import resource, root
from marginbook.book import portable_table

from .scripts import ROOT, script


@pytest.fixture
def portable(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "supply"))
    return script("portable")


def part(**changes: Any) -> dict[str, Any]:
    found = {"code": "c", "commit": "abc", "seconds": 90, "passed": 1200, "failed": 0, "skipped": 1}
    return found | {"failures": []} | changes


def test_the_libraries_take_what_they_are_told(portable: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NPY_DISABLE_CPU_FEATURES", raising=False)  # under `make portable` it is set
    ran = 0
    for core in portable.CORES:
        found = portable.probe(core)
        if portable.refusal(core, found):
            continue
        ran += 1
        assert len(found["kernels"]) >= 1
        wanted = portable.environment(core, 2, found["simd"])
        asked = "import numpy; print(*numpy.show_config('dicts')['SIMD Extensions'].get('found', []))"
        shown = subprocess.run(
            [sys.executable, "-c", asked], env=os.environ | wanted, capture_output=True, text=True, check=True
        )
        left_out = wanted.get("NPY_DISABLE_CPU_FEATURES", "").split()
        assert set(shown.stdout.split()) == set(found["simd"]) - set(left_out)
        assert not [name for name in shown.stdout.split() if core == "Nehalem" and name.startswith("AVX")]
    assert ran or platform.machine() not in ("x86_64", "AMD64")


def test_what_cannot_run_is_left_out_with_the_reason(portable: ModuleType) -> None:
    assert portable.refusal("Zen", {"kernels": ["Zen", "zen"]}) == ""
    assert "cannot run" in portable.refusal("SkylakeX", None)
    assert "do not use OpenBLAS" in portable.refusal("Zen", {"kernels": []})
    assert "takes Haswell instead" in portable.refusal("SkylakeX", {"kernels": ["Haswell", "SkylakeX"]})


def test_what_is_done_with_the_same_code_is_not_done_again(
    portable: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[tuple[Any, ...]] = []
    code = ["one"]
    monkeypatch.setattr(portable, "RESULTS", tmp_path)
    monkeypatch.setattr(portable, "code", lambda: code[0])
    monkeypatch.setattr(portable, "_run", lambda *asked: runs.append(asked) or {"passed": 5, "failed": 0})
    for name in ("unit", "notebooks", "unit"):
        assert portable.outcome("Zen", 2, name, 1)["passed"] == 5
    assert runs == [("Zen", 2, "unit", 1, "all"), ("Zen", 2, "notebooks", 1, "all")]
    code[0] = "two"
    portable.outcome("Zen", 2, "unit", 1)
    assert len(runs) == 3
    stored = json.loads((tmp_path / "zen-2.json").read_text())
    assert (stored["unit"]["code"], stored["notebooks"]["code"]) == ("two", "one")

    def edits(*_: object) -> dict[str, int]:
        code[0] = "three"
        return {"passed": 5, "failed": 0}

    monkeypatch.setattr(portable, "_run", edits)
    code[0] = "before"
    with pytest.raises(SystemExit, match="files changed during the run"):
        portable.outcome("Zen", 2, "unit", 1)
    assert json.loads((tmp_path / "zen-2.json").read_text()) == stored


def test_a_run_without_the_long_tests_does_not_stand_for_all(
    portable: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[tuple[Any, ...]] = []
    quick = portable_table.WITHOUT_LONG
    monkeypatch.setattr(portable, "RESULTS", tmp_path)
    monkeypatch.setattr(portable, "code", lambda: "one")
    monkeypatch.setattr(portable, "_run", lambda *asked: runs.append(asked) or {"passed": 5, "failed": 0})
    for which in (quick, quick, "all", quick):
        portable.outcome("Zen", 1, "unit", 1, which)
    assert [asked[-1] for asked in runs] == [quick, "all"]
    assert json.loads((tmp_path / "zen-1.json").read_text())["unit"]["which"] == "all"
    for which in (quick, "all"):
        portable.outcome("Zen", 1, "notebooks", 1, which)
    assert len(runs) == 3  # they are the same with both
    makefile = (ROOT / "Makefile").read_text()
    assert f'"{portable.MARKERS[quick]}"' in makefile.replace("not urls $(LONG)", "not urls and not long")


def test_why_a_kind_was_left_out_is_stored_until_it_runs(
    portable: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(portable, "RESULTS", tmp_path)
    portable.keep("Zen", "OpenBLAS takes Haswell instead")
    portable.keep("SkylakeX", "this processor cannot run its kernels")
    portable.keep("SkylakeX", "")
    assert portable_table.left_out(tmp_path) == {"Zen": "OpenBLAS takes Haswell instead"}
    assert portable_table.outcomes(tmp_path) == []


def test_the_page_knows_the_runs_that_there_should_be(portable: ModuleType) -> None:
    assert tuple(portable.CORES) == portable_table.CORES


def test_the_hash_is_that_of_what_decides(portable: ModuleType, tmp_path: Path) -> None:
    for name in ("src/a.py", "tests/b.py", "pyproject.toml", "requirements.lock"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1\n")
    first = portable.code(tmp_path)
    for ignored in ("results/portable/zen-1.json", "src/__pycache__/a.pyc", "README.md"):
        (tmp_path / ignored).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / ignored).write_text("1\n")
    assert portable.code(tmp_path) == first
    (tmp_path / "results" / "drm.csv").write_text("1\n")
    second = portable.code(tmp_path)
    (tmp_path / "src" / "a.py").write_text("2\n")
    assert len({first, second, portable.code(tmp_path)}) == 3


def test_an_interrupted_run_is_not_stored(
    portable: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(portable, "ROOT", tmp_path)
    monkeypatch.setattr(portable, "probe", lambda core: {"versions": ["0.3"], "simd": []})
    asked: list[dict[str, Any]] = []

    def stopped(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        asked.append({"command": command, **options})
        return subprocess.CompletedProcess(command, 2)

    monkeypatch.setattr(portable.subprocess, "run", stopped)
    for name in ("unit", "notebooks"):
        with pytest.raises(SystemExit, match="pytest ended with 2"):
            portable._run("Haswell", 2, name, 1, portable_table.WITHOUT_LONG)
    unit, notebooks = asked
    assert unit["env"]["OPENBLAS_CORETYPE"] == "Haswell"
    assert unit["env"]["OPENBLAS_NUM_THREADS"] == "2"
    assert unit["env"]["MARGINBOOK_CACHE"] != notebooks["env"]["MARGINBOOK_CACHE"]
    assert list(Path(unit["env"]["MARGINBOOK_CACHE"]).iterdir()) == [
        Path(unit["env"]["MARGINBOOK_CACHE"]) / "data"
    ]
    assert "no:randomly" in notebooks["command"]
    assert "no:randomly" not in unit["command"]
    assert "not browser and not urls and not long" in unit["command"]
    assert "not browser and not urls and not long" not in notebooks["command"]


def test_each_run_has_an_order_of_its_own(portable: ModuleType) -> None:
    seeds = {portable._seed(core, threads) for core in portable.CORES for threads in portable.THREADS}
    assert len(seeds) == len(portable.CORES) * len(portable.THREADS)


def test_the_table_counts_and_names_what_failed() -> None:
    runs = [
        {"core": "Haswell", "threads": 1, "unit": part(), "notebooks": part(passed=300, commit="def")},
        {
            "core": "Zen",
            "threads": 2,
            "unit": part(failed=1, failures=["tests.a::test_b"], which="without the long ones"),
        },
    ]
    text = portable_table.section(runs, {"SkylakeX": "this processor cannot run its kernels"})
    assert "2 of 3 runs with the arithmetic of 2 kinds of processor have no failure, of 2,701 tests" in text
    assert "- `tests.a::test_b`" in text
    assert "`abc` (unit tests), `def` (cells of notebooks)" in text
    assert "Left out on the machine that ran last: SkylakeX: this processor cannot run its kernels.\n" in text
    assert (
        "Not run yet: Haswell, 2 threads; Zen, 1 thread; Zen, 2 threads: cells of notebooks; "
        "Nehalem, 1 thread; Nehalem, 2 threads.\n"
    ) in text
    assert "* - Haswell\n  - 1\n  - all\n" in text
    assert "* - Zen\n  - 2\n  - without the long ones\n" in text
    assert text.count("* - Haswell\n") == text.count("* - Zen\n") == 1
    assert "make portable" in portable_table.section([], {})


def test_every_stored_run_is_on_the_page() -> None:
    runs = portable_table.outcomes(resource("results", "portable"))
    text = portable_table.section(runs, portable_table.left_out(resource("results", "portable")))
    for run in runs:
        assert f"* - {run['core']}\n  - {run['threads']}\n" in text
        assert {run[name]["commit"] for name in portable_table.PARTS if name in run} <= set(text.split("`"))
    home = root()
    assert home is not None
    assert "_generated/trust-processors.md" in (home / "book" / "trust.md").read_text(encoding="utf-8")

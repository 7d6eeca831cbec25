"""`make check` finds the tests that a change can touch, and ends in time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

from ..git import repository
from .scripts import ROOT, script


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module, for a checkout of its own: pairs of package and tests in two rooms."""
    module = script("check")
    files = {
        "src/marginbook/__init__.py": "",
        "src/marginbook/kernels.py": "",
        "src/marginbook/drm/__init__.py": "from .model import Model\nfrom .other import Other\n",
        "src/marginbook/drm/model.py": "from ..kernels import rbf\n",
        "src/marginbook/drm/other.py": "TABLE = 'table-8.csv'\n",
        "tests/__init__.py": "",
        "tests/conftest.py": "",
        "tests/drm/__init__.py": "",
        "tests/drm/conftest.py": "import marginbook.kernels\n",
        "tests/drm/test_model.py": "from marginbook.drm import Model\n",
        "tests/drm/test_other.py": "from marginbook.drm.other import TABLE\n",
        "tests/book/test_chapters.py": "",
        "tests/notebooks/test_committed.py": "",
        "tests/test_readme.py": "",
        "tests/test_far.py": "def late():\n    from .drm.test_other import TABLE\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setenv("MARGINBOOK_CACHE", str(tmp_path / "cache"))
    return module


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("src/marginbook/drm/model.py", ["tests/drm/test_model.py"]),
        ("src/marginbook/drm/other.py", ["tests/drm/test_other.py", "tests/test_far.py"]),
        ("results/drm/table-8.csv", ["tests/drm/test_other.py", "tests/test_far.py"]),
        (
            "src/marginbook/kernels.py",
            ["tests/drm/test_model.py", "tests/drm/test_other.py", "tests/test_far.py"],
        ),
        ("tests/drm/test_other.py", ["tests/drm/test_other.py", "tests/test_far.py"]),
        (
            "tests/drm/conftest.py",
            ["tests/drm/test_model.py", "tests/drm/test_other.py", "tests/test_far.py"],
        ),
        (
            "pyproject.toml",
            [
                "tests/book/test_chapters.py",
                "tests/drm/test_model.py",
                "tests/drm/test_other.py",
                "tests/notebooks/test_committed.py",
                "tests/test_far.py",
                "tests/test_readme.py",
            ],
        ),
        ("CHANGELOG.md", []),
        ("book/drm.md", ["tests/book/test_chapters.py", "tests/test_readme.py"]),
        ("_toc.yml", ["tests/book/test_chapters.py"]),
        ("notebooks/drm/05_imbalanced.ipynb", ["tests/notebooks/test_committed.py"]),
        (
            "notebooks/drm/05_imbalanced.md",
            ["tests/book/test_chapters.py", "tests/notebooks/test_committed.py"],
        ),
    ],
)
def test_a_change_reaches_the_tests_that_use_it_the_nearest_first(check, changed, tests) -> None:
    assert check.reached([changed]) == tests


def test_an_edit_is_seen_although_imports_are_kept(check) -> None:
    assert check.reached(["src/marginbook/drm/model.py"]) == ["tests/drm/test_model.py"]
    (check.ROOT / "tests/test_far.py").write_text("from marginbook.drm import Model  # now\n")
    assert check.reached(["src/marginbook/drm/model.py"]) == ["tests/drm/test_model.py", "tests/test_far.py"]


def test_git_tells_edits_and_new_files(check) -> None:
    repository(check.ROOT)
    assert check.changed("HEAD") == []
    (check.ROOT / "tests/test_far.py").write_text("")
    (check.ROOT / "new.py").write_text("")
    assert check.changed("HEAD") == ["new.py", "tests/test_far.py"]


def test_without_git_one_line_says_what_to_call(check) -> None:
    with pytest.raises(SystemExit, match="this is no checkout of git: call `make test`"):
        check.changed("HEAD")


def test_the_tests_that_look_for_files_are_there(check) -> None:
    missing = [test for test in check.LOOKED_FOR if not (ROOT / test).is_file()]
    assert missing == []


def test_tests_have_time_after_a_slow_mypy(check, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one of a clone may take longer than all may take."""
    began, calls = time.time(), []

    def run(command: list[str], **options: dict) -> subprocess.CompletedProcess:
        calls.append((command[2], options.get("env", {}).get("MARGINBOOK_CHECK_UNTIL")))
        return subprocess.CompletedProcess(command, 1 if command[2] == "pytest" else 0)

    monkeypatch.setattr(check, "changed", lambda since: ["src/marginbook/drm/model.py"])
    monkeypatch.setattr(check.subprocess, "run", run)
    monkeypatch.setattr(check.time, "time", lambda: began + 300 * any(name == "mypy" for name, _ in calls))
    monkeypatch.setattr(sys, "argv", ["check"])
    assert check.main() == 1
    assert calls[-1] == ("pytest", str(began + 300 + check.LEAST))


def budgeted(
    folder: Path, body: str, until: float, grace: float = 5.0, least: float = 0.0
) -> tuple[int, str]:
    """Return exit code and words of pytest for a test that may start until a time, and for one after it."""
    (folder / "test_one.py").write_text(
        f"import time\nimport budget\n\n"
        f"def test_one():\n    {body}\n\ndef test_two():\n    assert budget.UNTIL\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "supply")}
    environment |= {"MARGINBOOK_CHECK_UNTIL": str(until), "MARGINBOOK_CHECK_GRACE": str(grace)}
    environment["MARGINBOOK_CHECK_LEAST"] = str(least)
    command = [sys.executable, "-m", "pytest", "-p", "budget", "-p", "no:randomly", "-rs", str(folder)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("until", "body", "code", "outcome"),
    [
        (0.0, "pass", 1, "2 tests were left out for time, AND NONE WAS DONE"),
        (1e18, "budget.UNTIL = 1.0", 0, "1 test was left out for time; `make test` runs them"),
        (1e18, "pass", 0, "2 passed"),
    ],
)
def test_no_test_starts_after_the_end(
    tmp_path: Path, until: float, body: str, code: int, outcome: str
) -> None:
    returned, told = budgeted(tmp_path, body, until)
    assert returned == code, told
    assert outcome in told
    assert ("`make check`; `make test` runs it" in told) == (outcome != "2 passed")


def test_collecting_does_not_use_up_the_time_of_the_tests(tmp_path: Path) -> None:
    returned, told = budgeted(tmp_path, "pass", until=0.0, least=60.0)
    assert returned == 0, told
    assert "2 passed" in told
    _, told = budgeted(tmp_path, "budget.UNTIL = 1.0", until=0.0, least=60.0)
    assert "1 test was left out for time" in told  # they begin once


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no alarm here")
def test_a_test_that_goes_on_after_the_end_is_stopped(tmp_path: Path) -> None:
    _, told = budgeted(tmp_path, "time.sleep(600)", time.time() + 60, grace=-60)
    assert "no time left in `make check` to finish it; `make test` runs it" in told

"""Which tests the wheel alone is asked, with what, and what is stored of it."""

from __future__ import annotations

import configparser
import json
from pathlib import Path
from types import ModuleType

import pytest

from marginbook.base.extras import EXTRA_OF
from marginbook.book import supply_page

from .scripts import ROOT, script


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module."""
    monkeypatch.syspath_prepend(str(ROOT / "supply"))
    return script("wheel_alone")


def test_what_fits_and_predicts_is_asked_and_what_needs_extras_is_not(
    alone: ModuleType, tmp_path: Path
) -> None:
    files = {
        "drm/test_model.py": "from marginbook.drm import DRMClassifier, model\n",
        "drm/test_solver.py": "def test_it():\n    from marginbook.drm.solvers.apg import solve\n",
        "drm/test_claims.py": "from marginbook.drm import claims\n",
        "drm/test_figure.py": "from marginbook.drm import model\nfrom marginbook.book import myst\n",
        "drm/test_oracle.py": "import cvxpy\nfrom marginbook.drm import model\n",
        "kernels/test_kernels.py": "from marginbook import kernels\n",
        "cli/test_cli.py": "from marginbook.cli import main\n",
        "test_conventions.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    # what single tests need is skipped by name in the new environment
    asked = {"drm/test_model.py", "drm/test_solver.py", "drm/test_oracle.py"}
    assert set(alone.chosen(tmp_path)) == asked | {"kernels/test_kernels.py", "test_conventions.py"}


def test_most_files_about_estimators_are_asked(alone: ModuleType) -> None:
    found = set(alone.chosen(ROOT / "tests"))
    assert {f"{room}/test_estimators.py" for room in ("drm", "ldm", "kfda", "smm")} <= found
    assert {
        "test_conventions.py",
        "base/test_public.py",
        "kernels/test_kernels.py",
        "clasmk/test_lssvm.py",
    } <= found


def test_pins_are_those_of_the_lock_without_hashes(alone: ModuleType) -> None:
    for name in alone.LOCKS.values():
        lines = alone.pins(ROOT / name)
        assert len(lines) > 100
        assert not [line for line in lines if "--hash" in line or "\\" in line]
        assert any(line.startswith("numpy==") for line in lines)


def test_the_copy_of_the_tests_has_the_settings_of_the_checkout(alone: ModuleType) -> None:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(alone.settings())
    assert parser["pytest"]["addopts"] == "-q --strict-markers"
    assert "browser: needs Chromium" in parser["pytest"]["markers"]


@pytest.mark.parametrize(
    "file", sorted((ROOT / "results" / "wheel").glob("*.json")), ids=lambda file: file.stem
)
def test_stored_outcomes_are_of_an_environment_without_extras(alone: ModuleType, file: Path) -> None:
    run = json.loads(file.read_text(encoding="utf-8"))
    assert run["lock"] == alone.LOCKS[file.stem]
    assert run["passed"] > 1000
    assert run["failed"] == len(run["failures"])
    assert not set(run["packages"]) & {*EXTRA_OF, "xarray", "pyyaml", "jupyter-book"}
    assert f"{run['passed']}" in supply_page.tests([run], "")

"""The library works where only its base dependencies are: extras are blocked in a process of its own."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

from marginbook.base.extras import EXTRA_OF
from marginbook.cli import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
#: pandas is there through rdata, but the library must not import it before an R file or a table is read
BLOCKED = sorted(
    {*EXTRA_OF, "ipykernel", "jsonschema", "jupyter_book", "myst_nb", "pytest", "seaborn", "xarray"}
)
#: packages that are all extra: they import, or name what to install
WHOLLY_EXTRA = {
    "book": "",
    "quality.trust": "",
    "coursework": "book",
    "notebooks": "book",
    "plotting": "book",
}

BLOCK = """
import importlib.abc, json, sys

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

BLOCKED = set(json.loads(sys.argv.pop(1)))
sys.meta_path.insert(0, Absent())
"""


def alone(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run code in a Python that cannot import what extras bring."""
    program = BLOCK + textwrap.dedent(code)
    environment = {**os.environ, "COLUMNS": "200"}
    command = [sys.executable, "-c", program, json.dumps(BLOCKED), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Call ``marginbook`` in such a Python."""
    return alone("from marginbook.cli import main; main(prog_name='marginbook')", *arguments)


def test_every_module_of_the_library_imports() -> None:
    done = alone(
        """
        import importlib, pkgutil
        import marginbook
        errors = {}
        for module in pkgutil.walk_packages(marginbook.__path__, "marginbook.", onerror=lambda name: None):
            try:
                importlib.import_module(module.name)
            except ModuleNotFoundError as error:
                errors[module.name] = str(error)
        print(json.dumps([len(sys.modules), errors]))
        """
    )
    assert done.returncode == 0, done.stderr
    errors = json.loads(done.stdout.splitlines()[-1])[1]
    extra = tuple(f"marginbook.{package}" for package in WHOLLY_EXTRA)
    outside = {name for name in errors if not name.startswith(extra)}
    unexplained = {name for name in outside if "pip install 'marginbook[" not in errors[name]}
    assert unexplained == {"marginbook.drm.peers.safe_level_smote"}  # an oversampler of imbalanced-learn
    assert len(outside) < 5  # such as figures; what fits and predicts is not among them
    assert not {name for name in outside if name.count(".") == 1}
    for package, needs in WHOLLY_EXTRA.items():
        if needs:
            assert f"pip install 'marginbook[{needs}]'" in errors[f"marginbook.{package}"]


def test_an_estimator_of_each_room_fits_and_predicts() -> None:
    done = alone(
        """
        import numpy as np
        from marginbook.clasmk import LSSVMClassifier
        from marginbook.datasets import load
        from marginbook.drm import DRMClassifier
        from marginbook.kfda import SparseKFDAClassifier
        from marginbook.ldm import LDMClassifier
        from marginbook.smm import LowRankSVMClassifier

        rng = np.random.default_rng(0)
        y = np.repeat([0, 1], 20)
        X = rng.standard_normal((40, 4)) + 3.0 * y[:, None]
        images = rng.standard_normal((40, 3, 3)) + 2.0 * y[:, None, None]
        machines = (DRMClassifier(), LDMClassifier(kernel="rbf", gamma=0.1),
                    SparseKFDAClassifier(q=1, rho=0.01), LSSVMClassifier())
        scores = {type(each).__name__: each.fit(X, y).score(X, y) for each in machines}
        scores["LowRankSVMClassifier"] = LowRankSVMClassifier(rank=1, lam=0.1).fit(images, y).score(images, y)
        print(json.dumps([scores, load("iris").X.shape]))
        """
    )
    assert done.returncode == 0, done.stderr
    scores, shape = json.loads(done.stdout)
    assert len(scores) == 5
    assert min(scores.values()) > 0.9
    assert shape == [150, 4]


def test_the_command_line_helps_and_lists_the_data() -> None:
    shown = command("--help")
    assert shown.returncode == 0
    assert "pip install 'marginbook[book]'" in shown.stdout
    assert all(f"  {name} " in shown.stdout for name in COMMANDS)
    listed = command("data", "list")
    assert listed.returncode == 0
    assert "banana" in listed.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("book",), "install it with: pip install 'marginbook[book]'"),
        (("claims", "ldm/thm-1", "--n-jobs", "1", "--fresh"), "pip install 'marginbook[oracle]'"),
        (("claims", "kfda/table-1", "--n-jobs", "1", "--fresh"), "pip install 'marginbook[experiments]'"),
    ],
    ids=["book", "oracle", "experiments"],
)
def test_what_is_missing_is_named_with_its_extra(arguments: tuple[str, ...], sentence: str) -> None:
    done = command(*arguments)
    assert done.returncode == 1
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_claims_that_need_no_extra_are_checked() -> None:
    done = command("claims", "kfda/eq-1", "--n-jobs", "1", "--json")
    assert done.returncode == 0, done.stderr


def test_each_extra_is_one_of_pyproject() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(EXTRA_OF.values()) <= set(extras["optional-dependencies"])


def test_what_rooms_import_late_is_known() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    base = {
        re.match(r"[\w-]+", line)[0].replace("scikit-learn", "sklearn") for line in project["dependencies"]
    }
    found: set[str] = set()
    for path in (ROOT / "src" / "marginbook").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                found.add(str(node.module).partition(".")[0])
    # pooch brings requests
    unknown = found - {*sys.stdlib_module_names, *base, *EXTRA_OF, "marginbook", "requests"}
    assert not unknown, f"name the extra of {sorted(unknown)} in marginbook.base.extras.EXTRA_OF"

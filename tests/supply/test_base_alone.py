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
#: what a single command needs and names itself; EXTRA_OF is for what the library imports late
OF_COMMANDS = {name for entry in COMMANDS.values() for name in entry.needs}
BLOCKED = sorted(
    {*EXTRA_OF, *OF_COMMANDS}
    | {"ipykernel", "jsonschema", "jupyter_book", "myst_nb", "pytest", "seaborn", "xarray"}
)
#: what the command line needs
CLI = {"click", "rich"}
#: packages that are all extra: they import, or name what to install
WHOLLY_EXTRA = {
    "book": "",
    "quality.trust": "",
    "coursework": "book",
    "notebooks": "book",
    "base.plotting": "book",
    "serve": "",
}
#: modules of commands, which nothing but the command line imports
COMMAND = re.compile(
    r"marginbook\.(__main__|cli\.(?!warming|reading|plain|stopping).*|.*command|experiments\.options|.*\.showing)"
)

BLOCK = """
import importlib.abc, json, sys

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

BLOCKED = set(json.loads(sys.argv.pop(1)))
sys.meta_path.insert(0, Absent())
"""


def alone(code: str, *arguments: str, but: set[str] = frozenset()) -> subprocess.CompletedProcess[str]:
    """Run code in a Python that cannot import what extras bring, `but` some."""
    program = BLOCK + textwrap.dedent(code)
    environment = {**os.environ, "COLUMNS": "200"}
    command = [sys.executable, "-c", program, json.dumps(sorted({*BLOCKED} - but)), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)


def command(*arguments: str, but: set[str] = CLI) -> subprocess.CompletedProcess[str]:
    """Call ``marginbook`` in such a Python, which has the extra ``cli``."""
    return alone("from marginbook.cli import main; main(prog_name='marginbook')", *arguments, but=but)


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
    outside = {name for name in errors if not name.startswith(extra) and not COMMAND.fullmatch(name)}
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
        (
            ("claims", "ldm/thm-1", "--n-jobs", "1", "--fresh"),
            "skipped 1 claims (ldm/thm-1): the oracle",
        ),
        (("data", "fetch", "banana"), "pip install 'marginbook[data]'"),
        (("claims", "kfda/table-1", "--n-jobs", "1", "--fresh"), "pip install 'marginbook[experiments]'"),
    ],
    ids=["book", "oracle", "data", "experiments"],
)
def test_what_is_missing_is_named_with_its_extra(
    arguments: tuple[str, ...], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MARGINBOOK_CACHE", str(tmp_path))
    done = command(*arguments)
    assert done.returncode == 1
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_claims_that_need_no_extra_are_checked_and_the_others_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MARGINBOOK_CACHE", str(tmp_path))
    done = command("claims", "kfda/eq-1", "ldm/thm-1", "--n-jobs", "1", "--json")
    assert done.returncode == 0, done.stderr
    assert [each["id"] for each in json.loads(done.stdout)] == ["kfda/eq-1"]
    (skipped,) = done.stderr.splitlines()
    assert re.fullmatch(
        r"skipped 1 claims \(ldm/thm-1\): .*cvxpy.*: pip install 'marginbook\[oracle\]'", skipped
    )


def test_no_ledger_is_written_with_holes() -> None:
    done = command("claims", "kfda/eq-1", "ldm/thm-1", "--n-jobs", "1", "--markdown")
    assert done.returncode == 1
    assert not done.stdout


def test_without_click_one_line_names_the_extra() -> None:
    for arguments in (("data", "list"), ()):
        done = command(*arguments, but=set())
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1
        assert "pip install 'marginbook[cli]'" in done.stderr
    shown = command("guide", "LSSVMClassifier", but=set())
    assert shown.returncode == 0
    assert shown.stdout.startswith("#### LSSVMClassifier\n")
    assert command("--version", but=set()).stdout.startswith("marginbook, version ")
    for arguments in (("--help",), ("-h",), ("guide", "--help")):
        helped = command(*arguments, but=set())
        assert helped.returncode == 0
        assert re.findall(r"^  (\w+) .*  ", helped.stdout, re.MULTILINE) == ["warmup", "guide"]
        assert "pip install 'marginbook[cli]'" in helped.stdout
    assert command("data", "--help", but=set()).returncode == 1


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
    unknown = found - {*sys.stdlib_module_names, *base, *EXTRA_OF, *OF_COMMANDS, "marginbook", "requests"}
    assert not unknown, f"name the extra of {sorted(unknown)} in marginbook.base.extras.EXTRA_OF"

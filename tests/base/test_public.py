"""What a user meets first: names from marginbook itself, an import and a fit where nothing can be written."""

from __future__ import annotations

import ast
import importlib
import os
import pickle
import pkgutil
import re
import shutil
import subprocess
import sys
from inspect import Parameter, isclass, isfunction, signature
from pathlib import Path
from typing import Any

import pytest
from sklearn.base import BaseEstimator

import marginbook
from marginbook.base import public
from marginbook.base.project import PACKAGE, cache_dir
from marginbook.base.rooms import papers

from ..settled import SETTLED

ESTIMATORS = public.public_estimators()


def defined() -> list[Any]:
    """Return what the modules of models, solvers, kernels and experiments define."""
    folders = re.compile(r"\.(model|solvers|kernels|experiments)\.")
    names = [each.name for each in pkgutil.walk_packages(marginbook.__path__, "marginbook.")]
    modules = [importlib.import_module(name) for name in names if folders.search(name)]
    return [
        one
        for each in modules
        for one in vars(each).values()
        if getattr(one, "__module__", "") == each.__name__
    ]


def test_what_models_and_solvers_return_cannot_be_changed():
    """But for the sums that `partial_fit` adds to, and what a solver keeps while it works."""
    own = [one for one in defined() if isclass(one) and "experiments" not in one.__module__]
    made = [one for one in own if "__dataclass_params__" in vars(one)]
    changing = {one.__name__ for one in made if not one.__dataclass_params__.frozen}
    assert changing == {"ClassMoments", "Factors", "Frame", "Point", "Run", "State", "_AtProjection"}
    assert len(made) > 60


def test_each_parameter_can_be_given_by_name():
    """But before ``**names``, which might be the same."""
    every = defined()
    functions = [one for one in every if isfunction(one)]
    functions += [one for each in every if isclass(each) for one in vars(each).values() if isfunction(one)]
    kinds = {
        f"{one.__module__}.{one.__qualname__}": {each.kind for each in signature(one).parameters.values()}
        for one in functions
    }
    by_place = [name for name, found in kinds.items() if Parameter.POSITIONAL_ONLY in found]
    assert [name for name in by_place if Parameter.VAR_KEYWORD not in kinds[name]] == []
    assert len(kinds) > 1000


def test_names_of_the_rooms_are_found_without_an_import():
    packages = [room.package for room in papers().values()]
    exported = [(name, place) for place in packages for name in importlib.import_module(place).__all__]
    assert public.public_names() == dict(exported)
    assert len(public.public_names()) == len(exported), "two rooms export the same name"
    beside = {path.stem for path in PACKAGE.iterdir()}
    assert not beside & set(public.public_names()), "a name would hide a module"


def test_what_is_imported_from_marginbook_is_what_the_room_has():
    for name, place in public.public_names().items():
        assert getattr(marginbook, name) is getattr(importlib.import_module(place), name)
    assert set(public.public_names()) <= set(dir(marginbook))
    assert len(ESTIMATORS) >= 28
    assert all(isclass(each) and issubclass(each, BaseEstimator) for each in ESTIMATORS.values())


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_print_what_was_changed_as_those_of_scikit_learn_do(name):
    needed = [
        each.name for each in signature(ESTIMATORS[name]).parameters.values() if each.default is each.empty
    ]
    given = ", ".join(f"{each}=None" for each in needed)
    assert repr(ESTIMATORS[name](**dict.fromkeys(needed))) == f"{name}({given})"


def test_a_misspelt_name_gets_the_nearest():
    with pytest.raises(AttributeError, match="no attribute 'LDMClasifier'; did you mean LDMClassifier"):
        marginbook.LDMClasifier  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'Nothing'"):
        from marginbook import Nothing  # noqa: F401
    assert not hasattr(marginbook, "__wrapped__")


def test_editors_and_mypy_see_the_same_rooms():
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
    stars = [
        node.module for node in stub.body if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
    ]
    assert set(SETTLED) <= set(stars) <= set(papers())


def test_the_import_stays_fast():
    """None of what estimators need is imported before one is asked for; a second would be much."""
    code = (
        "import sys, time; began = time.process_time(); import marginbook; dir(marginbook); took = "
        "time.process_time() - began; late = {'numpy', 'scipy', 'sklearn', 'numba', 'click', 'rich'} & "
        "set(sys.modules); print(took, *late)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    took, *imported = done.stdout.split()
    assert not imported
    assert float(took) < 1.0


def test_pickles_do_not_depend_on_where_a_name_was_imported_from():
    model = marginbook.LSSVMClassifier()
    assert type(model).__module__.startswith("marginbook.clasmk.")
    assert type(pickle.loads(pickle.dumps(model))) is ESTIMATORS["LSSVMClassifier"]


FIT = """
import sys, warnings
warnings.simplefilter("ignore")
import numpy as np
import marginbook
from marginbook.base.public import public_estimators
from marginbook.base.project import cache_dir
rng = np.random.default_rng(0)
y = np.arange(20) % 2
X = rng.normal(size=(20, 4)) + y[:, None]
assert len(public_estimators()) >= 28
for name in ("LSSVMClassifier", "DRMClassifier", "NuclearNormSVMClassifier"):  # the last one compiles
    print(name, getattr(marginbook, name)().fit(X, y).score(X, y) > 0.5)
print(marginbook.__file__)
print(cache_dir())
"""


@pytest.mark.skipif(os.name != "posix", reason="/dev/null is a file nowhere else")
def test_a_read_only_installation_without_a_cache_of_the_user(tmp_path: Path):
    """As in a container. Files stand where folders of the cache would be, since root may write anywhere."""
    shutil.copytree(PACKAGE, tmp_path / "marginbook", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in {path.parent for path in tmp_path.rglob("*.py")}:
        (folder / "__pycache__").touch()
        folder.chmod(0o555)
    dropped = ("XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "MARGINBOOK_CACHE", "PYTHONPYCACHEPREFIX")
    environment = {name: value for name, value in os.environ.items() if name not in dropped}
    environment |= {"PYTHONPATH": str(tmp_path), "HOME": "/dev/null", "PYTHONSAFEPATH": "1"}
    done = subprocess.run(
        [sys.executable, "-c", FIT], cwd="/", env=environment, capture_output=True, text=True, check=False
    )
    for folder in {path.parent for path in tmp_path.rglob("*.py")}:
        folder.chmod(0o755)
    assert done.returncode == 0, done.stderr[-2000:]
    *fits, place, cache = done.stdout.splitlines()
    assert fits == ["LSSVMClassifier True", "DRMClassifier True", "NuclearNormSVMClassifier True"]
    assert place.startswith(str(tmp_path))
    assert cache == "/dev/null/.cache/marginbook"
    assert not list(tmp_path.rglob("*.nbi"))


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {"HOME": "/home/ann"}, "/home/ann/.cache/marginbook"),
        ("linux", {"HOME": "/home/ann", "XDG_CACHE_HOME": "/fast"}, "/fast/marginbook"),
        ("darwin", {"HOME": "/Users/ann"}, "/Users/ann/Library/Caches/marginbook"),
        ("linux", {"HOME": "/home/ann", "MARGINBOOK_CACHE": "/mine"}, "/mine"),
    ],
)
def test_the_cache_is_where_pooch_had_it(monkeypatch, platform, environment, expected):
    for name in ("HOME", "XDG_CACHE_HOME", "MARGINBOOK_CACHE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert cache_dir("data") == Path(expected) / "data"


def test_without_a_home_there_is_a_cache_for_the_user(monkeypatch, tmp_path):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("MARGINBOOK_CACHE", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert cache_dir("data").parent.parent == tmp_path

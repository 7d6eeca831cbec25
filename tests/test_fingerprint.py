"""A fingerprint changes with what can change a result, and with nothing else."""

import ast
import importlib
import sys
import textwrap

import pytest

from marginbook import fingerprint as module
from marginbook.fingerprint import fingerprint


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of two modules, one of which uses the other, that stands for marginbook."""
    monkeypatch.setattr(module, "PACKAGE", "toybook")
    monkeypatch.syspath_prepend(str(tmp_path))
    folder = tmp_path / "toybook"
    folder.mkdir()

    def write(**sources):
        for name, text in {"__init__": "", **sources}.items():
            (folder / f"{name}.py").write_text(textwrap.dedent(text))
        for name in [name for name in sys.modules if name.split(".")[0] == "toybook"]:
            del sys.modules[name]
        importlib.invalidate_caches()
        for cached in (module._source_file, module._tree, module._normalised, module._imports):
            cached.cache_clear()
        return fingerprint("toybook.a")

    yield write
    for cached in (module._source_file, module._tree, module._normalised, module._imports):
        cached.cache_clear()


A, B = "from .b import g\ndef f(x):\n    return g(x)\n", "def g(x):\n    return x + 1\n"


def test_comments_layout_and_docstrings_do_not_count(package):
    plain = package(a=A, b=B)
    dressed = package(
        a="# why\nfrom .b import g\n\ndef f(x):\n    '''Doc.'''\n    return g(  x )\n", b='"""M."""\n' + B
    )
    assert dressed == plain


def test_a_change_two_imports_away_counts_and_one_elsewhere_does_not(package):
    plain = package(a=A, b=B, c="x = 1")
    assert package(a=A, b=B, c="x = 2") == plain
    assert package(a=A, b=B.replace("1", "2"), c="x = 1") != plain


def test_functions_and_modules_are_named_the_same(package):
    package(a=A, b=B)
    a = importlib.import_module("toybook.a")
    assert fingerprint(a.f) == fingerprint(a) == fingerprint("toybook.a")


def test_normalised_source_still_parses(package):
    package(a='def f():\n    """Only a docstring."""\n', b="")
    ast.parse(module._normalised("toybook.a"))

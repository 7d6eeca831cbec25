"""Tests of the list of long tests."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from .. import long

ROOT = Path(__file__).parents[2]


def test_the_list_names_tests_that_there_are() -> None:
    defined: dict[str, set[str]] = {}
    for line in long.LIST.read_text(encoding="utf-8").splitlines():
        file, *names = line.partition("[")[0].split("::")
        if not file.startswith("src/"):  # there a name is that of a docstring's module
            if file not in defined:
                tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
                kinds = ast.ClassDef | ast.FunctionDef
                defined[file] = {node.name for node in tree.body if isinstance(node, kinds)}
            # a method may be inherited
            assert names[0] in defined[file], f"{line}: no such test. {long.__doc__}"


def test_a_function_is_named_as_a_whole_where_that_saves_about_the_same() -> None:
    seconds = {
        "tests/a.py::whole[0]": 0.5,
        "tests/a.py::whole[1]": 0.1,
        "tests/a.py::some[0]": 0.6,
        "tests/a.py::some[1]": 0.4,
        "tests/a.py::T::quick": 0.49,
        f"tests/a.py::{long.NEVER[0]}[x]": 9.0,
    }
    assert long.names(seconds) == ["tests/a.py::whole", "tests/a.py::some[0]"]
    assert long.names(seconds, least=0.7) == []


def test_seconds_are_read_from_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").touch()
    (tmp_path / "r.xml").write_text(
        "<testsuites><testsuite>"
        '<testcase classname="tests.test_a" name="one[p.q]" time="0.7"/>'
        '<testcase classname="tests.test_a.TestB" name="two" time="0.2"/>'
        '<testcase classname="" name="tests.gone" time="1"/>'
        "</testsuite></testsuites>"
    )
    monkeypatch.chdir(tmp_path)
    assert long.measured(Path("r.xml")) == {
        "tests/test_a.py::one[p.q]": 0.7,
        "tests/test_a.py::TestB::two": 0.2,
    }


def test_what_is_named_is_marked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long, "LIST", _Listed(f"{request.node.nodeid}\n"))
    item = type(request.node).from_parent(request.node.parent, name=request.node.name)
    assert not item.get_closest_marker("long")
    long.mark([item])
    assert item.get_closest_marker("long")


class _Listed:
    def __init__(self, text: str) -> None:
        self.text = text

    def read_text(self, encoding: str) -> str:
        return self.text

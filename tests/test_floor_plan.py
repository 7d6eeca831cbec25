"""The floor plan: what each room holds, what stands beside the rooms, and which way imports run."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from enum import IntEnum
from importlib.util import resolve_name
from pathlib import Path
from typing import TypeAlias

import pytest

import marginbook
from marginbook.base.public import public_names

PACKAGE = Path(marginbook.__file__).parent
TESTS = Path(__file__).parent
#: folders of tests that are not one of the package -> what they are about
TESTS_BESIDE = {
    "faults": "what breaks on purpose cuts through all parts",
    "robustness": "random input goes to all estimators and parsers",
    "supply": "the programs in supply/ and benchmarks/, which no wheel has",
}
#: the folders of a room: each imports only from those before it, or from itself
FOLDERS = ("paper", "model", "solvers", "estimators", "peers", "experiments", "claims")
#: these are about several papers: they may import the other rooms, and need no folder that would be empty
ACROSS = {"bridge", "study"}
ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/claims") if path.parent != PACKAGE)
#: what a solver or an estimator may stand on, beside its own room
FOUNDATIONS = {"base", "kernels", "datasets"}
LIBRARY = {"model", "solvers", "estimators", "peers"}
#: what stands beside the rooms, and where the rooms stand: each imports only from lines above its own, also
#: late in a function, and what shares a line knows the other. Commands are found by their names, so that
#: `cli` is imported by all that have one, and imports none of them; but `new` stores the notebooks it writes
LAYERS = (
    ("base",),
    ("cli",),
    ("kernels",),
    ("datasets",),
    ("notebooks",),
    ("claims", "experiments"),
    ("quality.benchmarking",),
    ("a room",),
    ("large",),
    ("bridge",),
    ("study",),
    ("quality",),
    ("coursework",),
    ("book",),
    ("cli.new",),
    ("serve",),
)
BESIDE = {name for layer in LAYERS for name in layer if "." not in name} - {"a room", *ACROSS}


def modules() -> dict[str, Path]:
    """Return every module of the package by its dotted name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


class When(IntEnum):
    """When a module imports another."""

    FOR_TYPES = 0  # never
    LATE = 1
    AT_ONCE = 2


#: what each module imports, and when
Graph: TypeAlias = dict[str, list[tuple[str, When]]]


def imports(name: str, path: Path, known: dict[str, Path]) -> Iterator[tuple[str, When]]:
    """Yield the modules of ours that a module imports, and when."""
    given = public_names()
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    if "import_module(" in text or "__import__(" in text:
        yield from ((each, When.LATE) for each in _by_name(tree, package) if each in known and each != name)
    for node, when in _statements(tree):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            inside = [f"{base}.{alias.name}" for alias in node.names]
            targets = [each if each in known else base for each in inside]
            if base == "marginbook":  # hands out the names of the rooms, and imports their room for that
                targets += [given[alias.name] for alias in node.names if alias.name in given]
        else:
            continue
        for target in targets:
            if target in known and target != name:
                yield target, when


def _by_name(tree: ast.AST, package: str) -> Iterator[str]:
    """Yield the modules that calls name in quotes; names that are put together are of what is found."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=called, args=[ast.Constant(value=str(target)), *_]):
                if ast.unparse(called).rpartition(".")[2].strip("_") in ("import_module", "import"):
                    yield resolve_name(target, package)


def _statements(node: ast.AST, when: When = When.AT_ONCE) -> Iterator[tuple[ast.AST, When]]:
    """Yield the statements below a node, and when they run.

    No expressions, which are most of a tree: none of them imports.
    """
    if _for_types_only(node):
        when = When.FOR_TYPES
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        when = min(when, When.LATE)
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield child, when
            yield from _statements(child, when)


def _for_types_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


@pytest.fixture(scope="module")
def graph() -> Graph:
    known = modules()
    return {name: sorted(set(imports(name, path, known))) for name, path in known.items()}


def place(name: str) -> tuple[str, str]:
    """Return what stands beside the rooms, or the room and its folder, in which a module is."""
    parts = [*name.split(".")[1:], "", ""]
    return parts[0], parts[1] if parts[0] in ROOMS else ""


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_has_its_folders_and_its_sign_and_nothing_else(room: str) -> None:
    entries = {path.name for path in (PACKAGE / room).iterdir() if path.name != "__pycache__"}
    wanted = {*FOLDERS, "__init__.py"}
    assert entries <= wanted, f"beside the plan: {sorted(entries - wanted)}"
    if room not in ACROSS:
        assert entries == wanted


def test_the_house_shows_at_a_glance_what_is_in_it() -> None:
    entries = {path.name for path in PACKAGE.iterdir()} - {
        "__pycache__",
        "__init__.py",
        "__init__.pyi",
        "__main__.py",
        "py.typed",
    }
    assert entries - set(ROOMS) == BESIDE
    assert len(BESIDE) <= 12


def test_contributing_maps_all_of_it() -> None:
    page = (TESTS.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rooms, beside = page.split("## How to read a room")[1].split("## Beside the rooms")
    assert set(re.findall(r"^\| `(\w+)/`", rooms, re.MULTILINE)) == set(FOLDERS)
    assert set(re.findall(r"^\| `(\w+)/`", beside, re.MULTILINE)) == BESIDE


def strangers(tests: Path) -> set[str]:
    """Return the folders that hold tests but neither mirror a folder of the package nor have a reason."""
    folders = {path.parent.relative_to(tests).as_posix() for path in tests.rglob("test_*.py")} - {"."}
    return {name for name in folders - set(TESTS_BESIDE) if not (PACKAGE / name).is_dir()}


def test_tests_are_in_the_folders_of_the_package() -> None:
    assert strangers(TESTS) == set()
    assert not [name for name in TESTS_BESIDE if not (TESTS / name).is_dir() or (PACKAGE / name).is_dir()]


def test_a_folder_of_tests_beside_the_plan_is_seen(tmp_path: Path) -> None:
    for name in (
        "test_all.py",
        "drm/test_a.py",
        "supply/test_b.py",
        "quality/trust/test_c.py",
        "trust/test_d.py",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert strangers(tmp_path) == {"trust"}


def height(name: str) -> int:
    """Return the layer in which a module stands; the package itself is below all of them."""
    parts = name.split(".")[1:]
    if parts and parts[0] in ROOMS and parts[0] not in ACROSS:
        parts = ["a room"]
    layers = {entry: level for level, layer in enumerate(LAYERS) for entry in layer}
    inside = [".".join(parts[:length]) for length in range(len(parts), 0, -1)]
    return next((layers[each] for each in inside if each in layers), -1)


def upward(graph: Graph) -> list[str]:
    """Return the imports from a layer above; who starts the command line may stand anywhere."""
    return [
        f"{name} imports {target}"
        for name, targets in graph.items()
        for target, _ in targets
        if -1 < height(name) < height(target) and name != "marginbook.__main__"
    ]


def test_beside_the_rooms_imports_run_one_way_too(graph: Graph) -> None:
    assert upward(graph) == []
    # the one exception, of which book/decisions.md says why
    assert [set(layer) for layer in LAYERS if len(layer) > 1] == [{"claims", "experiments"}]


def test_imports_from_above_are_seen() -> None:
    made = {
        "marginbook.base.a": [("marginbook.claims.b", When.LATE), ("marginbook.base.c", When.AT_ONCE)],
        "marginbook.ldm.claims.d": [("marginbook.quality.benchmarking.e", When.AT_ONCE)],
        "marginbook.drm.claims.f": [("marginbook.quality.trust.g", When.FOR_TYPES)],
        "marginbook.claims.h": [("marginbook.experiments.i", When.LATE), ("marginbook", When.AT_ONCE)],
    }
    assert upward(made) == [
        "marginbook.base.a imports marginbook.claims.b",
        "marginbook.drm.claims.f imports marginbook.quality.trust.g",
    ]


def test_every_folder_says_what_is_in_it() -> None:
    silent = [
        path.parent.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("__init__.py")
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert silent == []


def back_edges(graph: Graph) -> Iterator[str]:
    for name, targets in graph.items():
        room, folder = place(name)
        for target, _ in targets:
            other, part = place(target)
            if room not in ROOMS or other not in ROOMS:
                continue
            if room != other:
                if room not in ACROSS or other in ACROSS:
                    yield f"{name} imports {target}: another room"
            elif folder and part and FOLDERS.index(part) > FOLDERS.index(folder):
                yield f"{name} imports {target}: {part} comes after {folder}"
            elif folder == "paper" and target != name and part != "paper":
                yield f"{name} imports {target}: paper imports nothing of its room"
            elif folder and not part:
                yield f"{name} imports the whole room"
            elif not folder and part not in LIBRARY and room not in ACROSS:
                yield f"{name} imports {target}: {part} is no method"


def test_the_whole_package_is_imported_by_no_room(graph: Graph) -> None:
    """``import marginbook`` would reach every room by an attribute, which no graph shows."""
    whole = [
        name
        for name, targets in graph.items()
        if place(name)[0] in {*ROOMS, *FOUNDATIONS} and "marginbook" in dict(targets)
    ]
    assert whole == []


@pytest.mark.parametrize(
    "line",
    [
        "from marginbook import LDMClassifier",
        "from ... import LDMClassifier",
        "import marginbook.ldm.model",
        "importlib.import_module('marginbook.ldm.model')",
        "find = lambda: import_module('...ldm.model', __package__)",
        "__import__('marginbook.ldm.model')",
    ],
)
def test_no_way_to_another_room_is_overlooked(line: str, tmp_path: Path) -> None:
    path = tmp_path / "penalties.py"
    path.write_text(line + "\n", encoding="utf-8")
    name = "marginbook.drm.model.penalties"
    found = list(back_edges({name: list(imports(name, path, modules()))}))
    assert found, line
    assert all(edge.endswith("another room") for edge in found)


def test_imports_run_one_way(graph: Graph) -> None:
    assert list(back_edges(graph)) == []


def test_back_edges_are_seen() -> None:
    made = {
        "marginbook.drm.model.a": [
            ("marginbook.drm.solvers.b", When.AT_ONCE),
            ("marginbook.ldm.model.c", When.LATE),
        ],
        "marginbook.drm.claims.d": [("marginbook.drm.model.a", When.AT_ONCE)],
        "marginbook.bridge.claims.e": [("marginbook.drm.model.a", When.AT_ONCE)],
        "marginbook.drm.paper": [("marginbook.drm.model.a", When.AT_ONCE)],
        "marginbook.ldm": [("marginbook.ldm.solvers.g", When.LATE), ("marginbook.ldm.claims", When.LATE)],
    }
    assert [edge.split(": ")[1] for edge in back_edges(made)] == [
        "solvers comes after model",
        "another room",
        "model comes after paper",
        "claims is no method",
    ]


def circles(graph: Graph) -> list[list[str]]:
    """Return the modules that import each other, or lead from one such to another; late imports count."""
    left = {
        name: {target for target, when in targets if when != When.FOR_TYPES}
        for name, targets in graph.items()
    }
    while free := [name for name, targets in left.items() if not targets & left.keys()]:
        for name in free:
            del left[name]
    while free := [name for name in left if not any(name in targets for targets in left.values())]:
        for name in free:
            del left[name]
    return [sorted(left)] if left else []


def test_nothing_imports_itself_by_a_detour(graph: Graph) -> None:
    assert circles(graph) == []


def test_circles_are_seen() -> None:
    now, late, never = When.AT_ONCE, When.LATE, When.FOR_TYPES
    made: Graph = {"a": [("b", now)], "b": [("c", late)], "c": [("a", now)], "d": [("a", now)], "e": []}
    assert circles(made) == [["a", "b", "c"]]
    assert circles(made | {"c": [("a", never)]}) == []


def test_methods_know_nothing_of_evidence_and_book(graph: Graph) -> None:
    """What a fit needs: its room's model, solvers and estimators, and what all rooms stand on."""
    found = [
        f"{name} imports {target}"
        for name, targets in graph.items()
        if place(name)[0] in ROOMS and (place(name)[1] in LIBRARY or not place(name)[1])
        for target, _ in targets
        if place(target)[0] not in {*FOUNDATIONS, *ROOMS, ""}
    ]
    assert found == []


#: imports rooms, each as if it were the first; tells a line of each: milliseconds, and modules of ours
IMPORTING = """
import importlib, sys, time
import sklearn.base
for room in sys.argv[1:]:
    for name in [name for name in sys.modules if name.partition(".")[0] == "marginbook"]:
        del sys.modules[name]
    began = time.perf_counter()
    importlib.import_module(f"marginbook.{room}")
    took = 1000 * (time.perf_counter() - began)
    print(f"{took:.0f}", *(name for name in sys.modules if name.startswith("marginbook.")))
"""
#: of ours, which the import of a room may load; `pytest -s` shows how many it does
MOST_MODULES = 90


def test_a_room_loads_nothing_of_evidence_and_book() -> None:
    """What is loaded, by whatever detour, when a room is imported; its time is told, not tested."""
    rooms = [room for room in ROOMS if room not in ACROSS]
    done = subprocess.run(
        [sys.executable, "-c", IMPORTING, *rooms], capture_output=True, text=True, check=True
    )
    for room, line in zip(rooms, done.stdout.splitlines(), strict=True):
        took, *loaded = line.split()
        print(f"marginbook.{room}: {len(loaded)} modules in {took} ms")
        assert {place(name)[0] for name in loaded} <= {*FOUNDATIONS, room}
        assert {place(name)[1] for name in loaded} <= {*LIBRARY, ""}
        assert len(loaded) <= MOST_MODULES

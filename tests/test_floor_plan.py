"""The floor plan: what each room holds, what stands beside the rooms, and which way imports run."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import marginbook

PACKAGE = Path(marginbook.__file__).parent
#: the folders of a room: each imports only from those before it, or from itself
FOLDERS = ("paper", "model", "solvers", "estimators", "peers", "experiments", "claims")
#: these are about several papers: they may import the other rooms, and need no folder that would be empty
ACROSS = {"bridge", "study"}
ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/claims") if path.parent != PACKAGE)
#: what a solver or an estimator may stand on, beside its own room
FOUNDATIONS = {"base", "kernels", "datasets", "large"}
LIBRARY = {"model", "solvers", "estimators", "peers"}
#: what stands beside the rooms: who looks for something finds its place here
BESIDE = {
    "base",
    "book",
    "claims",
    "cli",
    "coursework",
    "datasets",
    "experiments",
    "kernels",
    "large",
    "notebooks",
    "quality",
    "serve",
}


def modules() -> dict[str, Path]:
    """Return every module of the package by its dotted name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(name: str, path: Path, known: dict[str, Path]) -> Iterator[tuple[str, bool]]:
    """Yield the modules of ours that a module imports, and whether it does as soon as it is imported."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node, at_once in _statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            inside = [f"{base}.{alias.name}" for alias in node.names]
            targets = [each if each in known else base for each in inside]
        else:
            continue
        for target in targets:
            if target in known and target != name:
                yield target, at_once


def _statements(node: ast.AST, at_once: bool = True) -> Iterator[tuple[ast.AST, bool]]:
    """Yield the statements below a node, and whether they run as soon as the module is imported.

    No expressions, which are most of a tree: none of them imports.
    """
    functions = ast.FunctionDef | ast.AsyncFunctionDef
    at_once = at_once and not (isinstance(node, functions) or _for_types_only(node))
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield child, at_once
            yield from _statements(child, at_once)


def _for_types_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


@pytest.fixture(scope="module")
def graph() -> dict[str, list[tuple[str, bool]]]:
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


def test_nothing_knows_of_the_server(graph: dict[str, list[tuple[str, bool]]]) -> None:
    found = [
        f"{name} imports {target}"
        for name, targets in graph.items()
        for target, _ in targets
        if place(target)[0] == "serve" and place(name)[0] != "serve"
    ]
    assert found == []


def test_every_folder_says_what_is_in_it() -> None:
    silent = [
        path.parent.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("__init__.py")
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert silent == []


def back_edges(graph: dict[str, list[tuple[str, bool]]]) -> Iterator[str]:
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


def test_imports_run_one_way(graph: dict[str, list[tuple[str, bool]]]) -> None:
    assert list(back_edges(graph)) == []


def test_back_edges_are_seen() -> None:
    made = {
        "marginbook.drm.model.a": [("marginbook.drm.solvers.b", True), ("marginbook.ldm.model.c", False)],
        "marginbook.drm.claims.d": [("marginbook.drm.model.a", True)],
        "marginbook.bridge.claims.e": [("marginbook.drm.model.a", True)],
        "marginbook.drm.paper": [("marginbook.drm.model.a", True)],
    }
    assert [edge.split(": ")[1] for edge in back_edges(made)] == [
        "solvers comes after model",
        "another room",
        "model comes after paper",
    ]


def circles(graph: dict[str, list[tuple[str, bool]]]) -> list[list[str]]:
    """Return the groups of modules that import each other as soon as one of them is imported."""
    left = {name: {target for target, at_once in targets if at_once} for name, targets in graph.items()}
    while free := [name for name, targets in left.items() if not targets & left.keys()]:
        for name in free:
            del left[name]
    while free := [name for name in left if not any(name in targets for targets in left.values())]:
        for name in free:
            del left[name]
    return [sorted(left)] if left else []


def test_nothing_imports_itself_by_a_detour(graph: dict[str, list[tuple[str, bool]]]) -> None:
    assert circles(graph) == []


def test_circles_are_seen() -> None:
    made = {"a": [("b", True)], "b": [("c", True)], "c": [("a", True)], "d": [("a", True)], "e": []}
    assert circles(made) == [["a", "b", "c"]]
    assert circles(made | {"c": [("a", False)]}) == []


@pytest.mark.long
def test_methods_know_nothing_of_evidence_and_book(graph: dict[str, list[tuple[str, bool]]]) -> None:
    """What a fit needs: its room's model, solvers and estimators, and what all rooms stand on."""
    found = [
        f"{name} imports {target}"
        for name, targets in graph.items()
        if place(name)[0] in ROOMS and (place(name)[1] in LIBRARY or not place(name)[1])
        for target, _ in targets
        if place(target)[0] not in {*FOUNDATIONS, *ROOMS, ""}
    ]
    assert found == []


@pytest.mark.long
def test_a_room_loads_nothing_of_evidence_and_book() -> None:
    """What is loaded, by whatever detour, when all rooms are imported as a user imports them."""
    rooms = [room for room in ROOMS if room not in ACROSS]
    program = f"import sys, {', '.join(f'marginbook.{room}' for room in rooms)}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = {place(name)[0] for name in done.stdout.split() if name.startswith("marginbook.")}
    assert loaded <= {*FOUNDATIONS, *rooms}

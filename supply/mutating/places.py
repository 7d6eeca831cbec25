"""The places of our files that Cosmic Ray's operators can change.

A *place* is a piece of a line with the operators of one family that change it: `+` has six replacements and
is one place all the same, or else a sample would be full of them.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import Any

from marginbook.base.remembered import Remembered, sha256

#: what is mutated: patterns below src/marginbook
WHERE = (
    *(f"*/{folder}/*.py" for folder in ("model", "solvers", "estimators", "claims")),
    "kernels/*.py",
    "base/weights.py",
    "claims/*.py",
    "datasets/**/*.py",
    "experiments/*.py",
)
#: not those that only draw: a picture is looked at
DRAWN = re.compile(r"pictures?$|^drawing$")
#: the rules by which numbers become verdicts
VERDICT_RULES = {
    *("calibration", "cell_verdicts", "contests", "evidence", "levels", "open_parts", "pass_rates"),
    *("printed_tables", "read_as", "wrong_runs"),
}
#: names of files, classes and functions that compute certificates
CERTIFICATE = re.compile(
    r"certif|(^|_)gaps?(_|$)|kkt|residual|violation|(^|_)bounds?(_|$)|^_?feasible$|^_?least_form$"
)
#: names of that form, with their file's, that have to do with the bounds of variables only
FALSE_FRIENDS = {("active_sets", "_first_bound"), ("trust_constr", "_feasible")}
ARITHMETIC = {"Add", "Sub", "Mul", "Div", "FloorDiv", "Mod", "Pow"}
#: without these decorators code computes the same, more slowly
FOR_SPEED = re.compile(r"@(\w+\.)*(njit|cache|lru_cache)\b")


@dataclass(frozen=True)
class Place:
    """What can be changed by operators of one family at one position of a file."""

    file: str
    kind: str
    line: int
    column: int
    operators: tuple[tuple[str, int, int], ...]  # name, index, occurrence


def files(home: Path) -> list[str]:
    """Return the files that are mutated, relative to a checkout."""
    package = home / "src" / "marginbook"
    found = {path for pattern in WHERE for path in package.glob(pattern)}
    asked = (path for path in found if not DRAWN.search(path.stem) and path.read_bytes().strip())
    return sorted(path.relative_to(home).as_posix() for path in asked)


def places(home: Path, names: Iterable[str]) -> dict[str, list[Place]]:
    """Return the places of files; those of files that did not change are remembered."""
    about = (Path(__file__).read_bytes(), version("cosmic-ray").encode())
    kept = Remembered("mutants", sha256(*about))
    found = {}
    for name in names:
        text = (home / name).read_text(encoding="utf-8")
        known = kept.get(sha256(name.encode(), text.encode()), partial(_places, name, text), list)
        found[name] = [
            Place(name, kind, line, column, tuple(map(tuple, made))) for kind, line, column, made in known
        ]
    kept.save()
    return found


def _places(file: str, text: str) -> list[list[Any]]:
    """Return kind, line, column and operators of each place in a file."""
    from cosmic_ray.ast import ast_nodes, get_ast

    lines, silent, kind = text.splitlines(), _silent(text), kinds(file, text)
    nodes = list(ast_nodes(get_ast(text)))
    at: dict[tuple[int, int, str], list[tuple[str, int, int]]] = defaultdict(list)
    for name, operator in operators().items():
        positions = [start for node in nodes for start, _ in operator.mutation_positions(node)]
        seen: Counter[str] = Counter()
        for index, (line, column) in enumerate(positions):
            shown = lines[line - 1].strip()
            occurrence = seen[shown]
            seen[shown] += 1
            unnoticed = name == "RemoveDecorator" and FOR_SPEED.match(shown)
            if not unnoticed and (line, column) not in silent:
                at[line, column, name.partition("_")[0]].append((name, index, occurrence))
    return [[kind.get(line, kind[0]), line, column, made] for (line, column, _), made in sorted(at.items())]


@cache
def operators() -> dict[str, Any]:
    """Return Cosmic Ray's operators that need no arguments, by name.

    Shifts and bitwise operations in place of arithmetic are left out: with floats they raise a TypeError, so
    that each test that runs the line notices them, and they would only embellish the score.
    """
    from cosmic_ray.operators.provider import OperatorProvider

    provider = OperatorProvider()
    found = {name: provider[name]() for name in provider if not provider[name].arguments()}
    return {name: operator for name, operator in found.items() if not _bitwise(name)}


def _bitwise(name: str) -> bool:
    family, *change = name.split("_")
    return family == "ReplaceBinaryOperator" and change[0] in ARITHMETIC and change[1] not in ARITHMETIC


def kinds(file: str, text: str) -> dict[int, str]:
    """Return the kind of each line in a function or class that certifies; that of all others is at 0."""
    path = PurePosixPath(file)
    beside = path.parts[2]
    own = path.parts[3] if len(path.parts) > 4 and path.parts[3] != "parsers" else beside
    if beside == "claims" and path.stem in VERDICT_RULES:
        return {0: "verdict rules"}
    if CERTIFICATE.search(path.stem) and own in ("model", "solvers", "estimators"):
        return {0: "certificates"}
    found = {0: own}
    if own in ("model", "solvers", "estimators", "kernels"):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and _certifies(path.stem, node.name):
                found |= dict.fromkeys(range(node.lineno, (node.end_lineno or 0) + 1), "certificates")
    return found


def _certifies(stem: str, name: str) -> bool:
    return bool(CERTIFICATE.search(name.lower())) and (stem, name) not in FALSE_FRIENDS


def _silent(text: str) -> set[tuple[int, int]]:
    """Return the positions in annotations, which nothing evaluates, and in rivals: changed, one still is."""
    found: set[tuple[int, int]] = set()
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        rival = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Rival"
        for each in (
            node if rival else None,
            getattr(node, "annotation", None),
            getattr(node, "returns", None),
        ):
            if isinstance(each, ast.expr):
                last = each.end_lineno or each.lineno
                for line in range(each.lineno, last + 1):
                    start = each.col_offset if line == each.lineno else 0
                    end = (each.end_col_offset or 0) if line == last else len(lines[line - 1])
                    found |= {(line, column) for column in range(start, end)}
    return found

"""The parameters that a notebook declares in its tagged cell, and the check of the values given for them.

A declaration is one assignment of a literal, with or without an annotation; the comment after it is its
documentation::

    datasets: list[str] = ["glass2"]  # imbalanced sets to run
    n_jobs = 1  # worker processes
"""

from __future__ import annotations

import ast
import io
import json
import tokenize
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import nbformat

#: of the cell that declares them
TAG = "parameters"
#: what a cell imports to show a form for them; a run of the form leaves such a cell out
FORM = "from marginbook.notebooks.form import form"
_SIMPLE = {
    "bool": bool,
    "int": int,
    "float": float,
    "str": str,
    "list": list,
    "dict": dict,
    "None": type(None),
}


class ParameterError(ValueError):
    """A name or a value that the notebook does not take, or a declaration that cannot be checked."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a notebook.

    Attributes
    ----------
    name : str
    type : str
        As annotated, or as the default shows it: ``"list[str]"``, ``"int | None"``.
    default : object
    doc : str
        The comment after the assignment, which may go on below it.
    """

    name: str
    type: str
    default: Any
    doc: str

    def __str__(self) -> str:
        return f"{self.name}: {self.type} = {json.dumps(self.default)}  {self.doc}".rstrip()

    def accepts(self, value: Any) -> bool:
        return _matches(ast.parse(self.type, mode="eval").body, value)


def parameters(notebook: nbformat.NotebookNode) -> list[Parameter]:
    """Return what the notebook's ``parameters`` cell declares; no such cell means no parameters."""
    cells = [cell for cell in notebook.cells if TAG in cell.metadata.get("tags", [])]
    if len(cells) > 1:
        raise ParameterError(f"{len(cells)} cells carry the tag {TAG!r}; tag one only")
    return parse(cells[0].source) if cells else []


def parse(source: str) -> list[Parameter]:
    """Read the declarations of one cell."""
    comments = _comments(source)
    found = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, annotation = node.targets[0], None
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            target, annotation = node.target, node.annotation
        else:
            raise ParameterError(f"line {node.lineno} of the {TAG} cell is not an assignment `name = value`")
        if not isinstance(target, ast.Name) or node.value is None:
            raise ParameterError(
                f"line {node.lineno} of the {TAG} cell assigns to something that is not a name"
            )
        try:
            default = ast.literal_eval(node.value)
        except ValueError:
            raise ParameterError(
                f"the default of {target.id} must be a literal, got {ast.unparse(node.value)!r}"
            ) from None
        kind = ast.unparse(annotation) if annotation is not None else _type_of(default)
        parameter = Parameter(target.id, kind, default, comments.get(node.end_lineno or node.lineno, ""))
        if not parameter.accepts(default):
            raise ParameterError(f"{target.id} is annotated {kind}, its default {default!r} is not one")
        found.append(parameter)
    return found


def convert(declared: Iterable[Parameter], given: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Turn the strings of a command line into values: JSON, or a bare word where a string is expected."""
    known = {parameter.name: parameter for parameter in declared}
    values: dict[str, Any] = {}
    for name, text in given:
        if name in values:
            raise ParameterError(f"{name} is given twice")
        try:
            value = json.loads(text)
        except json.JSONDecodeError:
            value = text
        if name in known and not known[name].accepts(value) and known[name].accepts(text):
            value = text
        values[name] = value
    check(known.values(), values)
    return values


def check(declared: Iterable[Parameter], values: Mapping[str, Any]) -> None:
    """Raise ParameterError at the first name or type that the notebook does not declare."""
    known = {parameter.name: parameter for parameter in declared}
    for name, value in values.items():
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ParameterError(f"no parameter {name!r}{hint} {_listing(known.values())}")
        if not known[name].accepts(value):
            wanted = known[name]
            raise ParameterError(
                f"{name} must be {wanted.type}, such as '{json.dumps(wanted.default)}', "
                f"got {json.dumps(value)} {_listing(known.values())}"
            )


def _listing(declared: Iterable[Parameter]) -> str:
    lines = [str(parameter) for parameter in declared]
    return "(it takes none)" if not lines else "(it takes: " + "; ".join(lines) + ")"


def _comments(source: str) -> dict[int, str]:
    """Return the comments behind code by line, with the lines of comment below them."""
    found: dict[int, str] = {}
    of = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        line, text = token.start[0], token.string.lstrip("# ").strip()
        if token.line.lstrip().startswith("#"):
            if of:
                found[of] += f" {text}"
        else:
            of = line
            found[of] = text
    return found


def _type_of(value: Any) -> str:
    if isinstance(value, list) and value:
        kinds = {_type_of(item) for item in value}
        if kinds == {"int", "float"}:
            kinds = {"float"}
        return f"list[{kinds.pop()}]" if len(kinds) == 1 else "list"
    return "Any" if value is None else type(value).__name__


def _matches(kind: ast.expr, value: Any) -> bool:
    match kind:
        case ast.Constant(value=None):
            return value is None
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _matches(left, value) or _matches(right, value)
        case ast.Name(id="float"):
            return isinstance(value, int | float) and not isinstance(value, bool)
        case ast.Name(id="int"):
            return isinstance(value, int) and not isinstance(value, bool)
        case ast.Name(id="Any"):
            return True
        case ast.Name(id=name) if name in _SIMPLE:
            return isinstance(value, _SIMPLE[name])
        case ast.Subscript(value=ast.Name(id="list"), slice=item):
            return isinstance(value, list) and all(_matches(item, entry) for entry in value)
        case ast.Subscript(value=ast.Name(id="dict"), slice=ast.Tuple(elts=[key, item])):
            return isinstance(value, dict) and all(
                _matches(key, k) and _matches(item, v) for k, v in value.items()
            )
        case ast.Subscript(value=ast.Name(id="Literal"), slice=choices):
            return value in [ast.literal_eval(c) for c in getattr(choices, "elts", [choices])]
    raise ParameterError(
        f"cannot check values of type {ast.unparse(kind)!r}; "
        "use bool, int, float, str, list[...], dict[str, ...], Literal[...], Any, None and |"
    )

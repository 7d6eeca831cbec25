"""Which module measures an experiment, read from a room's ``experiments`` without importing the room."""

from __future__ import annotations

import ast
from pathlib import Path


def measured_by(folder: Path, package: str, table: str) -> str | None:
    """Return the module that defines the measure of a table; None where that cannot be read.

    It can where ``EXPERIMENTS`` is a dict of names, each imported with ``from .module import name``, or
    defined in the same file.

    Parameters
    ----------
    folder : path
        Of the room.
    package, table : str
        The room's package, and the table's name in its ``protocol.toml``.
    """
    home = f"{package}.experiments"
    file = folder / "experiments" / "__init__.py"
    if not file.is_file():
        return None
    imported: dict[str, str] = {}
    measures: dict[str, str] = {}
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
            imported |= {alias.asname or alias.name: f"{home}.{node.module}" for alias in node.names}
        elif isinstance(node, ast.FunctionDef):
            imported[node.name] = home
        elif isinstance(node, ast.AnnAssign | ast.Assign) and isinstance(node.value, ast.Dict):
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            if isinstance(target, ast.Name) and target.id == "EXPERIMENTS":
                measures = dict(_names(node.value))
    return imported.get(measures.get(table, ""))


def _names(value: ast.Dict) -> list[tuple[str, str]]:
    return [
        (key.value, measure.id)
        for key, measure in zip(value.keys, value.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(key.value, str) and isinstance(measure, ast.Name)
    ]

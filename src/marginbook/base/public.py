"""What the rooms of the papers offer: found in the ``__all__`` of each, without an import of any."""

from __future__ import annotations

import ast
import importlib
import inspect
from functools import cache
from typing import Any

from .project import PACKAGE
from .rooms import papers


@cache
def public_names() -> dict[str, str]:
    """Return the public names of the rooms of papers, each with the package that exports it.

    >>> public_names()["LDMClassifier"]
    'marginbook.ldm'
    """
    found: dict[str, str] = {}
    for room in papers().values():
        if room.package.startswith(f"{PACKAGE.name}."):  # a room that lives elsewhere keeps its own names
            found |= dict.fromkeys(_exported((room.folder / "__init__.py").read_bytes()), room.package)
    return found


def _exported(source: bytes) -> list[str]:
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and any(ast.unparse(target) == "__all__" for target in node.targets):
            return list(ast.literal_eval(node.value))
    return []


def public_estimators() -> dict[str, type[Any]]:
    """Return the estimators that the rooms of papers export, by name; this imports them."""
    from sklearn.base import BaseEstimator  # late: `import marginbook` reads names here and no more

    found = {name: getattr(importlib.import_module(place), name) for name, place in public_names().items()}
    return {
        name: value
        for name, value in found.items()
        if inspect.isclass(value) and issubclass(value, BaseEstimator)
    }

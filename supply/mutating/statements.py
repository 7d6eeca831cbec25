"""The lines of a Python file: which statements one is in, and where a name is used."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

_NESTED = ast.stmt | ast.ExceptHandler | ast.match_case


def _statements(node: ast.AST) -> Iterator[Any]:
    return (child for child in ast.iter_child_nodes(node) if isinstance(child, _NESTED))


def chain(node: ast.AST, line: int) -> Iterator[Any]:
    """Yield the statements that a line is in, the outermost first."""
    for child in _statements(node):
        if first(child) <= line <= last(child):
            yield child
            yield from chain(child, line)


def first(node: Any) -> int:
    if isinstance(node, ast.match_case):
        return node.pattern.lineno
    return int(min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))]))


def last(node: Any) -> int:
    return last(node.body[-1]) if isinstance(node, ast.match_case) else int(node.end_lineno)


def head(node: Any) -> set[int]:
    """Return the lines of a statement without those of the statements in it."""
    inside = min(map(first, _statements(node)), default=last(node) + 1)
    return set(range(first(node), max(inside, first(node) + 1)))


def in_functions(tree: ast.Module) -> set[int]:
    """Return the lines of bodies of functions."""
    return {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for line in range(node.body[0].lineno, last(node) + 1)
    }


def named(tree: ast.Module, name: str) -> list[int]:
    """Return the lines on which a name is used, not defined or imported."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if (isinstance(node, ast.Name) and node.id == name)
        or (isinstance(node, ast.Attribute) and node.attr == name)
    ]

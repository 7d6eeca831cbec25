"""Some of Cosmic Ray's operators, written again: how mutants are drawn can be tested without them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import parso
import pytest
from parso.tree import BaseNode, NodeOrLeaf

SIGNS = {"Add": "+", "Sub": "-", "Mul": "*", "BitOr": "|"}
Span = tuple[tuple[int, int], tuple[int, int]]


class Visitor:
    """Walks through a tree and puts what `visit` returns in the place of each node, or nothing for None."""

    def walk(self, node: Any) -> Any:
        node = self.visit(node)
        if isinstance(node, BaseNode):
            walked = map(self.walk, node.children)
            node.children = [child for child in walked if child is not None]
        return node

    def visit(self, node: Any) -> Any:
        raise NotImplementedError


class _Operator:
    def __call__(self) -> _Operator:  # it stands for a class, too
        return self

    def arguments(self) -> tuple[()]:
        return ()

    def mutation_positions(self, node: NodeOrLeaf) -> Iterator[Span]:
        for _ in range(self.ways(node)):
            yield node.start_pos, node.end_pos

    def ways(self, node: Any) -> int:
        raise NotImplementedError


class _Numbers(_Operator):
    def ways(self, node: Any) -> int:
        return 2 * (node.type == "number")

    def mutate(self, node: Any, number: int) -> Any:
        node.value = str(int(node.value) + (1, -1)[number])
        return node


class _Binary(_Operator):
    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new

    def ways(self, node: Any) -> int:
        return int(node.type == "operator" and node.value == SIGNS[self.old])

    def mutate(self, node: Any, number: int) -> Any:
        node.value = SIGNS[self.new]
        return node


class _Conditions(_Operator):
    def ways(self, node: Any) -> int:
        return int(node.type == "while_stmt")

    def mutate(self, node: Any, number: int) -> Any:
        negated = parso.parse(f"not{node.children[1].get_code()}").children[0]
        negated.get_first_leaf().prefix = " "
        node.children[1] = negated
        return node


class _Decorators(_Operator):
    def ways(self, node: Any) -> int:
        return int(node.type == "decorator")

    def mutate(self, node: Any, number: int) -> None:
        return None


def operators() -> dict[str, _Operator]:
    """Return the operators by Cosmic Ray's names."""
    pairs = [(old, new) for old in SIGNS for new in SIGNS if old != new]
    return {
        "NumberReplacer": _Numbers(),
        "AddNot": _Conditions(),
        "RemoveDecorator": _Decorators(),
        **{f"ReplaceBinaryOperator_{old}_{new}": _Binary(old, new) for old, new in pairs},
    }


def nodes(node: Any) -> Iterator[Any]:
    """Yield a node and all below it."""
    yield node
    for child in getattr(node, "children", ()):
        yield from nodes(child)


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the two modules that are imported of Cosmic Ray have what is above."""
    parts: dict[str, dict[str, Any]] = {
        "ast": {"Visitor": Visitor, "get_ast": parso.parse, "ast_nodes": nodes},
        "operators": {},
        "operators.provider": {"OperatorProvider": operators},
    }
    monkeypatch.setitem(sys.modules, "cosmic_ray", ModuleType("cosmic_ray"))
    for name, content in parts.items():
        module = ModuleType(f"cosmic_ray.{name}")
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, f"cosmic_ray.{name}", module)

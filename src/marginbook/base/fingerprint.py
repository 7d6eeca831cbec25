"""A hash of the code that a result depends on, so that a cache notices when that code changes.

Nothing is imported for it. What parsing a file gives is remembered by the hash of its bytes, not by its time:
a change is noticed however soon it comes after another.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.machinery
import importlib.util
import inspect
import sys
from collections.abc import Iterator
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from .remembered import Remembered, sha256

PACKAGE = "marginbook"
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
# what a name is used for shows in its place; the other two are notes on spelling
_IGNORED = ("ctx", "kind", "type_comment")
_VERSION = sha256(Path(__file__).read_bytes(), sys.version.encode())
_IMPORTED, _HASHES = Remembered("imports", _VERSION), Remembered("fingerprints", _VERSION)


def fingerprint(*objects: object, messages: bool = True) -> str:
    """Return the sha256 of the source of the marginbook modules that `objects` use, transitively.

    Comments, docstrings and layout do not count: only what can change a result does. Every version of Python
    that can read the modules gives the same hash.

    Parameters
    ----------
    *objects : modules, functions, classes, or dotted module names
    messages : bool, default=True
        Whether the words count with which errors are raised and warnings given: not for numbers that take
        hours.
    """
    names = sorted({name for obj in objects for name in _reachable(_module_name(obj))})
    contents = sha256(
        str(messages).encode(), *(part for name in names for part in (name.encode(), _content(name)))
    )
    found: str = _HASHES.get(contents, lambda: _hash(names, messages), str)
    for facts in (_IMPORTED, _HASHES):
        facts.save()
    return found


def _hash(names: list[str], messages: bool) -> str:
    digest = hashlib.sha256()
    for name in names:
        digest.update(f"{name}\n{_normalised(name, messages)}\n".encode())
    return digest.hexdigest()


def _module_name(obj: object) -> str:
    if isinstance(obj, str):
        return obj
    if isinstance(obj, ModuleType):
        return obj.__name__
    module = inspect.getmodule(inspect.unwrap(obj) if callable(obj) else obj)
    if module is None:
        raise TypeError(f"cannot tell which module defines {obj!r}; pass the module's dotted name instead")
    return module.__name__


def _reachable(start: str) -> Iterator[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name in seen or _source_file(name) is None:
            continue
        seen.add(name)
        waiting.extend(_imports(name))
    return iter(seen)


@cache
def _spec(name: str) -> ModuleSpec | None:
    """Find a module, unlike `importlib.util.find_spec` without importing the packages around it."""
    package, _, _ = name.rpartition(".")
    try:
        if not package:
            return importlib.util.find_spec(name)
        parent = _spec(package)
        if parent is None or parent.submodule_search_locations is None:
            return None
        return importlib.machinery.PathFinder.find_spec(name, parent.submodule_search_locations)
    except (ModuleNotFoundError, ValueError):
        return None


@cache
def _source_file(name: str) -> Path | None:
    spec = _spec(name)
    return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None


@cache
def _content(name: str) -> bytes:
    path = _source_file(name)
    assert path is not None
    return path.read_bytes()


def _parsed(name: str) -> ast.Module:
    try:
        return ast.parse(_content(name))
    except SystemError:  # Python 3.11 counts depth for all threads in one place: another one parsed meanwhile
        return ast.parse(_content(name))


@cache
def _tree(name: str) -> ast.Module:
    return _parsed(name)


@cache
def _normalised(name: str, messages: bool = True) -> str:
    return _text(_tree(name) if messages else _Wordless().visit(_parsed(name)))


class _Wordless(ast.NodeTransformer):
    """Takes the words out of ``raise Error("...")`` and ``warnings.warn("...")``."""

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        if isinstance(node.exc, ast.Call):
            node.exc.args = [_silent(arg) for arg in node.exc.args]
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if _text(node.func) == _text(ast.parse("warnings.warn", mode="eval").body):
            node.args = [_silent(arg) for arg in node.args]
        return self.generic_visit(node)


def _silent(word: ast.expr) -> ast.expr:
    texts = isinstance(word, ast.JoinedStr) or (
        isinstance(word, ast.Constant) and isinstance(word.value, str)
    )
    return ast.Constant("") if texts else word


def _text(value: object) -> str:
    """Write a syntax tree down, the same on every Python, unlike `ast.unparse` and `ast.dump`."""
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    if not isinstance(value, ast.AST):
        return ascii(value)  # not repr: which letters it shows depends on the version's Unicode
    fields = dict(ast.iter_fields(value))
    if isinstance(value, _DOCUMENTED) and ast.get_docstring(value, clean=False) is not None:
        fields["body"] = value.body[1:] or [ast.Pass()]
    elif isinstance(value, ast.JoinedStr):
        fields["values"] = _joined(value.values)
    elif isinstance(value, ast.FormattedValue) and _text(value.format_spec) == "JoinedStr()":
        fields["format_spec"] = None
    kept = ((name, part) for name, part in fields.items() if name not in _IGNORED and part not in (None, []))
    return f"{type(value).__name__}({', '.join(f'{name}={_text(part)}' for name, part in kept)})"


def _joined(parts: list[ast.expr]) -> list[ast.expr]:
    """Join the neighbouring texts of an f-string: where they are split depends on the version."""
    found: list[ast.expr] = []
    text = ""
    for part in parts:
        if isinstance(part, ast.Constant):
            text += str(part.value)
            continue
        found += [ast.Constant(text), part] if text else [part]
        text = ""
    return [*found, ast.Constant(text)] if text else found


@cache
def _imports(name: str) -> frozenset[str]:
    path = _source_file(name)
    package = name if path is not None and path.name == "__init__.py" else name.rpartition(".")[0]
    key = sha256(PACKAGE.encode(), package.encode(), _content(name))
    return frozenset(_IMPORTED.get(key, lambda: _imports_of(_tree(name), package), list))


def _imports_of(tree: ast.Module, package: str) -> list[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            found.add(base)
            found.update(f"{base}.{alias.name}" for alias in node.names)
    ours = {PACKAGE, package.partition(".")[0]}  # the other is that of a room that lives elsewhere
    return sorted(found_name for found_name in found if found_name.partition(".")[0] in ours)

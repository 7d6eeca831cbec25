"""Which parameters reach a cell: names followed through the assignments of a notebook, without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def dependencies(cells: Sequence[str], names: Iterable[str]) -> list[set[str]]:
    """Return for each code cell the `names` whose values what it uses may depend on.

    It errs on the side of too many: what a statement reads reaches all that it writes, and an object whose
    method is called as a statement of its own counts as written.

    >>> dependencies(["X = load(dataset)", "y = 2 * n", "X.sum()"], ["dataset", "n"])
    [{'dataset'}, {'n'}, {'dataset'}]
    """
    reach: dict[str, set[str]] = {name: {name} for name in names}
    imported: set[str] = set()
    found = []
    for source in cells:
        used: set[str] = set()
        for statement in _statements(source):
            if isinstance(statement, ast.Import | ast.ImportFrom):
                imported.update(_bound(alias) for alias in statement.names)
                continue
            of_this = set().union(*(reach.get(name, set()) for name in _read(statement)))
            used |= of_this
            for name in _written(statement) - imported:
                kept = set() if isinstance(statement, ast.Assign) else reach.get(name, set())
                reach[name] = kept | of_this
        found.append(used)
    return found


def _statements(source: str) -> list[ast.stmt]:
    try:
        return ast.parse(source).body
    except SyntaxError:  # a magic of IPython's
        return []


def _bound(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _read(node: ast.AST, hidden: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield the names of the notebook that `node` reads: not those that belong to a function inside it."""
    inner = hidden
    if isinstance(node, _Function):
        own = {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
        inner = hidden | own | _stored(node)
    elif isinstance(node, _Comprehension):
        inner = hidden | {name for part in node.generators for name in _stored(part.target)}
    elif isinstance(node, ast.AugAssign):
        yield from _stored(node.target) - hidden
    elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store) and node.id not in hidden:
        yield node.id
    for child in ast.iter_child_nodes(node):
        yield from _read(child, inner)


def _written(node: ast.AST) -> set[str]:
    """Return the names of the notebook that `node` binds or changes."""
    found = set()
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Lambda | _Comprehension):
        return set()
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        found.add(node.id)
    elif isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
        found |= _base(node)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        found |= _base(node.value.func)  # rows.append(...)
    return found.union(*map(_written, ast.iter_child_nodes(node)))


def _stored(node: ast.AST) -> set[str]:
    return {
        each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }


def _base(node: ast.expr) -> set[str]:
    if isinstance(node, ast.Name):  # a plain function writes nothing that has a name here
        return set()
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return {node.id} if isinstance(node, ast.Name) else set()

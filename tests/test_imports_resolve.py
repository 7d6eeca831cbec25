"""No test runs the benchmarks and the tools of supply/: what they import from the package must be there."""

import ast
import importlib
from pathlib import Path

import pytest

from marginbook.base.project import root

FILES = sorted(path for folder in ("benchmarks", "supply") for path in (root() / folder).rglob("*.py"))


def there(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


def unresolved(path: Path) -> list[str]:
    lacking = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.startswith("marginbook")]
            lacking += [f"{path.name}:{node.lineno}: {name}" for name in names if not there(name)]
        if not (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("marginbook")):
            continue
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"  # a name in a module, or a module of a package
            known = there(node.module) and hasattr(importlib.import_module(node.module), alias.name)
            if not known and not there(whole):
                lacking.append(f"{path.name}:{node.lineno}: {whole}")
    return lacking


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_what_is_imported_is_there(path):
    assert not unresolved(path)


@pytest.mark.parametrize(
    "line",
    [
        "from marginbook.absent import x",
        "from marginbook.base.project import absent",
        "from marginbook import absent",
        "import marginbook.absent",
    ],
)
def test_what_is_not_there_is_named(tmp_path, line):
    (tmp_path / "tool.py").write_text(line, encoding="utf-8")
    assert len(unresolved(tmp_path / "tool.py")) == 1

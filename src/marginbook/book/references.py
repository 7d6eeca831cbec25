"""A Sphinx extension: a reference to an object of ours that has no entry is text, if the object exists.

Signatures name classes that the reference pages do not list. Sphinx's nitpicky mode would report each of
them; to silence a whole pattern would hide the misspelt ones too.
"""

from __future__ import annotations

import importlib
from typing import Any

from docutils import nodes  # type: ignore[import-untyped]
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from ..base.project import PACKAGE


def exists(target: str) -> bool:
    """Return whether a dotted name is a module of ours, or something inside one."""
    parts = target.split(".")
    if parts[0] != PACKAGE.name:
        return False
    for end in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:end]))
        except ImportError:
            continue
        for name in parts[end:]:
            if not hasattr(found, name) and name not in getattr(found, "__dataclass_fields__", {}):
                return False
            found = getattr(found, name, None)
        return True
    return False


def resolve(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.TextElement
) -> nodes.TextElement | None:
    """Answer Sphinx's ``missing-reference``: the text itself, or None for "it is missing indeed"."""
    if node.get("refdomain") != "py":
        return None
    target = node.get("reftarget", "")
    module = node.get("py:module") or ""
    return content if exists(target) or (module and exists(f"{module}.{target}")) else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

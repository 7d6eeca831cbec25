"""Reference pages by task: an estimator, or what a public module exports in the order of its ``__all__``."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

from ..base.project import PACKAGE
from ..base.public import public_names as exported
from ..base.rooms import rooms

_INCLUDED = re.compile(r"_generated/api-([\w.]+)\.md")


def modules(pages: Path) -> list[str]:
    """Return the modules, and names that rooms export, that the pages of a folder document."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(pages.rglob("*.md")))
    return list(dict.fromkeys(name for text in texts for name in _INCLUDED.findall(text)))


def write(folder: Path) -> None:
    """Write ``api-<name>.md`` for each module or name that a page of ``api/`` beside `folder` includes."""
    packages = {key: room.package for key, room in rooms().items()}
    for module in modules(folder.parent / "api"):
        try:
            text = (
                of_name(module)
                if module in exported()
                else reference(packages.get(module, f"{PACKAGE.name}.{module}"))
            )
        except ModuleNotFoundError:
            text = "This module is not part of this version.\n"
        folder.joinpath(f"api-{module}.md").write_text(text, encoding="utf-8")


def of_name(name: str) -> str:
    """Return the directive that documents one name that a room exports, under the room's name."""
    place = exported()[name]
    lines = [
        f".. currentmodule:: {place}",
        "",
        *_directive(name, getattr(importlib.import_module(place), name)),
    ]
    return "\n".join(["```{eval-rst}", *lines, "```", ""])


def reference(module: str) -> str:
    """Return directives that document the public names of a module."""
    found = importlib.import_module(module)
    lines = ["```{eval-rst}", f".. py:module:: {module}", "", f".. currentmodule:: {module}", ""]
    for name in public_names(found):
        lines += [*_directive(name, getattr(found, name)), ""]
    return "\n".join([*lines, "```", ""])


def public_names(module: object) -> list[str]:
    """``__all__``, else what the module itself defines without an underscore."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return list(listed)
    own = [
        (inspect.getsourcelines(value)[1], name)
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == getattr(module, "__name__", None)
    ]
    return [name for _, name in sorted(own)]


def _directive(name: str, value: object) -> list[str]:
    if inspect.isclass(value):
        if issubclass(value, BaseException):
            return [f".. autoexception:: {name}"]
        requests = ", ".join(m for m in dir(value) if m.startswith("set_") and m.endswith("_request"))
        # scikit-learn writes these methods, with references into its own pages
        return [
            f".. autoclass:: {name}",
            "   :members:",
            *([f"   :exclude-members: {requests}"] if requests else []),
        ]
    if callable(value):
        # click wraps its commands in objects that have no signature
        return [f".. autofunction:: {name}"] if inspect.isfunction(value) else []
    return [f".. autodata:: {name}"]

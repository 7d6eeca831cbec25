"""Whether a name that is to go says so to whoever still uses it."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import textwrap
from typing import Any

import click


def silent(name: str, main: click.Group) -> str:
    """Return why a name gives no warning, or an empty text.

    Parameters
    ----------
    name : str
        ``$ marginbook data load``, the same with an option or argument, ``marginbook.drm.Name``, a method or
        an attribute below it, or ``marginbook.Name(parameter)``.
    main : click.Group
        The command line.
    """
    if name.startswith("$"):
        said = found(main, name.split()[2:]).deprecated
        # click prints the text; with True it says only that the thing is deprecated, not what to take
        return "" if isinstance(said, str) else f"{name} needs deprecated='what to take instead'"
    path, _, parameter = name.rstrip(")").partition("(")
    value: Any = importlib.import_module(path.partition(".")[0])
    for part in path.split(".")[1:]:
        inside = f"{getattr(value, '__name__', '')}.{part}"
        value = getattr(value, part, None) or importlib.import_module(inside)
    return (
        ""
        if warns(value, parameter)
        else f"no warnings.warn of {path} has FutureWarning"
        + (f" and names {parameter}" if parameter else "")
    )


def found(command: click.Command, words: list[str]) -> click.Command | click.Parameter:
    """Return the command, option or argument of these words."""
    if not words:
        return command
    if isinstance(command, click.Group):
        below = command.get_command(context := click.Context(command), words[0])
        if words[0] in command.list_commands(context) and below is not None:
            return found(below, words[1:])
    for each in command.params:
        shown = [each.human_readable_name.upper()] if isinstance(each, click.Argument) else each.opts
        if " ".join(words) in shown:
            return each
    raise LookupError(f"{command.name} has no {' '.join(words)}")


def warns(value: Any, parameter: str = "") -> bool:
    """Return whether one call of ``warnings.warn`` has ``FutureWarning`` and names the parameter.

    Of a class, its bases of ours are read too: `fit` of one may judge the parameters of another.
    """
    value = getattr(value, "fget", value)
    named = re.compile(rf"(?<!\w){re.escape(parameter)}(?!\w)")
    for each in value.__mro__ if inspect.isclass(value) and parameter else [value]:
        if each.__module__.partition(".")[0] in ("builtins", "abc", "sklearn"):
            continue
        for call in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(each)))):
            if isinstance(call, ast.Call) and ast.unparse(call.func) in ("warnings.warn", "warn"):
                text = ast.unparse(call)
                if "FutureWarning" in text and named.search(text):
                    return True
    return False

"""Rivals of a claim: false neighbours of its statement, which the same check must refute.

A rival changes what is claimed (a constant that is 2 % off, a missing condition, another cell of a table), or
what the claim is about (the library's own function, broken). It is killed when the verdict changes with it.
A check whose rivals survive says less than it seems to.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

PACKAGE = __package__.partition(".")[0]


@dataclass(frozen=True)
class Rival:
    """One false neighbour.

    Attributes
    ----------
    what : str
        In a few words: "a rate 2 % smaller".
    arguments : mapping
        Keyword arguments of the check, whose defaults are what the paper says.
    swaps : mapping
        Name in the package -> a function of what stands there that returns what shall stand there, such as
        ``{"kfda.solvers.lasso.duality_gap": returns(0.0)}``. Every module that imported it sees the swap.
    """

    what: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    swaps: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)


def returns(value: Any) -> Callable[[Any], Any]:
    """Return a swap: the function that always returns `value`."""
    return lambda original: lambda *args, **named: value


def times(factor: float) -> Callable[[Any], Any]:
    """Return a swap: what a function returned, or a constant, times `factor`."""

    def swap(original: Any) -> Any:
        if not callable(original):
            return factor * original
        return lambda *args, **named: factor * original(*args, **named)

    return swap


def given(position: int, factor: float) -> Callable[[Any], Any]:
    """Return a swap: a function that gets one of its positional arguments times `factor`."""

    def swap(original: Any) -> Any:
        def call(*args: Any, **named: Any) -> Any:
            changed = [factor * value if k == position else value for k, value in enumerate(args)]
            return original(*changed, **named)

        return call

    return swap


@contextmanager
def in_place(rival: Rival) -> Iterator[None]:
    """Let the rival's swaps stand where the originals stood; nothing computed with either is kept."""
    with ExitStack() as stack:
        stack.callback(_forget)
        for name, swap in rival.swaps.items():
            owner, attribute = _owner(name)
            original = getattr(owner, attribute)
            other = swap(original)
            for place, key in _places(owner, attribute, original):
                # what a class inherits is taken away again, not left there as its own
                inherited = key not in vars(place)
                stack.callback(*((delattr, place, key) if inherited else (setattr, place, key, original)))
                setattr(place, key, other)
        _forget()
        yield


def _owner(name: str) -> tuple[Any, str]:
    """Return what holds the attribute of a dotted name: a module, or a class in one."""
    parts = [PACKAGE, *name.split(".")]
    for end in range(len(parts) - 1, 0, -1):
        try:
            owner: Any = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:-1]:
            owner = getattr(owner, part)
        return owner, parts[-1]
    raise ImportError(f"no module in {name!r}")


def _places(owner: Any, attribute: str, original: Any) -> list[tuple[Any, str]]:
    """Return where the original stands: in its owner and, by whatever name, in modules that imported it."""
    if not isinstance(owner, ModuleType) or not callable(original):
        return [(owner, attribute)]
    return [
        (module, key)
        for module in _modules()
        for key, value in list(vars(module).items())
        if value is original
    ]


def _modules() -> list[ModuleType]:
    return [module for name, module in list(sys.modules.items()) if name.startswith(f"{PACKAGE}.")]


def _forget() -> None:
    """Empty every cache of a function: what was drawn, read or solved before may hang on a swap."""
    for module in _modules():
        for value in list(vars(module).values()):
            if callable(clear := getattr(value, "cache_clear", None)):
                clear()

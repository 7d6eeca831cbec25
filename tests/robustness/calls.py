"""A call with bad arguments as a small value that prints, and what its answer may not hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from .judging import Fault
from .recipes import Rows


@dataclass(frozen=True)
class Call:
    """One call of a function with bad arguments; a recipe among them is made into its array."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    named: tuple[tuple[str, Any], ...] = ()

    def run(self) -> bool:
        """Call it twice; return False, for there is no certificate. Errors and Fault pass through."""
        before, after = (self.function(*self._made(), **dict(self.named)) for _ in range(2))
        check_finite(after)
        if repr(before) != repr(after):
            raise Fault(f"two calls gave {before!r:.60} and {after!r:.60}")
        return False

    def _made(self) -> list[Any]:
        return [value.make() if isinstance(value, Rows) else value for value in self.arguments]


def check_finite(value: Any) -> None:
    """Raise Fault for a number that is not finite, anywhere in `value`.

    Raises
    ------
    Fault
        That says which type held it.
    """
    if isinstance(value, Mapping):
        value = list(value.values())
    if is_dataclass(value) and not isinstance(value, type):
        value = list(vars(value).values())
    if isinstance(value, list | tuple):
        for each in value:
            check_finite(each)
    elif (
        isinstance(value, float | np.ndarray)
        and np.asarray(value).dtype.kind == "f"
        and not np.isfinite(value).all()
    ):
        raise Fault(f"a number in {type(value).__name__} is not finite")


def calls(function: Callable[..., Any], *arguments: Any, **named: Any) -> st.SearchStrategy[Call]:
    drawn = st.tuples(
        *(each if isinstance(each, st.SearchStrategy) else st.sampled_from(each) for each in arguments)
    )
    options = st.fixed_dictionaries(
        {}, optional={key: st.sampled_from(value) for key, value in named.items()}
    )
    return st.builds(Call, st.just(function), drawn, options.map(lambda found: tuple(found.items())))

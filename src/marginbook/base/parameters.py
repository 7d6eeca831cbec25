"""Parameters that users give: numbers, counts, choices, and errors that say what is wanted.

scikit-learn's declared constraints (``sklearn.utils._param_validation``) are private, accept a Boolean as a
whole number, and have no place in their messages for what to do instead; hence these.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import numpy as np


def real(value: Any) -> float:
    """Return the number `value` as a float: inf for a whole number above all floats, nan for no number."""
    try:
        return float(value) if isinstance(value, Real) else math.nan
    except OverflowError:
        return math.inf


def is_number(value: Any, infinite: bool = False) -> bool:
    """Return whether `value` is a finite real number, or where `infinite` an infinite one; no Boolean is.

    >>> is_number(True), is_number(10**400, infinite=True), is_number(math.inf, infinite=True)
    (False, False, True)
    """
    if isinstance(value, bool):
        return False
    number = real(value)
    return math.isfinite(number) or (infinite and math.isinf(number) and bool(value == number))


def is_whole(value: Any, least: int = 1) -> bool:
    """Return whether `value` is a whole number >= `least`; a Boolean is not accepted."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


def validate_counts(least: int = 1, /, **counts: Any) -> None:
    """Raise ValueError for a count, given by its name, that is no whole number >= `least`.

    >>> validate_counts(max_iter=0)
    Traceback (most recent call last):
        ...
    ValueError: max_iter must be a whole number >= 1, got 0
    """
    for name, value in counts.items():
        if not is_whole(value, least):
            raise ValueError(f"{name} must be a whole number >= {least}, got {value!r}")


def validate_limits(**limits: Any) -> None:
    """Raise ValueError for a limit, given by its name, that is neither None nor a whole number >= 1."""
    for name, value in limits.items():
        if not (value is None or is_whole(value)):
            raise ValueError(f"{name} must be None or a whole number >= 1, got {value!r}")


def validate_not_negative(**values: Any) -> None:
    """Raise ValueError for a value, given by its name, that is no finite number >= 0."""
    for name, value in values.items():
        if not (is_number(value) and value >= 0):
            raise ValueError(f"{name} must be a number >= 0, got {value!r}")


def validate_within(interval: str, /, *, meaning: str = "", hint: str = "", **values: Any) -> None:
    """Raise ValueError for a value, given by its name, that is no number in an `interval` such as "(0, 1]".

    `meaning` and `hint` are what the message says before and after what it got.

    >>> validate_within("(0, 2]", hint="; 1 is the lasso", q=0)
    Traceback (most recent call last):
        ...
    ValueError: q must be a number in (0, 2], got 0; 1 is the lasso
    """
    low, high = map(float, interval[1:-1].split(","))
    for name, value in values.items():
        if (
            not (is_number(value) and low <= value <= high)
            or (value == low and interval[0] == "(")
            or (value == high and interval[-1] == ")")
        ):
            raise ValueError(f"{name} must be a number in {interval}{meaning}, got {value!r}{hint}")


def validate_choice(name: str, value: Any, choices: Collection[str]) -> None:
    """Raise ValueError unless parameter `name` has one of the `choices` as `value`."""
    if not (isinstance(value, str) and value in choices):
        raise ValueError(f"unknown {name} {value!r}; choose from {', '.join(choices)}")


def validate_flags(**flags: Any) -> None:
    """Raise ValueError for a flag, given by its name, that is neither True nor False."""
    for name, value in flags.items():
        if not isinstance(value, bool | np.bool_):
            raise ValueError(f"{name} must be True or False, got {value!r}")

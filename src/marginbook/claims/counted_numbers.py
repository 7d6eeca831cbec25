"""Multiplications and divisions, counted by the numbers themselves.

:meth:`Tally.numbers` turns an array into numbers that report every multiplication and division they take part
in. Write an algorithm on them line by line, and its count is that of the algorithm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class Tally:
    """How many multiplications and divisions there have been."""

    count: int = 0

    def numbers(self, values: np.ndarray) -> np.ndarray:
        """Return an object array of the same shape whose entries count into this tally."""
        array: np.ndarray = np.empty(np.shape(values), dtype=object)
        for index, value in np.ndenumerate(values):
            array[index] = Number(float(value), self)
        return array


class Number:
    """A float that counts its multiplications and divisions; sums are free, as in the paper.

    Examples
    --------
    >>> tally = Tally()
    >>> x = tally.numbers(np.array([1.0, 2.0, 3.0]))
    >>> (x @ x).value, tally.count
    (14.0, 3)
    """

    __slots__ = ("tally", "value")

    def __init__(self, value: float, tally: Tally) -> None:
        self.value, self.tally = value, tally

    def _with(self, value: float, cost: int) -> Number:
        self.tally.count += cost
        return Number(value, self.tally)

    def __add__(self, other: Any) -> Number:
        return self._with(self.value + plain(other), 0)

    def __sub__(self, other: Any) -> Number:
        return self._with(self.value - plain(other), 0)

    def __mul__(self, other: Any) -> Number:
        if isinstance(other, np.ndarray):
            return NotImplemented  # the array multiplies, entry by entry
        return self._with(self.value * plain(other), 1)

    def __truediv__(self, other: Any) -> Number:
        return self._with(self.value / plain(other), 1)

    def __rsub__(self, other: Any) -> Number:
        return self._with(plain(other) - self.value, 0)

    __radd__ = __add__
    __rmul__ = __mul__


def plain(number: Any) -> float:
    """Return the value of a number that may count."""
    return float(number.value if isinstance(number, Number) else number)


def plain_array(numbers: np.ndarray) -> np.ndarray:
    """Return the values of an array of numbers that count."""
    return np.array([plain(number) for number in numbers])

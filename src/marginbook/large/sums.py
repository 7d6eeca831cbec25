"""Sums of many terms whose rounding does not grow with their number."""

from __future__ import annotations

import numpy as np


class Sum:
    r"""A sum of numbers or arrays that keeps what each addition rounds away (Ogita, Rump & Oishi, 2005).

    After n terms the error is at most :math:`\epsilon|s|+n^2\epsilon^2\sum|x_i|` instead of
    :math:`n\epsilon\sum|x_i|`: for less than some :math:`10^7` terms their order changes the last bit at
    most, unless they cancel.

    Examples
    --------
    >>> total = Sum()
    >>> for term in (1.0, 1e100, 1.0, -1e100):
    ...     total.add(term)
    >>> float(total.value)
    2.0
    """

    def __init__(self) -> None:
        self._high: np.ndarray | float = 0.0
        self._low: np.ndarray | float = 0.0

    def add(self, term: np.ndarray | float) -> None:
        """Add a term; all terms have one shape."""
        total = self._high + term
        taken = total - self._high
        self._low = self._low + ((self._high - (total - taken)) + (term - taken))
        self._high = total

    @property
    def value(self) -> np.ndarray:
        """The sum so far."""
        return np.asarray(self._high + self._low)

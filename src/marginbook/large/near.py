r"""The rows near the margin, which fit into memory, and the LDM in which the hinge of all others is a line.

At a given w a row with :math:`|1-\gamma_i|` up to a width is near. Of the others the hinge is replaced by
:math:`1-\gamma_i` or by 0, on whichever side of 1 they are: both are below the hinge everywhere, so the
minimum

.. math:: \min_w\ \tfrac12w^\top Aw-q^\top w+C\sum_{i\ \mathrm{near}}(1-\gamma_i)_++\mathrm{const},
          \qquad A=I+4\lambda_1V,

is a lower bound of the optimum, and the optimum itself if no row that is not near crosses to the other side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .sums import Sum

#: numbers in the rows that are kept: 32 MB
KEPT = 2**22
#: rows that are kept in any case
LEAST = 1000


@dataclass(frozen=True)
class Near:
    """The rows near the margin at some w.

    Attributes
    ----------
    w : (p,) array
    width : float
        Rows with ``|1 - margin| <= width`` are near; infinite if all are.
    rows : (k, p) array
        With their signs.
    below : (p,) array
        Sum of the signed rows whose margins are lower still.
    """

    w: np.ndarray
    width: float
    rows: np.ndarray
    below: np.ndarray

    def crossings(self, before: np.ndarray, after: np.ndarray) -> float:
        """Return how far, together, the rows that are not near have crossed to the other side.

        Parameters
        ----------
        before, after : (m,) arrays
            One minus the margins of any rows at `w` and now.
        """
        wrong = np.where(before > 0, np.maximum(-after, 0.0), np.maximum(after, 0.0))
        return float(wrong[np.abs(before) > self.width].sum())


class Collector:
    """Takes rows in, keeps those nearest to the margin, and shrinks the width where they become too many.

    Parameters
    ----------
    w : (p,) array
    width : float
        Of the first chunks.
    """

    def __init__(self, w: np.ndarray, width: float) -> None:
        self.w, self.width = w, width
        self._rows: list[np.ndarray] = []
        self._short: list[np.ndarray] = []
        self._below = Sum()
        self._below.add(np.zeros(len(w)))
        self._most, self._count = max(LEAST, KEPT // len(w)), 0

    def add(self, rows: np.ndarray, short: np.ndarray) -> None:
        """Take in signed rows, (m, p), and one minus their margins, (m,)."""
        inside = np.abs(short) <= self.width
        self._put_below(rows, short, ~inside)
        self._rows.append(rows[inside])
        self._short.append(short[inside])
        self._count += int(inside.sum())
        if self._count > self._most:
            self._shrink()

    def total(self) -> Near:
        """Return what was kept."""
        rows = np.concatenate(self._rows) if self._rows else np.empty((0, len(self.w)))
        return Near(self.w, self.width, rows, self._below.value)

    def _shrink(self) -> None:
        rows, short = np.concatenate(self._rows), np.concatenate(self._short)
        distance = np.abs(short)
        width = float(np.partition(distance, self._most // 2)[self._most // 2])
        self.width = np.nextafter(width, 0.0)  # rows at one distance, such as all at w = 0, go together
        inside = distance <= self.width
        self._put_below(rows, short, ~inside)
        self._rows, self._short, self._count = [rows[inside]], [short[inside]], int(inside.sum())

    def _put_below(self, rows: np.ndarray, short: np.ndarray, outside: np.ndarray) -> None:
        self._below.add((outside & (short > 0)).astype(float) @ rows)

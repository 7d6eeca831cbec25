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
from typing import TypeAlias

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from .sums import Sum

Four: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]

#: numbers in the rows that are kept: 32 MB
KEPT = 2**22
#: rows that are kept in any case
LEAST = 1000
#: most steps of the interior point; 15 to 30 are usual
STEPS = 100


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


def solve_near(A: np.ndarray, q: np.ndarray, C: float, Z: np.ndarray, tol: float) -> tuple[np.ndarray, float]:
    r"""Minimise :math:`\tfrac12w^\top Aw-q^\top w+C\sum_i(1-z_i^\top w)_+` by an interior point.

    Mehrotra's predictor and corrector; each step O(k p\ :sup:`2`).

    Parameters
    ----------
    A : (p, p) array, positive definite
    q : (p,) array
    C : float
    Z : (k, p) array
    tol : float
        Wanted gap.

    Returns
    -------
    w : (p,) array
    gap : float
        Distance of the value at w to a lower bound of the minimum.
    """
    factor = cho_factor(A)
    w = cho_solve(factor, q)
    best, least = w, np.inf
    beta = np.full(len(Z), C / 2)
    start = max(1.0, float(np.abs(1.0 - Z @ w).max(initial=0.0)))
    # multipliers of the slack, in [0, C], what they lack to C, and the two slacks that these go with
    inner = (beta, C - beta, np.full(len(Z), start), np.full(len(Z), start))
    for _ in range(STEPS):
        short = 1.0 - Z @ w
        left = A @ w - q - inner[0] @ Z
        gap = 0.5 * float(left @ cho_solve(factor, left))
        gap += float((C * np.maximum(short, 0.0) - inner[0] * short).sum())
        if gap < least:
            best, least = w, gap
        if gap <= tol or len(Z) == 0:
            break
        try:
            dw, changes = _step(A, Z, left, short, inner)
        except (LinAlgError, ValueError):  # rounding has the last word
            break
        length = 0.995 * _longest(inner, changes)
        w, inner = w + length * dw, _moved(inner, changes, length)
        if not (np.isfinite(w).all() and length > 1e-12):
            break
    return best, least


def _step(
    A: np.ndarray, Z: np.ndarray, left: np.ndarray, short: np.ndarray, inner: Four
) -> tuple[np.ndarray, Four]:
    """Return the direction of w and of the rest: predicted, then corrected for products of changes."""
    beta, tau, slack, excess = inner
    D = 1.0 / (slack / beta + excess / tau)
    system = cho_factor(A + (Z.T * D) @ Z)
    miss = excess - short - slack

    def towards(r_slack: np.ndarray, r_excess: np.ndarray) -> tuple[np.ndarray, Four]:
        right = D * (r_slack / beta - r_excess / tau - miss)
        dw = cho_solve(system, right @ Z - left)
        dbeta = right - D * (Z @ dw)
        return dw, (dbeta, -dbeta, (r_slack - slack * dbeta) / beta, (r_excess + excess * dbeta) / tau)

    _, predicted = towards(-beta * slack, -tau * excess)
    mu = _complement(inner)
    share = _complement(_moved(inner, predicted, _longest(inner, predicted))) / mu
    target = mu * share**3 / (2 * len(Z))
    dbeta, dtau, dslack, dexcess = predicted
    return towards(target - beta * slack - dbeta * dslack, target - tau * excess - dtau * dexcess)


def _complement(inner: Four) -> float:
    return float(inner[0] @ inner[2] + inner[1] @ inner[3])


def _moved(inner: Four, changes: Four, length: float) -> Four:
    beta, tau, slack, excess = (value + length * change for value, change in zip(inner, changes, strict=True))
    return beta, tau, slack, excess


def _longest(inner: Four, changes: Four) -> float:
    """Return the longest step, up to 1, that keeps all values above 0."""
    longest = 1.0
    for value, change in zip(inner, changes, strict=True):
        down = change < 0
        if down.any():
            longest = min(longest, float((value[down] / -change[down]).min()))
    return longest

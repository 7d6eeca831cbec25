r"""The lists of kernels that the paper tries.

Its Gaussian kernel is :math:`\exp(-\lVert x-z\rVert^2/\sigma^2)` (section 5.1 prints it without the
minus sign), so ``gamma`` is :math:`1/\sigma^2`; its polynomial kernel is :math:`(1+x^\top z)^d`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

import numpy as np

from ...base.parameters import is_whole
from ...kernels import Kernel

SETS = ("table-1", "section-5.1", "table-4", "figures")
#: ranges of section 5.3, which Figures 2-5 keep while the number of kernels changes
DEGREES = (1, 64)
WIDTHS = (2.0**-3, 2.0**6)


def poly(degrees: Iterable[int]) -> list[Kernel]:
    """Return the kernels :math:`(1+x^\\top z)^d`, one for each degree."""
    return [("poly", {"degree": int(d), "gamma": 1.0, "coef0": 1.0}) for d in degrees]


def rbf(sigmas: Iterable[float]) -> list[Kernel]:
    r"""Return the kernels :math:`\exp(-\lVert x-z\rVert^2/\sigma^2)`, one for each width."""
    return [("rbf", {"gamma": (1.0 / float(s)) ** 2}) for s in sigmas]


def paper_kernels(which: str = "figures", count: int | None = None) -> list[Kernel]:
    r"""Return one of the paper's lists of kernels, in its order.

    Parameters
    ----------
    which : {"table-1", "section-5.1", "table-4", "figures"}, default="figures"
        Degrees d of :math:`(1+x^\top z)^d`, and widths :math:`\sigma` of
        :math:`\exp(-\lVert x-z\rVert^2/\sigma^2)`, whose gamma is :math:`1/\sigma^2`.
        ``"table-1"``: degrees 8, 12, 24, 48 and widths 1, 0.5, 0.1, 0.05 (Tables 1 and 2).
        ``"section-5.1"``: the same degrees and widths 10, 1, 0.1, 0.01 (the text about the same tables).
        ``"table-4"``: widths :math:`2^{-3},\dots,2^6` and degrees 1, 2, 3.
        ``"figures"``: degrees :math:`2^0,\dots,2^6` and widths :math:`2^{-3},\dots,2^6` (section 5.3).
    count : int, default=None
        For ``"figures"``: so many kernels, spread evenly in the logarithm over the same two ranges, with
        degrees and widths in the proportion 7 : 10. Degrees are whole and distinct: where rounding would
        repeat one, the next is taken. One kernel of a family lies in the middle of its range.

    Returns
    -------
    list of kernels as in :mod:`marginbook.kernels`

    Examples
    --------
    >>> from marginbook.clasmk import paper_kernels
    >>> len(paper_kernels("table-4")), len(paper_kernels("figures", 98))
    (13, 98)
    """
    if not (isinstance(which, str) and which in SETS):
        raise ValueError(f"unknown list of kernels {which!r}; choose from {', '.join(SETS)}")
    if count is not None and which != "figures":
        raise ValueError(
            f"count = {count!r} for {which!r}, wanted None; only 'figures' comes in other numbers"
        )
    if which == "table-1":
        return poly((8, 12, 24, 48)) + rbf((1.0, 0.5, 0.1, 0.05))
    if which == "section-5.1":
        return poly((8, 12, 24, 48)) + rbf((10.0, 1.0, 0.1, 0.01))
    widths = [2.0**i for i in range(-3, 7)]
    if which == "table-4":
        return rbf(widths) + poly((1, 2, 3))
    if count is None:
        count = 17
    if not (is_whole(count, 2) and count <= sys.maxsize):
        raise ValueError(
            f"count = {count!r}, wanted a whole number >= 2; give one kernel of each family at least"
        )
    if count == 17:
        return poly(2**i for i in range(7)) + rbf(widths)
    n_poly = max(1, round(int(count) * 7 / 17))
    return poly(_degrees(n_poly)) + rbf(_spread(*WIDTHS, int(count) - n_poly))


def _spread(low: float, high: float, count: int) -> np.ndarray:
    return np.geomspace(low, high, count) if count > 1 else np.array([np.sqrt(low * high)])


def _degrees(count: int) -> list[int]:
    low, high = DEGREES
    if count > high - low + 1:
        raise ValueError(
            f"{count} polynomial kernels asked, wanted at most {high - low + 1}, the whole degrees "
            f"from {low} to {high}; give a smaller count"
        )
    degrees: list[int] = []
    for wanted in _spread(low, high, count):
        degrees.append(max(round(float(wanted)), degrees[-1] + 1 if degrees else low))
    return degrees

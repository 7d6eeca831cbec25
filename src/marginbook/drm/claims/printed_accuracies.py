"""Whether a printed accuracy can be what it says it is: so many right answers in so many test rows."""

from __future__ import annotations

import math
from functools import cache


def reachable(mean: float, std: float, rows: int, *, splits: int = 5, digits: int = 4) -> bool:
    r"""Tell whether some numbers of right answers lead to a printed mean and standard deviation.

    Wanted are whole numbers :math:`0\le k_1,\dots,k_m\le r` with

    .. math:: \Bigl|\tfrac1{mr}\sum_i k_i - a\Bigr|\le\tfrac u2, \qquad
              \Bigl|\tfrac1r\sqrt{\tfrac1{m-1}\sum_i(k_i-\bar k)^2} - s\Bigr|\le\tfrac u2

    where

    - a, s are the printed `mean` and `std` (divisor m - 1), u one unit of their last digit,
    - r is the number of test `rows`, m the number of `splits`.

    The deviation is the stronger of the two: few sums of m squares share their sum of roots.

    Examples
    --------
    >>> reachable(0.9750, 0.0559, rows=8), reachable(0.9750, 0.0500, rows=8)
    (True, False)
    """
    if rows < 1 or splits < 2:
        raise ValueError(f"got {rows} rows and {splits} splits, expected at least 1 and 2")
    half = 0.5 * 10.0**-digits * (1 + 1e-6)  # 1e-6: a number on the border may have been rounded to here
    for total in _whole(splits * rows * (mean - half), splits * rows * (mean + half)):
        least, most = (
            max(std + sign * half, 0.0) ** 2 * (splits - 1) * rows**2 + total**2 / splits for sign in (-1, 1)
        )
        # a square is odd where its root is
        if any((s - total) % 2 == 0 and _sums(total, s, splits, rows) for s in _whole(least, most)):
            return True
    return False


def _whole(low: float, high: float) -> range:
    return range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1)


@cache
def _sums(total: int, squares: int, parts: int, top: int) -> bool:
    """Tell whether `parts` whole numbers from 0 to `top` have this sum and this sum of squares."""
    if parts == 1:
        return 0 <= total <= top and total**2 == squares
    mean, left = total / parts, squares - total**2 / parts
    if left < -1e-9:
        return False
    reach = math.sqrt(max(left, 0.0)) + 1e-9  # no part is further from the mean than all are together
    return any(
        _sums(total - k, squares - k * k, parts - 1, top)
        for k in _whole(max(0.0, mean - reach), min(float(top), mean + reach))
    )

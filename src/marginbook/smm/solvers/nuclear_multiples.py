r"""The best multiple of a matrix of coefficients, and the best intercept beside it, for hinge losses.

Both are exact: the objective is convex and piecewise smooth along them, with a corner for each sample.
"""

from __future__ import annotations

import numpy as np

#: relative differences of objectives that are rounding
ROUNDING = 4 * float(np.finfo(float).eps)
TINY = float(np.finfo(float).tiny)


def best_intercept(fitted: np.ndarray, y: np.ndarray, costs: np.ndarray) -> float:
    r"""Return the middle of the minimisers b of :math:`\sum_ic_i(1-y_i(f_i+b))_+`.

    Parameters
    ----------
    fitted : (n,) array
        :math:`f_i=\langle B,X_i\rangle`.
    y : (n,) array of -1 and 1
        Both with positive costs.
    costs : (n,) array
    """
    corners = y - fitted
    order = np.argsort(corners, kind="stable")
    # the slope in b starts at minus the cost of the positive class and rises by a cost at each corner
    slope = np.cumsum(costs[order]) - costs[y > 0].sum()
    # sums of the same costs in another order differ by rounding
    slack = 1e-12 * costs.sum()
    first = int(np.argmax(slope >= -slack))
    last = int(np.argmax(slope > slack))
    return float(corners[order[first]] + corners[order[last]]) / 2


def best_factor(margins: np.ndarray, costs: np.ndarray, square: float, norm: float) -> float:
    r"""Return the minimiser t of :math:`\tfrac12t^2s+tr+\sum_ic_i(1-tm_i)_+` over :math:`t\ge0`.

    Parameters
    ----------
    margins, costs : (n,) arrays, m and c
    square, norm : float
        s > 0 and r.
    """
    helped = margins > 0
    corners = 1 / np.maximum(margins[helped], TINY)
    order = np.argsort(corners)
    corners, drops = corners[order], (costs * margins)[helped][order]
    # between two corners the slope is t s plus a constant, which rises by c m at a corner
    constant = norm - float((costs * margins)[~helped].sum()) - np.append(np.cumsum(drops[::-1])[::-1], 0.0)
    # the first corner behind which the slope is not negative ends the interval of the minimiser
    k = int(np.argmax(np.append(corners * square + constant[1:], np.inf) >= 0))
    best = max(-constant[k] / square, corners[k - 1] if k else 0.0)
    return float(min(best, corners[k]) if k < len(corners) else best)


def best_multiple(
    fitted: np.ndarray,
    y: np.ndarray,
    costs: np.ndarray,
    *,
    square: float,
    norm: float,
    fit_intercept: bool,
) -> tuple[float, float, float]:
    r"""Return the least objective found at (tB, b), with t and b.

    .. math:: \tfrac12t^2s+tr+\sum_ic_i\bigl(1-y_i(tf_i+b)\bigr)_+

    Tried are t = 1, the best t for that intercept, and the least without losses, each with its intercept.
    Expensive losses make much of margins that are too small in the eighth digit: a multiple of B that is as
    little larger may have none at all.

    Parameters
    ----------
    fitted, y, costs : (n,) arrays, f, y and c
    square, norm : float
        s and r.
    fit_intercept : bool
        Otherwise b = 0.
    """
    intercept = best_intercept(fitted, y, costs) if fit_intercept else 0.0
    tried = [(1.0, intercept)]
    if square > 0:
        factor = best_factor(y * (fitted + intercept), costs, square, norm)
        tried.append((factor, best_intercept(factor * fitted, y, costs) if fit_intercept else 0.0))
        least = float(fitted[y > 0].min(initial=np.inf))
        most = float(fitted[y < 0].max(initial=-np.inf))
        width = least - most if fit_intercept else 2 * min(least, -most)
        if 0 < width < np.inf:
            factor = 2 / width * (1 + ROUNDING)
            tried.append((factor, -factor * (least + most) / 2 if fit_intercept else 0.0))
    found = []
    for factor, b in tried:
        loss = float(np.maximum(0.0, 1 - y * (factor * fitted + b)) @ costs)
        found.append((factor * factor * square / 2 + factor * norm + loss, factor, b))
    return min(found)

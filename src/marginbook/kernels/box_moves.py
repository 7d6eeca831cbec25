r"""Moves of one or two coordinates down :math:`\tfrac12\beta^\top K\beta+q^\top\beta` on a box.

The move that gains most, each for the price of a row of K (second-order working sets, Fan, Chen & Lin 2005).
They soon find the bounds that hold at a solution; for what lies between its bounds linear systems are faster,
which each room has for the matrices it meets.
"""

from __future__ import annotations

import numpy as np

from ..base.compiled import njit

#: coordinates that one call of the compiled loop may go through: some hundredths of a second
TURN = 50_000_000


@njit(error_model="numpy")
def _descend(
    K: np.ndarray,
    beta: np.ndarray,
    grad: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    floor: float,
    paired: bool,
    tol: float,
    enough: float,
    max_iter: int,
) -> tuple[float, bool]:
    """Move as :func:`coordinate_moves` does; return the violation, and whether no further move is wanted.

    `floor` is the least curvature of a move.
    """
    n = len(beta)
    violation = np.inf
    # side by side: in K each of them is a line of the cache to itself
    diagonal = np.diag(K).copy()
    for _ in range(max_iter):
        if paired:
            i, rise = -1, np.inf
            for k in range(n):
                if beta[k] < high[k] and grad[k] < rise:
                    i, rise = k, grad[k]
            if i < 0:
                return 0.0, True
            j, best, fall = -1, 0.0, -np.inf
            for k in range(n):
                if beta[k] > low[k]:
                    fall = max(fall, grad[k])
                    slope = grad[k] - rise
                    if slope > 0:
                        gain = slope * slope / max(diagonal[i] + diagonal[k] - 2 * K[i, k], floor)
                        if gain > best:
                            j, best = k, gain
            violation = fall - rise
            if j < 0 or violation <= tol:
                return max(violation, 0.0), True
            step = (grad[j] - rise) / max(diagonal[i] + diagonal[j] - 2 * K[i, j], floor)
            room_i, room_j = high[i] - beta[i], beta[j] - low[j]
            step = min(step, room_i, room_j)
            beta[i] = high[i] if step == room_i else beta[i] + step
            beta[j] = low[j] if step == room_j else beta[j] - step
            for k in range(n):
                grad[k] += step * (K[i, k] - K[j, k])
        else:
            i, best, violation, move, gap = -1, 0.0, 0.0, 0.0, 0.0
            for k in range(n):
                slope = grad[k]
                if (slope < 0 and beta[k] < high[k]) or (slope > 0 and beta[k] > low[k]):
                    violation = max(violation, abs(slope))
                    step = -slope / max(diagonal[k], floor)
                    down, up = low[k] - beta[k], high[k] - beta[k]
                    gap -= slope * (up if slope < 0 else down)
                    step = min(max(step, down), up)
                    gain = -step * (slope + step * diagonal[k] / 2)
                    if gain > best:
                        i, best, move = k, gain, step
            if i < 0 or violation <= tol or gap <= enough:
                return violation, True
            moved = beta[i] + move
            if move == low[i] - beta[i] or moved < low[i]:
                moved = low[i]
            elif move == high[i] - beta[i] or moved > high[i]:
                moved = high[i]
            beta[i] = moved
            for k in range(n):
                grad[k] += move * K[i, k]
    return violation, False


def coordinate_moves(
    K: np.ndarray,
    beta: np.ndarray,
    grad: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    *,
    paired: bool,
    tol: float,
    max_iter: int,
    enough: float = 0.0,
) -> tuple[float, bool]:
    """Move two coordinates at a time, one unless `paired`; return the violation, and whether that is all.

    Parameters
    ----------
    K : (n, n) array
        Symmetric, positive semidefinite.
    beta, grad : (n,) arrays
        The point, in the box, and the gradient K beta + q, changed in place.
    low, high : (n,) arrays
        The box.
    paired : bool
        Whether the sum of the coordinates is fixed.
    tol : float
        Largest violation of the optimality conditions, on the scale of the gradient.
    max_iter : int
        Moves, at least 1.
    enough : float, default=0.0
        A duality gap at which moves of one coordinate stop too.
    """
    n = len(beta)
    floor = 1e-14 * (float(np.trace(K)) / n) + 1e-300
    # a compiled loop hears no Ctrl-C before it ends
    turn, violation, done = max(1, TURN // n), np.inf, False
    for moved in range(0, max_iter, turn):
        most = min(turn, max_iter - moved)
        violation, done = _descend(K, beta, grad, low, high, floor, paired, tol, enough, most)
        if done:
            break
    return float(violation), bool(done)

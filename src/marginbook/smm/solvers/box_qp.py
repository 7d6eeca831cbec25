r"""The box-constrained quadratic program of a hinge loss, with any linear term and from any start.

.. math:: \min_\beta\tfrac12\beta^\top K\beta+q^\top\beta,\qquad l\le\beta\le u,\qquad
   \textstyle\sum_i\beta_i=\text{const (with an intercept)},

in signed multipliers :math:`\beta_i=y_ia_i`. Methods that solve many of them, each close to the one before,
want a warm start and a linear term of their own, which LIBSVM does not take. Pairs of coordinates
(second-order working sets, Fan, Chen & Lin 2005) come near the face of the solution, linear systems on faces
find it and the solution on it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ...base.compiled import njit

#: share of the box, or of the largest coefficient, within which one counts as at its bound
EDGE = 1e-12
#: ridge of the linear system on a face, relative to the mean of the diagonal: faces may be singular
RIDGE = 1e-12
#: coordinates that one call of the compiled loop may go through: some tenths of a second
TURN = 50_000_000
#: faces, each within the one before, that linear systems visit in the first round; in the next twice as many
FACES = 3
#: rounds of coordinate moves and linear systems
ROUNDS = 50


@njit()
def _descend(
    K: Any, beta: Any, grad: Any, low: Any, high: Any, floor: float, paired: bool, tol: float, max_iter: int
) -> float:
    """Move two coordinates at a time, one unless `paired`, until no move gains; return the violation.

    `beta` and its gradient `grad`, K beta + q, are changed in place; `low` and `high` are the box, all (n,).
    `floor` is the least curvature of a move.
    """
    n = len(beta)
    violation = np.inf
    for _ in range(max_iter):
        if paired:
            i, rise = -1, np.inf
            for k in range(n):
                if beta[k] < high[k] and grad[k] < rise:
                    i, rise = k, grad[k]
            if i < 0:
                return 0.0
            j, best, fall = -1, 0.0, -np.inf
            for k in range(n):
                if beta[k] > low[k]:
                    fall = max(fall, grad[k])
                    slope = grad[k] - rise
                    if slope > 0:
                        gain = slope * slope / max(K[i, i] + K[k, k] - 2 * K[i, k], floor)
                        if gain > best:
                            j, best = k, gain
            violation = fall - rise
            if j < 0 or violation <= tol:
                return max(violation, 0.0)
            step = (grad[j] - rise) / max(K[i, i] + K[j, j] - 2 * K[i, j], floor)
            room_i, room_j = high[i] - beta[i], beta[j] - low[j]
            step = min(step, room_i, room_j)
            beta[i] = high[i] if step == room_i else beta[i] + step
            beta[j] = low[j] if step == room_j else beta[j] - step
            for k in range(n):
                grad[k] += step * (K[i, k] - K[j, k])
        else:
            i, best, violation, move = -1, 0.0, 0.0, 0.0
            for k in range(n):
                slope = grad[k]
                if (slope < 0 and beta[k] < high[k]) or (slope > 0 and beta[k] > low[k]):
                    violation = max(violation, abs(slope))
                    step = -slope / max(K[k, k], floor)
                    step = min(max(step, low[k] - beta[k]), high[k] - beta[k])
                    gain = -step * (slope + step * K[k, k] / 2)
                    if gain > best:
                        i, best, move = k, gain, step
            if i < 0 or violation <= tol:
                return violation
            beta[i] = min(max(beta[i] + move, low[i]), high[i])
            for k in range(n):
                grad[k] += move * K[i, k]
    return violation


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
) -> float:
    """Move two coordinates at a time, one unless `paired`; return the violation that is left.

    Parameters
    ----------
    K, low, high, paired, tol
        As in :func:`hinge_qp`.
    beta, grad : (n,) arrays
        The point and the gradient, changed in place.
    max_iter : int
        Moves, at least 1.
    """
    n = len(beta)
    floor = 1e-14 * (float(np.trace(K)) / n) + 1e-300
    # a compiled loop hears no Ctrl-C before it ends
    turn, violation = min(max_iter, max(1, TURN // n)), np.inf
    for _ in range(0, max_iter, turn):
        violation = _descend(K, beta, grad, low, high, floor, paired, tol, turn)
        if violation <= tol:
            break
    return float(violation)


def _face_step(K: np.ndarray, grad: np.ndarray, free: np.ndarray, paired: bool) -> np.ndarray | None:
    """Return the move of the `free` coefficients to the least value on their face; None if singular."""
    block = K[np.ix_(free, free)]
    block[np.diag_indices_from(block)] += RIDGE * (np.trace(block) / len(free) + 1e-300)
    try:
        factor = cho_factor(block, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    if not paired:
        return np.asarray(cho_solve(factor, -grad[free], check_finite=False))
    sides = np.column_stack([-grad[free], np.ones(len(free))])
    solved = cho_solve(factor, sides, check_finite=False)
    move = solved[:, 0] - solved[:, 0].sum() / solved[:, 1].sum() * solved[:, 1]
    return np.asarray(move - move.mean())


def hinge_qp(
    K: np.ndarray,
    q: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    start: np.ndarray,
    *,
    paired: bool = True,
    tol: float = 1e-10,
) -> tuple[np.ndarray, float]:
    """Solve the quadratic program above from `start`.

    Parameters
    ----------
    K : (n, n) array
        Symmetric, positive semidefinite.
    q : (n,) array
    low, high : (n,) arrays
        The box.
    start : (n,) array
        Feasible; its sum is kept if `paired`.
    paired : bool, default=True
        Whether the sum of the coefficients is fixed.
    tol : float, default=1e-10
        Largest violation of the optimality conditions, on the scale of the gradient.

    Returns
    -------
    beta : (n,) array
        Feasible.
    violation : float
        Above `tol` if `ROUNDS` were too few.
    """
    beta = np.clip(start, low, high)
    n, violation = len(beta), np.inf
    for visit in range(ROUNDS):
        grad = K @ beta + q
        violation = coordinate_moves(K, beta, grad, low, high, paired=paired, tol=tol, max_iter=2 * n)
        if violation <= tol:
            break
        # a box may be far larger than all that is in it
        edge = EDGE * np.minimum(high - low, np.abs(beta).max())
        for _ in range(min(n, FACES << min(visit, 20))):
            free = np.flatnonzero((beta > low + edge) & (beta < high - edge))
            move = _face_step(K, grad, free, paired) if len(free) > 1 else None
            if move is None or not float(grad[free] @ move) < 0:
                break
            bound = np.where(move > 0, high[free], low[free])
            room = np.divide(bound - beta[free], move, out=np.full(len(free), np.inf), where=move != 0)
            step = min(1.0, float(room.min()))
            moved = np.clip(beta[free] + step * move, low[free], high[free])
            moved[room <= step] = bound[room <= step]
            grad += (moved - beta[free]) @ K[free]
            beta[free] = moved
            if step == 1.0:
                break
    return beta, violation

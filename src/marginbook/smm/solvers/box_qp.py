r"""The box-constrained quadratic program of a hinge loss, with any linear term and from any start.

.. math:: \min_\beta\tfrac12\beta^\top K\beta+q^\top\beta,\qquad l\le\beta\le u,\qquad
   \textstyle\sum_i\beta_i=\text{const (with an intercept)},

in signed multipliers :math:`\beta_i=y_ia_i`. Methods that solve many of them, each close to the one before,
want a warm start and a linear term of their own, which LIBSVM does not take. The moves of
:mod:`marginbook.kernels.box_moves` come near the face of the solution, linear systems on faces find it and
the solution on it. A step ends at its first bound, as K, of more samples than features, is often singular:
the projected steps of LDM's chunks then go astray, and its exchanges know no fixed sum.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ...kernels.box_moves import coordinate_moves

#: share of the box, or of the largest coefficient, within which one counts as at its bound
EDGE = 1e-12
#: ridge of the linear system on a face, relative to the mean of the diagonal: faces may be singular
RIDGE = 1e-12
#: faces, each within the one before, that linear systems visit in the first round; in the next twice as many
FACES = 3
#: rounds of coordinate moves and linear systems
ROUNDS = 50


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
        violation, _ = coordinate_moves(K, beta, grad, low, high, paired=paired, tol=tol, max_iter=2 * n)
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

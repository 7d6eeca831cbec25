r"""The active-set method for the lasso, on a Gram matrix: compiled loops.

To minimise :math:`\tfrac12\lVert y-D\omega\rVert^2+\sum_i\lambda_i|\omega_i|`, a set S of columns *in use* is
kept with a sign for each coefficient and with the Cholesky factor of :math:`A_{SS}`. With fixed signs the
minimiser over S is one linear solve; the way to it ends where a coefficient meets zero, and that one leaves
S. At the minimiser over S, columns with :math:`|d_i^\top r|>\lambda_i` enter, the worst ones first. The
objective falls with every exchange, so no set of signs returns. (Osborne, Presnell and Turlach 2000; Lee,
Battle, Raina and Ng 2006.)
"""

from __future__ import annotations

import numpy as np

from marginbook.kernels.cholesky import backward, column, forward
from marginbook.kfda.solvers.lasso_factor import enter, leave

from ...base.compiled import njit

#: a squared distance from the span of the columns in use, as a share of the squared norm, below which it is
#: rounding. A pivot is never taken to be smaller: along a direction that D does not see, the step is then so
#: long that a coefficient meets zero, as it does in exact arithmetic
DEPENDENT = 1e-12
#: columns that may enter before the next solve: this many, or this share of those in use
_BLOCK, _SHARE = 8, 0.25
#: those that enter together violate their condition by at least this share of the worst
_WORTH = 0.3
#: rounds in a row that may pass while the objective falls by less than this share of it
_IDLE_ROUNDS, _IDLE_SHARE = 20, 1e-16
#: rounds at most, and as many again for each column: several times what is ever needed, but where the
#: objective itself is rounding (rho below 1e-12), falls that are rounding too would go on for ever
ROUNDS, ROUNDS_PER_COLUMN = 100, 10


@njit(fastmath={"reassoc", "contract", "nsz"})
def _subtract_multiple(g: np.ndarray, t: float, row: np.ndarray) -> None:
    for i in range(len(g)):
        g[i] -= t * row[i]


@njit(error_model="numpy")
def settle(
    A: np.ndarray,
    w: np.ndarray,
    g: np.ndarray,
    lam: np.ndarray,
    sign: np.ndarray,
    R: np.ndarray,
    basis: np.ndarray,
    k: int,
    used: np.ndarray,
) -> tuple[int, float]:
    """Minimise over the columns in use; those whose coefficient meets zero leave.

    `w` and `g` = D'(y - D w), of all columns, are updated in place. Returns how many stay, and by how much
    the objective fell.
    """
    before, touched = k, basis[:k].copy()
    old = w[touched]
    left = np.empty(k)  # what is missing to stationarity: a step of length t leaves the share 1 - t of it
    for a in range(k):
        i = basis[a]
        left[a] = g[i] - lam[i] * sign[i]
    d = np.empty(k)
    fall = 0.0
    while k > 0:
        for a in range(k):
            d[a] = left[a]
        forward(R, k, d)
        backward(R, k, d)
        t, leaving, slope = 1.0, -1, 0.0
        for a in range(k):
            i = basis[a]
            slope += left[a] * d[a]
            if lam[i] > 0.0 and d[a] * sign[i] < 0.0:
                room = max(-w[i] / d[a], 0.0)
                if room < t:
                    t, leaving = room, a
        fall += t * (1.0 - 0.5 * t) * slope
        for a in range(k):
            w[basis[a]] += t * d[a]
            left[a] *= 1.0 - t
        if leaving < 0:
            break
        w[basis[leaving]] = 0.0
        used[basis[leaving]] = False
        for a in range(leaving, k - 1):
            left[a] = left[a + 1]
        k = leave(R, k, basis, leaving)
    for a in range(before):
        i = touched[a]
        if w[i] != old[a]:
            _subtract_multiple(g, w[i] - old[a], A[i, : len(g)])
    return k, fall


@njit(error_model="numpy")
def exchange(
    A: np.ndarray,
    w: np.ndarray,
    g: np.ndarray,
    lam: np.ndarray,
    sign: np.ndarray,
    R: np.ndarray,
    basis: np.ndarray,
    k: int,
    used: np.ndarray,
    limit: float,
    value: float,
    patience: int,
    idle: int,
) -> tuple[int, int, int]:
    """Exchange columns until no condition is violated by more than `limit`, or nothing is gained any more.

    Parameters
    ----------
    A : (c, c) array
        Gram matrix in its leading (m, m) block.
    w, g, lam, sign : (m,) arrays
        Coefficients, D'(y - D w), weights of the penalty, signs of the coefficients in use; updated in place.
    R : (c, c) array
        The factor, see ``lasso_factor``; `basis` (c,) names its `k` columns, `used` (m,) marks them.
    limit : float
    value : float
        The objective at `w`, to know what counts as a gain.
    patience : int
        Rounds after which to return for a while, so that Ctrl-C is heard.
    idle : int
        0, or what the call before returned.

    Returns
    -------
    number of columns in use, rounds, and the last of these without a gain, or -1 where it is over
    """
    m = len(w)
    v, violation = np.empty(R.shape[0]), np.empty(m)
    rounds = 0
    while True:
        k, fall = settle(A, w, g, lam, sign, R, basis, k, used)
        rounds += 1
        idle = idle + 1 if fall <= _IDLE_SHARE * value else 0
        worst = 0.0
        for i in range(m):
            violation[i] = 0.0 if used[i] else abs(g[i]) - lam[i]
            worst = max(worst, violation[i])
        ended = idle >= _IDLE_ROUNDS or rounds >= ROUNDS + ROUNDS_PER_COLUMN * m
        if worst <= limit or ended:
            return k, rounds, -1
        entered, most = 0, max(_BLOCK, int(_SHARE * k))
        while entered < most:
            i = int(np.argmax(violation))
            if violation[i] <= _WORTH * worst:
                break
            violation[i] = 0.0
            pivot = column(R, k, A, basis, i, v)
            if pivot <= DEPENDENT * A[i, i]:
                if entered > 0:
                    continue
                # alone: two that depend on the same columns would spoil the factor
                pivot, most = DEPENDENT * A[i, i], 1
            k = enter(R, k, basis, i, v, pivot)
            used[i] = True
            sign[i] = 1.0 if g[i] > 0.0 else -1.0
            entered += 1
        if rounds >= patience:
            return k, rounds, idle


@njit(fastmath={"reassoc", "contract", "nsz"})
def _product(x: np.ndarray, y: np.ndarray) -> float:
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


@njit()
def sweep(rows: np.ndarray, order: np.ndarray, w: np.ndarray, r: np.ndarray, limits: np.ndarray) -> None:
    """Minimise over one coefficient after the other, in the given order.

    Parameters
    ----------
    rows : (p, N) array
        The columns of the design.
    order : array of int
    w, r, limits : (p,), (N,) and (p,) arrays
        Coefficients and residual, updated in place, and the weights of the penalty.
    """
    for i in order:
        row = rows[i]
        norm = _product(row, row)
        if norm == 0.0:
            continue
        free = norm * w[i] + _product(row, r)
        moved = (free - min(max(free, -limits[i]), limits[i])) / norm
        if moved != w[i]:
            _subtract_multiple(r, moved - w[i], row)
            w[i] = moved

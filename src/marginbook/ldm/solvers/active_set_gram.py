r"""The LDM on a Gram matrix without H: one by one the hinge and the variance term, in products with G alone.

H costs a factorisation of the whole Gram matrix, many times what its support vectors cost. With multipliers
:math:`\delta` of the spread of the margins beside those of the hinge, the dual has G itself in it,

.. math:: \min_{0\le\beta\le C,\;e^\top\delta=0}\ \tfrac12a^\top Ga-e^\top\beta
        +\tfrac1{2c}\lVert\delta\rVert^2,
    \qquad a=Y(\beta+b-\delta),\quad c=\tfrac{4\lambda_1}m,\quad b=\tfrac{\lambda_2}m,

and at its minimum :math:`\delta=c(\gamma-\bar\gamma)`. For given :math:`\delta` it is the box problem of a
support vector machine, solved by the exchanges of :mod:`marginbook.ldm.solvers.active_sets`, which touch the
columns of few examples. For given :math:`\beta` its Hessian on :math:`\delta` is :math:`YGY+I/c`, of
condition at most :math:`1+c\,\mathrm{tr}\,G`: steepest descent needs one or two steps where that is small.
Both blocks go down, so their turns converge for every c, and one factor of the free variables serves all
turns.

The exchanges want one box and no signs: :math:`u_i=\beta_i` where :math:`y_i=1` and :math:`C-\beta_i`
elsewhere has the box [0, C], the gradient :math:`Ga-y` and the Hessian G.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ...kernels.cholesky import column
from ..model.objective import primal_objective
from .active_sets import _settle, _slide
from .basic_factor import DEPENDENT, enter, leave
from .box_qp import resting_violations
from .dual import Solution

#: c trace(G), a bound of c times the largest eigenvalue, up to which the turns are few
MODERATE = 2.0
#: fewer rows than this have their H sooner
ENOUGH = 400
#: digits of C that a multiplier may lose in C - beta
_LARGEST = 1e6
#: steps on delta before the route by H is taken instead
_TURNS = 40
#: the share of delta in the gap from which it is moved before further exchanges
_SPREAD = 0.5
#: as in the exchanges of a fit with H
_BLOCK, _WORTH = 8, 0.3


def pays(G: np.ndarray, lambda1: float, C: float) -> bool:
    """Return whether a fit to the Gram matrix `G`, (m, m), should be tried without H."""
    m = len(G)
    return m >= ENOUGH and C <= _LARGEST and 4.0 * lambda1 / m * float(np.trace(G)) <= MODERATE


def alternate(
    G: np.ndarray, y: np.ndarray, lambda1: float, lambda2: float, C: float, *, tol: float, max_iter: int
) -> Solution:
    r"""Solve the dual in :math:`\beta` and :math:`\delta` from cold, without H.

    Parameters
    ----------
    G : (m, m) array
        Symmetric and positive semidefinite, which is not checked.
    y : (m,) array of -1 and +1
    lambda1, lambda2, C : float
    tol : float
        Stop when the duality gap is at most ``tol * max(1, |objective|)``.
    max_iter : int
        Variables that enter the factor.

    Returns
    -------
    Solution
        Its margins are ``y * (G @ alpha)``, its gap the sum of what the examples add,
        :math:`(C-\beta_i)(1-\gamma_i)_++\beta_i(\gamma_i-1)_++\frac1{2c}(c(\gamma_i-\bar\gamma)-\delta_i)^2`,
        so that nothing cancels. ``converged`` is False where rounding, `max_iter` or a large c stopped it.

    Examples
    --------
    >>> solution = alternate(np.eye(2), np.array([1.0, -1]), 0.0, 0.0, 10.0, tol=1e-9, max_iter=10)
    >>> solution.alpha.tolist(), solution.objective
    ([1.0, -1.0], 1.0)
    """
    m = len(y)
    G, c, b = np.ascontiguousarray(G), 4.0 * lambda1 / m, lambda2 / m
    u, delta = np.where(y > 0, 0.0, C), np.zeros(m)
    exchanges = _turns(G, y, u, delta, c, b, C, lambda1, lambda2, tol, max_iter)
    beta = np.where(y > 0, u, C - u)
    delta -= delta.mean()
    alpha = y * (beta + b - delta)
    margins = y * (G @ alpha)
    objective = float(primal_objective(margins, float(alpha @ (y * margins)), lambda1, lambda2, C))
    shares = np.where(margins < 1.0, (C - beta) * (1.0 - margins), beta * (margins - 1.0))
    if c > 0.0:
        shares += (c * (margins - margins.mean()) - delta) ** 2 / (2.0 * c)
    gap = float(shares.sum())
    converged = bool(gap <= tol * max(1.0, abs(objective)))
    return Solution(beta + b, beta, alpha, margins, objective, gap, exchanges, converged, lambda1, lambda2, C)


@njit(cache=True)
def _signed(y: np.ndarray, u: np.ndarray, delta: np.ndarray, b: float, C: float) -> np.ndarray:
    """Return the coefficients a of the point (u, delta)."""
    a = np.empty(len(y))
    for i in range(len(y)):
        a[i] = y[i] * (b - delta[i]) + (u[i] if y[i] > 0.0 else u[i] - C)
    return a


@njit(cache=True)
def _gaps(
    y: np.ndarray,
    u: np.ndarray,
    delta: np.ndarray,
    grad: np.ndarray,
    c: float,
    b: float,
    C: float,
    lambda1: float,
    lambda2: float,
    towards: np.ndarray,
) -> tuple[float, float, float]:
    """Return what hinge and spread add to the gap, and the objective; write the direction of delta."""
    m = len(y)
    mean, hinge, box, norm = 0.0, 0.0, 0.0, 0.0
    for i in range(m):
        g = grad[i]
        mean += 1.0 + y[i] * g
        box += u[i] * g if g > 0.0 else (u[i] - C) * g
        hinge += max(0.0, -y[i] * g)
        norm += (y[i] * (b - delta[i]) + (u[i] if y[i] > 0.0 else u[i] - C)) * (g + y[i])
    mean /= m
    square, spread = 0.0, 0.0
    for i in range(m):
        off = 1.0 + y[i] * grad[i] - mean
        towards[i] = c * off - delta[i]
        square += off * off
        spread += towards[i] * towards[i]
    objective = 0.5 * norm + 2.0 * lambda1 / m * square - lambda2 * mean + C * hinge
    return box, spread / (2.0 * c) if c > 0.0 else 0.0, objective


@njit(cache=True)
def _turns(
    G: np.ndarray,
    y: np.ndarray,
    u: np.ndarray,
    delta: np.ndarray,
    c: float,
    b: float,
    C: float,
    lambda1: float,
    lambda2: float,
    tol: float,
    max_changes: int,
) -> int:
    """Move `u` and `delta` in place until the relative gap is at most `tol`; return the exchanges."""
    m = len(u)
    R = np.empty((m, m))
    basis, is_basic = np.empty(m, np.int64), np.zeros(m, np.bool_)
    v, violation, towards = np.empty(m), np.empty(m), np.empty(m)
    grad = G @ _signed(y, u, delta, b, C) - y
    n, changes, turns, rounds, fresh = 0, 0, 0, 0, True
    while True:
        n = _settle(G, u, grad, 0.0, C, R, basis, n, is_basic)
        box, spread, objective = _gaps(y, u, delta, grad, c, b, C, lambda1, lambda2, towards)
        allowed, rounds = tol * max(1.0, abs(objective)), rounds + 1
        if box + spread <= allowed:
            if fresh:
                break
            # the kept gradient has collected the rounding of all its updates
            grad, fresh = G @ _signed(y, u, delta, b, C) - y, True
            continue
        if changes >= max_changes or turns >= _TURNS or rounds > 20 * m:
            break
        worst = resting_violations(u, grad, 0.0, C, is_basic, violation)
        if spread > _SPREAD * box or worst == 0.0:
            if c == 0.0:
                break
            turned = G @ (y * towards)
            size = towards @ towards
            step = size / (size + c * (towards @ (y * turned)))
            delta += step * towards
            grad -= step * turned
            turns, fresh = turns + 1, False
            continue
        entered, fresh = 0, False
        while entered < min(_BLOCK, max_changes - changes):
            i = int(np.argmax(violation))
            if violation[i] <= _WORTH * worst:
                break
            violation[i] = 0.0
            pivot = column(R, n, G, basis, i, v)
            if pivot <= DEPENDENT * G[i, i]:
                if entered > 0:
                    continue  # its null direction is downhill only from the minimiser over the basic ones
                leaving = _slide(G, u, grad, 0.0, C, R, basis, n, i, v)
                changes += 1
                if leaving >= 0:
                    n = leave(R, n, basis, is_basic, leaving)
                    pivot = column(R, n, G, basis, i, v)
                    if pivot > DEPENDENT * G[i, i]:
                        n = enter(R, n, basis, is_basic, i, v, pivot)
                break
            n = enter(R, n, basis, is_basic, i, v, pivot)
            changes, entered = changes + 1, entered + 1
    return changes

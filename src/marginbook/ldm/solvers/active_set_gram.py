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
elsewhere has the box [0, C], the gradient :math:`Ga-y` and the Hessian G. Rows of weights :math:`\omega`
have :math:`\beta=\Omega\tilde\beta`, :math:`\delta=\Omega\tilde\delta` with the same box for
:math:`\tilde\beta`, the Hessian :math:`\Omega G\Omega` and the gradient :math:`\Omega(Ga-y)`; m is then
their sum.
"""

from __future__ import annotations

import numpy as np

from ...base.compiled import njit
from ..model.objective import primal_objective, weighted_objective
from .active_sets import Exchange, enter_worst, settle
from .box_qp import resting_violations
from .dual import Solution

#: c trace(G), a bound of c times the largest eigenvalue, up to which it is tried
MODERATE = 1000.0
#: fewer rows than this have their H sooner
ENOUGH = 400
#: digits of C that a multiplier may lose in C - beta
_LARGEST = 1e6
#: steps on delta before the route by H is taken instead
TURNS = 40
#: the share of delta in the gap from which it is moved before further exchanges
_SPREAD = 0.5


def pays(G: np.ndarray, lambda1: float, C: float) -> bool:
    """Return whether a fit to the Gram matrix `G`, (m, m), should be tried without H."""
    m = len(G)
    return m >= ENOUGH and C <= _LARGEST and 4.0 * lambda1 / m * float(np.trace(G)) <= MODERATE


def alternate(
    G: np.ndarray,
    y: np.ndarray,
    lambda1: float,
    lambda2: float,
    C: float,
    *,
    tol: float,
    max_iter: int,
    weights: np.ndarray | None = None,
    turns: int = TURNS,
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
    weights : (m,) array of positive numbers, optional
    turns : int
        Steps on delta before it gives up.

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
    omega = np.ones(m) if weights is None else weights
    total = float(omega.sum())
    G, c, b = np.ascontiguousarray(G), 4.0 * lambda1 / total, lambda2 / total
    scaled = G if weights is None else omega[:, None] * G * omega
    u, delta = np.where(y > 0, 0.0, C), np.zeros(m)
    numbers = (c, b, C, lambda1, lambda2, tol, max_iter, turns, 0)
    exchanges = _turns(scaled, y, omega, u, delta, *numbers)
    beta = omega * np.where(y > 0, u, C - u)
    delta = omega * (delta - omega @ delta / total)
    alpha = y * (beta + b * omega - delta)
    margins = y * (G @ alpha)
    norm = float(alpha @ (y * margins))
    if weights is None:
        objective, mean = float(primal_objective(margins, norm, lambda1, lambda2, C)), margins.mean()
    else:
        objective = weighted_objective(margins, norm, weights, lambda1, lambda2, C)
        mean = weights @ margins / total
    shares = np.where(margins < 1.0, (C * omega - beta) * (1.0 - margins), beta * (margins - 1.0))
    if c > 0.0:
        shares += (c * omega * (margins - mean) - delta) ** 2 / (2.0 * c * omega)
    gap = float(shares.sum())
    converged = bool(gap <= tol * max(1.0, abs(objective)))
    shifted = beta + b * omega
    return Solution(shifted, beta, alpha, margins, objective, gap, exchanges, converged, lambda1, lambda2, C)


@njit(error_model="numpy")
def _gradient(
    G: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray,
    u: np.ndarray,
    delta: np.ndarray,
    b: float,
    C: float,
    grad: np.ndarray,
) -> None:
    """Write the gradient at the point (u, delta) to `grad`."""
    a = np.empty(len(y))
    for i in range(len(y)):
        a[i] = y[i] * (b - delta[i]) + (u[i] if y[i] > 0.0 else u[i] - C)
    np.dot(G, a, grad)
    for i in range(len(y)):
        grad[i] -= weights[i] * y[i]


@njit(error_model="numpy")
def _turn(
    G: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray,
    towards: np.ndarray,
    delta: np.ndarray,
    grad: np.ndarray,
    c: float,
) -> None:
    """Move delta along `towards` to the minimum there."""
    m = len(y)
    signed, turned = np.empty(m), np.empty(m)
    for i in range(m):
        signed[i] = y[i] * towards[i]
    np.dot(G, signed, turned)
    size, curvature = 0.0, 0.0
    for i in range(m):
        size += weights[i] * towards[i] * towards[i]
        curvature += signed[i] * turned[i]
    step = size / (size + c * curvature)
    for i in range(m):
        delta[i] += step * towards[i]
        grad[i] -= step * turned[i]


@njit(error_model="numpy")
def _gaps(
    y: np.ndarray,
    weights: np.ndarray,
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
    mean, hinge, box, norm, total = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(m):
        g = grad[i]
        total += weights[i]
        mean += weights[i] + y[i] * g
        box += u[i] * g if g > 0.0 else (u[i] - C) * g
        hinge += max(0.0, -y[i] * g)
        norm += (y[i] * (b - delta[i]) + (u[i] if y[i] > 0.0 else u[i] - C)) * (g + weights[i] * y[i])
    mean /= total
    square, spread = 0.0, 0.0
    for i in range(m):
        off = 1.0 + y[i] * grad[i] / weights[i] - mean
        towards[i] = c * off - delta[i]
        square += weights[i] * off * off
        spread += weights[i] * towards[i] * towards[i]
    objective = 0.5 * norm + 2.0 * lambda1 / total * square - lambda2 * mean + C * hinge
    return box, spread / (2.0 * c) if c > 0.0 else 0.0, objective


@njit(error_model="numpy")
def _turns(
    G: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray,
    u: np.ndarray,
    delta: np.ndarray,
    c: float,
    b: float,
    C: float,
    lambda1: float,
    lambda2: float,
    tol: float,
    max_changes: int,
    max_turns: int,
    n: int,
) -> int:
    """Move `u` and `delta` in place until the relative gap is at most `tol`; return the exchanges.

    `n` is 0, the number of basic variables; as a constant in here it would be a type of its own.
    """
    m = len(u)
    R = np.empty((m, m))
    basis, is_basic = np.empty(m, np.int64), np.zeros(m, np.bool_)
    v, violation, towards = np.empty(m), np.empty(m), np.empty(m)
    grad = np.empty(m)
    on = Exchange(G, u, grad, 0.0, C, R, basis, is_basic)
    _gradient(G, y, weights, u, delta, b, C, grad)
    changes, turns, rounds, fresh = 0, 0, 0, True
    while True:
        n = settle(on, n)
        box, spread, objective = _gaps(y, weights, u, delta, grad, c, b, C, lambda1, lambda2, towards)
        allowed, rounds = tol * max(1.0, abs(objective)), rounds + 1
        if box + spread <= allowed:
            if fresh:
                break
            # the kept gradient has collected the rounding of all its updates
            _gradient(G, y, weights, u, delta, b, C, grad)
            fresh = True
            continue
        if changes >= max_changes or turns >= max_turns or rounds > 20 * m:
            break
        worst = resting_violations(u, grad, 0.0, C, is_basic, violation)
        if spread > _SPREAD * box or worst == 0.0:
            if c == 0.0:
                break
            _turn(G, y, weights, towards, delta, grad, c)
            turns, fresh = turns + 1, False
            continue
        n, entered = enter_worst(on, n, v, violation, worst, max_changes - changes)
        changes, fresh = changes + entered, False
    return changes

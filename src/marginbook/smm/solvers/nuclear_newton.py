r"""The support matrix machine by Newton steps on its dual, each a support vector machine on a tangent space.

The gradient of :math:`\tfrac12\lVert S_\tau(M)\rVert_F^2` is :math:`S_\tau(M)`, whose derivative at
:math:`M=U\Sigma V^\top` is, for :math:`E=UFV^\top`, with :math:`s_k=(\sigma_k-\tau)_+` and square F,

.. math:: \langle E,S_\tau'(M)[E]\rangle
   =\sum_{kl}\frac{s_k-s_l}{\sigma_k-\sigma_l}\Bigl(\frac{F_{kl}+F_{lk}}2\Bigr)^2
   +\frac{s_k+s_l}{\sigma_k+\sigma_l}\Bigl(\frac{F_{kl}-F_{lk}}2\Bigr)^2,

and :math:`s_k/\sigma_k` times the squares of the columns beyond the square. All weights :math:`\omega` are
in [0, 1], and 0 where both singular values are below :math:`\tau`: with r above it, :math:`r(d_1+d_2-r)`
features of each sample remain, coordinates in the tangent space of the matrices of rank r. The second-order
model of the dual is the dual of a support vector machine on them. With :math:`\mu+(1-\mu)\omega` in place of
:math:`\omega` it is Newton's model at :math:`\mu=0`, and at :math:`\mu=1` the Gram matrix's, which bounds the
dual: a proximal gradient step, safe but slow. :math:`\mu` falls while the steps succeed.
"""

from __future__ import annotations

import numpy as np

from ...kernels.decomposition import svd
from .block_problem import BlockProblem
from .box_qp import hinge_qp
from .hinge_block import solve_hinge_block
from .nuclear_norm import NuclearProblem, soft_threshold
from .nuclear_record import NuclearSolution, Record

#: least share of the bound in the model, which keeps it strictly convex where the Gram matrix is
LEAST_DAMPING = 1e-6
#: violation of the conditions of a model's solution, relative to the gap, and to which it may fall
EXACTNESS, LEAST_EXACTNESS = 1e-2, 1e-5
#: derivatives along a step, relative to the first, at which the search along it ends
FLAT = 0.1
#: steps after which the machine without a nuclear norm is offered where that norm is less than the gap
PATIENCE = 10
#: points that the search along a step may try
POINTS = 30


def tangent_features(X: np.ndarray, M: np.ndarray, tau: float) -> np.ndarray:
    r"""Return features whose inner products are :math:`\langle X_i,S_\tau'(M)[X_j]\rangle`.

    Parameters
    ----------
    X : (n, d1, d2) array
    M : (d1, d2) array
    tau : float
        Not a singular value of M, where the derivative is one of several.

    Returns
    -------
    (n, p) array
        p is about :math:`r(d_1+d_2)` when r singular values are above `tau`.
    """
    if M.shape[0] > M.shape[1]:
        X, M = X.transpose(0, 2, 1), M.T
    n, (k, d) = len(X), M.shape
    U, sizes, Vt = svd(M, full=d > k)
    r = int((sizes > tau).sum())
    if r == 0:
        return np.zeros((n, 0))
    shrunk = np.maximum(sizes - tau, 0.0)
    rows = U[:, :r].T @ X @ Vt.T
    square = rows[:, :, :k]
    mirror = (U.T @ (X @ Vt[:r].T)).transpose(0, 2, 1)
    upper = np.arange(r)[:, None] < np.arange(k)
    near, far = np.arange(r)[:, None], np.arange(k)
    apart = sizes[near] - sizes[far]
    # where both are above tau the quotient is 1, also for equal ones
    same = np.where(far < r, 1.0, shrunk[near] / np.where(far < r, 1.0, apart))
    turned = (shrunk[near] + shrunk[far]) / (sizes[near] + sizes[far])
    symmetric = np.sqrt(same / 2)[upper] * (square + mirror)[:, upper]
    skew = np.sqrt(turned / 2)[upper] * (square - mirror)[:, upper]
    diagonal = square[:, np.arange(r), np.arange(r)]
    beyond = np.sqrt(shrunk[:r] / sizes[:r])[:, None] * rows[:, :, k:]
    return np.hstack([diagonal, symmetric, skew, beyond.reshape(n, -1)])


def _step_length(M: np.ndarray, E: np.ndarray, rise: float, tau: float, first: float) -> float:
    r"""Return t in (0, 1] where :math:`\langle S_\tau(M+tE),E\rangle-\text{rise}` is near 0, or 1.

    `first` is its value, below 0, at t = 0. It increases with t, and 1 is taken where it is still below 0.
    """
    low, high, at_low, at_high, t = 0.0, 1.0, first, np.inf, 1.0
    for _ in range(POINTS):
        slope = float((soft_threshold(M + t * E, tau)[0] * E).sum()) - rise
        if abs(slope) <= FLAT * abs(first) or (t == 1.0 and slope < 0):
            return t
        if slope < 0:
            low, at_low = t, slope
        else:
            high, at_high = t, slope
        # the secant, kept away from the ends of the interval
        t = low + (high - low) * min(max(-at_low / (at_high - at_low), 0.1), 0.9)
    return low if low > 0 else t


def nuclear_newton(
    problem: NuclearProblem,
    tau: float,
    *,
    start: np.ndarray | None = None,
    tol: float = 1e-6,
    max_iter: int = 200,
) -> NuclearSolution:
    r"""Solve the problem of :mod:`marginbook.smm.solvers.nuclear_norm`.

    Parameters
    ----------
    problem : NuclearProblem
    tau : float
        :math:`\tau\ge0`.
    start : (n,) array, default=None
        Signed multipliers of a problem nearby.
    tol : float, default=1e-6
        Relative duality gap at which to stop.
    max_iter : int, default=200
        Newton steps.

    Returns
    -------
    NuclearSolution
    """
    record, y = Record(problem, tau, tol), problem.y
    low, high = problem.box
    beta = problem.feasible(np.zeros(len(y)) if start is None else start)
    damping, n_iter, share = 1.0 if start is None else 0.1, 0, EXACTNESS
    done = record.certify(beta)
    while not done and n_iter < max_iter:
        n_iter += 1
        if n_iter == PATIENCE and tau * float(record.sizes.sum()) <= tol * record.objective:
            done = _offer_linear(problem, record)
            if done:
                break
        M = problem.combine(beta)
        B, _ = soft_threshold(M, tau)
        gradient = problem.deviations(B) - y
        if damping < 1 and tau > 0:
            features = tangent_features(problem.centred, M, tau)
            model = (1 - damping) * (features @ features.T) + damping * problem.gram
        else:
            model = problem.gram
        exactness = min(1e-3, share * record.gap)
        target, _ = hinge_qp(
            model, gradient - model @ beta, low, high, beta, paired=problem.fit_intercept, tol=exactness
        )
        move = target - beta
        first = float(gradient @ move)
        if first >= 0:
            # rounding hides the gain of the last steps, not what they lead to
            done = record.certify(problem.feasible(target))
            if damping < 1.0:
                damping = 1.0
            elif share > LEAST_EXACTNESS:
                share /= 10
            else:
                break
            continue
        t = _step_length(M, problem.combine(move), float(y @ move), tau, first)
        damping = max(damping / 10, LEAST_DAMPING) if t > 0.9 else min(1.0, damping * (4 if t < 0.5 else 1))
        beta = problem.feasible(target if t == 1.0 else beta + t * move)
        done = record.certify(beta)
    if not done:
        _offer_linear(problem, record)
    return record.solution(n_iter)


def _offer_linear(problem: NuclearProblem, record: Record) -> bool:
    r"""Offer the machine of :math:`\tau=0` and its multipliers; return whether the gap is small.

    Where classes overlap and losses are so expensive that the sum :math:`\sum_i\beta_iX_i` is all rounding,
    the nuclear norm matters no more, and an interior point, which keeps B beside the multipliers, finds it.
    """
    n, total = len(problem.y), float(problem.costs.sum())
    rows, weights = problem.centred.reshape(n, -1), n * problem.costs / total
    found = solve_hinge_block(
        BlockProblem(rows, problem.y, 0.5 / total, weights, problem.fit_intercept, 1e-3 * record.tol)
    )
    B = found.weights.reshape(problem.X.shape[1:])
    record.offer(B, np.linalg.svd(B, compute_uv=False))
    return record.certify(problem.feasible(total * problem.y * found.multipliers))

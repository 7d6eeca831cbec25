r"""The support matrix machine by the alternating direction method of multipliers, with restarts.

Luo, Xie, Zhang & Li (2015) split the problem into :math:`\tfrac12\lVert W\rVert_F^2+\sum_ic_i\xi_i` and
:math:`\tau\lVert S\rVert_*` with S = W, multiplied by :math:`\Lambda`. One iteration is a support vector
machine in W, whose Gram matrix never changes, a soft-thresholding of singular values in S, and the
extrapolation of Goldstein, O'Donoghue, Setzer & Baraniuk (2014), restarted when the residual does not fall:

.. math::

   W&=\tfrac1{1+\rho}\bigl(\hat\Lambda+\rho\hat S+\textstyle\sum_i\beta_iX_i\bigr),\qquad
      S=\tfrac1\rho S_\tau(\rho W-\hat\Lambda),\qquad\Lambda=\hat\Lambda+\rho(S-W),\\
   r&=\tfrac1\rho\lVert\Lambda-\hat\Lambda\rVert_F^2+\rho\lVert S-\hat S\rVert_F^2 .
"""

from __future__ import annotations

import numpy as np

from .box_qp import hinge_qp
from .nuclear_norm import NuclearProblem, soft_threshold
from .nuclear_record import NuclearSolution, Record

#: share by which the residual must fall for the extrapolation to go on
FALL = 0.999
#: iterations between two computations of the gap
CHECK = 5


def nuclear_admm(
    problem: NuclearProblem,
    tau: float,
    *,
    start: np.ndarray | None = None,
    penalty: float = 10.0,
    restart: bool = True,
    tol: float = 1e-6,
    max_iter: int = 2000,
) -> NuclearSolution:
    r"""Solve the problem of :mod:`marginbook.smm.solvers.nuclear_norm`.

    Parameters
    ----------
    problem : NuclearProblem
    tau : float
        :math:`\tau\ge0`.
    start : (n,) array, default=None
        Signed multipliers of a problem nearby.
    penalty : float, default=10.0
        :math:`\rho>0`. The objective is 1-strongly convex: 1 suits a small tau, 10 and more a large one.
    restart : bool, default=True
        Whether to extrapolate, with restarts; otherwise the plain method.
    tol : float, default=1e-6
        Relative duality gap at which to stop.
    max_iter : int, default=2000

    Returns
    -------
    NuclearSolution
    """
    rho, record = penalty, Record(problem, tau, tol)
    low, high = problem.box
    beta = problem.feasible(np.zeros(len(problem.y)) if start is None else start)
    n_iter, exactness = 0, 1e-2
    if not record.certify(beta):
        M = problem.combine(beta)
        S, _ = soft_threshold(M, tau)
        # at the optimum S = S_tau(M) and Lambda = S - M: the subgradients of the two parts cancel
        multiplier = S - M
        ahead_S, ahead_multiplier, momentum, residual = S, multiplier, 1.0, np.inf
        for n_iter in range(1, max_iter + 1):
            pull = ahead_multiplier + rho * ahead_S
            exactness = min(exactness, 0.1 * record.gap)
            q = problem.fitted(pull) - (1 + rho) * problem.y
            beta, _ = hinge_qp(
                problem.gram, q, low, high, beta, paired=problem.fit_intercept, tol=exactness * (1 + rho)
            )
            W = (pull + problem.combine(beta)) / (1 + rho)
            S_last, multiplier_last, residual_last = S, multiplier, residual
            S, shrunk = soft_threshold(W - ahead_multiplier / rho, tau / rho)
            multiplier = ahead_multiplier + rho * (S - W)
            if n_iter % CHECK == 0 or n_iter == max_iter:
                record.offer(S, shrunk)
                if record.certify(problem.feasible(beta)):
                    break
                # a machine trained too roughly can be all that keeps the gap open
                exactness = max(exactness / 2, 1e-13)
            if not restart:
                ahead_S, ahead_multiplier = S, multiplier
                continue
            residual = float(
                ((multiplier - ahead_multiplier) ** 2).sum() / rho + rho * ((S - ahead_S) ** 2).sum()
            )
            # a step that was not extrapolated is safe, though a machine trained less roughly may move more
            if residual < FALL * residual_last or momentum == 1.0:
                following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
                share = (momentum - 1) / following
                ahead_S = S + share * (S - S_last)
                ahead_multiplier = multiplier + share * (multiplier - multiplier_last)
                momentum = following
            else:
                ahead_S, ahead_multiplier = S_last, multiplier_last
                momentum, residual = 1.0, residual_last / FALL
                S, multiplier = S_last, multiplier_last
    return record.solution(n_iter)

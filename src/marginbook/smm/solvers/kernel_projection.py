r"""Descent over the left singular space alone, with the other block at its optimum throughout.

.. math::
    \varphi(Q)=\min_{V,b}F(QV^\top,b)
    =\max_c\ -\sum_i\frac{w_i}nL^*\Bigl(-\frac{nc_i}{w_i}\Bigr)-\frac1{4\lambda}\lVert Q^\top M(c)\rVert^2,
    \qquad Q^\top Q=I .

Where blocks take turns, each holds fast to the span of the other; with a hinge loss, whose optima lie on
kinks, they stop far from a stationary point. :math:`\varphi` has no kinks where the multipliers are unique:
by the envelope theorem its gradient is :math:`-(I-QQ^\top)MM^\top Q/2\lambda`, at the multipliers of the
V-step. It vanishes where Q spans left singular vectors of M, which is what both blocks being optimal
together means. The variables number :math:`(d_1-r)r`, however many features there are.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from ...kernels.decomposition import svd
from .kernel_problem import KernelProblem, State

#: pairs of steps and gradients that the quasi-Newton method keeps
MEMORY = 20


def project_out(problem: KernelProblem, state: State, *, tol: float, max_iter: int) -> State:
    r"""Return a state whose U nearly is a local minimiser of :math:`\varphi`.

    Parameters
    ----------
    problem : KernelProblem
    state : State
        The start.
    tol : float
        Relative decrease by a step of L-BFGS at which to stop.
    max_iter : int
        Steps of L-BFGS, in the chart :math:`E\mapsto\operatorname{span}(Q_0+Q_\perp E)` around the start.

    Returns
    -------
    State
        Never worse than `state`.
    """
    rank, d1 = problem.rank, problem.blocks.d1
    outer = problem.offer(state.multipliers)
    Q0 = problem.complete(state.U, outer)
    best = problem.step_right(Q0, state)
    if best.objective > state.objective:
        best = state
    if rank == d1 or best.objective <= 0:
        return best
    away = svd(Q0, full=True)[0][:, rank:]
    scale, last = best.objective, best

    def value(e: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal best, last
        Q, R = np.linalg.qr(Q0 + away @ e.reshape(d1 - rank, rank))
        last = problem.step_right(Q, None, last.multipliers)
        if last.objective < best.objective:
            best = last
        image = problem.offer(last.multipliers) @ Q
        slope = away.T @ (image - Q @ (Q.T @ image)) @ np.linalg.inv(R).T
        return last.objective / scale, -slope.ravel() / (2 * problem.lam * scale)

    minimize(
        value,
        np.zeros((d1 - rank) * rank),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iter, "maxcor": MEMORY, "ftol": tol, "gtol": 0.0},
    )
    return best

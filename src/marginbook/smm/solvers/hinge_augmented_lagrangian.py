r"""The hinge loss by the method of multipliers with Newton steps: quick from a start near the solution.

.. math::
    \min_{w,b}\ \sum_iC_i(1-m_i)_++\lambda\lVert w\rVert^2,\qquad m_i=y_i(z_i^\top w+b),\quad C_i=w_i/n.

With multipliers :math:`c` and :math:`\sigma_i=\kappa C_i` each loss is replaced by its Moreau envelope

.. math::
    \varphi_i(m)=\max_{0\le u\le C_i}\ u(1-m)-\frac{(u-c_i)^2}{2\sigma_i},\qquad
    u_i=\min(\max(c_i+\sigma_i(1-m),0),C_i),

which is quadratic on a band of margins of width :math:`1/\kappa`. After its minimum, c becomes u: a proximal
step for the dual, which is a quadratic program, so that finitely many steps with growing :math:`\kappa` are
exact. A free intercept moves in a proximal step as well. The equations of a Newton step have as many unknowns
as there are samples in their bands, or as features.
"""

from __future__ import annotations

import numpy as np

from .block_problem import BlockProblem
from .certificate import Certificate, Point
from .newton import Loss, minimise
from .solution import InnerSolution

#: reciprocal widths of the bands: the first, from a cold and from a warm start, the factor, and the last
COLD, WARM, FACTOR, LAST = 2.0, 30.0, 8.0, 1e9


def envelope(c: np.ndarray, C: np.ndarray, kappa: float) -> Loss:
    r"""Return the loss :math:`\varphi` of multipliers c; its slopes are :math:`-u`.

    Parameters
    ----------
    c, C : (n,) arrays
    kappa : float
        Reciprocal width of the band of margins on which it is curved.
    """
    sigma = kappa * C
    half = np.where(C > 0, 0.5 / np.where(sigma > 0, sigma, 1.0), 0.0)

    def smoothed(margins: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        losses = 1.0 - margins
        wanted = c + sigma * losses
        u = np.minimum(np.maximum(wanted, 0.0), C)
        change = u - c
        return u * losses - half * change * change, -u, np.where(u == wanted, sigma, 0.0)

    return smoothed


class _Enough:
    """Stops a minimisation of an envelope when its gradient is small, or the gap of the loss itself."""

    def __init__(self, best: Certificate, norm: float) -> None:
        self.best, self.norm = best, norm

    def __call__(self, point: Point, slopes: np.ndarray, norm: float) -> bool:
        return norm <= self.norm or self.best.offer(point, -slopes, norm)


def augmented_newton(
    problem: BlockProblem,
    start: tuple[np.ndarray, float] | None = None,
    multipliers: np.ndarray | None = None,
    max_iter: int = 200,
) -> InnerSolution:
    """Minimise the hinge risk of a linear function.

    Parameters
    ----------
    problem : BlockProblem
    start : ((p,) array, float), optional
    multipliers : (n,) array, optional
        First multipliers; from the margins of the start by default.
    max_iter : int
        Newton steps.
    """
    A, C, y, lam, fit_intercept = problem.A, problem.shares, problem.y, problem.lam, problem.fit_intercept
    n, p = A.shape
    w, b = np.zeros(p), 0.0
    if start is not None:
        w, b = np.asarray(start[0], dtype=float), problem.intercept(start)
    point = Point(w, b, A @ w + y * b)
    losses = float(C @ np.maximum(1.0 - point.margins, 0.0))
    if losses + lam * float(w @ w) > float(C.sum()):  # worse than no coefficients at all
        point, start, multipliers = Point(np.zeros(p), 0.0, np.zeros(n)), None, None
    if multipliers is not None:
        c = np.clip(multipliers, 0.0, C)
    elif start is not None:
        c = np.where(point.margins < 1.0, C, 0.0)
    else:
        c = 0.5 * C
    kappa = COLD if multipliers is None else WARM
    best = Certificate(problem)
    if best.offer(point, c):
        return best.solution(0)
    mass = float(C.sum())
    while True:
        scale = max(abs(best.objective), best.FLOOR * best.trivial)
        wanted_norm = 4.0 * lam * 0.03 * problem.tol * scale
        point = minimise(
            A,
            y,
            envelope(c, C, kappa),
            point,
            lam=lam,
            fit_intercept=fit_intercept,
            enough=_Enough(best, wanted_norm),
            max_iter=max_iter - point.n_iter,
            proximity=1e-3 * mass / kappa if fit_intercept else 0.0,
            centre=point.b,
        )
        c = np.clip(c + kappa * C * (1.0 - point.margins), 0.0, C)
        if best.offer(point, c) or point.n_iter >= max_iter or kappa >= LAST:
            return best.solution(point.n_iter)
        kappa *= FACTOR

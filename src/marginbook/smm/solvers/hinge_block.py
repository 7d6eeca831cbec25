r"""The hinge risk of a linear function by the interior point that all rooms share.

.. math:: \min_{w,b}\ \frac1n\sum_iw_i\bigl(1-y_i(z_i^\top w+b)\bigr)_++\lambda\lVert w\rVert^2

is the program of :mod:`marginbook.kernels.hinge_interior_point` with :math:`Q=2\lambda I`, :math:`q=0` and
:math:`C_i=w_i/n`, without the samples of weight 0.
"""

from __future__ import annotations

import numpy as np

from ...kernels.hinge_interior_point import HingeProgram
from .block_problem import BlockProblem
from .certificate import Certificate, Point
from .solution import InnerSolution


def solve_hinge_block(
    problem: BlockProblem,
    start: tuple[np.ndarray, float] | None = None,
    multipliers: np.ndarray | None = None,
    max_iter: int = 60,
) -> InnerSolution:
    """Minimise the hinge risk of a linear function.

    Parameters
    ----------
    problem : BlockProblem
    start : ((p,) array, float), optional
    multipliers : (n,) array, optional
        A point and multipliers that are returned if nothing better is found, at once if their gap is small
        enough. The iteration does not begin with them: near the boundary it would be slow.
    max_iter : int

    Returns
    -------
    InnerSolution
    """
    A, y = problem.A, problem.y
    n, p = A.shape
    best = Certificate(problem)
    best.offer(Point(np.zeros(p), 0.0, np.zeros(n)), np.zeros(n))
    if start is not None:
        b = problem.intercept(start)
        point = Point(np.asarray(start[0], dtype=float), b, A @ start[0] + y * b)
        best.offer(point, np.zeros(n) if multipliers is None else multipliers)
    kept = problem.sample_weight > 0
    if best.met or not kept.any():
        return best.solution(0)
    everything = bool(kept.all())
    program = HingeProgram(
        A if everything else A[kept],
        problem.shares[kept],
        2.0 * problem.lam,
        y=(y if everything else y[kept]) if problem.fit_intercept else None,
    )
    steps, c = 0, np.zeros(n)
    for at in program.iterates(max_iter):
        steps += 1
        c[kept] = at.c
        if best.offer(Point(at.w, at.b, A @ at.w + at.b * y), c):
            break
    return best.solution(steps)

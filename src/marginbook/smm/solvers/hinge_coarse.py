r"""A rough solution of a hinge risk without a rank, with multipliers that certify it, from a Gram matrix.

The dual :math:`\max_c\ \mathbf 1^\top c-\tfrac1{4\lambda}\lVert\sum_ic_iy_iz_i\rVert^2` in boxes, two
multipliers at a time (one without an intercept), until the duality gap is small. The Gram matrix does not
depend on the labels: the machines of several classes share it. An interior point needs a factor of p x p
numbers for each step.
"""

from __future__ import annotations

import numpy as np

from ...kernels.box_moves import coordinate_moves
from .block_problem import BlockProblem
from .certificate import Certificate, Point
from .hinge_block import solve_hinge_block
from .nuclear_multiples import best_intercept
from .solution import InnerSolution

#: samples up to which a Gram matrix is made of them
FEW = 1000
#: violation of the conditions, on the scale of margins, in the first round, and its factor for each round
FIRST, FACTOR = 0.5, 0.5
#: rounds of as many moves as there are samples, after which an interior point takes over
ROUNDS = 20


def coarse(problem: BlockProblem, gram: np.ndarray) -> InnerSolution:
    """Return a solution of the hinge risk to the problem's tolerance, 1e-2 say.

    Parameters
    ----------
    problem : BlockProblem
    gram : (n, n) array
        ``Z Z'``.
    """
    y, C, lam = problem.y, problem.shares, problem.lam
    low, high = np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0)
    beta, gradient = np.zeros(len(y)), -2.0 * lam * y
    best, violation = Certificate(problem), FIRST
    for n_iter in range(1, ROUNDS + 1):
        coordinate_moves(
            gram,
            beta,
            gradient,
            low,
            high,
            paired=problem.fit_intercept,
            tol=2.0 * lam * violation,
            max_iter=len(y),
        )
        w = (beta @ problem.Z) / (2.0 * lam)
        fitted = problem.Z @ w
        b = best_intercept(fitted, y, C) if problem.fit_intercept else 0.0
        if best.offer(Point(w, b, y * (fitted + b)), y * beta):
            return best.solution(n_iter)
        violation *= FACTOR
    return solve_hinge_block(problem, (best.w, best.b), best.multipliers)

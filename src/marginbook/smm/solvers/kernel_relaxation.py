r"""The convex relaxation over projections: the best lower bound, and a start that knows no local optima.

.. math::
    J(S)=\max_c\ -\sum_i\frac{w_i}nL^*\Bigl(-\frac{nc_i}{w_i}\Bigr)
    -\frac1{4\lambda}\operatorname{tr}\bigl(S\,M(c)M(c)^\top\bigr),\qquad
    0\preceq S\preceq I,\ \operatorname{tr}S=r .

For a projection :math:`S=QQ^\top` it is :math:`\varphi(Q)`, the least objective with Q fixed; the set of
all S is their convex hull. J is convex, a maximum of linear functions, and its value is that of the support
vector machine with the kernel :math:`\operatorname{tr}(SK(X,X'))`, which is the least value of the risk
plus :math:`\lambda\operatorname{tr}(B^\top S^{-1}B)`. By the minimax theorem
:math:`\min_SJ(S)=\max_cD_r(c)`, the largest of the lower bounds. Where the minimiser is a projection, the
problem with the rank is solved; elsewhere a gap remains that no multipliers close. S has :math:`d_1\times
d_1` entries, however many features there are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from .kernel_problem import KernelProblem

#: values that a new one of the nonmonotone search may exceed, and its sufficient decrease
RECENT, ARMIJO = 5, 1e-4
#: what the ridge of a hinge loss may take from J, relative to it, in each stage
STAGES = (1e-2, 1e-3, 1e-4, 1e-5)
#: decrease, relative to J, that rounding may make
ROUNDING = 1e-12
#: halvings of a step at most
HALVINGS = 8
#: bounds of a spectral step length, relative to the first
SHORT, LONG = 1e-4, 1e4


def relax(problem: KernelProblem, S: np.ndarray, *, tol: float, max_iter: int) -> tuple[np.ndarray, float]:
    r"""Minimise J by spectral projected gradients; the problem's lower bound rises on the way.

    Parameters
    ----------
    problem : KernelProblem
    S : (d1, d1) array
        The start, such as r/d1 times the identity.
    tol : float
        Gap :math:`J(S)-D_r(c)`, relative to J, at which to stop.
    max_iter : int
        Steps.

    Returns
    -------
    S : (d1, d1) array
    value : float
        J(S), at least the best lower bound.

    Notes
    -----
    Birgin, Martinez and Raydan (2000). The gradient is :math:`-MM^\top/4\lambda` at the multipliers of the
    machine for S, and the projection on the set moves the eigenvalues by a common number and clips them. The
    multipliers of a hinge loss need not be unique: a small multiple of the identity is added to its kernel,
    in stages, each of which makes it smaller.
    """
    left, c = max_iter, None
    for share in STAGES if problem.loss == "hinge" else (0.0,):
        found = _at_projection(problem, S, c, 0.0)
        c = found.multipliers
        if left <= 0 or found.value - problem.lower_bound <= tol * abs(found.value):
            break
        size = float(c @ c)
        ridge = 4 * problem.lam * share * abs(found.value) / size if size > 0 else 0.0
        S, taken = _search(problem, S, c, ridge, enough=max(share, tol) * abs(found.value), max_iter=left)
        left -= taken
    return S, _at_projection(problem, S, c, 0.0).value


def _search(
    problem: KernelProblem, S: np.ndarray, c: np.ndarray, ridge: float, *, enough: float, max_iter: int
) -> tuple[np.ndarray, int]:
    """Minimise J for a kernel with `ridge` until the gap is `enough`; return the best S and the steps."""
    at = _at_projection(problem, S, c, ridge)
    best, values = S, [at.value]
    first = 1.0 / max(float(np.abs(at.gradient).max()), 1e-300)
    length = first
    for step in range(max_iter):
        if at.gap <= enough:
            return best, step
        move = fantope(S - length * at.gradient, problem.rank) - S
        slope = float(np.sum(move * at.gradient))
        if -slope <= ROUNDING * abs(at.value):
            return best, step
        share = 1.0
        for _ in range(HALVINGS):
            new = _at_projection(problem, S + share * move, at.multipliers, ridge)
            if new.value <= max(values[-RECENT:]) + ARMIJO * share * slope:
                break
            share /= 2
        change, turn = share * move, new.gradient - at.gradient
        curvature = float(np.sum(change * turn))
        length = float(np.sum(change * change)) / curvature if curvature > 0 else LONG * first
        length = min(max(length, SHORT * first), LONG * first)
        S, at = S + change, new
        if at.value <= min(values):
            best = S
        values.append(at.value)
    return best, max_iter


@dataclass
class _AtProjection:
    """J(S), its multipliers, its gradient, and the gap that the best projection for them leaves."""

    value: float
    multipliers: np.ndarray
    gradient: np.ndarray
    gap: float


def _at_projection(
    problem: KernelProblem, S: np.ndarray, multipliers: np.ndarray | None, ridge: float
) -> _AtProjection:
    sizes, directions = np.linalg.eigh(S)
    root = directions * np.sqrt(np.maximum(sizes, 0.0))
    found = problem.step_right(root, None, multipliers, ridge)
    outer = problem.offer(found.multipliers)
    squares = np.maximum(np.linalg.eigvalsh(outer)[::-1][: problem.rank], 0.0)
    gap = (float(squares.sum()) - float(np.sum(S * outer))) / (4 * problem.lam)
    return _AtProjection(found.objective, found.multipliers, -outer / (4 * problem.lam), gap)


def fantope(S: np.ndarray, rank: int) -> np.ndarray:
    """Return the symmetric matrix nearest to S with eigenvalues between 0 and 1 and the trace `rank`."""
    sizes, directions = np.linalg.eigh((S + S.T) / 2)

    def excess(shift: float) -> float:
        return float(np.clip(sizes - shift, 0.0, 1.0).sum()) - rank

    shift = brentq(excess, float(sizes[0]) - 1.0, float(sizes[-1]), xtol=1e-14)
    return np.asarray((directions * np.clip(sizes - shift, 0.0, 1.0)) @ directions.T)

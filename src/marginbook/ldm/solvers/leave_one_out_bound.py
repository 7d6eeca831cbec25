r"""A leave-one-out bound of the large margin distribution machine that is true.

From one trained machine follow intervals for the margins of all m left-out examples, at the price of one
product of two m x m matrices. :mod:`marginbook.ldm.solvers.leave_one_out_kernels` has the matrices,
:mod:`marginbook.ldm.solvers.leave_one_out_exact` the exact margins, and the notebook ``ldm/03_leave_one_out``
the proofs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .leave_one_out_kernels import Eigen, LeftOutKernels

#: what rounding may leave of a margin that is zero, for each example and in units of the terms it is a sum of
ROUNDING = 64 * float(np.finfo(float).eps)


class SolvedDual(Protocol):
    """What a solution of the dual must tell, as :class:`marginbook.ldm.solvers.Solution` does."""

    @property
    def shifted(self) -> np.ndarray: ...
    @property
    def margins(self) -> np.ndarray: ...
    @property
    def lambda1(self) -> float: ...
    @property
    def lambda2(self) -> float: ...
    @property
    def C(self) -> float: ...


@dataclass(frozen=True)
class Bracket:
    r"""Intervals for the margins :math:`y_if^{-i}(x_i)` of the m left-out examples.

    Attributes
    ----------
    lower, upper : (m,) arrays
        The exact left-out margins lie between the two.
    radii : (m,) array
        :math:`r_i`, see :func:`radii`.
    """

    lower: np.ndarray
    upper: np.ndarray
    radii: np.ndarray

    @property
    def error_bound(self) -> float:
        """Share of the examples that may be leave-one-out errors; a margin of zero counts as one."""
        return float(np.mean(self.lower <= 0))

    @property
    def error_floor(self) -> float:
        """Share of the examples that are leave-one-out errors for certain."""
        return float(np.mean(self.upper <= 0))

    @property
    def undecided(self) -> np.ndarray:
        """Indices of the examples whose left-out label the intervals leave open."""
        return np.flatnonzero((self.lower <= 0) & (self.upper > 0))


@dataclass(frozen=True)
class _Step:
    r"""The vectors :math:`g_i=Xq_i` in coordinates, and their products; arrays of shape (m,).

    :math:`Q_{-i}^{-1}g_i` has the margins :math:`YM'\tilde q_i`, where :math:`\tilde q_i` is `on_e` times
    :math:`e_i` plus `on_y` times :math:`y_{-i}` less :math:`c'/m` times the vector with the entries
    :math:`y_j(\gamma_j-\bar\gamma)`, whose product with :math:`M'` is `spread`.
    """

    on_e: np.ndarray
    on_y: np.ndarray
    spread: np.ndarray
    g_norm: np.ndarray
    x_norm: np.ndarray
    own: np.ndarray  # y_i <g_i, x_i>: how far the step moves the margin of i itself


def _step(kernels: LeftOutKernels, shifted: np.ndarray, margins: np.ndarray, lambda2: float) -> _Step:
    y, c, m = kernels.y, kernels.c, len(kernels.y)
    delta = margins - margins.mean()
    on_y = (lambda2 / m - c * delta) / (m - 1)
    on_e = -y * (shifted - c * delta)
    r = y * delta
    Mr, My = kernels.whitened @ r, kernels.along_y

    # products in M' of e_i, y_{-i} and r with each other, then with q_i
    ee, ey, er = kernels.diagonal, My - y * kernels.diagonal, Mr
    yy, yr, rr = y @ My - 2 * y * My + ee, r @ My - y * Mr, r @ Mr
    qe = on_e * ee + on_y * ey - c / m * er
    qy = on_e * ey + on_y * yy - c / m * yr
    qq = on_e * qe + on_y * qy - c / m * (on_e * er + on_y * yr - c / m * rr)
    te, ty = kernels.correction(qe, qy)
    ue, uy = kernels.correction(ee, ey)
    return _Step(
        on_e + te,
        on_y + ty,
        Mr,
        np.sqrt(np.maximum(qq + te * qe + ty * qy, 0.0)),
        np.sqrt(np.maximum(ee + ue * ee + uy * ey, 0.0)),
        y * (qe + te * ee + ty * ey),
    )


def radii(
    gram: np.ndarray,
    y: np.ndarray,
    shifted: np.ndarray,
    margins: np.ndarray,
    lambda1: float,
    lambda2: float,
    *,
    eigen: Eigen | None = None,
) -> np.ndarray:
    r"""Return :math:`r_i`, by which leaving out example i can change :math:`f(x_i)` at most.

    .. math:: |f(x_i)-f^{-i}(x_i)|\le r_i=\lVert g_i\rVert_{Q_{-i}^{-1}}\lVert x_i\rVert_{Q_{-i}^{-1}},\qquad
       g_i=(Q-Q_{-i})w-\lambda_2(z-z_{-i})-\beta_iy_ix_i .

    The simplest form of the bound, for the exact optimum w. :func:`bracket` is never wider, and also takes a
    machine that was not trained to the end.

    Parameters
    ----------
    gram : (m, m) array
    y : (m,) array of -1 and +1
    shifted, margins : (m,) arrays
        :math:`\beta'` and :math:`\gamma=H\beta'` at the optimum.
    lambda1, lambda2 : float
    eigen : tuple of arrays, optional
        Eigenvalues and eigenvectors of `gram`, where they are at hand.

    Returns
    -------
    (m,) array
    """
    step = _step(LeftOutKernels(gram, y, lambda1, eigen), shifted, margins, lambda2)
    return step.g_norm * step.x_norm


def bracket(gram: np.ndarray, y: np.ndarray, solution: SolvedDual, *, eigen: Eigen | None = None) -> Bracket:
    r"""Bound every left-out margin from one trained machine.

    The dual variables of the trained machine, without the i-th, are feasible for the problem without
    example i. Two balls in the norm of :math:`Q_{-i}` follow that hold its solution :math:`w^{-i}`:

    .. math:: \bigl\|w^{-i}-w-\tfrac12Q_{-i}^{-1}g_i\bigr\|\le\sqrt{\tfrac14\|g_i\|^2+\varepsilon_i},\qquad
       \bigl\|w^{-i}-\tilde w_i\bigr\|\le\sqrt{\delta_i},\quad\tilde w_i=w+Q_{-i}^{-1}g_i,

    with :math:`g_i` as in :func:`radii`; :math:`\varepsilon_i` is what the examples other than i add to the
    duality gap of the trained machine, and :math:`\delta_i` is the duality gap of :math:`\tilde w_i` in the
    problem without i. Each ball gives an interval for the margin; the result is their intersection. The
    machine need not be trained to the end: the intervals hold for every point of the dual box, and are wide
    for a bad one. Both ends are moved outwards by what rounding may do, so that a margin of zero, which is an
    error, lies inside on every processor.

    Parameters
    ----------
    gram : (m, m) array
    y : (m,) array of -1 and +1
    solution : Solution
        Of the dual, on all m examples.
    eigen : tuple of arrays, optional
        Eigenvalues and eigenvectors of `gram`, where they are at hand.

    Returns
    -------
    Bracket

    Raises
    ------
    ValueError
        With fewer than two examples.

    Examples
    --------
    >>> y = np.array([1.0, 1.0, -1.0, -1.0])
    >>> x = np.array([3.0, 2.5, -2.0, 0.5])
    >>> G = np.outer(x, x)
    >>> from marginbook.ldm.solvers import active_set
    >>> solution = active_set(y[:, None] * G * y, y, 0.0, 0.0, 1.0)
    >>> found = bracket(G, y, solution)
    >>> found.error_floor, found.error_bound
    (0.25, 0.5)
    """
    kernels = LeftOutKernels(gram, y, solution.lambda1, eigen)
    m, gamma, C = len(y), solution.margins, solution.C
    beta = np.clip(solution.shifted - solution.lambda2 / m, 0.0, C)
    step = _step(kernels, solution.shifted, gamma, solution.lambda2)

    loss = _gap_terms(gamma, beta, C)
    elsewhere = np.maximum(loss.sum() - loss, 0.0)
    half = np.sqrt(step.g_norm**2 / 4 + elsewhere) * step.x_norm

    # margins of every example at every w~_i: column i belongs to w~_i
    moved = kernels.whitened * (step.on_e - kernels.y * step.on_y) + np.outer(kernels.along_y, step.on_y)
    moved -= kernels.c / m * step.spread[:, None]
    gaps = _gap_terms(gamma[:, None] + kernels.y[:, None] * moved, beta[:, None], C)
    np.fill_diagonal(gaps, 0.0)
    full = np.sqrt(gaps.sum(axis=0)) * step.x_norm

    lower = np.maximum(gamma + step.own / 2 - half, gamma + step.own - full)
    upper = np.minimum(gamma + step.own / 2 + half, gamma + step.own + full)
    radius = step.g_norm * step.x_norm
    # by Cauchy and Schwarz the terms of gamma_i are no larger; an example without features has none
    terms = step.x_norm * (step.x_norm @ np.abs(solution.shifted))
    rounding = ROUNDING * m * (terms + np.abs(step.own) + radius)
    lower, upper = lower - rounding, upper + rounding
    known = np.isfinite(lower) & np.isfinite(upper)  # not where lambda1 is too large for the arithmetic
    return Bracket(*(np.where(known, v, np.inf * s) for v, s in ((lower, -1), (upper, 1), (radius, 1))))


def _gap_terms(margins: np.ndarray, beta: np.ndarray, C: float) -> np.ndarray:
    """Return what each example adds to the duality gap: products that are never negative."""
    terms: np.ndarray = np.where(margins > 1, beta, beta - C) * (margins - 1)
    return terms


def error_bound(
    gram: np.ndarray, y: np.ndarray, solution: SolvedDual, *, eigen: Eigen | None = None
) -> float:
    """Return an upper bound of the leave-one-out error from one trained machine.

    It is the share of the examples whose left-out margin may be zero or negative by :func:`bracket`, which
    also explains the parameters.
    """
    return bracket(gram, y, solution, eigen=eigen).error_bound

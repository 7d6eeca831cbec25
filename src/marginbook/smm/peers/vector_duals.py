r"""Lower bounds of the risk on vec(X), which certify what scikit-learn found without multipliers of its own.

For multipliers :math:`0\le c_i\le w_i/n`, with :math:`\sum_iy_ic_i=0` where b is free,

.. math:: F(B,b)\ge D(c)=-\sum_i\frac{w_i}nL^*\Bigl(-\frac{nc_i}{w_i}\Bigr)
   -\frac1{4\lambda}\Bigl\lVert\sum_ic_iy_ix_i\Bigr\rVert^2

as in :mod:`~marginbook.smm.model.objective` for full rank. Any such c gives a bound; one near the optimum
gives a tight one. As no loss is negative, neither is the bound: :math:`D(0)=0`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator

import numpy as np
from scipy.optimize import lsq_linear
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from ...base.user_line import user_level
from ..model.objective import conjugate_sum, feasible, loss_values
from ..solvers.block_problem import BlockProblem
from ..solvers.nuclear_multiples import TINY
from ..solvers.nuclear_norm import FLOOR

#: samples near the margin whose multipliers are looked for
LARGEST_BAND = 1000
#: widths of that band beside twice the solver's tolerance, for one that stopped early
WIDTHS = (1e-3, 0.1)
#: relative gaps that are warned of at no tolerance, and at any
WANTED = (1e-4, 0.1)


def hinge_multipliers(problem: BlockProblem, coef: np.ndarray) -> Iterator[np.ndarray]:
    r"""Yield candidates for the multipliers of the hinge loss without an intercept, each (n,), in the box.

    They are at their upper bounds below the margin, 0 above it, and in a band around it those for which
    :math:`\sum_ic_iy_ix_i` is nearest to :math:`2\lambda B`.

    Parameters
    ----------
    problem : BlockProblem
    coef : (p,) array
        B, as a solver of the problem's tolerance found it.
    """
    rows, signs, shares = problem.Z, problem.y, problem.shares
    margins = signs * (rows @ coef)
    distance = np.abs(margins - 1)
    below = np.where(margins < 1, shares, 0.0)
    yield below
    size = 0
    for width in (2 * problem.tol, *WIDTHS):
        band = np.flatnonzero(distance <= min(width, 1.0))
        if len(band) > LARGEST_BAND:
            band = band[np.argsort(distance[band], kind="stable")[:LARGEST_BAND]]
        if len(band) <= size:
            continue
        size = len(band)
        outside = below.copy()
        outside[band] = 0.0
        target = 2 * problem.lam * coef - (outside * signs) @ rows
        columns = (rows[band] * (signs * shares)[band, None]).T
        if len(band) < len(coef):  # in coordinates of the span
            basis, columns = np.linalg.qr(columns)
            target = basis.T @ target
        unit = float(np.abs(columns).max())
        columns, target = columns / unit, target / unit
        # rows beyond the range of doubles, or all 0: without an answer the first candidate is left
        if np.isfinite(columns).all() and np.isfinite(target).all():
            outside[band] = shares[band] * np.clip(lsq_linear(columns, target, (0.0, 1.0)).x, 0.0, 1.0)
            yield outside


def logistic_multipliers(problem: BlockProblem, coef: np.ndarray, intercept: float) -> np.ndarray:
    """Return the slopes of the logistic losses, (n,), which are the multipliers at the optimum."""
    return np.asarray(problem.shares * expit(-problem.y * (problem.Z @ coef + intercept)))


def dual_value(problem: BlockProblem, multipliers: np.ndarray) -> float:
    """Return D of the `multipliers`, (n,), made feasible and, for the hinge loss, scaled to the best."""
    rows, loss, weights, free = problem.Z, problem.loss, problem.sample_weight, problem.fit_intercept
    allowed = feasible(multipliers, problem.y, loss=loss, sample_weight=weights, fit_intercept=free) * (
        1 - np.finfo(float).eps
    )  # a rounding must not leave the box
    linear = conjugate_sum(allowed, loss=loss, sample_weight=weights)
    # sums of signed multipliers that cancel up to rounding must not multiply a large mean
    centred = rows - rows.mean(axis=0) if free else rows
    pull = (allowed * problem.y) @ centred
    size = float(np.abs(pull).max())
    if size == 0:
        return linear
    square = float(np.sum(np.square(pull / size))) / (4 * problem.lam)
    # in units of the largest entry, which need not have a square; scaled down only: some are at their bounds
    factor = size
    if loss == "hinge":
        factor = min(size, linear / size / (2 * square))
    value = factor / size * linear - factor * (factor * square)
    return value if np.isfinite(value) else 0.0


def lower_bound(problem: BlockProblem, candidates: Iterable[np.ndarray], enough: float) -> float:
    """Return the best bound of the `candidates`, each (n,), at least 0; the first above `enough` ends it."""
    best = 0.0
    for each in candidates:
        if np.isfinite(each).all():
            best = max(best, dual_value(problem, each))
        if best >= enough:
            break
    return best


def null_objective(problem: BlockProblem) -> float:
    """Return the least objective at B = 0."""
    signs, shares, loss = problem.y, problem.shares, problem.loss
    sums = np.array([shares[signs > 0].sum(), shares[signs < 0].sum()])
    if not problem.fit_intercept:
        return float(sums.sum() * loss_values(np.zeros(1), loss)[0])
    if loss == "hinge":
        return 2 * float(sums.min())
    return float(-(sums * np.log(sums / sums.sum())).sum())


def relative_gap(objective: float, bound: float, null: float) -> float:
    """Return the gap as a share of the objective or, where that is tiny, of 1e-12 times the `null` one."""
    if not np.isfinite(objective):
        return float("inf")
    return max(0.0, objective - bound) / max(objective, FLOOR * null, TINY)


def warn_gap(name: str, gap: float, tol: float, objective: float, bound: float) -> None:
    """Warn if the relative `gap` is above what a tolerance `tol` of the solver promises, its root."""
    # the solvers bound slopes by tol, of which a gap is the square at best and a multiple at worst
    wanted = float(np.clip(np.sqrt(tol), *WANTED))
    if not gap <= wanted:
        warnings.warn(
            f"the relative duality gap of {name} is {gap:.1e}, wanted {wanted:.1e} or less at tol={tol:g}: "
            f"the objective is {objective:.10g}, its lower bound {bound:.10g}; raise lam or max_iter, lower "
            "tol, or centre and scale the matrices",
            ConvergenceWarning,
            stacklevel=user_level(),
        )

r"""How much below the objective the global minimum can be, by a convex relaxation.

The largest convex function below :math:`\lVert B\rVert_F^2` on the matrices of rank at most r is the squared
spectral k-support norm :math:`\lVert B\rVert_{sp}^2`, k = r (McDonald, Pontil and Stamos 2014). Its conjugate
gives the bound :math:`D_r(c)` of :func:`~marginbook.smm.model.objective.dual_bound` for every c; the best of
them is the minimum of the relaxation

.. math::
    \min_{B,b}\ \frac1n\sum_iw_iL\bigl(y_i(\langle B,X_i\rangle+b)\bigr)+\lambda\lVert B\rVert_{sp}^2 .

:func:`improve` minimises it by accelerated proximal gradient steps (the hinge loss through envelopes whose
multipliers follow) and keeps the best multipliers on the way. Where its minimiser has rank r, that minimiser
solves the problem with the rank; elsewhere a gap remains, whatever the number of steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...kernels.decomposition import svd
from ..model.objective import (
    dual_bound,
    feasible,
    loss_curvatures,
    loss_slopes,
    loss_values,
    validate_lam,
    validate_loss,
    validate_sample_weight,
    validate_signs,
)
from .hinge_augmented_lagrangian import envelope
from .newton import Loss

#: steps between two updates of multipliers and bound
ROUND = 40
#: singular values below this share of the largest are zero
NEGLIGIBLE = 1e-100
#: rounds without an improvement by this share that end the search
IDLE, STALLED = 4, 1e-8
#: reciprocal width of the first bands of margins, its factor for each round, and the largest
FIRST, FACTOR, LARGEST = 1.0, 1.3, 64.0


@dataclass(frozen=True)
class Bound:
    r"""A lower bound of the objective over all matrices of a rank.

    Attributes
    ----------
    value : float
        :math:`D_r` of the multipliers.
    multipliers : (n,) array
        Feasible.
    coef : (d1, d2) array
        The last point of the relaxation, whose rank may be larger.
    intercept : float
    n_iter : int
        Proximal steps.
    """

    value: float
    multipliers: np.ndarray
    coef: np.ndarray
    intercept: float
    n_iter: int


def shrink_largest(v: np.ndarray, tau: float, rank: int) -> np.ndarray:
    r"""Return the minimiser of :math:`\tfrac12|s-v|^2+\tfrac\tau2\sum_{k\le r}s_{[k]}^2` for v >= 0.

    The r largest entries :math:`s_{[k]}` are penalised. The solution is
    :math:`s_i=\min(v_i,\max(v_i/(1+\tau),\theta))`, with :math:`\theta` such that the weights
    :math:`\min(\max((v_i/\theta-1)/\tau,0),1)` sum to r: entries near the border between penalised and free
    ones are tied.

    Examples
    --------
    >>> import numpy as np
    >>> shrink_largest(np.array([4.0, 1.5, 1.0]), 1.0, 2).round(12).tolist()
    [2.0, 0.833333333333, 0.833333333333]
    >>> shrink_largest(np.array([2.0, 1.8]), 1.0, 1).round(12).tolist()
    [1.266666666667, 1.266666666667]
    """
    order = np.sort(v)[::-1]
    shrunk = v / (1.0 + tau)
    smallest = np.finfo(float).tiny * (1.0 + tau)  # below it a division by theta may be one by zero
    seen = order[order > max(NEGLIGIBLE * order[0], smallest)]
    if rank >= len(seen):
        return shrunk
    if order[rank] <= order[rank - 1] / (1.0 + tau):
        return np.where(v >= order[rank - 1], shrunk, v)
    knots = np.sort(np.concatenate([seen, seen / (1.0 + tau)]))

    def weights(theta: np.ndarray) -> np.ndarray:
        return np.clip((v[:, None] / theta - 1.0) / tau, 0.0, 1.0).sum(axis=0)

    sums = weights(knots)  # falls as theta grows
    above = int(np.flatnonzero(sums >= rank)[-1])
    low, high = knots[above], knots[min(above + 1, len(knots) - 1)]
    middle = 0.5 * (low + high)
    tied = (v >= middle) & (shrunk <= middle)
    full = int(np.sum(shrunk > middle))
    theta = float(v[tied].sum()) / (tau * (rank - full) + int(tied.sum())) if tied.any() else low
    return np.minimum(v, np.maximum(shrunk, theta))


def prox_support(V: np.ndarray, step: float, lam: float, rank: int) -> np.ndarray:
    r"""Return the minimiser of :math:`\frac12\lVert B-V\rVert_F^2+t\lambda\lVert B\rVert_{sp}^2`, t the step.

    By Moreau's decomposition from :func:`shrink_largest` on the singular values.
    """
    left, v, right = svd(V)
    dual = shrink_largest(v, 1.0 / (2.0 * lam * step), rank)
    return (left * (v - dual)) @ right


def improve(
    X: np.ndarray,
    y: np.ndarray,
    *,
    rank: int,
    lam: float,
    loss: str = "hinge",
    sample_weight: np.ndarray | None = None,
    fit_intercept: bool = False,
    multipliers: np.ndarray | None = None,
    start: tuple[np.ndarray, float] | None = None,
    target: float = np.inf,
    max_iter: int = 2000,
) -> Bound:
    """Return a lower bound of the objective over all matrices of rank at most `rank`.

    Parameters
    ----------
    X : (n, d1, d2) array
    y : (n,) array of -1 and +1
    rank, lam, loss, sample_weight, fit_intercept
        Of the problem.
    multipliers : (n,) array, optional
        To begin with; the bound is never below theirs.
    start : ((d1, d2) array, float), optional
        Coefficients and intercept to begin with.
    target : float
        A bound at which to stop: the objective, less what may be left open.
    max_iter : int
        Proximal steps.

    Raises
    ------
    ValueError
        If a shape, a label, a weight, `rank`, `lam` or `loss` is not as above.
    """
    X = np.ascontiguousarray(X, dtype=float)
    if X.ndim != 3 or 0 in X.shape:
        raise ValueError(f"X has shape {X.shape}, wanted (n, d1, d2): one matrix per sample")
    if not np.isfinite(X).all():
        raise ValueError("X has entries that are not finite; impute or remove them first")
    y, lam = validate_signs(y, len(X)), validate_lam(lam)
    validate_loss(loss)
    weights = validate_sample_weight(sample_weight, len(X))
    n, d1, d2 = X.shape
    if int(rank) != rank or not 1 <= rank <= min(d1, d2):
        raise ValueError(f"rank must be a whole number between 1 and min(d1, d2) = {min(d1, d2)}, got {rank}")
    if start is not None and np.shape(start[0]) != (d1, d2):
        raise ValueError(f"start has coefficients of shape {np.shape(start[0])}, wanted {(d1, d2)}")
    if multipliers is not None and np.shape(multipliers) != (n,):
        raise ValueError(f"multipliers has shape {np.shape(multipliers)}, wanted ({n},)")
    flat, C = X.reshape(n, -1), weights / n
    coef, b = (np.zeros((d1, d2)), 0.0) if start is None else (np.array(start[0], dtype=float), start[1])
    c = 0.5 * C if multipliers is None else np.asarray(multipliers, dtype=float)

    def bound(candidate: np.ndarray) -> float:
        return dual_bound(
            candidate,
            X,
            y,
            lam=lam,
            rank=rank,
            loss=loss,
            sample_weight=weights,
            fit_intercept=fit_intercept,
        )

    best_c, best = c, bound(c)
    size = _largest_curvature(flat, C, fit_intercept)
    kappa, done = FIRST, 0
    idle = 0
    while done < max_iter and best < target and size > 0 and idle < IDLE:
        before = best
        smooth = envelope(np.clip(c, 0.0, C), C, kappa) if loss == "hinge" else _risk(C, loss)
        curvature = size * (kappa if loss == "hinge" else 2.0 if loss == "squared_hinge" else 0.25)
        steps = min(ROUND, max_iter - done)
        coef, b, slopes, mean = _accelerated(
            flat, y, smooth, coef, b, 1.0 / curvature, lam, rank, steps, fit_intercept
        )
        done += steps
        c = -slopes
        for candidate in (c, mean):
            value = bound(candidate)
            if value > best:
                best, best_c = value, candidate
        idle = 0 if best > before + STALLED * abs(best) else idle + 1
        kappa = min(kappa * FACTOR, LARGEST)
    allowed = feasible(best_c, y, loss=loss, sample_weight=weights, fit_intercept=fit_intercept)
    return Bound(best, allowed, coef, b, done)


def _risk(C: np.ndarray, loss: str) -> Loss:
    def risk(margins: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return (
            C * loss_values(margins, loss),
            C * loss_slopes(margins, loss),
            C * loss_curvatures(margins, loss),
        )

    return risk


def _largest_curvature(flat: np.ndarray, C: np.ndarray, fit_intercept: bool) -> float:
    """Return the largest eigenvalue of the second moments of the features, the constant among them."""
    rows = np.column_stack([flat, np.ones(len(flat))]) if fit_intercept else flat
    rows = rows * np.sqrt(C)[:, None]
    moments = rows @ rows.T if len(rows) < rows.shape[1] else rows.T @ rows
    return float(np.linalg.eigvalsh(moments)[-1])


def _accelerated(
    flat: np.ndarray,
    y: np.ndarray,
    smooth: Loss,
    coef: np.ndarray,
    b: float,
    step: float,
    lam: float,
    rank: int,
    n_steps: int,
    fit_intercept: bool,
) -> tuple[np.ndarray, float, np.ndarray, np.ndarray]:
    """Return the point after accelerated steps, the slopes in it, and the mean multipliers of the way."""
    shape = coef.shape
    ahead, ahead_b, momentum = coef, b, 1.0
    mean = np.zeros(len(y))
    for k in range(n_steps):
        slopes = smooth(y * (flat @ ahead.ravel() + ahead_b))[1]
        mean += (-slopes - mean) * (2.0 / (k + 2.0))
        pull = (slopes * y) @ flat
        new = prox_support(ahead - step * pull.reshape(shape), step, lam, rank)
        new_b = ahead_b - step * float(y @ slopes) if fit_intercept else 0.0
        if float(np.sum((ahead - new) * (new - coef))) + (ahead_b - new_b) * (new_b - b) > 0:
            momentum = 1.0  # the momentum points uphill: begin again
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        weight = (momentum - 1.0) / following
        ahead, ahead_b = new + weight * (new - coef), new_b + weight * (new_b - b)
        coef, b, momentum = new, new_b, following
    return coef, b, smooth(y * (flat @ coef.ravel() + b))[1], mean

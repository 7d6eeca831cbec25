r"""A start for the block descent where both blocks are nearly optimal together.

Exact minimisation over one block at a time can stop where the hinge loss has kinks although a move of both
blocks would go on. Here both move at once (:mod:`~marginbook.smm.solvers.newton_joint`). The hinge loss is
replaced by its envelope (:mod:`~marginbook.smm.solvers.hinge_augmented_lagrangian`) with multipliers that
follow: bands of margins that shrink, as in the method of multipliers, so that the limit is stationary for
both blocks and the multipliers are its own: :math:`M(c)P=2\lambda QS` and :math:`Q^\top M(c)=2\lambda
SP^\top`.
"""

from __future__ import annotations

import numpy as np

from ..model.objective import loss_curvatures, loss_slopes, loss_values
from .hinge_augmented_lagrangian import envelope
from .newton_joint import Factors, joint_newton
from .sequential_qp import hinge_value

#: reciprocal widths of the bands: the first, and the factor of each stage
FIRST, FACTOR = 1.0, 4.0
#: stages, Newton steps of a stage, and its relative tolerance at the beginning
STAGES, STEPS, COARSE = 9, 25, 1e-3


def hinge_continuation(
    X: np.ndarray,
    y: np.ndarray,
    at: Factors,
    *,
    lam: float,
    sample_weight: np.ndarray,
    fit_intercept: bool,
    tol: float,
    multipliers: np.ndarray | None = None,
    first: float = FIRST,
    stages: int = STAGES,
) -> tuple[Factors, np.ndarray, int]:
    """Return nearly stationary factors for the hinge loss, their multipliers, and the Newton steps.

    Parameters
    ----------
    X : (n, d1, d2) array
    y : (n,) array of -1 and +1
    at : Factors
        The start.
    lam, sample_weight, fit_intercept
        Of the problem.
    tol : float
        Relative change of the objective by a stage at which to stop.
    multipliers : (n,) array, optional
    first : float
        Reciprocal width of the first bands: large near a solution.
    stages : int
        Bands at most.
    """
    C = sample_weight / len(y)
    c = np.where(at.margins < 1.0, C, 0.0) if multipliers is None else np.clip(multipliers, 0.0, C)
    kappa, steps = first, 0
    best, value = at, hinge_value(at, C, lam)
    previous = np.inf
    for stage in range(stages):
        at, taken = joint_newton(
            X,
            y,
            envelope(c, C, kappa),
            at,
            lam=lam,
            fit_intercept=fit_intercept,
            tol=max(0.1 * tol, COARSE * 0.1**stage),
            max_iter=STEPS,
            proximity=1e-3 * float(C.sum()) / kappa if fit_intercept else 0.0,
        )
        steps += taken
        c = np.clip(c + kappa * C * (1.0 - at.margins), 0.0, C)
        now = hinge_value(at, C, lam)
        if now < value:
            best, value = at, now
        if abs(previous - now) <= tol * abs(now):
            break
        previous = now
        kappa *= FACTOR
    return best, c, steps


def smooth_descent(
    X: np.ndarray,
    y: np.ndarray,
    at: Factors,
    *,
    lam: float,
    loss: str,
    sample_weight: np.ndarray,
    fit_intercept: bool,
    tol: float,
    max_iter: int = 60,
) -> tuple[Factors, np.ndarray, int]:
    """Return stationary factors for a smooth loss, their multipliers, and the Newton steps.

    Parameters
    ----------
    X, y, at, lam, sample_weight, fit_intercept, tol
        As in :func:`hinge_continuation`.
    loss : {"squared_hinge", "logistic"}
    max_iter : int
    """
    C = sample_weight / len(y)

    def risk(margins: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        values, slopes = C * loss_values(margins, loss), C * loss_slopes(margins, loss)
        return values, slopes, C * loss_curvatures(margins, loss)

    at, steps = joint_newton(
        X, y, risk, at, lam=lam, fit_intercept=fit_intercept, tol=0.1 * tol, max_iter=max_iter
    )
    return at, -risk(at.margins)[1], steps

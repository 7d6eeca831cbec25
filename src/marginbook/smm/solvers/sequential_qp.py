r"""The hinge loss in both blocks at once, by a sequence of quadratic programs.

In the coordinates :math:`\Delta` of :mod:`~marginbook.smm.solvers.newton_joint` around a matrix of rank r,
with multipliers c, the objective is to second order

.. math::
    \sum_iC_i(1-m_i-a_i^\top\Delta)_++2\lambda\langle B,\Delta\rangle+\tfrac12\Delta^\top R\Delta,
    \qquad C_i=w_i/n,

R diagonal with the curvatures of the penalty and of the matrices of rank r. With :math:`R_+\ge R`, whose
negative entries are cut back, this is a small support vector machine. Near a solution the same samples are on
the margin in each of them, and :func:`~marginbook.smm.solvers.hinge_active_set.maximise` only confirms them;
the kinks that make smoothing slow are met exactly. What the cut adds is a proximal term
:math:`\tfrac12\Delta^\top(R_+-R)\Delta`; its centre is put ahead, :math:`\beta` times the step before, since
those directions, soft or bent downwards, would otherwise be slow.
"""

from __future__ import annotations

import numpy as np

from ..model.objective import combination
from .hinge_active_set import FREE, maximise
from .newton_joint import SOFTEST, Factors, frame_of, retracted

#: how far ahead, in steps, the centre of the proximal term is
BETA = 0.65
#: distance from the margin of the samples that may be on it at the start
NEAR = 1e-5
#: programs, changes of the active set in each per coordinate, and halvings of a step
PROGRAMS, CHANGES, HALVINGS = 60, 10, 12


def carried(margins: np.ndarray, c: np.ndarray, C: np.ndarray) -> np.ndarray:
    """Return multipliers in boxes [0, C] from those, `c`, of a problem nearby with other boxes.

    Samples that are not on the margin belong to a bound of their box, whatever it was.
    """
    outside = np.where(margins < 1.0, C, 0.0)
    return np.where(np.abs(margins - 1.0) <= NEAR, np.clip(c, 0.0, C), outside)


def quadratic_programs(
    X: np.ndarray,
    y: np.ndarray,
    at: Factors,
    c: np.ndarray,
    *,
    lam: float,
    sample_weight: np.ndarray,
    fit_intercept: bool,
    tol: float,
) -> tuple[Factors, np.ndarray, bool]:
    """Return stationary factors for the hinge loss, their multipliers, and whether they are.

    Parameters
    ----------
    X : (n, d1, d2) array
    y : (n,) array of -1 and +1
    at : Factors
        The start.
    c : (n,) array
        Multipliers near those of the solution.
    lam, sample_weight, fit_intercept
        Of the problem.
    tol : float
        Share of the objective: a program that promises less is the last.
    """
    n = len(X)
    flat, C = X.reshape(n, -1), sample_weight / n
    c = np.clip(c, 0.0, C)
    value = hinge_value(at, C, lam)
    before: np.ndarray | None = None
    for _ in range(PROGRAMS):
        frame = frame_of(combination(c, X, y), at, lam)
        q = len(frame.ridge)
        ridge = np.maximum(frame.ridge, SOFTEST * 2.0 * lam)
        scale = 1.0 / np.sqrt(ridge)
        A = np.empty((n, q + fit_intercept))
        np.multiply(frame.features(X), y[:, None] * scale, out=A[:, :q])
        linear = np.zeros(A.shape[1])
        coef = at.coef
        linear[:q] = frame.features((2.0 * lam * coef)[None])[0] * scale
        if before is not None:
            step = frame.features((coef - before)[None])[0]
            linear[:q] -= BETA * (ridge - frame.ridge) * step * scale
        free = np.sqrt(FREE * float(np.vdot(A[:, :q], A[:, :q])) / n) if fit_intercept else 0.0
        if fit_intercept:
            A[:, q] = free * y
        losses = 1.0 - at.margins
        new = c.copy()
        solved, _ = maximise(A, losses + A @ linear, C, new, CHANGES * A.shape[1])
        u = new @ A - linear
        model = float(C @ np.maximum(losses - A @ u, 0.0)) + lam * float(at.s @ at.s)
        promised = value - model - float(linear @ u) - 0.5 * float(u @ u)
        left, right = frame.blocks(u[:q] * scale)
        turned = right * (frame.alive / np.where(frame.alive > 0, at.s, 1.0))
        step_b = free * float(u[q]) if fit_intercept else 0.0
        size = 1.0
        for _ in range(HALVINGS):
            trial = retracted(at, size * left, size * turned, at.b + size * step_b, at.margins)
            trial.margins = y * (flat @ trial.coef.ravel() + trial.b)
            new_value = hinge_value(trial, C, lam)
            if new_value < value:
                break
            size *= 0.5
        else:
            if before is None:
                return at, new if solved else c, solved and promised <= tol * value
            before = None  # ahead was uphill: once more without
            continue
        before, at, value = coef, trial, new_value
        c = c + size * (new - c) if size < 1.0 else new
        if solved and promised <= tol * value:
            return at, c, True
    return at, c, False


def hinge_value(at: Factors, C: np.ndarray, lam: float) -> float:
    """Return the objective of factors for the hinge loss with the weights C."""
    return float(C @ np.maximum(1.0 - at.margins, 0.0)) + lam * float(at.s @ at.s)

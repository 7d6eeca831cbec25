r"""Newton's method for a smooth loss of a linear function with a quadratic penalty.

.. math::
    \min_{w,b}\ \sum_i\varphi_i(m_i)+\lambda\lVert w\rVert^2+\tfrac\tau2(b-b_0)^2,\qquad
    m_i=a_i^\top w+y_ib,\quad a_i=y_iz_i,

with convex, continuously differentiable :math:`\varphi_i` whose second derivatives may jump. A step solves

.. math::
    (2\lambda I+A_J^\top D_JA_J)\,\Delta w+A_J^\top D_Jy_J\,\Delta b=-\nabla_w,\qquad
    y_J^\top D_JA_J\,\Delta w+(y_J^\top D_Jy_J+\tau)\Delta b=-\nabla_b,

where J are the samples with curvature :math:`D_i>0`: a p x p system, or with :math:`t=D(A\Delta w+y\Delta b)`
the \|J\| x \|J\| system of :math:`K=D_J^{-1}+A_JA_J^\top/2\lambda`, whichever is smaller.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf

from ...kernels.hinge_interior_point import factorise, solve
from ..model.objective import (
    loss_curvatures,
    loss_slopes,
    loss_values,
    validate_loss,
)
from .block_problem import BlockProblem
from .certificate import Certificate, Point
from .solution import InnerSolution

#: values, slopes and curvatures of all samples at their margins
Loss = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]
#: an Armijo step must decrease the objective by this share of what its slope promises
ARMIJO = 1e-4
#: halvings of a step before the point counts as converged to rounding
HALVINGS = 40
#: curvature relative to the largest one below which a sample has none
FLAT = 1e-14


def minimise(
    A: np.ndarray,
    y: np.ndarray,
    loss: Loss,
    point: Point,
    *,
    lam: float,
    fit_intercept: bool,
    enough: Callable[[Point, np.ndarray, float], bool],
    max_iter: int = 100,
    proximity: float = 0.0,
    centre: float = 0.0,
) -> Point:
    r"""Return a minimiser by damped Newton steps.

    Parameters
    ----------
    A : (n, p) array
        Rows :math:`y_iz_i`.
    y : (n,) array of -1 and +1
    loss : callable
        Of the margins: values, slopes and curvatures, each (n,).
    point : Point
        The start.
    lam : float
    fit_intercept : bool
    enough : callable
        Of the point, the slopes and the square norm of the gradient that is left; True stops.
    max_iter : int
    proximity, centre : float
        :math:`\tau` and :math:`b_0`.

    Returns
    -------
    Point
        Whose ``n_iter`` counts the systems solved.
    """
    w, b, margins = point.w, point.b, point.margins
    values, slopes, curvatures = loss(margins)
    total = float(values.sum()) + lam * float(w @ w) + 0.5 * proximity * (b - centre) * (b - centre)
    steps = 0
    while True:
        gradient = 2.0 * lam * w + slopes @ A
        gradient_b = float(y @ slopes) + proximity * (b - centre) if fit_intercept else 0.0
        point = Point(w, b, margins, point.n_iter)
        norm = float(gradient @ gradient) + gradient_b * gradient_b
        if enough(point, slopes, norm) or steps >= max_iter or norm == 0:
            return point
        found = direction(
            A,
            y,
            curvatures,
            gradient,
            gradient_b,
            ridge=2.0 * lam,
            fit_intercept=fit_intercept,
            proximity=proximity,
        )
        assert found is not None  # a positive ridge
        step, step_b = found
        steps += 1
        point.n_iter += 1
        slope = float(gradient @ step) + gradient_b * step_b
        if not slope < 0:
            return point
        change = A @ step + y * step_b if fit_intercept else A @ step
        size = 1.0
        for _ in range(HALVINGS):
            new_w, new_b, new_margins = w + size * step, b + size * step_b, margins + size * change
            values, slopes, curvatures = loss(new_margins)
            new_total = (
                float(values.sum())
                + lam * float(new_w @ new_w)
                + 0.5 * proximity * (new_b - centre) * (new_b - centre)
            )
            if new_total <= total + ARMIJO * size * slope:
                break
            size *= 0.5
        else:
            return point  # the decrease that is left is below rounding
        w, b, margins, total = new_w, new_b, new_margins, new_total


def direction(
    A: np.ndarray,
    y: np.ndarray,
    curvatures: np.ndarray,
    gradient: np.ndarray,
    gradient_b: float,
    *,
    ridge: float | np.ndarray,
    fit_intercept: bool,
    proximity: float = 0.0,
) -> tuple[np.ndarray, float] | None:
    """Return the Newton step in (w, b) for a diagonal quadratic penalty with the curvatures `ridge`.

    Entries of an array `ridge` may be negative; the result is None if the form as a whole is not positive
    definite. A flat direction of b gets a small curvature.
    """
    largest = float(curvatures.max(initial=0.0))
    least = float(np.min(ridge))
    J = np.flatnonzero(curvatures > FLAT * largest)
    if len(J) == 0 and least > 0:
        return -gradient / ridge, (-gradient_b / max(proximity, 1.0) if fit_intercept else 0.0)
    if len(J) < len(y):
        A, curvatures, y = A[J], curvatures[J], y[J]
    if len(J) < A.shape[1] and least > 0:
        K = dsyrk(1.0, (A / np.sqrt(ridge)).T, trans=1, lower=1)
        K.flat[:: len(J) + 1] += 1.0 / curvatures
        factor = factorise(K)
        seen = A @ (gradient / ridge)
        if not fit_intercept:
            return -(gradient - solve(factor, seen) @ A) / ridge, 0.0
        both = solve(factor, np.column_stack([-seen, y]))
        stiffness = float(y @ both[:, 1]) + proximity
        step_b = -(gradient_b + float(y @ both[:, 0])) / max(stiffness, FLAT * largest)
        return -(gradient + (both[:, 0] + step_b * both[:, 1]) @ A) / ridge, step_b
    H = dsyrk(1.0, (A * np.sqrt(curvatures)[:, None]).T, lower=1)
    H.flat[:: A.shape[1] + 1] += ridge
    if least > 0:
        factor = factorise(H)
    else:
        factor, info = dpotrf(H, lower=1, clean=0)
        if info != 0:
            return None
    if not fit_intercept:
        return solve(factor, -gradient), 0.0
    mixed = (curvatures * y) @ A
    both = solve(factor, np.column_stack([-gradient, mixed]))
    stiffness = float(curvatures.sum()) + proximity
    schur = stiffness - float(mixed @ both[:, 1])
    if schur <= FLAT * stiffness:
        if least <= 0:
            return None
        schur = max(FLAT * stiffness, FLAT * largest)
    step_b = -(gradient_b + float(mixed @ both[:, 0])) / schur
    return both[:, 0] - step_b * both[:, 1], step_b


def newton(
    problem: BlockProblem, start: tuple[np.ndarray, float] | None = None, max_iter: int = 100
) -> InnerSolution:
    r"""Minimise the squared hinge or the logistic risk of a linear function.

    Parameters
    ----------
    problem : BlockProblem
    start : ((p,) array, float), optional
        Coefficients and intercept, 0 by default.
    max_iter : int

    Raises
    ------
    ValueError
        For the hinge loss, which has no curvature.
    """
    loss, A, y, share = problem.loss, problem.A, problem.y, problem.shares
    validate_loss(loss)
    if loss == "hinge":
        raise ValueError(
            "newton needs a loss with curvature, got 'hinge'; call augmented_newton or solve_hinge_block"
        )
    w, b = np.zeros(A.shape[1]), 0.0
    if start is not None:
        w, b = np.asarray(start[0], dtype=float), problem.intercept(start)

    def risk(margins: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return (
            share * loss_values(margins, loss),
            share * loss_slopes(margins, loss),
            share * loss_curvatures(margins, loss),
        )

    best = Certificate(problem)
    point = Point(w, b, A @ w + y * b)
    point = minimise(
        A,
        y,
        risk,
        point,
        lam=problem.lam,
        fit_intercept=problem.fit_intercept,
        enough=lambda point, slopes, norm: best.offer(point, -slopes, norm),
        max_iter=max_iter,
    )
    return best.solution(point.n_iter)

r"""Where the iteration (8) rests, and how fast it gets there.

Row i of (8) reads :math:`\rho Nq\,\omega_i^+=|\omega_i|^{2-q}\,d_i^\top r^+` with the column :math:`d_i` of
the design and the residual :math:`r^+` of the new iterate. So near a point :math:`\omega` at which (8) rests
a coefficient that is zero there is multiplied by :math:`|d_i^\top r|\,|\omega_i|^{1-q}/\rho Nq`, and the
errors of the others, by the derivative of (8), by the matrix

.. math::
    T'=(2-q)\rho Nq\,M^{-1}B,\qquad M=A+\rho NqB,\quad B=\operatorname{diag}|\omega_i|^{q-2}.

With :math:`\Psi=B^{-1/2}` it has the eigenvalues of the symmetric
:math:`(2-q)\rho Nq\,(\Psi A\Psi+\rho Nq I)^{-1}`, which are positive, and below one just where the Hessian
:math:`A-\rho Nq(1-q)B` is positive definite: the minima attract, and other resting points repel.
"""

from __future__ import annotations

import numpy as np

from ..model.objective import Problem, fit_gradient, penalty_weights
from ..solvers.irls import ridge_start, step_stable
from .local_minima import no_return


def support_factors(
    problem: Problem, omega: np.ndarray, q: float, rho: float, penalize_bias: bool = True
) -> np.ndarray:
    """Return the eigenvalues of T' on the coefficients of `omega` that are not zero, in ascending order.

    Parameters
    ----------
    problem : Problem
    omega : (M+1,) array
        A point at which (8) rests.
    q, rho : float
    penalize_bias : bool
        A bias that is not penalised contributes an eigenvalue 0.

    Examples
    --------
    >>> import numpy as np
    >>> from marginbook.kfda.model.objective import Problem
    >>> problem = Problem(np.array([[0.0], [1.0]]), np.array([0.0, 4.0]))
    >>> support_factors(problem, np.array([0.0, 3.0]), 1.0, 0.5)  # 3 = 4 - rho N
    array([0.25])
    """
    weights = penalty_weights(problem, penalize_bias)
    kept = np.flatnonzero((omega != 0) | (weights == 0))
    v, force = weights[kept], rho * problem.n * q
    psi = np.where(v > 0, np.abs(omega[kept]) ** (1 - q / 2), 1.0)
    matrix = psi[:, None] * problem.gram[np.ix_(kept, kept)] * psi + force * np.diag(v)
    inverse = v[:, None] * np.linalg.inv(matrix) * v
    return np.asarray((2 - q) * force * np.linalg.eigvalsh((inverse + inverse.T) / 2))


def zero_factors(problem: Problem, omega: np.ndarray, rho: float) -> np.ndarray:
    r"""Return :math:`|d_i^\top r|/\rho N` of the coefficients that are zero: for q = 1 their factors."""
    return np.asarray(np.abs(fit_gradient(problem, omega))[omega == 0] / (rho * problem.n))


def linear_rate(
    problem: Problem, omega: np.ndarray, q: float, rho: float, penalize_bias: bool = True
) -> float:
    """Return the factor by which a step of (8) shrinks the error near `omega`: below 1 where it attracts.

    For q < 1 the zeros vanish faster than any power, and for q > 1 a resting point has none in general.
    """
    factors = support_factors(problem, omega, q, rho, penalize_bias)
    if q == 1:
        factors = np.concatenate([factors, zero_factors(problem, omega, rho)])
    return float(factors.max(initial=0.0))


def resting_point(
    problem: Problem,
    q: float,
    rho: float,
    *,
    start: np.ndarray | None = None,
    penalize_bias: bool = True,
    max_iter: int = 3000,
) -> np.ndarray | None:
    """Return the limit of (8) to rounding, with exact zeros, or None if `max_iter` steps do not settle it.

    For q < 1 a coefficient is dropped once it cannot return
    (:func:`marginbook.kfda.claims.local_minima.no_return`), for q = 1 where the limit's conditions are met
    strictly without it. What is left is solved by Newton's method, and the solution is returned only if the
    iteration is on its way to it.

    Parameters
    ----------
    problem : Problem
    q, rho : float
    start : (M+1,) array, optional
        The ridge solution by default.
    penalize_bias : bool
    max_iter : int
    """
    omega = ridge_start(problem, rho, penalize_bias=penalize_bias) if start is None else start
    done, stride = 0, 20
    while done < max_iter:
        for _ in range(stride):
            omega = step_stable(problem, omega, q, rho, penalize_bias=penalize_bias)
        done, stride = done + stride, min(2 * stride, 500)
        if q < 1:
            omega = np.where(np.abs(omega) < no_return(problem, omega, q, rho, penalize_bias), 0.0, omega)
        kept = np.abs(omega) > 1e-14 * np.abs(omega).max(initial=0.0)
        if q == 1:
            # a coefficient that goes to zero is on its way at that factor; the others have factor 1
            kept &= np.abs(fit_gradient(problem, omega)) > rho * problem.n * (1 - 1e-3)
        found = newton(problem, np.where(kept, omega, 0.0), q, rho, penalize_bias)
        if found is None:
            continue
        near = np.abs(found - omega).max() <= 1e-2 * np.abs(found[found != 0]).min(initial=np.inf)
        if near and attracts(problem, found, q, rho, penalize_bias):
            return found
    return None


def attracts(problem: Problem, omega: np.ndarray, q: float, rho: float, penalize_bias: bool = True) -> bool:
    """Return whether (8) comes to `omega` from near by: for q = 1 also where copies share a coefficient."""
    if q == 1:
        return bool(zero_factors(problem, omega, rho).max(initial=0.0) < 1)
    return q > 1 or linear_rate(problem, omega, q, rho, penalize_bias) < 1


def newton(
    problem: Problem, omega: np.ndarray, q: float, rho: float, penalize_bias: bool = True
) -> np.ndarray | None:
    """Solve the stationarity conditions on the support of `omega` by Newton's method; None if astray."""
    weights = penalty_weights(problem, penalize_bias)
    kept = np.flatnonzero((omega != 0) | (weights == 0))
    A, c, force = problem.gram[np.ix_(kept, kept)], problem.correlations[kept], rho * problem.n * q
    v, x = weights[kept], omega[kept]
    signs = np.sign(x)
    scale = np.abs(c).max(initial=0.0) + force
    for _ in range(50):
        size = np.where(v > 0, np.abs(x), 1.0)
        with np.errstate(over="ignore"):
            slope = A @ x - c + force * v * signs * size ** (q - 1)
            hessian = A + np.diag(force * (q - 1) * v * size ** (q - 2))
        if not np.isfinite(hessian).all():
            return None
        step = np.linalg.lstsq(hessian, slope, rcond=None)[0]
        x = x - step
        if np.any((np.sign(x) != signs) & (v > 0)):
            return None
        if np.abs(step).max(initial=0.0) <= 1e-15 * np.abs(x).max(initial=1.0):
            break
    size = np.where(v > 0, np.abs(x), 1.0)
    slope = A @ x - c + force * v * signs * size ** (q - 1)
    if np.abs(slope).max(initial=0.0) > 1e-11 * scale:
        return None
    found = np.zeros_like(omega)
    found[kept] = x
    return found

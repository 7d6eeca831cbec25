r"""The paper's algorithm as printed: the iterations (7) and (8), and nothing else.

Each step minimises the majoriser (6) exactly. As :math:`\omega_i\to0` the weights
:math:`|\omega_i|^{q-2}` of (7) overflow; (8) writes the same map with their inverse square roots.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg.lapack import dposv, dpotrs

from marginbook.kfda.model.blocks import LARGE, blocked_cholesky
from marginbook.kfda.model.objective import (
    Problem,
    objective,
    penalty_weights,
    validate_coefficients,
    validate_parameters,
)
from marginbook.kfda.solvers.solution import Solution


def step_inverse(
    problem: Problem, omega: np.ndarray, q: float, rho: float, *, penalize_bias: bool = True
) -> np.ndarray:
    r"""Return the next iterate of (7).

    .. math::
        \omega^+=(A+\rho NqB)^{-1}c,\qquad B=\operatorname{diag}v_i|\omega_i|^{q-2},
        \quad A=D^\top D,\ c=D^\top\hat y

    Parameters
    ----------
    problem : Problem
    omega : (M+1,) array
    q, rho : float
    penalize_bias : bool

    Raises
    ------
    ValueError
        If a weight :math:`|\omega_i|^{q-2}` is infinite, or the matrix is not numerically positive definite.
    """
    weights = penalty_weights(problem, penalize_bias)
    with np.errstate(divide="ignore", over="ignore"):
        inverse = np.where(weights > 0, np.abs(omega) ** (q - 2.0), 0.0)
    if not np.isfinite(inverse).all():
        raise ValueError(
            f"{int(np.sum(~np.isfinite(inverse)))} weights of (7) are infinite, wanted finite ones; use (8)"
        )
    matrix = problem.gram.copy()
    matrix.flat[:: len(omega) + 1] += rho * problem.n * q * inverse
    return _solve(matrix, problem.correlations, "(7)")


def step_stable(
    problem: Problem, omega: np.ndarray, q: float, rho: float, *, penalize_bias: bool = True
) -> np.ndarray:
    r"""Return the next iterate of (8).

    .. math::
        \omega^+=\Psi(\Psi A\Psi+\rho NqI)^{-1}\Psi c,\qquad\Psi=\operatorname{diag}|\omega_i|^{(2-q)/2}

    A bias that is not penalised has :math:`\Psi_0=1` and nothing added to its diagonal entry. Zeros stay
    zero.

    Parameters
    ----------
    problem : Problem
    omega : (M+1,) array
    q, rho : float
    penalize_bias : bool
    """
    weights = penalty_weights(problem, penalize_bias)
    psi = np.where(weights > 0, np.abs(omega) ** (0.5 * (2.0 - q)), 1.0)
    matrix = problem.gram * psi
    matrix *= psi[:, np.newaxis]
    matrix.flat[:: len(omega) + 1] += rho * problem.n * q * weights
    return psi * _solve(matrix, psi * problem.correlations, "(8)")


def ridge_start(problem: Problem, rho: float, *, penalize_bias: bool = True) -> np.ndarray:
    """Return the minimiser for q = 2 and the same rho, (M+1,): one step from anywhere."""
    return step_stable(problem, np.ones(problem.n_coefficients), 2.0, rho, penalize_bias=penalize_bias)


def majorize_minimize(
    problem: Problem,
    q: float,
    rho: float,
    *,
    form: Literal["stable", "inverse"] = "stable",
    start: ArrayLike | None = None,
    tol: float = 1e-5,
    max_iter: int = 10_000,
    penalize_bias: bool = True,
    record: bool = False,
) -> Solution:
    r"""Iterate (7) or (8) until the relative change of J falls below `tol`.

    Parameters
    ----------
    problem : Problem
    q : float
        In (0, 2].
    rho : float
        Positive.
    form : {"stable", "inverse"}
        (8) or (7).
    start : (M+1,) array, optional
        First iterate; a zero in it stays zero. Default: the ridge solution (:func:`ridge_start`).
    tol : float
        The paper's :math:`\epsilon=10^{-5}`.
    max_iter : int
    penalize_bias : bool
    record : bool
        Whether to keep all iterates.

    Returns
    -------
    Solution
        Its coefficients are never exactly zero, except by underflow or from the start.

    References
    ----------
    Equations (7) and (8) of Harrison and Pasupa (2010). With D as dictionary this is regularised FOCUSS
    (Rao, Engan, Cotter, Palmer and Kreutz-Delgado, 2003).

    Examples
    --------
    >>> import numpy as np
    >>> from marginbook.kfda.model.objective import Problem, targets
    >>> x = np.array([0.0, 0.2, 1.0, 1.3])
    >>> problem = Problem(np.exp(-((x[:, None] - x) ** 2)), targets(x > 0.5))
    >>> solution = majorize_minimize(problem, q=1.0, rho=0.1)
    >>> round(solution.objective, 2), len(solution.retained_above(1e-3))
    (2.23, 2)
    """
    validate_parameters(q, rho)
    steps = {"stable": step_stable, "inverse": step_inverse}
    if form not in steps:
        raise ValueError(f'form must be "stable" (8) or "inverse" (7), got {form!r}')
    step = steps[form]
    if start is None:
        omega = ridge_start(problem, rho, penalize_bias=penalize_bias)
    else:
        omega = validate_coefficients(problem, start).copy()
    values = [objective(problem, omega, q, rho, penalize_bias)]
    retained = [np.count_nonzero(omega[1:])]
    iterates = [omega]
    converged = False
    while not converged and len(values) <= max_iter:
        omega = step(problem, omega, q, rho, penalize_bias=penalize_bias)
        values.append(objective(problem, omega, q, rho, penalize_bias))
        retained.append(np.count_nonzero(omega[1:]))
        if record:
            iterates.append(omega)
        converged = abs(values[-2] - values[-1]) <= tol * abs(values[-1])
    return Solution(
        omega=omega,
        q=q,
        rho=rho,
        objective=values[-1],
        objective_path=np.array(values),
        retained_path=np.array(retained),
        n_iter=len(values) - 1,
        converged=converged,
        penalize_bias=penalize_bias,
        omega_path=np.array(iterates) if record else None,
    )


def _solve(matrix: np.ndarray, right: np.ndarray, equation: str) -> np.ndarray:
    """Return the solution of a symmetric positive definite system; `matrix` is overwritten."""
    if len(matrix) > LARGE:
        factor, failed = blocked_cholesky(matrix.T)
        solution = None if failed else dpotrs(factor, right, lower=1)[0]
    else:
        # LAPACK itself: on small systems the checks of SciPy's front end cost more than the solution
        _, solution, failed = dposv(matrix, right, lower=1, overwrite_a=1)
    if failed:
        raise ValueError(
            f"the matrix of {equation} is not positive definite to rounding, wanted it so; raise rho"
        )
    return np.asarray(solution)

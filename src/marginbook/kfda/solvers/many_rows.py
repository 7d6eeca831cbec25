r"""The iteration (8) for more rows than a cubic number of operations allows.

For q < 1 the point where it ends is one of many local minima anyhow, so K may be approximated while the
support is found, as long as the end is a minimum of J itself. With m columns S of K and
:math:`K_{SS}=RR^\top`, :math:`L=K_{\cdot S}R^{-\top}`, the Nyström approximation is :math:`K\approx LL^\top`;
the columns of :math:`[1\ LL^\top]` have m + 1 coordinates in a basis of their span, and a step of (8) costs
:math:`O(Nm^2)`. From its end, on the support that is left, (8) and Newton's method go on with the columns of
K: the certificate is about K, and a strict local minimum on the support is one among all coefficients.

For q = 2 the step of (8) is the solution, by conjugate gradients.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import lapack, solve_triangular

from ...base.threads import few_threads
from ...kernels.conjugate_gradients import nystrom_factor
from ..model.blocks import LARGE, gram_of
from ..model.certificates import duality_gap, smallest_curvature, stationarity
from ..model.objective import Problem, objective, validate_coefficients, validate_parameters
from .active_coefficients import Active, Trail
from .compressed import Compressed, whole
from .majorise_minimise import (
    SETTLING,
    STATIONARY,
    all_coefficients,
    descend,
    descend_from,
    shrinking_mm,
)
from .newton_on_support import settle
from .ridge_iterative import ridge_by_iteration
from .solution import Solution

#: columns of the approximation
COLUMNS = 1000


def minimise(
    problem: Problem,
    q: float,
    rho: float,
    *,
    start: ArrayLike | None = None,
    tol: float = 1e-5,
    max_iter: int = 10_000,
    penalize_bias: bool = True,
) -> Solution:
    """Minimise J by :func:`~marginbook.kfda.solvers.majorise_minimise.shrinking_mm`, or its kin for many
    rows.

    Up to 2,500 kernel columns, and for q in [1, 2), it is that function. Parameters and result are its.
    """
    validate_parameters(q, rho)
    if problem.n_coefficients > LARGE + 1 and problem.K.shape[0] == problem.K.shape[1]:
        if q == 2 and _looks_symmetric(problem.K):
            return ridge(problem, rho, tol=tol, penalize_bias=penalize_bias)
        if q < 1:
            begin = None if start is None else validate_coefficients(problem, start)
            found = guided(problem, q, rho, begin, max_iter, penalize_bias)
            if found is not None:
                return found
    return shrinking_mm(problem, q, rho, start=start, tol=tol, max_iter=max_iter, penalize_bias=penalize_bias)


def ridge(problem: Problem, rho: float, *, tol: float = 1e-8, penalize_bias: bool = True) -> Solution:
    """Return the minimiser for q = 2; ``objective_path`` is that of the conjugate gradients.

    Parameters
    ----------
    problem : Problem
        Of a symmetric K.
    rho : float
    tol : float
        Duality gap as a share of J up to which it counts as converged.
    penalize_bias : bool
    """
    mu = 2.0 * rho * problem.n
    ended = ridge_by_iteration(
        problem.K, problem.yhat, mu, ones=problem.ones, nu=mu if penalize_bias else 0.0
    )
    omega = np.append(ended.bias, ended.coef)
    value = objective(problem, omega, 2.0, rho, penalize_bias)
    gap = duality_gap(problem, omega, rho, penalize_bias, 2.0)
    return Solution(
        omega=omega,
        q=2.0,
        rho=rho,
        objective=value,
        objective_path=ended.values,
        retained_path=np.append(0, np.full(ended.n_iter, problem.n_coefficients - 1)),
        n_iter=ended.n_iter,
        converged=gap <= tol * value,
        dual_gap=gap,
        stationarity=stationarity(problem, omega, 2.0, rho, penalize_bias),
        penalize_bias=penalize_bias,
    )


def guided(
    problem: Problem, q: float, rho: float, start: np.ndarray | None, max_iter: int, penalize_bias: bool
) -> Solution | None:
    """Return a local minimum for q < 1, found by way of an approximation; None where K has none.

    Paths are those of the last stage, with the columns of K.
    """
    first = 0 if penalize_bias else 1
    with few_threads(problem.n):
        source = approximated(problem, penalize_bias)
        if source is None:
            return None
        begin = None if start is None else start[first:]
        rough, _, _ = descend_from(source, q, rho * problem.n, begin, SETTLING, max_iter, False)
        places = rough.index
        exact = Active(
            whole(problem, penalize_bias, places), np.arange(len(places)), rough.omega, q, rho * problem.n
        )
        trail = Trail(max_iter)
        trail.add(exact)
        converged = descend(exact, trail, 1e-3) and settle(exact, trail)
        exact.index = places[exact.index]
        omega = all_coefficients(problem, exact, first)
        arguments = (problem, omega, q, rho, penalize_bias)
        curvature, residual = smallest_curvature(*arguments), stationarity(*arguments)
        return Solution(
            omega=omega,
            q=q,
            rho=rho,
            objective=objective(*arguments),
            objective_path=np.array(trail.values),
            retained_path=np.array(trail.retained),
            n_iter=len(trail.values) - 1,
            converged=converged and curvature > 0 and residual <= STATIONARY,
            stationarity=residual,
            curvature=curvature,
            penalize_bias=penalize_bias,
        )


def approximated(problem: Problem, penalize_bias: bool, columns: int = COLUMNS) -> Compressed | None:
    """Return the problem with a Nyström approximation of K; None where that has no Cholesky factor.

    Parameters
    ----------
    problem : Problem
        Of a square K; with weights, of K times their roots from the left.
    penalize_bias : bool
    columns : int
    """
    n, ones = problem.n, problem.ones
    picked = np.sort(np.random.default_rng(0).choice(n, min(columns, n), replace=False))
    part = problem.K[:, picked] if ones is None else problem.K[:, picked] / ones[:, np.newaxis]
    low = nystrom_factor(np.asfortranarray(part), picked)
    if low is None:
        return None
    basis = low if ones is None else low * ones[:, np.newaxis]
    bias = np.ones(n) if ones is None else ones
    basis = np.column_stack([bias, basis]) if penalize_bias else problem.centred(basis.T).T
    products = gram_of(basis.T)
    products.flat[:: len(products) + 1] *= 1 + 1e-12
    upper, failed = lapack.dpotrf(products, lower=0)
    if failed:
        return None
    yhat = solve_triangular(upper, basis.T @ problem.yhat, trans=1, check_finite=False)
    coordinates = np.vstack([upper[:, 0], low @ upper[:, 1:].T]) if penalize_bias else low @ upper.T
    lost = 0.5 * max(problem.energy - float(yhat @ yhat), 0.0)
    return Compressed(np.ascontiguousarray(coordinates), yhat, lost, penalize_bias, False)


def _looks_symmetric(K: np.ndarray) -> bool:
    """Return whether some rows of K are its columns; where others are not, the certificate will tell."""
    some = np.linspace(0, len(K) - 1, 16).astype(int)
    return bool(np.allclose(K[some], K[:, some].T, rtol=1e-10, atol=1e-12))

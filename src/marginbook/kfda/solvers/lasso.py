r"""The exact route for q = 1: an active-set method on growing working sets of columns.

.. math::
    J(\omega)=\tfrac12\lVert\hat y-D\omega\rVert^2+\lambda\sum_iv_i|\omega_i|,\qquad\lambda=\rho N

is the lasso. ``lasso_active_set`` solves it on a *working set* of columns, for which alone the Gram matrix is
formed; between two such solves, one product :math:`D^\top r` with a fresh residual gives the duality gap and
the columns outside that violate :math:`|d_i^\top r|\le\lambda`, which join. So the gradient that certifies
never carries the rounding of updates, although the factor is that of a Gram matrix, whose condition is the
square of the design's. Along a path of falling rho, working set, factor and coefficients are carried on.

References
----------
Working sets between full gradients: Massias, Gramfort and Salmon (2018). Signs and exchanges: Osborne,
Presnell and Turlach (2000); Lee, Battle, Raina and Ng (2006).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from marginbook.base.parameters import validate_not_negative
from marginbook.base.threads import few_threads
from marginbook.kfda.model.objective import (
    Problem,
    penalty_weights,
    validate_coefficients,
    validate_parameters,
)
from marginbook.kfda.solvers.lasso_active_set import sweep
from marginbook.kfda.solvers.lasso_working_set import WorkingSet
from marginbook.kfda.solvers.solution import Solution

#: columns that may join the working set at once: this many, or this many for each column in use
_JOIN, _JOIN_PER_USED = 32, 2
#: from this number of candidates on, those stay away that sweeps of coordinate descent leave at zero: of the
#: columns that violate their condition at first, many are no longer wanted once the others are in
_MANY, _SWEEPS = 400, 2
#: a violation of the condition of a zero coefficient, as a share of lambda, that is rounding
_ROUNDING = 1e-12
#: share of lambda by which the conditions may be violated within the working set
_WITHIN = 1e-10
#: share of lambda by which a condition may be violated at the end, lest a small gap hide a wrong support
_SETTLED = 1e-6
#: samples from which BLAS has its threads: those that wait for one another cost more than small products
_THREADED = 2000
#: full gradients in a row that may fail to halve the gap before the search ends
_IDLE = 12


def lasso(
    problem: Problem,
    rho: float,
    *,
    tol: float = 1e-8,
    start: ArrayLike | None = None,
    penalize_bias: bool = True,
) -> Solution:
    r"""Minimise J for q = 1.

    Parameters
    ----------
    problem : Problem
    rho : float
        Positive; from :math:`\max_i|d_i^\top r|/N` on, all penalised coefficients are zero; r is
        the vector of targets, centred if the bias is not penalised.
    tol : float
        Largest duality gap, as a share of J.
    start : (M+1,) array, optional
        Coefficients to start from. Pays if they are sparse and most signs are right.
    penalize_bias : bool

    Returns
    -------
    Solution
        Zeros are exact. ``objective_path`` holds J at each full gradient, ``stationarity`` the largest
        violation of the KKT conditions as a share of lambda. Where the minimiser is not unique (equal
        columns), the same one comes back each time. If rounding stops the search above `tol` (rho below
        about 1e-6 with wide kernels), ``converged`` is False and ``dual_gap`` tells how far it came.

    Examples
    --------
    >>> import numpy as np
    >>> from marginbook.kfda.model.objective import Problem, targets
    >>> x = np.array([0.0, 0.2, 1.0, 1.3])
    >>> problem = Problem(np.exp(-((x[:, None] - x) ** 2)), targets(x > 0.5))
    >>> solution = lasso(problem, rho=0.1)
    >>> round(solution.objective, 2), solution.retained, solution.dual_gap < 1e-7
    (2.23, array([0, 3]), True)
    """
    search = _Search(problem, tol, penalize_bias)
    if start is not None:
        search.working.start(validate_coefficients(problem, start))
    return search.solve(rho)


def lasso_path(
    problem: Problem, rhos: Iterable[float], *, tol: float = 1e-8, penalize_bias: bool = True
) -> list[Solution]:
    """Minimise J for q = 1 and each of `rhos`, from the largest (sparsest) to the smallest.

    Parameters
    ----------
    problem : Problem
    rhos : sequence of float
        Positive, in any order.
    tol : float
        Largest duality gap, as a share of J.
    penalize_bias : bool

    Returns
    -------
    list of Solution
        In the order of `rhos`; see :func:`lasso`.
    """
    values = [float(rho) for rho in rhos]
    for rho in values:
        validate_parameters(1.0, rho)
    search = _Search(problem, tol, penalize_bias)
    found = {rho: search.solve(rho) for rho in sorted(set(values), reverse=True)}
    return [found[rho] for rho in values]


class _Search:
    """The loop of full gradients around a working set, for one rho after the other."""

    def __init__(self, problem: Problem, tol: float, penalize_bias: bool) -> None:
        validate_not_negative(tol=tol)
        self.problem, self.tol, self.penalize_bias = problem, tol, penalize_bias
        self.weights = penalty_weights(problem, penalize_bias)
        ones = problem.ones
        self.column_sums = problem.design.sum(axis=0) if ones is None else problem.design.T @ ones
        self.working = WorkingSet(problem.design)

    def solve(self, rho: float) -> Solution:
        """Solve on the working set and enlarge it until the gap is small, or rounding prevents more."""
        validate_parameters(1.0, rho)
        with few_threads(self.problem.n, _THREADED):
            return self._solve(rho)

    def _solve(self, rho: float) -> Solution:
        lam = rho * self.problem.n
        limits = lam * self.weights
        values: list[float] = []
        retained: list[int] = []
        best, best_omega, best_gradient, idle = np.inf, np.empty(0), np.empty(0), 0
        while True:
            r = self.problem.yhat - self.working.fit()
            g = self.problem.design.T @ r
            omega = self.working.coefficients()
            value = 0.5 * float(r @ r) + float(limits @ np.abs(omega))
            gap = self._gap(lam, omega, r, g)
            values.append(value)
            retained.append(int(np.count_nonzero(omega[1:])))
            idle = 0 if gap < 0.5 * best else idle + 1
            if gap < best or not values[1:]:
                best, best_value, best_omega, best_gradient = gap, value, omega, g
            settled = idle > 0 or _violation(omega, g, limits) <= _SETTLED * lam
            if (gap <= self.tol * value and settled) or idle > _IDLE:
                break
            if idle == _IDLE // 2:
                self.working.refactor()
                continue
            self._join(omega, r, g, limits)
            self.working.minimise(g, limits, _WITHIN * lam, value)
        return Solution(
            omega=best_omega,
            q=1.0,
            rho=rho,
            objective=best_value,
            objective_path=np.array(values),
            retained_path=np.array(retained),
            n_iter=len(values) - 1,
            converged=best <= self.tol * best_value,
            dual_gap=best,
            stationarity=_violation(best_omega, best_gradient, limits) / lam,
            penalize_bias=self.penalize_bias,
        )

    def _join(self, omega: np.ndarray, r: np.ndarray, g: np.ndarray, limits: np.ndarray) -> None:
        """Let the columns outside join that violate their condition most; `r` is lost."""
        excess = np.abs(g) - limits
        excess[self.working.inside] = 0.0
        wanted = np.flatnonzero(excess > _ROUNDING * limits.max())
        wanted = wanted[np.argsort(-excess[wanted], kind="stable")]
        most = max(_JOIN, _JOIN_PER_USED * self.working.n_used)
        if min(len(wanted), most) > _MANY:
            order, w = np.append(wanted, np.flatnonzero(omega)), omega.copy()
            for _ in range(_SWEEPS):
                sweep(self.problem.design.T, order, w, r, limits)
            if w[wanted].any():
                wanted = wanted[w[wanted] != 0]
        if len(wanted):
            self.working.join(np.sort(wanted[:most]))

    def _gap(self, lam: float, omega: np.ndarray, r: np.ndarray, g: np.ndarray) -> float:
        """Return the gap of :func:`marginbook.kfda.model.certificates.duality_gap`, from products at hand."""
        lost = 0.0
        if not self.penalize_bias:
            mean = self.problem.along_bias(r)
            lost = 0.5 * self.problem.bias_square * mean**2
            r, g = self.problem.centred(r), g - mean * self.column_sums
        largest = float((np.abs(g) * self.weights).max())
        scale = min(1.0, lam / largest) if largest > 0 else 1.0
        terms = self.weights * (lam * np.abs(omega) - scale * omega * g)
        return lost + 0.5 * (1.0 - scale) ** 2 * float(r @ r) + float(np.maximum(terms, 0.0).sum())


def _violation(omega: np.ndarray, g: np.ndarray, limits: np.ndarray) -> float:
    """Return the largest violation of the KKT conditions."""
    at_zero = np.maximum(np.abs(g) - limits, 0.0)
    return float(np.where(omega != 0, np.abs(g - limits * np.sign(omega)), at_zero).max())

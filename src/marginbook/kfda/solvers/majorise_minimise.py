r"""Majorise-minimise on a set of coefficients that shrinks, finished by Newton's method.

The iteration is the paper's (8). Three things make it fast. A coefficient that the iteration is bound to send
to zero leaves at once, so that the systems become small. A smooth kernel's Gram matrix has few rows, up to
rounding (:mod:`marginbook.kfda.solvers.compressed`). And once the support has settled, Newton's steps replace
the linear tail of the iteration. What comes out has exact zeros and a certificate.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from marginbook.base.threads import few_threads
from marginbook.kfda.model.certificates import duality_gap, kkt_residual, smallest_curvature, stationarity
from marginbook.kfda.model.objective import Problem, objective, validate_coefficients, validate_parameters
from marginbook.kfda.solvers.active_coefficients import Active, Trail
from marginbook.kfda.solvers.compressed import Compressed, compressed, whole
from marginbook.kfda.solvers.l1_on_support import reenter, settle_l1
from marginbook.kfda.solvers.newton_on_support import drop_dying, settle
from marginbook.kfda.solvers.solution import Solution

#: relative change of J below which the support is taken to be near its end
SETTLING = 3e-3
#: steps of (8) for q = 1 before the support is guessed and settled exactly
L1_STEPS = 2
#: ratio of successive sizes from which a coefficient is guessed to stay, for q = 1
LIKELY = 0.9
#: coefficients in the first guess at most, if there are no more than four times as many likely ones
L1_GUESS = 64
#: relative change of J by the compression up to which it is good
CUT_OFF = 1e-7
#: relative residual of the stationarity conditions up to which a point counts as a local minimum, for q < 1:
#: rounding with a kernel matrix near singular leaves 1e-6, and far more where rho is tiny
STATIONARY = 1e-4


def shrinking_mm(
    problem: Problem,
    q: float,
    rho: float,
    *,
    start: ArrayLike | None = None,
    tol: float = 1e-5,
    max_iter: int = 10_000,
    penalize_bias: bool = True,
    polish: bool = True,
) -> Solution:
    r"""Minimise J (eq. 5) by (8) with exact zeros.

    Parameters
    ----------
    problem : Problem
        Keep the object for other q and rho: what does not depend on them is computed once.
    q : float
        In (0, 2].
    rho : float
        Positive.
    start : (M+1,) array, optional
        First iterate. For q < 1 its zeros stay zero, so that it can name a support; for q >= 1, where
        they would keep (8) from the minimum, they need not. Default: the ridge solution.
    tol : float
        Relative change of J at which to stop, if `polish` is off.
    max_iter : int
        Iterations in all.
    penalize_bias : bool
    polish : bool
        Whether to go on to a point where the certificate holds to rounding. For q < 1 that is nearly always
        the limit of (8), but not by necessity: J falls in every step, yet there are many minima.

    Returns
    -------
    Solution
        With exact zeros and its certificate: `dual_gap` and `stationarity` for q >= 1, `stationarity` and
        `curvature` for q < 1.

    References
    ----------
    Equation (8) of Harrison and Pasupa (2010).

    Examples
    --------
    >>> import numpy as np
    >>> from marginbook.kfda.model.objective import Problem, targets
    >>> x = np.array([0.0, 0.2, 1.0, 1.3])
    >>> problem = Problem(np.exp(-((x[:, None] - x) ** 2)), targets(x > 0.5))
    >>> solution = shrinking_mm(problem, q=1.0, rho=0.1)
    >>> solution.retained.tolist(), solution.dual_gap < 1e-12
    ([0, 3], True)
    """
    validate_parameters(q, rho)
    first = 0 if penalize_bias else 1
    begin = None if start is None else validate_coefficients(problem, start)[first:]
    with few_threads(problem.n):
        source = compressed(problem, penalize_bias)
        active, trail, converged = descend_from(source, q, rho * problem.n, begin, tol, max_iter, polish)
        if not source.exact:
            active, converged = _with_all_rows(problem, active, trail, polish, converged)
        omega = all_coefficients(problem, active, first)
        value = objective(problem, omega, q, rho, penalize_bias)
        if not source.exact and abs(value - trail.values[-1]) > CUT_OFF * value:
            # coefficients so large that what the compression cut off counts
            source = whole(problem, penalize_bias, slice(None))
            active, trail, converged = descend_from(source, q, rho * problem.n, begin, tol, max_iter, polish)
            omega = all_coefficients(problem, active, first)
            value = objective(problem, omega, q, rho, penalize_bias)
        arguments = (problem, omega, q, rho, penalize_bias)
        curvature = smallest_curvature(*arguments) if q < 1 else None
        gap = duality_gap(problem, omega, rho, penalize_bias, q) if q >= 1 else None
        residual = stationarity(*arguments) if q != 1 else kkt_residual(problem, omega, rho, penalize_bias)
        if polish and gap is not None:
            converged = converged and gap <= tol * value
        if polish and curvature is not None:
            converged = converged and curvature > 0 and residual <= STATIONARY
        return Solution(
            omega=omega,
            q=q,
            rho=rho,
            objective=value,
            objective_path=np.array(trail.values),
            retained_path=np.array(trail.retained),
            n_iter=len(trail.values) - 1,
            converged=converged,
            dual_gap=gap,
            stationarity=residual,
            curvature=curvature,
            penalize_bias=penalize_bias,
        )


def all_coefficients(problem: Problem, active: Active, first: int) -> np.ndarray:
    """Return omega, (M+1,); `first` is 1 if the bias was minimised out."""
    omega = np.zeros(problem.n_coefficients)
    omega[active.index + first] = active.omega
    if first:
        if problem.ones is None:
            omega[0] = problem.yhat.mean() - problem.K.mean(axis=0) @ omega[1:]
        else:
            omega[0] = problem.along_bias(problem.yhat - problem.K @ omega[1:])
    return omega


def descend_from(
    source: Compressed,
    q: float,
    scale: float,
    begin: np.ndarray | None,
    tol: float,
    max_iter: int,
    polish: bool,
) -> tuple[Active, Trail, bool]:
    """Return where the iteration ends from `begin`, (d,), the way there, and whether that is the end."""
    omega = _ridge(source, scale) if begin is None else _repaired(begin, source, q, scale)
    index = np.flatnonzero(omega) if q <= 1 else np.arange(len(omega))
    active = Active(source, index, omega[index], q, scale)
    trail = Trail(max_iter)
    trail.add(active)
    if q == 1:
        active, converged = _solve_l1(active, trail, tol, polish)
    else:
        converged = descend(active, trail, SETTLING if polish else tol)
        if polish:
            converged = settle(active, trail)
    return active, trail, converged


def _ridge(source: Compressed, scale: float) -> np.ndarray:
    """Return the minimiser for q = 2, (d,), kept for other q."""
    if scale not in source.ridges:
        d = len(source.columns)
        source.ridges[scale] = Active(source, np.arange(d), np.ones(d), 2.0, scale).majorised()
    return source.ridges[scale]


def _repaired(omega: np.ndarray, source: Compressed, q: float, scale: float) -> np.ndarray:
    """Return a start from which (8) reaches the minimum: for q > 1, without the zeros that would be traps."""
    if q <= 1 or omega.all():
        return omega
    if not omega.any():
        return _ridge(source, scale)
    return np.where(omega == 0, 1e-6 * np.abs(omega).max(), omega)


def descend(active: Active, trail: Trail, tol: float) -> bool:
    """Iterate (8), dropping what dies, until the relative change of J is at most `tol`."""
    while len(active.index) and not trail.ended:
        before = active.omega
        active.omega = active.majorised()
        drop_dying(active, trail.values[-1], before)
        trail.add(active)
        if trail.change <= tol:
            return True
    return not len(active.index)


def _solve_l1(active: Active, trail: Trail, tol: float, polish: bool) -> tuple[Active, bool]:
    """Return the solution for q = 1: steps of (8) to guess the support, then the exact one; or (8) alone."""
    for _ in range(L1_STEPS if polish else trail.limit):
        if trail.ended or (polish and not len(active.index)):
            break
        if not len(active.index):  # from a start of zeros, say
            active, entered = reenter(active, trail)
            if not entered:
                return active, True
            continue
        omega = active.majorised()
        # the ratio is |d_i'r| / (rho N): below one at a zero of the solution
        size, ratio = np.abs(omega), np.abs(omega / active.omega)
        active.omega = omega
        keep = (size > 1e-9 * size.max()) | (ratio > 0.5)
        active.shrink(keep)
        trail.add(active)
        if not polish and trail.change <= tol:
            active, entered = reenter(active, trail)
            if not entered:
                return active, True
    if not polish:
        return active, False
    if len(active.index) and len(trail.values) > 1:
        likely = np.flatnonzero(ratio[keep] > LIKELY)
        most = max(L1_GUESS, len(likely) // 4)
        if len(likely) > most:
            likely = likely[np.argpartition(-np.abs(active.omega[likely]), most - 1)[:most]]
        guess = np.zeros(len(active.index), dtype=bool)
        guess[likely] = True
        active.shrink(guess)
    return settle_l1(active, trail)


def _with_all_rows(
    problem: Problem, active: Active, trail: Trail, polish: bool, converged: bool
) -> tuple[Active, bool]:
    """Return the solution on the final support of the problem before its compression."""
    places = active.index
    source = whole(problem, active.source.has_bias, places)
    exact = Active(source, np.arange(len(places)), active.omega, active.q, active.scale)
    if polish and converged and len(places):
        trail.add(exact)
        if active.q == 1:
            exact, converged = settle_l1(exact, trail)
        else:
            converged = settle(exact, trail)
    exact.index = places[exact.index]
    return exact, converged

r"""The exact solution for q = 1 from a guess of its support.

On a support with signs s, J is quadratic: one linear system gives its minimiser. Coefficients whose sign
would change become zero; zeros whose correlation with the residual exceeds :math:`\rho N` enter with its
sign: the feature-sign search of Lee, Battle, Raina and Ng (2007), with many at a time. J falls each round.
"""

from __future__ import annotations

import numpy as np

from marginbook.kfda.solvers.active_coefficients import Active, Trail, solve

#: relative excess of a correlation over :math:`\rho N` from which its coefficient enters again
ENTER = 1e-9
#: largest such excess at which the conditions hold, if no single entry makes J fall beyond rounding
ACCEPTED = 1e-6
#: relative differences of J below which they are rounding
ROUNDING = 1e-14


def settle_l1(active: Active, trail: Trail) -> tuple[Active, bool]:
    """Return the solution, and whether the optimality conditions hold to rounding.

    Parameters
    ----------
    active : Active
        With q = 1; used up.
    trail : Trail
        Gets a line per linear system.
    """
    source, scale = active.source, active.scale
    signs = np.sign(active.omega)
    most, before = 0, np.inf
    while True:
        _descend(active, signs, trail)
        omega = active.spread()
        correlations = source.columns @ active.residual()
        excess = np.where(omega == 0, np.abs(correlations) - scale, -np.inf)
        enter = np.flatnonzero(excess > ENTER * scale)
        if not len(enter) or trail.ended:
            break
        reached = active.objective()
        # as long as J falls, half as many again may enter; where it does not, one at a time cannot fail
        most = max(16, len(active.index) // 2) if reached < before * (1.0 - ROUNDING) else most // 4
        before = min(before, reached)
        if most == 0:
            break
        if len(enter) > most:
            enter = enter[np.argpartition(-excess[enter], most - 1)[:most]]
        index = np.union1d(active.index, enter)
        active = Active(source, index, omega[index], 1.0, scale)
        signs = np.where(active.omega != 0, np.sign(active.omega), np.sign(correlations[index]))
    if active.objective() < trail.values[-1]:
        trail.add(active)
    return active, bool(excess.max(initial=-np.inf) <= ACCEPTED * scale)


def _descend(active: Active, signs: np.ndarray, trail: Trail) -> None:
    """Minimise over the coefficients of `active` with these signs or zero."""
    value = active.objective()
    while len(active.index) and not trail.ended:
        step = _step(active, active.columns @ active.residual() - active.scale * signs)
        reach = np.full(len(step), np.inf)
        towards = step * signs < 0
        reach[towards] = np.abs(active.omega[towards] / step[towards])
        settled = not np.any(reach <= 1.0)
        if settled:
            length = 1.0
            reached = active.objective(active.omega + step)
            if reached > value:  # by rounding only, the system being exact
                length, reached = 0.0, value
        else:
            length, reached = _length(active, step, reach, value)
        active.omega = np.where(reach <= length, 0.0, active.omega + length * step)
        keep = reach > length
        signs = signs[keep]
        active.shrink(keep)
        if settled:
            active.shrink(active.omega != 0)
        value = reached
        trail.add(active, value)
        if settled:
            return


def _length(active: Active, step: np.ndarray, reach: np.ndarray, value: float) -> tuple[float, float]:
    """Return a length of the step at which J falls, what changes sign on the way being zero, and J there.

    Up to the first zero the objective is the quadratic one, whose minimiser lies ahead: that length is safe.
    Longer ones are tried first, those that bring all, half, a quarter ... of the crossing ones to zero.
    """
    lengths = np.sort(reach[reach <= 1.0])
    count = len(lengths)
    while True:
        length = float(lengths[count - 1])
        reached = active.objective(np.where(reach <= length, 0.0, active.omega + length * step))
        if reached < value or count == 1:
            return length, min(value, reached)
        count //= 2


def _step(active: Active, gradient: np.ndarray) -> np.ndarray:
    """Return the solution of the system on the support, regularised as little as its rank asks for."""
    gram = active.gram()
    step = solve(gram.copy(), 0.0, gradient)
    damping = 1e-14 * float(gram.trace())
    while step is None:
        step = solve(gram.copy(), damping, gradient)
        damping *= 100.0
    return step


def reenter(active: Active, trail: Trail) -> tuple[Active, bool]:
    """Return `active` with the zeros that violate optimality, each by an exact step of its own."""
    source = active.source
    omega, r = active.spread(), active.residual()
    correlations = source.columns @ r
    entered = False
    for i in np.flatnonzero((omega == 0) & (np.abs(correlations) > (1 + ENTER) * active.scale)):
        slope = float(source.columns[i] @ r)
        if abs(slope) > active.scale:
            omega[i] = (slope - np.sign(slope) * active.scale) / source.norms[i] ** 2
            r = r - omega[i] * source.columns[i]
            entered = True
    if not entered:
        return active, False
    index = np.flatnonzero(omega)
    active = Active(source, index, omega[index], 1.0, active.scale)
    trail.add(active)
    return active, True

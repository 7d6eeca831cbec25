r"""Newton's method on a support that has settled, for q other than 1.

Between Newton's step and that of (8) lies a family with one parameter: in the scaling of (8) the matrices are
:math:`\Psi A\Psi+\rho Nq(q-1+\delta)I`, with :math:`\delta=0` for Newton and :math:`\delta=2-q` for (8), whose step never
raises J. So :math:`\delta` grows when a step fails and shrinks when it succeeds.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from marginbook.kfda.solvers.active import Active, Trail

#: relative residual of the stationarity conditions that is aimed at
SETTLED = 1e-10
#: contraction factor below which a coefficient leaves
DYING = 0.5
#: relative differences of J below which they are rounding
ROUNDING = 1e-14


def drop_dying(active: Active, value: float) -> None:
    r"""Set those coefficients to zero that the iteration (8) is bound to send there, for q < 1.

    A step of (8) satisfies :math:`\omega_i^+=|\omega_i|^{2-q}d_i^\top r^+/(\rho Nq)`, and J never increases, so that
    :math:`|d_i^\top r^+|\le\lVert d_i\rVert\sqrt{2J}` now and for ever. With

    .. math:: \kappa_i=|\omega_i|^{1-q}\lVert d_i\rVert\sqrt{2J}/(\rho Nq)

    each step multiplies :math:`|\omega_i|` by at most :math:`\kappa_i`, which falls with it: below one, the coefficient
    is lost. Setting all those with :math:`\kappa_i\le\tfrac12` to zero changes J by at most
    :math:`\sum_i(\kappa_iq(1+\kappa_iq/4)-1)\rho N|\omega_i|^q<0`.

    Parameters
    ----------
    active : Active
    value : float
        An upper bound of J.
    """
    q = active.q
    if q >= 1 or not len(active.index):
        return
    contraction = np.abs(active.omega) ** (1.0 - q) * active.norms
    active.shrink(contraction > DYING * active.scale * q / np.sqrt(2.0 * value))


def settle(active: Active, trail: Trail) -> bool:
    """Minimise J from where `active` is; return whether a stationary point without descent was reached.

    Parameters
    ----------
    active : Active
        Changed in place; coefficients may leave, none enters.
    trail : Trail
        Gets a line per iteration.
    """
    q, damping, bound = active.q, 0.0, np.zeros(0)
    while len(active.index):
        slopes = active.slopes()
        gradient = slopes - active.columns @ active.residual()
        worst = relative(gradient, slopes, q)
        if trail.ended:
            return False
        value = trail.values[-1]
        if q < 1:
            bound = (active.scale * q * (1.0 - q) / active.norms**2) ** (1.0 / (2.0 - q))
        if worst <= SETTLED and damping == 0.0 and trail.change <= ROUNDING:
            if active.newton(gradient) is not None:
                return True
            if not leave_saddle(active, trail):
                return False
            continue
        while True:
            step = active.newton(gradient, damping)
            accepted = step is not None and _take(active, active.omega + step, bound, value)
            if accepted or damping >= 2.0 - q:
                break
            damping = min(2.0 - q, max(4.0 * damping, 0.05))
        if not accepted:  # by a coefficient that passes through zero, or by rounding
            omega = active.majorised()
            if omega is None or worst <= SETTLED:
                return False
            active.omega = omega
        damping = damping / 8.0 if damping > 0.02 else 0.0
        drop_dying(active, value)
        trail.add(active)
        if damping == 0.0 and trail.change <= ROUNDING:
            stalled = relative(active.slopes() - active.columns @ active.residual(), active.slopes(), q)
            if stalled >= 0.1 * worst and active.newton(gradient[: len(active.index)]) is not None:
                return True
    return True


def relative(gradient: np.ndarray, slopes: np.ndarray, q: float) -> float:
    """Return the residual of the stationarity conditions in the units of the certificate."""
    if not len(slopes):
        return 0.0
    size = np.abs(slopes)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.nanmax(np.abs(gradient) / (size if q < 1 else size.max())))


def _take(active: Active, new: np.ndarray, bound: np.ndarray, value: float) -> bool:
    """Go to `new` if J does not rise; for q < 1, nothing passes through zero that could live at the optimum."""
    if active.q < 1:
        crossing = new * active.omega <= 0
        if crossing.any():
            if np.any(np.abs(active.omega[crossing]) >= bound[crossing]):
                return False
            new = np.where(crossing, 0.0, new)
    if not active.objective(new) <= value * (1.0 + ROUNDING):
        return False
    active.omega = new
    if active.q < 1 and not new.all():
        active.shrink(new != 0)
    return True


def leave_saddle(active: Active, trail: Trail) -> bool:
    r"""Go along the direction of the most negative curvature, at most until a coefficient is zero.

    At a stationary point J falls there on both sides to second order.
    """
    psi = np.abs(active.omega) ** (0.5 * (2.0 - active.q))
    matrix = active.gram() * np.outer(psi, psi) / (active.scale * active.q)
    lowest, vectors = eigh(matrix, subset_by_index=[0, 0])
    if lowest[0] + active.q - 1.0 >= 0:
        return False
    best, best_value = None, trail.values[-1] * (1.0 - ROUNDING)
    for direction in (psi * vectors[:, 0], -psi * vectors[:, 0]):
        towards = direction * active.omega < 0
        if not towards.any():
            continue
        reach = np.full(len(direction), np.inf)
        reach[towards] = -active.omega[towards] / direction[towards]
        longest = reach.min()
        for fraction in 0.5 ** np.arange(24):
            new = active.omega + fraction * longest * direction
            if fraction == 1.0:
                new[reach <= longest] = 0.0
            if active.objective(new) < best_value:
                best, best_value = new, active.objective(new)
    if best is None:
        return False
    active.omega = best
    active.shrink(best != 0)
    trail.add(active)
    return True

r"""Newton's method on a support that has settled, for q other than 1.

Between Newton's step and that of (8) lies a family with one parameter: in the scaling of (8) its matrices
are :math:`\Psi A\Psi+\rho Nq(q-1+\delta)I`, with :math:`\delta=0` for Newton and :math:`\delta=2-q` for (8),
whose step never raises J. So :math:`\delta` grows when a step fails and shrinks when it succeeds.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from marginbook.kfda.solvers.active_coefficients import Active, Trail

#: relative residual of the stationarity conditions that is aimed at
SETTLED = 1e-10
#: contraction factor below which a coefficient leaves
DYING = 0.5
#: share of the least size at a minimum below which a coefficient that halves leaves
FAINT = 1e-2
#: relative differences of J below which they are rounding
ROUNDING = 1e-14
#: iterations without a change of J beyond rounding after which rounding is all that is left
IDLE = 5


def drop_dying(active: Active, value: float, before: np.ndarray | None = None) -> None:
    r"""Set those coefficients to zero that the iteration (8) sends there, for q < 1.

    A step of (8) satisfies :math:`\omega_i^+=|\omega_i|^{2-q}d_i^\top r^+/(\rho Nq)`, and J never increases,
    so that :math:`|d_i^\top r^+|\le\lVert d_i\rVert\sqrt{2J}` now and for ever. With

    .. math:: \kappa_i=|\omega_i|^{1-q}\lVert d_i\rVert\sqrt{2J}/(\rho Nq)

    each step multiplies :math:`|\omega_i|` by at most :math:`\kappa_i`, which falls with it: below one, the
    coefficient is lost. Setting all those with :math:`\kappa_i\le\tfrac12` to zero changes J by at most
    :math:`\sum_i(\kappa_iq(1+\kappa_iq/4)-1)\rho N|\omega_i|^q<0`.

    For q near 1 that waits for underflow, and for a small rho it waits long. A second rule goes by what is
    seen: a coefficient below a hundredth of what it would need at a minimum (:func:`least_size`) leaves if it
    has halved in the last step and all of these together cannot raise J. That it would have revived is not
    excluded by proof.

    Parameters
    ----------
    active : Active
    value : float
        An upper bound of J.
    before : (k,) array, optional
        The coefficients before the last step of (8); without them the second rule rests.
    """
    q, size = active.q, np.abs(active.omega)
    if q >= 1 or not len(size):
        return
    dying = size ** (1.0 - q) * active.norms <= DYING * active.scale * q / np.sqrt(2.0 * value)
    if before is not None:
        faint = (size <= FAINT * least_size(active)) & (size <= DYING * np.abs(before))
        moved = float(active.norms[faint] @ size[faint])
        if 2.0 * moved**2 <= active.scale * float((size[faint] ** q).sum()):
            dying |= faint
    active.shrink(~dying)


def settle(active: Active, trail: Trail) -> bool:
    """Minimise J from where `active` is; return whether a minimum was reached, as exactly as rounding allows.

    Parameters
    ----------
    active : Active
        Changed in place; coefficients may leave, none enters.
    trail : Trail
        Gets a line per iteration.
    """
    q, damping, idle = active.q, 0.0, 0
    while len(active.index):
        slopes = active.slopes()
        gradient = slopes - active.columns @ active.residual()
        settled = _is_settled(active, gradient, slopes)
        # for q > 1 what is left is in coefficients near zero, whose slopes no longer matter
        idle = idle + 1 if trail.change <= (ROUNDING if q < 1 else 100.0 * ROUNDING) else 0
        if settled or idle > IDLE:
            if active.newton(gradient) is not None:
                return True
            if not leave_saddle(active, trail):
                return False
            idle = 0
            continue
        if trail.ended:
            return False
        accepted = False
        while not accepted and damping < 2.0 - q:
            step = active.newton(gradient, damping)
            accepted = step is not None and _take(active, active.omega + step, trail.values[-1])
            if not accepted:
                damping = max(4.0 * damping, 0.05)
        if not accepted:
            active.omega = active.majorised()
            damping = 2.0 - q
        damping = damping / 8.0 if damping > 0.02 else 0.0
        drop_dying(active, trail.values[-1])
        trail.add(active)
    return True


def _is_settled(active: Active, gradient: np.ndarray, slopes: np.ndarray) -> bool:
    """Return whether the gradient is zero in the certificate's units, or to the residual's rounding."""
    size = np.abs(slopes)
    if active.q > 1:
        size = np.full(len(size), size.max())
    rounding = np.finfo(float).eps * active.norms * float(active.norms @ np.abs(active.omega))
    return bool(np.all(np.abs(gradient) <= SETTLED * size + rounding))


def _take(active: Active, new: np.ndarray, value: float) -> bool:
    """Go to `new` if J does not rise; for q < 1, nothing large passes through zero."""
    if active.q < 1:
        crossing = new * active.omega <= 0
        if crossing.any():
            bound = least_size(active)
            if np.any(np.abs(active.omega[crossing]) >= bound[crossing]):
                return False
            new = np.where(crossing, 0.0, new)
    if not active.objective(new) <= value * (1.0 + ROUNDING):
        return False
    active.omega = new
    if active.q < 1 and not new.all():
        active.shrink(new != 0)
    return True


def least_size(active: Active) -> np.ndarray:
    """Return what the coefficients have at least in size at a local minimum, (k,), for q < 1."""
    q = active.q
    squares = np.maximum(active.norms, 1e-100) ** 2  # a column of zeros bears no coefficient
    bound: np.ndarray = (active.scale * q * (1.0 - q) / squares) ** (1.0 / (2.0 - q))
    return bound


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

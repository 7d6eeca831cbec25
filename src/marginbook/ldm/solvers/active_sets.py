r"""The primal active-set method for the box-constrained dual, exact also where H is singular.

A set B of *basic* variables with :math:`H_{BB}` positive definite is kept with its Cholesky factor; all
others rest, at a bound or between. One variable enters at a time: the one whose gradient adds most to the
duality gap. Where it depends linearly on B in the feature space, the objective is linear along the null
direction, and the step ends where a variable meets its bound. B never has more members than the rank of H,
so that for a kernel of low rank r a step costs O(mr + r^2).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ...kernels.cholesky import backward, column, forward
from .basic_factor import DEPENDENT, enter, factorise, leave
from .box_qp import add_multiple, certify, resting_violations, sweep

#: variables that may enter between two updates of the whole gradient
_BLOCK = 8
#: those that enter together add at least this share of what the worst adds to the gap
_WORTH = 0.3


@njit(cache=True)
def _room(x: float, d: float, lower: float, upper: float) -> float:
    if d > 0.0:
        return (upper - x) / d
    if d < 0.0:
        return (lower - x) / d
    return np.inf


@njit(cache=True)
def _settle(
    H: np.ndarray,
    x: np.ndarray,
    grad: np.ndarray,
    lower: float,
    upper: float,
    R: np.ndarray,
    basis: np.ndarray,
    n: int,
    is_basic: np.ndarray,
) -> int:
    """Minimise over the basic variables; those that meet a bound leave. Returns the number that stay."""
    before, touched = n, basis[:n].copy()
    old = x[touched]
    left = grad[
        touched
    ]  # the gradient of the basic variables: a step of length t leaves the share 1 - t of it
    d = np.empty(n)
    while n > 0:
        for a in range(n):
            d[a] = -left[a]
        forward(R, n, d)
        backward(R, n, d)
        t, leaving = 1.0, -1
        for a in range(n):
            room = _room(x[basis[a]], d[a], lower, upper)
            if room < t:
                t, leaving = max(room, 0.0), a
        for a in range(n):
            i = basis[a]
            x[i] = min(max(x[i] + t * d[a], lower), upper)
            left[a] *= 1.0 - t
        if leaving < 0:
            break
        x[basis[leaving]] = upper if d[leaving] > 0.0 else lower
        for a in range(leaving, n - 1):
            left[a] = left[a + 1]
        n = leave(R, n, basis, is_basic, leaving)
    for a in range(before):
        add_multiple(grad, x[touched[a]] - old[a], H[touched[a]])
    return n


@njit(cache=True)
def _slide(
    H: np.ndarray,
    x: np.ndarray,
    grad: np.ndarray,
    lower: float,
    upper: float,
    R: np.ndarray,
    basis: np.ndarray,
    n: int,
    i: int,
    v: np.ndarray,
) -> int:
    """Move variable `i`, which depends on the basic ones, along the null direction down to the first bound.

    `v` is the :func:`~marginbook.kernels.cholesky.column` of `i`, and lost. Returns the number of the basic
    variable that met a bound, or -1 if `i` itself did.
    """
    towards = 1.0 if grad[i] < 0.0 else -1.0
    for a in range(n):
        v[a] *= -towards
    backward(R, n, v)
    t, leaving = _room(x[i], towards, lower, upper), -1
    for a in range(n):
        room = _room(x[basis[a]], v[a], lower, upper)
        if room < t:
            t, leaving = max(room, 0.0), a
    for a in range(-1, n):
        j, direction = (i, towards) if a < 0 else (basis[a], v[a])
        old = x[j]
        if a == leaving:
            x[j] = upper if direction > 0.0 else lower
        else:
            x[j] = min(max(old + t * direction, lower), upper)
        add_multiple(grad, x[j] - old, H[j])
    return leaving


@njit(cache=True)
def _derivative(H: np.ndarray, R: np.ndarray, basis: np.ndarray, n: int, shift: np.ndarray) -> None:
    """Write the derivative of the solution when both bounds move up: 1 at rest, -H_BB^{-1} H_BN 1 basic."""
    shift[:] = 1.0
    shift[basis[:n]] = 0.0
    v = np.empty(n)
    for a in range(n):
        row, total = H[basis[a]], 0.0
        for j in range(len(shift)):
            total += row[j] * shift[j]
        v[a] = -total
    forward(R, n, v)
    backward(R, n, v)
    for a in range(n):
        shift[basis[a]] = v[a]


@njit(cache=True)
def minimise(
    H: np.ndarray,
    x: np.ndarray,
    lower: float,
    upper: float,
    tol: float,
    max_changes: int,
    sweeps: int,
    shift: np.ndarray,
) -> tuple[int, float, float]:
    """Exchange variables until the relative gap is at most `tol`; `x`, in the box, is updated in place.

    A few coordinate `sweeps` before that find most of the bounds for a cold start. If `shift` has m entries,
    the derivative of the solution is written there for both bounds moving up together.

    Returns
    -------
    variables that became basic, gap, primal objective
    """
    m = len(x)
    R = np.empty((m, m))
    basis = np.empty(m, np.int64)
    is_basic = np.zeros(m, np.bool_)
    v, violation = np.empty(m), np.empty(m)
    grad = H @ x - 1.0
    for _ in range(sweeps):
        if sweep(H, x, grad, lower, upper) == 0.0:
            break
    n = factorise(H, x, lower, upper, R, basis, is_basic)
    changes, rounds, idle, value = 0, 0, 0, np.inf
    while True:
        n = _settle(H, x, grad, lower, upper, R, basis, n, is_basic)
        gap, primal = certify(x, grad, lower, upper)
        rounds += 1
        if gap <= tol * max(1.0, abs(primal)) or changes >= max_changes or rounds > m + 100:
            # only a gradient without the rounding of all its updates may end the search
            grad = H @ x - 1.0
            gap, primal = certify(x, grad, lower, upper)
            if gap <= tol * max(1.0, abs(primal)) or changes >= max_changes:
                break
            rounds, before, value = 0, value, 0.5 * np.sum(x * (grad - 1.0))
            if before - value <= 1e-15 * abs(value):
                idle += 1  # a cycle, or nothing left but rounding: leave by a sweep, then give up
                if idle > 3:
                    break
                sweep(H, x, grad, lower, upper)
                continue
        worst = resting_violations(x, grad, lower, upper, is_basic, violation)
        if worst == 0.0:  # the gap that is left is that of the basic variables: refine them
            rounds = m + 100
            continue
        entered = 0
        while entered < min(_BLOCK, max_changes - changes):
            i = int(np.argmax(violation))
            if violation[i] <= _WORTH * worst:
                break
            violation[i] = 0.0
            pivot = column(R, n, H, basis, i, v)
            if pivot <= DEPENDENT * H[i, i]:
                if entered > 0:
                    continue  # its null direction is downhill only from the minimiser over the basic ones
                leaving = _slide(H, x, grad, lower, upper, R, basis, n, i, v)
                if leaving >= 0:
                    n = leave(R, n, basis, is_basic, leaving)
                    pivot = column(R, n, H, basis, i, v)
                    if pivot > DEPENDENT * H[i, i]:
                        n = enter(R, n, basis, is_basic, i, v, pivot)
                changes += 1
                break
            n = enter(R, n, basis, is_basic, i, v, pivot)
            changes += 1
            entered += 1
    if len(shift) == m:
        _derivative(H, R, basis, n, shift)
    return changes, gap, primal

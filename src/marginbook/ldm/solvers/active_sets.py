r"""The primal active-set method for the box-constrained dual, exact also where H is singular.

A set B of *basic* variables with :math:`H_{BB}` positive definite is kept with its Cholesky factor; all
others rest, at a bound or between. One variable enters at a time: the one whose gradient adds most to the
duality gap. Where it depends linearly on B in the feature space, the objective is linear along the null
direction, and the step ends where a variable meets its bound. B never has more members than the rank of H,
so that for a kernel of low rank r a step costs O(mr + r^2).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...base.compiled import njit
from ...kernels.cholesky import backward, column, forward
from .basic_factor import DEPENDENT, enter, leave, make_basic
from .box_qp import add_multiple, certify, largest_of, resting_violations, sweep

#: variables that may enter between two updates of the whole gradient
_BLOCK = 8
#: those that enter together add at least this share of what the worst adds to the gap
_WORTH = 0.3


class Exchange(NamedTuple):
    r"""What one search works on, changed in place.

    Attributes
    ----------
    H : (m, m) array
    x, grad : (m,) arrays
        The point, in the box, and its gradient.
    lower, upper : float
        The box.
    R, basis, is_basic : arrays
        The factor of the basic variables, see :mod:`marginbook.ldm.solvers.basic_factor`.
    """

    H: np.ndarray
    x: np.ndarray
    grad: np.ndarray
    lower: float
    upper: float
    R: np.ndarray
    basis: np.ndarray
    is_basic: np.ndarray


@njit(error_model="numpy")
def _room(x: float, d: float, lower: float, upper: float) -> float:
    if d > 0.0:
        return (upper - x) / d
    if d < 0.0:
        return (lower - x) / d
    return np.inf


@njit(error_model="numpy")
def _first_bound(on: Exchange, n: int, d: np.ndarray, t: float, leaving: int) -> tuple[float, int]:
    """Return the step along `d` to the first bound of a basic variable, and its number, if before `t`.

    Else `t` and `leaving` come back, which is a number, as None would be a type of its own to the compiler.
    """
    for a in range(n):
        room = _room(on.x[on.basis[a]], d[a], on.lower, on.upper)
        if room < t:
            t, leaving = max(room, 0.0), a
    return t, leaving


@njit(error_model="numpy")
def settle(on: Exchange, n: int) -> int:
    """Minimise over the `n` basic variables; those that meet a bound leave. Returns the number that stay."""
    H, x, grad, lower, upper, R, basis, is_basic = on
    before, touched = n, np.empty(n, np.int64)
    # left: the gradient of the basic variables: a step of length t leaves the share 1 - t of it
    old, left, d = np.empty(n), np.empty(n), np.empty(n)
    for a in range(n):
        i = basis[a]
        touched[a], old[a], left[a] = i, x[i], grad[i]
    while n > 0:
        for a in range(n):
            d[a] = -left[a]
        forward(R, n, d)
        backward(R, n, d)
        t, leaving = _first_bound(on, n, d, 1.0, n)
        for a in range(n):
            i = basis[a]
            x[i] = min(max(x[i] + t * d[a], lower), upper)
            left[a] *= 1.0 - t
        if leaving == n:
            break
        x[basis[leaving]] = upper if d[leaving] > 0.0 else lower
        for a in range(leaving, n - 1):
            left[a] = left[a + 1]
        n = leave(R, n, basis, is_basic, leaving)
    for a in range(before):
        add_multiple(grad, x[touched[a]] - old[a], H[touched[a]])
    return n


@njit(error_model="numpy")
def _slide(on: Exchange, n: int, i: int, v: np.ndarray) -> int:
    """Move variable `i`, which depends on the basic ones, along the null direction down to the first bound.

    `v` is the :func:`~marginbook.kernels.cholesky.column` of `i`, and lost. Returns the number of the basic
    variable that met a bound, or -1 if `i` itself did.
    """
    x, lower, upper = on.x, on.lower, on.upper
    towards = 1.0 if on.grad[i] < 0.0 else -1.0
    for a in range(n):
        v[a] *= -towards
    backward(on.R, n, v)
    t, leaving = _first_bound(on, n, v, _room(x[i], towards, lower, upper), n)
    if leaving == n:
        leaving = -1
    for a in range(-1, n):
        j, direction = (i, towards) if a < 0 else (on.basis[a], v[a])
        old = x[j]
        if a == leaving:
            x[j] = upper if direction > 0.0 else lower
        else:
            x[j] = min(max(old + t * direction, lower), upper)
        add_multiple(on.grad, x[j] - old, on.H[j])
    return leaving


@njit(error_model="numpy")
def enter_worst(
    on: Exchange, n: int, v: np.ndarray, violation: np.ndarray, worst: float, left: int
) -> tuple[int, int]:
    """Make those variables basic that add most to the gap; return the number of basic ones, and of changes.

    What each adds is in `violation`, (m,), at most `worst`; it is lost, as is `v`, (m,). `left` is the number
    of changes that are allowed.
    """
    H, R, basis, is_basic, entered = on.H, on.R, on.basis, on.is_basic, 0
    while entered < min(_BLOCK, left - entered):
        i = largest_of(violation)
        if violation[i] <= _WORTH * worst:
            break
        violation[i] = 0.0
        pivot = column(R, n, H, basis, i, v)
        if pivot <= DEPENDENT * H[i, i]:
            if entered > 0:
                continue  # its null direction is downhill only from the minimiser over the basic ones
            leaving = _slide(on, n, i, v)
            if leaving >= 0:
                n = leave(R, n, basis, is_basic, leaving)
                pivot = column(R, n, H, basis, i, v)
                if pivot > DEPENDENT * H[i, i]:
                    n = enter(R, n, basis, is_basic, i, v, pivot)
            return n, 1
        n = enter(R, n, basis, is_basic, i, v, pivot)
        entered += 1
    return n, entered


@njit(error_model="numpy")
def _derivative(H: np.ndarray, R: np.ndarray, basis: np.ndarray, n: int, shift: np.ndarray) -> None:
    """Write the derivative of the solution when both bounds move up: 1 at rest, -H_BB^{-1} H_BN 1 basic."""
    for j in range(len(shift)):
        shift[j] = 1.0
    for a in range(n):
        shift[basis[a]] = 0.0
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


@njit(error_model="numpy")
def _gradient(H: np.ndarray, x: np.ndarray, grad: np.ndarray) -> None:
    """Write H x - e to `grad`."""
    np.dot(H, x, grad)
    for j in range(len(x)):
        grad[j] -= 1.0


@njit(error_model="numpy")
def _objective(x: np.ndarray, grad: np.ndarray) -> float:
    value = 0.0
    for j in range(len(x)):
        value += 0.5 * x[j] * (grad[j] - 1.0)
    return value


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
    R, basis, is_basic = np.empty((m, m)), np.empty(m, np.int64), np.zeros(m, np.bool_)
    lower, upper = float(lower), float(upper)
    grad = H @ x - 1.0
    for _ in range(sweeps):
        if sweep(H, x, grad, lower, upper) == 0.0:
            break
    n = make_basic(H, x, lower, upper, R, basis, is_basic)
    on = Exchange(H, x, grad, lower, upper, R, basis, is_basic)
    n, changes, gap, primal = _exchange(on, n, float(tol), int(max_changes))
    if len(shift) == m:
        _derivative(H, R, basis, n, shift)
    return changes, gap, primal


def _exchange(on: Exchange, n: int, tol: float, max_changes: int) -> tuple[int, int, float, float]:
    """Return the number of basic variables, of those that became so, the gap, and the primal objective."""
    H, x, grad, lower, upper, is_basic = on.H, on.x, on.grad, on.lower, on.upper, on.is_basic
    m = len(x)
    v, violation = np.empty(m), np.empty(m)
    changes, rounds, idle, value = 0, 0, 0, np.inf
    while True:
        n = settle(on, n)
        gap, primal = certify(x, grad, lower, upper)
        rounds += 1
        if gap <= tol * max(1.0, abs(primal)) or changes >= max_changes or rounds > m + 100:
            # only a gradient without the rounding of all its updates may end the search
            _gradient(H, x, grad)
            gap, primal = certify(x, grad, lower, upper)
            if gap <= tol * max(1.0, abs(primal)) or changes >= max_changes:
                break
            rounds, before, value = 0, value, _objective(x, grad)
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
        n, entered = enter_worst(on, n, v, violation, worst, max_changes - changes)
        changes += entered
    return n, changes, gap, primal

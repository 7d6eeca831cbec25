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

from .box_qp import certify, sweep

#: squared distance from the span of the basic variables, as a share of h_ii, that counts as zero
_DEPENDENT = 1e-11


@njit(cache=True)
def _append(L: np.ndarray, n: int, H: np.ndarray, basis: np.ndarray, i: int) -> float:
    """Write the row of the factor that variable `i` would add, and return its squared pivot."""
    row = H[i]
    pivot = H[i, i]
    for a in range(n):
        value = row[basis[a]]
        for b in range(a):
            value -= L[a, b] * L[n, b]
        value /= L[a, a]
        L[n, a] = value
        pivot -= value * value
    return pivot


@njit(cache=True)
def _delete(L: np.ndarray, n: int, basis: np.ndarray, a: int) -> None:
    """Take basic variable number `a` out of the factor by Givens rotations."""
    for r in range(a, n - 1):
        basis[r] = basis[r + 1]
        for b in range(r + 2):
            L[r, b] = L[r + 1, b]
    for k in range(a, n - 1):
        p, q = L[k, k], L[k, k + 1]
        size = np.hypot(p, q)
        cos, sin = p / size, q / size
        for r in range(k, n - 1):
            p, q = L[r, k], L[r, k + 1]
            L[r, k] = cos * p + sin * q
            L[r, k + 1] = cos * q - sin * p


@njit(cache=True)
def _backward(L: np.ndarray, n: int, v: np.ndarray) -> None:
    """Solve L' z = v in place."""
    for a in range(n - 1, -1, -1):
        value = v[a] / L[a, a]
        v[a] = value
        for b in range(a):
            v[b] -= L[a, b] * value


@njit(cache=True)
def _forward(L: np.ndarray, n: int, v: np.ndarray) -> None:
    """Solve L z = v in place."""
    for a in range(n):
        value = v[a]
        for b in range(a):
            value -= L[a, b] * v[b]
        v[a] = value / L[a, a]


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
    L: np.ndarray,
    basis: np.ndarray,
    n: int,
    is_basic: np.ndarray,
) -> int:
    """Minimise over the basic variables; those that meet a bound leave. Returns the number that stay."""
    m = len(x)
    d = np.empty(m)
    while n > 0:
        for a in range(n):
            d[a] = -grad[basis[a]]
        _forward(L, n, d)
        _backward(L, n, d)
        t, leaving = 1.0, -1
        for a in range(n):
            room = _room(x[basis[a]], d[a], lower, upper)
            if room < t:
                t, leaving = max(room, 0.0), a
        for a in range(n):
            i = basis[a]
            x[i] = min(max(x[i] + t * d[a], lower), upper)
            row, change = H[i], t * d[a]
            if change != 0.0:
                for j in range(m):
                    grad[j] += change * row[j]
        if leaving < 0:
            break
        i = basis[leaving]
        x[i] = upper if d[leaving] > 0.0 else lower
        is_basic[i] = False
        _delete(L, n, basis, leaving)
        n -= 1
    return n


@njit(cache=True)
def minimise(
    H: np.ndarray, x: np.ndarray, lower: float, upper: float, tol: float, max_changes: int, sweeps: int
) -> tuple[int, float, float]:
    """Exchange variables until the relative gap is at most `tol`; `x`, in the box, is updated in place.

    A few coordinate `sweeps` before that find most of the bounds for a cold start.

    Returns
    -------
    changes of the set of basic variables, gap, primal objective
    """
    m = len(x)
    L = np.zeros((m, m))
    basis = np.empty(m, np.int64)
    is_basic = np.zeros(m, np.bool_)
    d = np.empty(m)
    n, changes = 0, 0
    grad = H @ x - 1.0
    for _ in range(sweeps):
        sweep(H, x, grad, lower, upper)
    for i in range(m):  # what lies between the bounds is basic, as far as it is independent
        if lower < x[i] < upper:
            pivot = _append(L, n, H, basis, i)
            if pivot > _DEPENDENT * H[i, i]:
                L[n, n] = np.sqrt(pivot)
                basis[n] = i
                is_basic[i] = True
                n += 1
    rounds, idle, value = 0, 0, np.inf
    while True:
        n = _settle(H, x, grad, lower, upper, L, basis, n, is_basic)
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
        entering, worst = -1, 0.0
        for i in range(m):
            if not is_basic[i]:
                g = grad[i]
                violation = (x[i] - lower) * g if g > 0.0 else (x[i] - upper) * g
                if violation > worst:
                    entering, worst = i, violation
        if entering < 0:  # the gap that is left is that of the basic variables: refine them
            rounds = m + 100
            continue
        changes += 1
        i = entering
        pivot = _append(L, n, H, basis, i)
        if pivot <= _DEPENDENT * H[i, i]:
            towards = 1.0 if grad[i] < 0.0 else -1.0
            for a in range(n):
                d[a] = -towards * L[n, a]
            _backward(L, n, d)
            t, leaving = _room(x[i], towards, lower, upper), -1
            for a in range(n):
                room = _room(x[basis[a]], d[a], lower, upper)
                if room < t:
                    t, leaving = max(room, 0.0), a
            for a in range(-1, n):
                j = i if a < 0 else basis[a]
                change = t * (towards if a < 0 else d[a])
                x[j] = min(max(x[j] + change, lower), upper)
                if change != 0.0:
                    row = H[j]
                    for k in range(m):
                        grad[k] += change * row[k]
            if leaving < 0:
                x[i] = upper if towards > 0.0 else lower
                continue
            j = basis[leaving]
            x[j] = upper if d[leaving] > 0.0 else lower
            is_basic[j] = False
            _delete(L, n, basis, leaving)
            n -= 1
            pivot = _append(L, n, H, basis, i)
            if pivot <= _DEPENDENT * H[i, i]:
                continue
        L[n, n] = np.sqrt(pivot)
        basis[n] = i
        is_basic[i] = True
        n += 1
    return changes, gap, primal

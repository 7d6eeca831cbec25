r"""Local minima and lower bounds of a quadratic form over the nonnegative unit vectors, compiled.

The mathematics is in :mod:`~marginbook.clasmk.solvers.sphere`. The matrices have a few rows and there are
thousands of them: the calls of array functions would take longer than the arithmetic.
"""

from __future__ import annotations

import numpy as np
from numba import njit

#: entries of a unit vector below this are zero
TINY = 1e-13
#: relative rounding of an eigenvalue, per row of the matrix
ROUNDING = 4 * float(np.finfo(float).eps)


@njit(cache=True)
def smallest_eigenpair(Q: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the smallest eigenvalue of a symmetric matrix, and a unit eigenvector."""
    n = len(Q)
    v = np.ones(n)
    if n == 1:
        return Q[0, 0], v
    if n == 2:
        half = 0.5 * (Q[0, 0] - Q[1, 1])
        radius = np.hypot(half, Q[0, 1])
        if radius == 0.0:
            v[1] = 0.0
            return Q[0, 0], v
        # of the two forms of the eigenvector the one without cancellation
        if half >= 0.0:
            v[0], v[1] = -Q[0, 1], half + radius
        else:
            v[0], v[1] = radius - half, -Q[0, 1]
        size = np.hypot(v[0], v[1])
        return 0.5 * (Q[0, 0] + Q[1, 1]) - radius, v / size
    values, vectors = np.linalg.eigh(Q)
    for i in range(n):
        v[i] = vectors[i, 0]
    return values[0], v


@njit(cache=True)
def descend(Q: np.ndarray, start: np.ndarray, tol: float = 1e-13) -> tuple[np.ndarray, float]:
    r"""Return a local minimum that is not above `start`, and its value.

    Parameters
    ----------
    Q : (K, K) array
        Symmetric, largest entry about 1: `tol` is absolute.
    start : (K,) array
        Nonnegative, not zero.
    tol : float
        How negative :math:`(Qs)_j` off the support may stay.
    """
    k = len(Q)
    s = start / np.linalg.norm(start)
    value = np.inf
    used = s > TINY
    for _ in range(10 * k + 20):
        support = np.flatnonzero(used)
        n = len(support)
        block, inside = np.empty((n, n)), np.empty(n)
        for a in range(n):
            inside[a] = s[support[a]]
            for b in range(n):
                block[a, b] = Q[support[a], support[b]]
        least, v = smallest_eigenpair(block)
        if v @ inside < 0:
            v = -v
        if v.min() < -TINY:
            here = block @ inside
            now = inside @ here
            if now - least > tol or np.abs(here - now * inside).max() > tol:
                # along the great circle to v until the first coordinate is zero: it leaves the support
                step, leaving = np.inf, -1
                for a in range(n):
                    if v[a] < 0.0:
                        length = inside[a] / (inside[a] - v[a])
                        if length < step:
                            step, leaving = length, a
                inside = np.maximum(inside + step * (v - inside), 0.0)
                inside[leaving] = 0.0
                size = float(np.linalg.norm(inside))
                if not size > TINY:
                    break
                # all negative coordinates at once, where that falls more: many steps in one
                cut = np.maximum(v, 0.0)
                length = float(np.linalg.norm(cut))
                if length * length * (inside @ (block @ inside)) > size * size * (cut @ (block @ cut)):
                    inside, size = cut, length
                for a in range(n):
                    s[support[a]] = inside[a] / size
                    used[support[a]] = s[support[a]] > TINY
                    if not used[support[a]]:
                        s[support[a]] = 0.0
                continue
            v, least = inside, float(now)
        v = np.maximum(v, 0.0)
        v /= np.linalg.norm(v)
        previous, value = value, least
        s[:] = 0.0
        for a in range(n):
            s[support[a]] = v[a]
        entering, steepest = -1, -tol
        for j in range(k):
            used[j] = s[j] > TINY
            if not used[j]:
                slope = 0.0
                for a in range(n):
                    slope += Q[j, support[a]] * v[a]
                if slope < steepest:
                    entering, steepest = j, slope
        if entering < 0 or not value < previous:
            break
        used[entering] = True
    s = np.where(s > TINY, s, 0.0)
    s /= np.linalg.norm(s)
    return s, s @ (Q @ s)


@njit(cache=True)
def descend_all(matrices: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the local minima of a (C, K, K) stack from the (C, K) starts, and their values, (C,)."""
    points, values = np.empty_like(starts), np.empty(len(starts))
    for c in range(len(matrices)):
        size = float(np.abs(matrices[c]).max())
        if size == 0.0:
            points[c], values[c] = starts[c], 0.0
        else:
            points[c], values[c] = descend(matrices[c] / size, starts[c])
            values[c] *= size
    return points, values


@njit(cache=True)
def multiplier(Q: np.ndarray, s: np.ndarray) -> np.ndarray:
    r"""Return a matrix M >= 0 for which the local minimum s is an eigenvector of Q - M with the value of s.

    That asks for :math:`M_{SS}=0` and :math:`M_{jS}s_S=(Qs)_j` off the support. Each row :math:`M_{jS}` is
    the nonnegative vector closest to :math:`Q_{jS}` that does so: what is left, :math:`(Q-M)_{jS}`, couples j
    to the support as little as possible. Between coordinates off the support M is zero here.
    """
    M = np.zeros_like(Q)
    support = np.flatnonzero(s > 0)
    n = len(support)
    quotients = np.empty(n)
    for j in range(len(Q)):
        if s[j] > 0:
            continue
        wanted = 0.0
        for a in range(n):
            wanted += Q[j, support[a]] * s[support[a]]
            quotients[a] = Q[j, support[a]] / s[support[a]]
        if wanted <= 0.0:
            continue
        # max(row + shift * s, 0) is the projection; the breakpoints of its shift, largest first
        shift, along, square = 0.0, 0.0, 0.0
        for a in np.argsort(-quotients):
            i = support[a]
            more_along, more_square = along + Q[j, i] * s[i], square + s[i] * s[i]
            candidate = (wanted - more_along) / more_square
            if quotients[a] + candidate <= 0.0:
                break
            along, square, shift = more_along, more_square, candidate
        for a in range(n):
            i = support[a]
            M[i, j] = M[j, i] = max(Q[j, i] + shift * s[i], 0.0)
    return M


@njit(cache=True)
def is_above(Q: np.ndarray, level: float) -> bool:
    """Return whether all eigenvalues are above `level`: whether Q less that has a Cholesky factor."""
    k = len(Q)
    L = np.empty((k, k))
    for i in range(k):
        for j in range(i):
            total = Q[i, j]
            for a in range(j):
                total -= L[i, a] * L[j, a]
            L[i, j] = total / L[j, j]
        pivot = Q[i, i] - level
        for a in range(i):
            pivot -= L[i, a] * L[i, a]
        if not pivot > 0.0:
            return False
        L[i, i] = np.sqrt(pivot)
    return True


@njit(cache=True)
def lower_bound(Q: np.ndarray, s: np.ndarray, target: float) -> float:
    r"""Return a lower bound of the minimum; no better one than `target` is looked for.

    It is the smallest eigenvalue of Q - M, less its rounding, for one of four M: that of `multiplier` at
    the local minimum s, the same with the positive entries of Q between coordinates off the support, zero,
    and all positive entries off the diagonal. Whether one of them proves the target is asked by Cholesky
    factors, many times faster than eigenvalues; only if none does, the best of the first three is returned.
    Subgradient steps from these M were tried: they closed no more nodes of the search.
    """
    k = len(Q)
    if k == 1:
        return Q[0, 0]
    rounding = ROUNDING * k * np.abs(Q).max()
    level = target + rounding
    first = Q - multiplier(Q, s)
    if is_above(first, level):
        return target
    second = first.copy()
    negative = Q.copy()
    for i in range(k):
        for j in range(k):
            if i != j:
                negative[i, j] = min(Q[i, j], 0.0)
                if s[i] == 0.0 and s[j] == 0.0:
                    second[i, j] = negative[i, j]
    if is_above(second, level) or is_above(Q, level) or is_above(negative, level):
        return target
    best = max(smallest_eigenpair(first)[0], smallest_eigenpair(second)[0])
    return max(best, smallest_eigenpair(Q)[0]) - rounding

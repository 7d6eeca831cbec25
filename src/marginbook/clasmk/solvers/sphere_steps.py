r"""Local minima and lower bounds of a quadratic form over the nonnegative unit vectors, compiled.

The mathematics is in :mod:`~marginbook.clasmk.solvers.sphere`. The matrices have a few rows and there are
thousands of them: the calls of array functions would take longer than the arithmetic. Written as loops over
scalars the functions also compile in a quarter of the time that expressions of arrays would take; and each is
called from Python, as whatever calls another compiles that once more.
"""

from __future__ import annotations

import numpy as np

from ...base.compiled import njit

#: entries of a unit vector below this are zero
TINY = 1e-13
#: relative rounding of an eigenvalue, per row of the matrix
ROUNDING = 4 * float(np.finfo(float).eps)


@njit(error_model="numpy", no_cfunc_wrapper=True)
def smallest_eigenpair(Q: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the smallest eigenvalue of a symmetric matrix, and a unit eigenvector."""
    n = len(Q)
    v = np.empty(n)
    v[0] = 1.0
    if n == 1:
        return Q[0, 0], v
    if n == 2:
        v[1] = 0.0
        half = 0.5 * (Q[0, 0] - Q[1, 1])
        radius = np.hypot(half, Q[0, 1])
        if radius == 0.0:
            return Q[0, 0], v
        # of the two forms of the eigenvector the one without cancellation
        if half >= 0.0:
            v[0], v[1] = -Q[0, 1], half + radius
        else:
            v[0], v[1] = radius - half, -Q[0, 1]
        size = np.hypot(v[0], v[1])
        v[0] /= size
        v[1] /= size
        return 0.5 * (Q[0, 0] + Q[1, 1]) - radius, v
    values, vectors = np.linalg.eigh(Q)
    for i in range(n):
        v[i] = vectors[i, 0]
    return values[0], v


@njit(error_model="numpy", no_cfunc_wrapper=True)
def largest_entry(Q: np.ndarray) -> float:
    """Return the largest absolute value of a matrix."""
    found = 0.0
    for i in range(len(Q)):
        for j in range(len(Q)):
            found = max(found, abs(Q[i, j]))
    return found


@njit(error_model="numpy", no_cfunc_wrapper=True)
def products(Q: np.ndarray, s: np.ndarray, out: np.ndarray) -> float:
    """Write Qs to `out` and return s'Qs."""
    total = 0.0
    for i in range(len(Q)):
        entry = 0.0
        for j in range(len(Q)):
            entry += Q[i, j] * s[j]
        out[i] = entry
        total += s[i] * entry
    return total


@njit(error_model="numpy", no_cfunc_wrapper=True)
def along_circle(block: np.ndarray, inside: np.ndarray, v: np.ndarray, here: np.ndarray) -> bool:
    """Go from `inside` to `v` up to the bound and normalise, in place; return False for nowhere to go.

    The form falls along the great circle to the smallest eigenvector v. The first coordinate that is zero
    there leaves the support; or all negative coordinates of v at once, where that falls more: many steps in
    one. `here` is overwritten.
    """
    n = len(v)
    step, leaving = np.inf, -1
    for a in range(n):
        if v[a] < 0.0:
            length = inside[a] / (inside[a] - v[a])
            if length < step:
                step, leaving = length, a
    size, cut = 0.0, 0.0
    for a in range(n):
        inside[a] = 0.0 if a == leaving else max(inside[a] + step * (v[a] - inside[a]), 0.0)
        size += inside[a] * inside[a]
        v[a] = max(v[a], 0.0)
        cut += v[a] * v[a]
    if not np.sqrt(size) > TINY:
        return False
    if cut * products(block, inside, here) > size * products(block, v, here):
        for a in range(n):
            inside[a] = v[a]
        size = cut
    size = np.sqrt(size)
    for a in range(n):
        inside[a] /= size
    return True


@njit(error_model="numpy", no_cfunc_wrapper=True)
def descend(Q: np.ndarray, start: np.ndarray, tol: float = 1e-13) -> tuple[np.ndarray, float]:
    r"""Return a local minimum that is not above `start`, and its value.

    Parameters
    ----------
    Q : (K, K) array
        Symmetric.
    start : (K,) array
        Nonnegative, not zero.
    tol : float
        How negative :math:`(Qs)_j` off the support may stay, in units of the largest entry.
    """
    k, tol = len(Q), tol * largest_entry(Q)
    s, slopes, used = start.copy(), np.empty(k), np.empty(k, np.bool_)
    support = np.empty(k, np.intp)
    size = 0.0
    for j in range(k):
        size += s[j] * s[j]
    for j in range(k):
        s[j] /= np.sqrt(size)
        used[j] = s[j] > TINY
    if tol == 0.0:
        return s, 0.0
    value = np.inf
    for _ in range(10 * k + 20):
        n = 0
        for j in range(k):
            if used[j]:
                support[n] = j
                n += 1
        block, inside, here = np.empty((n, n)), np.empty(n), np.empty(n)
        for a in range(n):
            inside[a] = s[support[a]]
            for b in range(n):
                block[a, b] = Q[support[a], support[b]]
        least, v = smallest_eigenpair(block)
        side, lowest = 0.0, np.inf
        for a in range(n):
            side += v[a] * inside[a]
        for a in range(n):
            if side < 0.0:
                v[a] = -v[a]
            lowest = min(lowest, v[a])
        if lowest < -TINY:
            now = products(block, inside, here)
            apart = 0.0
            for a in range(n):
                apart = max(apart, abs(here[a] - now * inside[a]))
            if now - least > tol or apart > tol:
                if not along_circle(block, inside, v, here):
                    break
                for a in range(n):
                    j = support[a]
                    used[j] = inside[a] > TINY
                    s[j] = inside[a] if used[j] else 0.0
                continue
            v, least = inside, now
        size = 0.0
        for a in range(n):
            v[a] = max(v[a], 0.0)
            size += v[a] * v[a]
        previous, value = value, least
        for j in range(k):
            s[j] = 0.0
        for a in range(n):
            s[support[a]] = v[a] / np.sqrt(size)
        products(Q, s, slopes)
        entering, steepest = -1, -tol
        for j in range(k):
            used[j] = s[j] > TINY
            if not used[j] and slopes[j] < steepest:
                entering, steepest = j, slopes[j]
        if entering < 0 or not value < previous:
            break
        used[entering] = True
    size = 0.0
    for j in range(k):
        s[j] = s[j] if s[j] > TINY else 0.0
        size += s[j] * s[j]
    for j in range(k):
        s[j] /= np.sqrt(size)
    return s, products(Q, s, slopes)


@njit(error_model="numpy", no_cfunc_wrapper=True)
def multiplier(Q: np.ndarray, s: np.ndarray) -> np.ndarray:
    r"""Return a matrix M >= 0 for which the local minimum s is an eigenvector of Q - M with the value of s.

    That asks for :math:`M_{SS}=0` and :math:`M_{jS}s_S=(Qs)_j` off the support. Each row :math:`M_{jS}` is
    the nonnegative vector closest to :math:`Q_{jS}` that does so: what is left, :math:`(Q-M)_{jS}`, couples j
    to the support as little as possible. Between coordinates off the support M is zero here.
    """
    k = len(Q)
    M, inside = np.zeros((k, k)), np.empty(k, np.bool_)
    for j in range(k):
        if s[j] > 0:
            continue
        wanted = 0.0
        for i in range(k):
            inside[i] = s[i] > 0
            wanted += Q[j, i] * s[i]
        if wanted <= 0.0:
            continue
        # max(row + shift * s, 0) is the projection: entries that become negative are left out until none does
        shift, changed = 0.0, True
        while changed:
            along, square = 0.0, 0.0
            for i in range(k):
                if inside[i]:
                    along += Q[j, i] * s[i]
                    square += s[i] * s[i]
            if square == 0.0:  # by rounding only: the sum of what is left is `wanted` > 0
                break
            shift, changed = (wanted - along) / square, False
            for i in range(k):
                if inside[i] and Q[j, i] + shift * s[i] <= 0.0:
                    inside[i], changed = False, True
        for i in range(k):
            if inside[i]:
                M[i, j] = M[j, i] = Q[j, i] + shift * s[i]
    return M


@njit(error_model="numpy", no_cfunc_wrapper=True)
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


@njit(error_model="numpy", no_cfunc_wrapper=True)
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
    rounding = ROUNDING * k * largest_entry(Q)
    level = target + rounding
    first, second, negative = multiplier(Q, s), np.empty((k, k)), np.empty((k, k))
    for i in range(k):
        for j in range(k):
            first[i, j] = Q[i, j] - first[i, j]
            negative[i, j] = Q[i, j] if i == j else min(Q[i, j], 0.0)
            second[i, j] = negative[i, j] if s[i] == 0.0 and s[j] == 0.0 else first[i, j]
    if is_above(first, level) or is_above(second, level) or is_above(Q, level) or is_above(negative, level):
        return target
    best = max(smallest_eigenpair(first)[0], smallest_eigenpair(second)[0])
    return max(best, smallest_eigenpair(Q)[0]) - rounding


def descend_all(matrices: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the local minima of a (C, K, K) stack from the (C, K) starts, and their values, (C,)."""
    found = [descend(Q, s) for Q, s in zip(matrices, starts, strict=True)]
    return np.array([point for point, _ in found]), np.array([value for _, value in found])


def bound_all(matrices: np.ndarray, points: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the lower bounds of a (C, K, K) stack at its local minima, (C, K), for the targets: (C,)."""
    return np.array([lower_bound(*of_class) for of_class in zip(matrices, points, targets, strict=True)])

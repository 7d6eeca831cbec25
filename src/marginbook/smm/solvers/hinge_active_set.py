r"""The dual of a hinge risk with a quadratic penalty, from multipliers that are nearly right.

.. math::
    \max_{0\le c_i\le C_i}\ h^\top c-\tfrac12c^\top(AA^\top+\delta I)c .

The active set holds the samples strictly inside their box, on the margin. One leaves where it meets its
bound, the worst of the others enters where all in the set are optimal: each change costs two products with
A and a triangular system, so a start that has nearly the right set is worth much. :math:`\delta` is a small
proximal term, for sets that are larger than the number of features.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.linalg.lapack import dpotrf

from ...kernels.cholesky import append, backward, forward, remove
from .block_problem import BlockProblem
from .certificate import Certificate, Point
from .solution import InnerSolution

#: share of the mean square norm of the samples that is added to each: the proximal term of the multipliers
PROXIMAL = 1e-9
#: mean square norms of the samples that the intercept's proximal term allows it
FREE = 10.0
#: a loss this close to zero counts as zero
ON_MARGIN = 1e-10
#: members that the set may gain
GROWTH = 50
#: changes of the set beyond four for each feature, and proximal steps, in a block that only has to be
#: confirmed: from farther an interior point is faster
CHANGES, ROUNDS = 30, 8
#: share of its bound within which a multiplier that is given counts as at a bound
SNAP = 1e-4


def maximise(A: np.ndarray, losses: np.ndarray, C: np.ndarray, c: np.ndarray, changes: int) -> bool:
    r"""Improve multipliers `c` in place; return whether they are optimal but for the proximal term.

    Parameters
    ----------
    A : (n, q) array
    losses : (n,) array
        The linear term h, :math:`1-m_i` where the features count from a point with margins m.
    C, c : (n,) arrays
    changes : int
        Changes of the set at most.
    """
    return _maximise(A, losses, C, c, changes)[0]


def _maximise(
    A: np.ndarray, losses: np.ndarray, C: np.ndarray, c: np.ndarray, changes: int
) -> tuple[bool, int]:
    """Do what :func:`maximise` does; return also the number of changes."""
    delta = PROXIMAL * (float(np.vdot(A, A)) / len(A) or 1.0)
    members = np.flatnonzero((c > 0) & (c < C))
    m = len(members)
    room = min(len(C), max(m, A.shape[1]) + GROWTH)
    index, R = np.zeros(room, dtype=np.int64), np.zeros((room, room))
    if m:
        K = A[members] @ A[members].T
        K.flat[:: m + 1] += delta
        factor, info = dpotrf(K, lower=0, clean=0)
        if info == 0:
            index[:m], R[:m, :m] = members, factor
        else:
            m = 0  # they enter one by one
    _, used, solved = active_set(A, losses + delta * c, C, c, R, index, m, delta, ON_MARGIN, changes)
    return bool(solved), int(used)


def confirmed(
    problem: BlockProblem, start: tuple[np.ndarray, float], multipliers: np.ndarray
) -> InnerSolution:
    """Minimise the hinge risk of a linear function from nearly optimal coefficients and multipliers.

    Parameters
    ----------
    problem : BlockProblem
    start : ((p,) array, float)
    multipliers : (n,) array

    Returns
    -------
    InnerSolution
        Not converged where the start was not near enough.
    """
    signed, C, y, fit_intercept = problem.A, problem.shares, problem.y, problem.fit_intercept
    n, p = signed.shape
    best = Certificate(problem)
    b = problem.intercept(start)
    c = np.clip(multipliers, 0.0, C)
    if best.offer(Point(start[0], b, signed @ start[0] + b * y), c):
        return best.solution(0)
    root = np.sqrt(2.0 * problem.lam)
    A = np.empty((n, p + fit_intercept))
    A[:, :p] = signed / root
    free = np.sqrt(FREE * float(np.vdot(A[:, :p], A[:, :p])) / n)
    if fit_intercept:
        A[:, p] = free * y
    # an interior point leaves no multiplier at its bound
    c[c <= SNAP * C] = 0.0
    c = np.where(c >= (1.0 - SNAP) * C, C, c)
    rounds, left = 0, CHANGES + 4 * A.shape[1]
    if np.count_nonzero((c > 0) & (c < C)) > A.shape[1] + GROWTH:
        return best.solution(0)
    for _ in range(ROUNDS):
        rounds += 1
        solved, used = _maximise(A, 1.0 - b * y, C, c, left)
        left -= used
        u = c @ A
        w = u[:p] / root
        b += free * float(u[p]) if fit_intercept else 0.0
        if best.offer(Point(w, b, signed @ w + b * y), c) or not solved:
            break
    return best.solution(rounds)


@njit(cache=True)
def active_set(
    A: np.ndarray,
    h: np.ndarray,
    C: np.ndarray,
    c: np.ndarray,
    R: np.ndarray,
    index: np.ndarray,
    m: int,
    delta: float,
    tol: float,
    max_iter: int,
) -> tuple[int, int, bool]:
    r"""Improve `c` in place until no linearised loss is off by more than `tol`.

    Parameters
    ----------
    A : (n, q) array
    h, C : (n,) arrays
    c : (n,) array
        Feasible at the start, and after every step.
    R : (k, k) array
        In its first m rows the upper Cholesky factor of the set's :math:`AA^\top+\delta I`; overwritten.
    index : (k,) array of int
        The members of the set; overwritten. At most k will be in it.
    m : int
        How many.
    delta, tol : float
    max_iter : int
        Changes of the set.

    Returns
    -------
    m : int
    n_iter : int
    solved : bool
    """
    n, q = A.shape
    room = len(index)
    rows = np.empty((room, q))
    inside = np.zeros(n, dtype=np.bool_)
    for a in range(m):
        rows[a] = A[index[a]]
        inside[index[a]] = True
    d = np.empty(room)
    loss = h - A @ (c @ A) - delta * c
    fresh = True
    steps = 0
    while steps < max_iter:
        # to the optimum of the set, or to the first bound on the way
        while m > 0:
            for a in range(m):
                d[a] = loss[index[a]]
            forward(R, m, d)
            backward(R, m, d)
            size, blocking = 1.0, -1
            for a in range(m):
                i = index[a]
                after = c[i] + d[a]
                if after < 0.0:
                    reach = c[i] / -d[a]
                elif after > C[i]:
                    reach = (C[i] - c[i]) / d[a]
                else:
                    continue
                if reach < size:
                    size, blocking = reach, a
            moved = A @ (d[:m] @ rows[:m])
            for i in range(n):
                loss[i] -= size * moved[i]
            for a in range(m):
                i = index[a]
                c[i] = min(max(c[i] + size * d[a], 0.0), C[i])
                loss[i] -= size * delta * d[a]
            if blocking < 0:
                break
            i = index[blocking]
            c[i] = 0.0 if d[blocking] < 0.0 else C[i]
            inside[i] = False
            for a in range(blocking, m - 1):
                index[a] = index[a + 1]
                rows[a] = rows[a + 1]
            m = remove(R, m, blocking)
            fresh = False
            steps += 1
        worst, enters = tol, -1
        for i in range(n):
            if inside[i] or C[i] <= 0.0:
                continue
            wrong = loss[i] if c[i] <= 0.0 else -loss[i]
            if 0.0 < c[i] < C[i]:
                wrong = abs(loss[i])
            if wrong > worst:
                worst, enters = wrong, i
        if enters < 0:
            if fresh:
                return m, steps, True
            loss = h - A @ (c @ A) - delta * c
            fresh = True
            continue
        if m == room:
            return m, steps, False
        rows[m] = A[enters]
        d[:m] = rows[:m] @ rows[m]
        forward(R, m, d)
        pivot = delta + rows[m] @ rows[m]
        least = 0.5 * delta
        for a in range(m):
            pivot -= d[a] * d[a]
        index[m] = enters
        inside[enters] = True
        m = append(R, m, d, max(pivot, least))
        fresh = False
        steps += 1
    return m, steps, False

r"""The dual of a hinge risk with a quadratic penalty, from multipliers that are nearly right.

.. math::
    \max_{0\le c_i\le C_i}\ h^\top c-\tfrac12c^\top(AA^\top+\delta I)c .

The active set holds the samples strictly inside their box, on the margin. One leaves where it meets its
bound, the worst of the others enters where all in the set are optimal: each change costs two products with
A and a triangular system, so a start that has nearly the right set is worth much; to form the Gram matrix
that :mod:`~marginbook.smm.solvers.box_qp` wants would take many times as long. :math:`\delta` is a small
proximal term, for sets that are larger than the number of features.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf

from ...base.compiled import njit
from ...kernels.cholesky import FAST, append, backward, forward, remove
from .block_problem import BlockProblem
from .certificate import Certificate, Point
from .solution import InnerSolution

#: share of the mean square norm of the samples that is added to each: the proximal term of the multipliers
PROXIMAL = 1e-9
#: mean square norms of the samples that the intercept's proximal term allows it
FREE = 10.0
#: a loss this close to zero counts as zero
ON_MARGIN = 1e-10
#: members of a start above which only as many as there are features are kept
LARGEST = 1000
#: members that the set may gain
GROWTH = 50
#: changes of the set beyond four for each feature, and proximal steps, in a block that only has to be
#: confirmed: from farther an interior point is faster
CHANGES, ROUNDS = 30, 8
#: numbers that one call of the compiled loop may go through: some tenths of a second
TURN = 3e8
#: share of its bound within which a multiplier that is given counts as at a bound
SNAP = 1e-4


def maximise(
    A: np.ndarray, losses: np.ndarray, C: np.ndarray, c: np.ndarray, changes: int
) -> tuple[bool, int]:
    r"""Improve multipliers `c` in place.

    Parameters
    ----------
    A : (n, q) array
    losses : (n,) array
        The linear term h, :math:`1-m_i` where the features count from a point with margins m.
    C, c : (n,) arrays
    changes : int
        Changes of the set at most.

    Returns
    -------
    bool
        Whether they are optimal up to the proximal term.
    int
        The changes of the set.
    """
    delta = PROXIMAL * (float(np.vdot(A, A)) / len(A) or 1.0)
    members = np.flatnonzero((c > 0) & (c < C))
    if len(members) > LARGEST:  # a band of margins, of which few are on the margin
        missed = losses - A @ (c @ A)
        nearest = members[np.argsort(np.abs(missed[members]), kind="stable")]
        away = nearest[A.shape[1] :]
        c[away] = np.where(missed[away] > 0, C[away], 0.0)
        members = np.sort(nearest[: A.shape[1]])
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
    h, used, solved = losses + delta * c, 0, False
    # a compiled loop hears no Ctrl-C before it ends
    turn = max(1, int(TURN / (A.size + room * room)))
    while used < changes and not solved:
        most = min(turn, changes - used)
        m, more, solved = active_set(A, h, C, c, R, index, m, delta, ON_MARGIN, most)
        used += more
        if more < most:
            break
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
        solved, used = maximise(A, 1.0 - b * y, C, c, left)
        left -= used
        u = c @ A
        w = u[:p] / root
        b += free * float(u[p]) if fit_intercept else 0.0
        if best.offer(Point(w, b, signed @ w + b * y), c) or not solved:
            break
    return best.solution(rounds)


@njit(error_model="numpy", fastmath=FAST)
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
        Changes of the set, at least 1; after them `c`, `R`, `index` and m are where another call goes on.

    Returns
    -------
    m : int
    n_iter : int
        Below `max_iter` unless the changes ran out.
    solved : bool
    """
    n, q = A.shape
    room = len(index)
    inside = np.zeros(n, dtype=np.bool_)
    for a in range(m):
        inside[index[a]] = True
    d, v, loss = np.empty(room), np.empty(q), np.empty(n)
    stale, exact = True, False
    steps = 0
    while True:
        if stale:
            for k in range(q):
                v[k] = 0.0
            for i in range(n):
                if c[i] != 0.0:
                    size = c[i]
                    for k in range(q):
                        v[k] += size * A[i, k]
            for i in range(n):
                total = 0.0
                for k in range(q):
                    total += A[i, k] * v[k]
                loss[i] = h[i] - total - delta * c[i]
            stale, exact = False, True
        # to the optimum of the set, or to the first bound on the way
        while m > 0 and steps < max_iter:
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
            for k in range(q):
                v[k] = 0.0
            for a in range(m):
                i, part = index[a], size * d[a]
                for k in range(q):
                    v[k] += part * A[i, k]
            for i in range(n):
                total = 0.0
                for k in range(q):
                    total += A[i, k] * v[k]
                loss[i] -= total
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
            m = remove(R, m, blocking)
            exact = False
            steps += 1
        if steps >= max_iter:
            return m, steps, False
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
            if exact:
                return m, steps, True
            stale = True
            continue
        if m == room:
            return m, steps, False
        pivot = delta
        for k in range(q):
            pivot += A[enters, k] * A[enters, k]
        for a in range(m):
            i, total = index[a], 0.0
            for k in range(q):
                total += A[i, k] * A[enters, k]
            d[a] = total
        forward(R, m, d)
        for a in range(m):
            pivot -= d[a] * d[a]
        index[m] = enters
        inside[enters] = True
        m = append(R, m, d, max(pivot, 0.5 * delta))
        exact = False
        steps += 1

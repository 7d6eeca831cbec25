r"""The minimum of a quadratic form over the nonnegative unit vectors.

.. math:: \mu^*=\min\{s^\top Qs:\ s\ge0,\ \lVert s\rVert=1\},\qquad Q=Q^\top\in\mathbb R^{K\times K},

which decides whether Q is copositive, so it is hard in general; K is small here. Three facts are used.

*Local minima.* On the support S of a local minimum s, s is the eigenvector of the smallest eigenvalue
:math:`\mu` of :math:`Q_{SS}`, and :math:`(Qs)_j\ge0` off it. :func:`descend` finds such a point by the active
set: it goes along the great circle to the smallest eigenvector of the support, on which the form falls, until
a coordinate is zero, which leaves the support; at an eigenvector, the coordinate with the most negative
:math:`(Qs)_j` joins.

*Supports.* Let s be such a point with value :math:`\mu` and support S. No point t with value
:math:`\mu'<\mu` that is an eigenvector of its own support T, as every minimum is, has :math:`T\supseteq S`:
:math:`\mu't^\top s=t^\top Qs=\mu t^\top s+\sum_{j\in T\setminus S}t_j(Qs)_j` would make
:math:`(\mu'-\mu)t^\top s<0` a sum of terms that are not negative. So a better point lacks at least one
coordinate of S, and branching on which one leads to finitely many smaller problems.

*Bounds.* For each symmetric :math:`M\ge0` (entry by entry) :math:`s^\top Qs\ge s^\top(Q-M)s`, so
:math:`\mu^*\ge\lambda_{\min}(Q-M)`. The best M gives the bound of the doubly nonnegative relaxation;
:func:`lower_bound` makes M from the conditions at a local minimum and improves it by a few subgradient steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import lapack

#: entries of a unit vector below this are zero
TINY = 1e-13
#: relative rounding of an eigenvalue, per row of the matrix
ROUNDING = 4 * np.finfo(float).eps
#: subgradient steps for the multiplier of a bound
SUBGRADIENT_STEPS = 12


@dataclass(frozen=True, eq=False)
class SphereMinimum:
    r"""A nonnegative unit vector with a small value, and how small a value is possible.

    Attributes
    ----------
    point : (K,) array
    value : float
        :math:`s^\top Qs`.
    lower_bound : float
        No nonnegative unit vector has a smaller value (up to rounding).
    n_nodes : int
        Nodes of the search.
    exact : bool
        Whether the search was completed: the value is then the minimum up to the tolerance.
    """

    point: np.ndarray
    value: float
    lower_bound: float
    n_nodes: int
    exact: bool


def smallest_eigenpair(Q: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the smallest eigenvalue of a symmetric matrix, and a unit eigenvector."""
    if len(Q) == 1:
        return float(Q[0, 0]), np.ones(1)
    if len(Q) <= 24:  # below this all eigenpairs by divide and conquer take less time than one by index
        values, vectors, info = lapack.dsyevd(Q)
    else:
        values, vectors, _, _, info = lapack.dsyevr(Q, range="I", il=1, iu=1)
    if info:
        raise np.linalg.LinAlgError(
            f"LAPACK found no eigenvalues of a {len(Q)} x {len(Q)} matrix (info {info})"
        )
    return float(values[0]), vectors[:, 0]


def descend(Q: np.ndarray, start: np.ndarray, *, tol: float = 1e-13) -> tuple[np.ndarray, float]:
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
    s = start / np.linalg.norm(start)
    support = np.flatnonzero(s > TINY)
    value = np.inf
    for _ in range(10 * len(s) + 20):
        block = Q[np.ix_(support, support)]
        inside = s[support]
        least, v = smallest_eigenpair(block)
        along = float(v @ inside)
        if along < 0:
            v = -v
        if v.min() < -TINY:
            here = block @ inside
            now = float(inside @ here)
            if now - least > tol or np.abs(here - now * inside).max() > tol:
                falling = np.flatnonzero(v < 0)
                steps = inside[falling] / (inside[falling] - v[falling])
                first = int(np.argmin(steps))
                inside = np.maximum(inside + steps[first] * (v - inside), 0.0)
                inside[falling[first]] = 0.0
                size = np.linalg.norm(inside)
                if not size > TINY:
                    break
                s = np.zeros(len(Q))
                s[support] = inside / size
                support = np.flatnonzero(s > TINY)
                continue
            v, least = inside, now
        v = np.maximum(v, 0.0)
        previous, value = value, least
        s = np.zeros(len(Q))
        s[support] = v / np.linalg.norm(v)
        kept = s > TINY
        slopes = np.where(kept, 0.0, Q[:, support] @ s[support])
        entering = int(np.argmin(slopes))
        if slopes[entering] >= -tol or not value < previous:
            break
        kept[entering] = True
        support = np.flatnonzero(kept)
    s[s <= TINY] = 0.0
    s /= np.linalg.norm(s)
    return s, float(s @ Q @ s)


def multiplier(Q: np.ndarray, s: np.ndarray) -> np.ndarray:
    r"""Return a matrix M >= 0 for which the local minimum s is an eigenvector of Q - M with the value of s.

    That asks for :math:`M_{SS}=0` and :math:`M_{jS}s_S=(Qs)_j` off the support. Each row :math:`M_{jS}` is
    the nonnegative vector closest to :math:`Q_{jS}` that does so: what is left, :math:`(Q-M)_{jS}`, couples j
    to the support as little as possible. Between coordinates off the support M is zero here.
    """
    M = np.zeros_like(Q)
    support = s > 0
    outside = np.flatnonzero(~support)
    if len(outside) == 0:
        return M
    inside = np.flatnonzero(support)
    weights = s[inside]
    rows = Q[np.ix_(outside, inside)]
    wanted = np.maximum(rows @ weights, 0.0)
    quotients = rows / weights
    order = np.argsort(-quotients, axis=1)
    sorted_rows, sorted_weights = np.take_along_axis(rows, order, 1), weights[order]
    # the projection is max(row + shift * weights, 0): its shift by the sorted breakpoints
    shifts = (wanted[:, np.newaxis] - np.cumsum(sorted_rows * sorted_weights, axis=1)) / np.cumsum(
        sorted_weights**2, axis=1
    )
    active = np.take_along_axis(quotients, order, 1) + shifts > 0
    last = np.maximum(active.sum(axis=1) - 1, 0)
    shift = np.take_along_axis(shifts, last[:, np.newaxis], 1)
    closest = np.maximum(rows + shift * weights, 0.0)
    M[np.ix_(outside, inside)] = closest
    M[np.ix_(inside, outside)] = closest.T
    return M


def lower_bound(Q: np.ndarray, s: np.ndarray, target: float, *, steps: int = SUBGRADIENT_STEPS) -> float:
    r"""Return a lower bound of the minimum; the search for a better one ends when `target` is reached.

    Candidates for M: zero, all positive entries off the diagonal, and the matrix of :func:`multiplier` at s,
    improved by Polyak's steps :math:`M\leftarrow\max(M-(\mathrm{target}-\lambda)vv^\top,0)`, where v is the
    smallest eigenvector of Q - M and :math:`\lambda` its eigenvalue.
    """
    rounding = ROUNDING * len(Q) * float(np.abs(Q).max())
    best, _ = smallest_eigenpair(Q)
    if best >= target or len(Q) == 1:
        return best - rounding
    positive = np.maximum(Q, 0.0)
    np.fill_diagonal(positive, 0.0)
    best = max(best, smallest_eigenpair(Q - positive)[0])
    if best >= target:
        return best - rounding
    M = multiplier(Q, s)
    for _ in range(steps + 1):
        least, v = smallest_eigenpair(Q - M)
        best = max(best, least)
        if best >= target:
            break
        M = np.maximum(M - (target - least) * np.outer(v, v), 0.0)
    return best - rounding


def minimise_on_sphere(
    Q: ArrayLike,
    *,
    start: np.ndarray | None = None,
    tol: float = 1e-11,
    max_nodes: int = 5000,
    n_restarts: int = 10,
    random_state: int | np.random.Generator | None = 0,
) -> SphereMinimum:
    r"""Minimise :math:`s^\top Qs` over the nonnegative unit vectors by branch and bound.

    A node is a set of coordinates that may be used and a subset that must be. Its local minimum by
    :func:`descend` may improve the best value; it is closed if its :func:`lower_bound` reaches the best value
    less the tolerance; else its children each lack a coordinate of the support of that local minimum.

    Parameters
    ----------
    Q : (K, K) array
        Symmetric.
    start : (K,) array, optional
        A nonnegative vector; the result is not above its value.
    tol : float
        Absolute accuracy of the value, in units of the largest entry of Q.
    max_nodes : int
        After so many nodes the search stops with the smallest bound of what is open, and `n_restarts` local
        searches from random supports follow.
    n_restarts : int
    random_state : int, Generator or None

    Returns
    -------
    SphereMinimum

    Raises
    ------
    ValueError
        If Q is not a square matrix of finite numbers.

    Examples
    --------
    >>> import numpy as np
    >>> found = minimise_on_sphere(np.array([[2.0, 1.0, 3.0], [1.0, 2.0, -1.0], [3.0, -1.0, 2.0]]))
    >>> found.point.round(6), round(found.value, 6), found.exact
    (array([0.      , 0.707107, 0.707107]), 1.0, True)
    """
    given = np.asarray(Q, dtype=float)
    if given.ndim != 2 or given.shape[0] != given.shape[1] or not len(given) or not np.isfinite(given).all():
        raise ValueError(f"Q has shape {given.shape}, wanted a square matrix of finite numbers")
    size = float(np.abs(given).max())
    k = len(given)
    first = np.ones(k) if start is None else np.asarray(start, dtype=float)
    if size == 0:
        return SphereMinimum(first / np.linalg.norm(first), 0.0, 0.0, 0, True)
    search = _Search(0.5 * (given + given.T) / size, tol)
    search.try_point(*descend(search.Q, first))
    exact = search.run(max_nodes)
    if not exact:
        generator = np.random.default_rng(random_state)
        for _ in range(n_restarts):
            begin = generator.random(k) * (generator.random(k) < generator.uniform(1 / k, 1.0))
            if begin.any():
                search.try_point(*descend(search.Q, begin))
    value = search.value * size
    return SphereMinimum(search.point, value, min(search.bound * size, value), search.n_nodes, exact)


class _Search:
    """The best point so far, the open nodes, and the smallest bound of those that are closed."""

    def __init__(self, Q: np.ndarray, tol: float) -> None:
        self.Q, self.tol = Q, tol
        self.point, self.value = np.zeros(len(Q)), np.inf
        self.bound, self.n_nodes = np.inf, 0
        diagonal = np.diag(Q)
        half = 0.5 * (diagonal[:, np.newaxis] - diagonal)
        # the smallest eigenvalue of each pair; a support that holds the pair has no larger value
        self.pairs = 0.5 * (diagonal[:, np.newaxis] + diagonal) - np.sqrt(half**2 + Q**2)
        np.fill_diagonal(self.pairs, np.inf)

    def try_point(self, point: np.ndarray, value: float) -> None:
        """Keep the point if it is better."""
        if value < self.value:
            self.point, self.value = point, value

    def run(self, max_nodes: int) -> bool:
        """Search; return whether all nodes were closed."""
        k = len(self.Q)
        everything = np.ones(k, dtype=bool)
        stack = [(everything, np.zeros(k, dtype=bool), -np.inf)]
        root = -np.inf
        while stack:
            if self.n_nodes >= max_nodes:
                self.bound = min([self.bound, self.value, *(bound for _, _, bound in stack)])
                return False
            allowed, forced, above = stack.pop()
            if above >= self.value - self.tol:
                self.bound = min(self.bound, above)
                continue
            if forced.any():
                # no support holds a pair whose eigenvalue is below the bound of the whole problem
                allowed = allowed & ((self.pairs[forced] >= root - self.tol).all(axis=0) | forced)
            self.n_nodes += 1
            used = np.flatnonzero(allowed)
            block = self.Q[np.ix_(used, used)]
            start = self.point[used]
            if not start.any():
                start = np.zeros(len(used))
                start[np.argmin(np.diag(block))] = 1.0
            s, value = descend(block, start)
            local = np.zeros(k)
            local[used] = s
            self.try_point(local, value)
            bound = max(lower_bound(block, s, self.value - self.tol), above)
            if self.n_nodes == 1:
                root = bound
            if bound >= self.value - self.tol:
                self.bound = min(self.bound, bound)
                continue
            support = [int(i) for i in np.argsort(-local) if local[i] > 0 and not forced[i]]
            # no child has all of the support: what it could find is not below the value of this node
            self.bound = min(self.bound, value)
            children = []
            held = forced.copy()
            for i in support:
                less = allowed.copy()
                less[i] = False
                if less.any():
                    children.append((less, held.copy(), bound))
                held[i] = True
            stack.extend(reversed(children))
        self.bound = min(self.bound, self.value)
        return True

r"""The minimum of a quadratic form over the nonnegative unit vectors, and a proof that it is one.

.. math::
    \mu^*=\min\{s^\top Qs:\ s\ge0,\ \lVert s\rVert=1\},\qquad Q=Q^\top\in\mathbb R^{K\times K},

which decides whether Q is copositive, so it is hard in general; K is small here. Three facts are used.

*Local minima.* On the support S of a local minimum s, s is the eigenvector of the smallest eigenvalue
:math:`\mu` of :math:`Q_{SS}`, and :math:`(Qs)_j\ge0` off it. An active set finds one (``descend``): it goes
along the great circle to the smallest eigenvector of the support, on which the form falls, until a coordinate
is zero, which leaves the support; at an eigenvector, the coordinate with the most negative :math:`(Qs)_j`
joins.

*Supports.* Let s be such a point with value :math:`\mu` and support S. No point t with value
:math:`\mu'<\mu` that is an eigenvector of its own support T, as every minimum is, has :math:`T\supseteq S`:
:math:`\mu't^\top s=t^\top Qs=\mu t^\top s+\sum_{j\in T\setminus S}t_j(Qs)_j` would make
:math:`(\mu'-\mu)t^\top s<0` a sum of terms that are not negative. So a better point lacks at least one
coordinate of S, and branching on which one leads to finitely many smaller problems.

*Bounds.* For each symmetric :math:`M\ge0` (entry by entry) :math:`s^\top Qs\ge s^\top(Q-M)s`, so
:math:`\mu^*\ge\lambda_{\min}(Q-M)`. The best M gives the bound of the doubly nonnegative relaxation;
``lower_bound`` makes M from the conditions at a local minimum, where it often is the best.

The first and the last are compiled: :mod:`~marginbook.clasmk.solvers.sphere_steps`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .sphere_steps import ROUNDING, descend, lower_bound

#: how negative (Qs)_j may be, and Qs - mu s on the support, at what counts as a local minimum
STATIONARY = 1e-9


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


class SphereSearch:
    """A search that can be stopped and resumed: the best point so far, and the nodes that are open.

    A node is a set of coordinates that may be used and a subset that must be. Its local minimum may improve
    the best value; it is closed if its lower bound reaches the best value less the tolerance; else its
    children each lack a coordinate of the support of that local minimum.

    Parameters
    ----------
    Q : (K, K) array
        Symmetric.
    start : (K,) array, optional
    tol : float
        Accuracy of the value, in units of the largest entry of Q.
    """

    def __init__(self, Q: np.ndarray, *, start: np.ndarray | None = None, tol: float = 1e-11) -> None:
        k = len(Q)
        self.size = float(np.abs(Q).max())
        first = np.ones(k) if start is None else np.asarray(start, dtype=float)
        self.point, self.value = first / np.linalg.norm(first), 0.0
        self.bound, self.root, self.n_nodes = np.inf, -np.inf, 0
        self.complete = True
        # no bound is nearer to the value than the rounding that it is lowered by
        self.tol = max(tol, 4 * ROUNDING * k)
        self.open: list[tuple[np.ndarray, np.ndarray, float]] = []
        if self.size == 0:
            return
        self.Q = np.ascontiguousarray(Q / self.size)
        self.point, self.value = descend(self.Q, self.point)
        self.open.append((np.ones(k, dtype=bool), np.zeros(k, dtype=bool), -np.inf))

    def run(self, max_nodes: int, *, until_better: bool = False) -> bool:
        """Search on until no node is open, or `max_nodes` were visited in all; return whether none is open.

        With `until_better`, stop as soon as the value falls by more than the tolerance too.
        """
        wanted = self.value - self.tol if until_better else -np.inf
        while self.open and self.n_nodes < max_nodes and self.value >= wanted:
            allowed, forced, above = self.open.pop()
            if above >= self.value - self.tol:
                self.bound = min(self.bound, above)
            else:
                self._visit(allowed, forced, above)
        return not self.open

    def _visit(self, allowed: np.ndarray, forced: np.ndarray, above: float) -> None:
        """Find a local minimum of the node and a bound; open its children if the bound does not close it."""
        if forced.any():
            allowed = allowed & (self._joinable(forced) | forced)
        self.n_nodes += 1
        used = np.flatnonzero(allowed)
        block = self.Q[np.ix_(used, used)]
        start = self.point[used]
        if not start.any():
            start = np.zeros(len(used))
            start[np.argmin(np.diag(block))] = 1.0
        s, value = descend(block, start)
        if value < self.value:
            self.value, self.point = value, np.zeros(len(self.Q))
            self.point[used] = s
        bound = max(lower_bound(block, s, self.value - self.tol), above)
        if self.n_nodes == 1:
            self.root = bound
        if bound >= self.value - self.tol:
            self.bound = min(self.bound, bound)
            return
        slopes = block @ s
        if np.minimum(slopes - value * s, np.where(s > 0, np.inf, 0.0)).min() < -STATIONARY:
            # the local search stalled, and the argument about supports does not hold: the bound remains
            self.bound, self.complete = min(self.bound, bound), False
            return
        # what lies in a node, but in none of its children, is not below its local minimum
        self.bound = min(self.bound, value)
        children, held = [], forced.copy()
        for a in np.argsort(-s):
            i = used[a]
            if s[a] == 0.0 or forced[i]:
                continue
            less = allowed.copy()
            less[i] = False
            if less.any():
                children.append((less, held.copy(), bound))
            held[i] = True
        self.open.extend(reversed(children))

    def _joinable(self, forced: np.ndarray) -> np.ndarray:
        """Return which coordinates can be in a support with those that must be: a (K,) array of bool.

        The value on a support is the smallest eigenvalue there, so not above that of any pair in it; a pair
        whose eigenvalue is below the bound of the whole problem is in no support of a minimum.
        """
        diagonal = np.diag(self.Q)
        mine = diagonal[forced][:, np.newaxis]
        least = 0.5 * (mine + diagonal) - np.hypot(0.5 * (mine - diagonal), self.Q[forced])
        joinable: np.ndarray = (least >= self.root - self.tol).all(axis=0)
        return joinable

    def restart(self, n_restarts: int, generator: np.random.Generator) -> None:
        """Try local searches from random supports."""
        k = len(self.point)
        for _ in range(n_restarts):
            begin = generator.random(k) * (generator.random(k) < generator.uniform(1 / k, 1.0))
            if begin.any():
                s, value = descend(self.Q, begin)
                if value < self.value:
                    self.point, self.value = s, value

    def result(self) -> SphereMinimum:
        """Return the best point and what is proved."""
        bound = min([self.value, self.bound, *(above for _, _, above in self.open)])
        return SphereMinimum(
            point=self.point,
            value=self.value * self.size,
            lower_bound=bound * self.size,
            n_nodes=self.n_nodes,
            exact=not self.open and self.complete,
        )

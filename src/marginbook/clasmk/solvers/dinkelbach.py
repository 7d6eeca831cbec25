r"""The kernel weights of CLASMK, eq. (33), by Dinkelbach's iteration, to the global minimum.

In the roots :math:`s_c=\sqrt{\nu_c}` the objective is a ratio of two sums over the classes. For a number
:math:`\lambda` let

.. math::
    G(\lambda)=\sum_c\min_{s_c\ge0,\ \lVert s_c\rVert=1}s_c^\top(N_c-\lambda D_c)s_c ,

concave, not increasing in :math:`\lambda`, and below 0 exactly for :math:`\lambda` above the minimum of F.
It separates by class: C problems with K unknowns each (:mod:`~marginbook.clasmk.solvers.sphere`). From a
point with value :math:`\lambda`, their minimisers have a smaller value unless :math:`G(\lambda)=0`, and the
values converge superlinearly (Dinkelbach 1967). Local minimisers that do not rise make it monotone all the
same: so the iteration runs with those until they find nothing, and only then asks the search for better ones,
which also proves a bound.

How little work is possible: with :math:`N_c=D_c=I` F is 1 everywhere, and with any one entry of one
:math:`N_c` (and its mirror image) lowered F can be below 1. A method that has not read all :math:`CK^2`
entries is wrong for one of the two: no exponent of K is below 2, for local minima too. The proof decides
whether matrices are copositive, co-NP-complete (Murty and Kabadi 1987): no exponent bounds it, unless P = NP.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...base.parameters import validate_choice
from ..model.objective import (
    COMBINE,
    diagonals,
    forms,
    kkt_residual,
    ratio,
    validate_kernel_weights,
    validate_matrices,
)
from .kernel_choice import choose_exact
from .solution import Weights
from .sphere import SphereMinimum, SphereSearch
from .sphere_steps import ROUNDING, bound_all, descend_all, lower_bound

#: nodes for each class before the classes that are not closed are searched on
FIRST_NODES = 30
#: tolerance of the search for one class, in units of the largest entry of its matrix, at least
FINEST = 1e-13


def dinkelbach(
    numerator: ArrayLike,
    denominator: ArrayLike,
    *,
    combine: str = "sum",
    start: ArrayLike | None = None,
    tol: float = 1e-10,
    max_iter: int = 100,
    max_nodes: int = 2000,
    n_restarts: int = 10,
    random_state: int | np.random.Generator | None = 0,
    target: float = 0.0,
) -> Weights:
    r"""Minimise the separation ratio over the kernel weights.

    Parameters
    ----------
    numerator, denominator : (C, K, K) arrays
        :math:`N_c` and :math:`D_c`, positive semidefinite.
    combine : {"sum", "concat"}
        With ``"concat"`` only the diagonals enter and the objective is a ratio of linear functions of
        :math:`\nu`: its minimum is at a vertex, one kernel for each class, and
        :func:`~marginbook.clasmk.solvers.kernel_choice.choose_exact` finds it.
    start : (C, K) array, optional
        Weights to start from; default: the best choice of one kernel for each class, or uniform weights
        if these are better.
    tol : float
        Relative accuracy of the ratio.
    max_iter : int
    max_nodes : int
        Nodes of the search for each class and each time; with 0, only local minimisers, and a bound from
        the eigenvalues at the end.
    n_restarts : int
        Random local searches for a class whose search stops at `max_nodes`.
    random_state : int, Generator or None
    target : float
        End as soon as the ratio is not above this: then without a bound.

    Returns
    -------
    Weights
        With ``lower_bound``: if ``gap`` is about `tol`, the minimum is global.

    Raises
    ------
    ValueError
        If the matrices are not as :func:`~marginbook.clasmk.model.objective.validate_matrices` asks for.

    Examples
    --------
    >>> import numpy as np
    >>> N = np.array([[[2.0, 0.5], [0.5, 1.0]], [[1.0, -0.5], [-0.5, 3.0]]])
    >>> D = np.array([[[4.0, 1.0], [1.0, 1.0]], [[2.0, 1.0], [1.0, 2.0]]])
    >>> found = dinkelbach(N, D)
    >>> found.weights.round(3), round(found.objective, 6)
    (array([[1.   , 0.   ],
           [0.865, 0.135]]), 0.438139)
    >>> bool(found.gap < 1e-9)
    True
    """
    validate_choice("combine", combine, COMBINE)
    top, bottom = validate_matrices(numerator, denominator)
    if combine == "concat":
        return _choose(top, bottom)
    top_scale, bottom_scale = float(np.abs(top).max()) or 1.0, float(np.abs(bottom).max())
    run = _Run(top / top_scale, bottom / bottom_scale, start, tol, random_state)
    run.target = target * bottom_scale / top_scale
    converged = run.iterate(max_iter, max_nodes, n_restarts)
    weights = run.roots**2
    weights /= weights.sum(axis=1, keepdims=True)
    factor = top_scale / bottom_scale
    value = ratio(weights, top, bottom)
    return Weights(
        weights=weights,
        objective=value,
        lower_bound=min(run.bound(max_nodes) * factor, value),
        kkt_residual=kkt_residual(weights, run.top, run.bottom),
        n_iter=len(run.path) - 1,
        converged=converged,
        objective_path=np.array(run.path) * factor,
        n_nodes=run.n_nodes,
    )


class _Run:
    """The current roots, the values on the way, and the last bounds of the classes."""

    def __init__(
        self,
        top: np.ndarray,
        bottom: np.ndarray,
        start: ArrayLike | None,
        tol: float,
        random_state: int | np.random.Generator | None,
    ) -> None:
        self.top, self.bottom, self.tol = top, bottom, tol
        self.generator = np.random.default_rng(random_state)
        n_classes, n_kernels, _ = top.shape
        if start is None:
            self.roots = np.eye(n_kernels)[choose_exact(diagonals(top), diagonals(bottom)).kernels]
            uniform = np.full((n_classes, n_kernels), 1 / np.sqrt(n_kernels))
            if forms(uniform, bottom).sum() > 0 and self.value(uniform) < self.value(self.roots):
                self.roots = uniform
        else:
            self.roots = np.sqrt(validate_kernel_weights(start, n_classes, n_kernels))
            if not forms(self.roots, bottom).sum() > 0:
                raise ValueError("the denominator is zero in these weights; start from others")
        self.path = [self.value(self.roots)]
        self.minima: list[SphereMinimum] | None = None
        self.n_nodes, self.target = 0, 0.0

    def value(self, roots: np.ndarray) -> float:
        """Return the ratio."""
        # below 0 by rounding only
        return max(float(forms(roots, self.top).sum() / forms(roots, self.bottom).sum()), 0.0)

    def iterate(self, max_iter: int, max_nodes: int, n_restarts: int) -> bool:
        """Iterate; return whether it ended because nothing falls."""
        while len(self.path) <= max_iter:
            value = self.path[-1]
            if value <= self.target:
                return True
            matrices = self.top - value * self.bottom
            energy = float(forms(self.roots, self.bottom).sum())
            small = self.tol * value * energy
            self.minima = None
            roots, least = descend_all(matrices, self.roots)
            fall = -float(least.sum())
            if not fall > small and max_nodes:
                self.minima = self._search(matrices, roots, least, small, max_nodes, n_restarts)
                roots = np.array([minimum.point for minimum in self.minima])
                fall = -sum(minimum.value for minimum in self.minima)
            if fall > 0:
                now = self.value(roots)
                if now < value:
                    self.roots = roots
                self.path.append(min(now, value))
            else:
                self.path.append(value)
            if not fall > small or not self.path[-1] < value:
                return True
        return False

    def _search(
        self, matrices: np.ndarray, roots: np.ndarray, least: np.ndarray, small: float, most: int, tries: int
    ) -> list[SphereMinimum]:
        """Search all classes: a little at first, then to the end, or until one of them falls.

        Their first nodes need no search: the local minima `roots` have the values `least`.
        """
        sizes = np.abs(matrices).max(axis=(1, 2))
        tols = np.maximum(small / len(matrices), np.maximum(FINEST, 4 * ROUNDING * roots.shape[1]) * sizes)
        bounds = bound_all(matrices, roots, least - tols)
        minima = [
            SphereMinimum(s, float(value), float(min(value, bound)), 1, True)
            for s, value, bound in zip(roots, least, bounds, strict=True)
        ]
        self.n_nodes += len(minima)
        searches = {}
        for c in np.flatnonzero(bounds < least - tols):
            tol = max(small / len(matrices) / sizes[c], FINEST)
            searches[c] = SphereSearch(matrices[c], start=roots[c], tol=tol)
            searches[c].run(min(FIRST_NODES, most))
        closed = float(least.sum() - sum(least[c] for c in searches))
        for search in searches.values():
            if -closed - sum(each.value * each.size for each in searches.values()) > small:
                break
            if not search.run(most, until_better=True) and search.n_nodes >= most:
                search.restart(tries, self.generator)
        for c, search in searches.items():
            minima[c] = search.result()
            self.n_nodes += search.n_nodes - 1
        return minima

    def bound(self, max_nodes: int) -> float:
        r"""Return a lower bound of the ratio, with searches of at most `max_nodes` for each class.

        At the last :math:`\lambda` at which all classes were bounded, :math:`G(\lambda)\ge-\delta`. If
        :math:`\delta\le0`, that is the bound. Else, with :math:`G(0)\ge g\ge0` and concavity,
        :math:`G(\lambda g/(g+\delta))\ge0`; and with :math:`\sum_cs_c^\top D_cs_c\ge d` everywhere,
        :math:`G(\lambda-\delta/d)\ge0`. These are crude where a kernel has next to no energy: then bounds are
        tried at values that are smaller by 2, 20, ... times :math:`\delta` over the energy of the roots, from
        one node for each class, and if that is not enough by the search, where the one at :math:`\lambda` was
        completed.
        """
        value = self.path[-1]
        if value <= self.target:
            return 0.0
        at = self.path[-2] if self.minima is not None and len(self.path) > 1 else value
        if self.minima is not None:
            total = sum(minimum.lower_bound for minimum in self.minima)
        else:
            total = self._bounds_at(at)
        if total >= 0:
            return at
        least_top = sum(_least_form(N) for N in self.top)
        least_bottom = sum(_least_form(D) for D in self.bottom)
        best = 0.0
        if least_top > 0:
            best = at * least_top / (least_top - total)
        if least_bottom > 0:
            best = max(best, at + total / least_bottom)
        retreat = -2.0 * total / (at * float(forms(self.roots, self.bottom).sum()))
        complete = self.minima is not None and all(minimum.exact for minimum in self.minima)
        while best < at * (1 - 2 * retreat):
            level = at * (1 - retreat)
            if self._bounds_at(level) >= 0 or (complete and self._searched(level, -total, max_nodes) >= 0):
                return level
            retreat *= 10
        return best

    def _bounds_at(self, value: float) -> float:
        """Return a lower bound of G at a value of the ratio, from one node for each class."""
        matrices = self.top - value * self.bottom
        points, least = descend_all(matrices, self.roots)
        targets = least - FINEST * np.abs(matrices).max(axis=(1, 2))
        return float(bound_all(matrices, points, targets).sum())

    def _searched(self, value: float, loss: float, max_nodes: int) -> float:
        """Return a lower bound of G at a value of the ratio by searches, some `loss` below G."""
        total = 0.0
        for Q, s in zip(self.top - value * self.bottom, self.roots, strict=True):
            size = float(np.abs(Q).max()) or 1.0
            search = SphereSearch(Q, start=s, tol=max(loss / (2 * len(self.top) * size), FINEST))
            search.run(max_nodes)
            self.n_nodes += search.n_nodes
            total += search.result().lower_bound
        return total


def _least_form(A: np.ndarray) -> float:
    """Return a lower bound, at least 0, of s'As over nonnegative unit s for positive semidefinite A."""
    diagonal = np.diag(A)
    if (A >= 0).all():  # the form is then at least that of the diagonal
        return float(diagonal.min())
    return max(lower_bound(A, np.eye(len(A))[np.argmin(diagonal)], float(diagonal.min())), 0.0)


def _choose(top: np.ndarray, bottom: np.ndarray) -> Weights:
    """Return the minimum of the ratio of linear functions: a vertex."""
    choice = choose_exact(diagonals(top), diagonals(bottom))
    weights = np.zeros(top.shape[:2])
    weights[np.arange(len(top)), choice.kernels] = 1.0
    return Weights(
        weights=weights,
        objective=choice.objective,
        lower_bound=choice.objective,
        kkt_residual=kkt_residual(weights, top, bottom, combine="concat"),
        n_iter=choice.n_iter,
        converged=True,
        objective_path=np.array(choice.objective_path),
    )

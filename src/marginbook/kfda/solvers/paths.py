r"""Solutions along rho, each started from the one before.

For :math:`q\ge1` the minimum does not depend on the start. For :math:`q<1` a coefficient that has become zero
stays zero under (8), so the start names the support that the minimum is sought in; paths therefore run from
dense to sparse, towards larger rho, and each support contains the next. That is one choice among
many local minima: along rho it tends to retain more than the ridge start does, at a lower J where rho is
small and a higher one where it is large, by up to tens of per cent. ``start="best"`` takes the lower.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from marginbook.kfda.model.objective import Problem, validate_parameters
from marginbook.kfda.solvers.lasso import lasso_path
from marginbook.kfda.solvers.majorise_minimise import shrinking_mm
from marginbook.kfda.solvers.solution import Solution

#: where a solution for q < 1 starts: at its denser neighbour on the path, at the ridge solution, or at both
Start: TypeAlias = Literal["neighbour", "ridge", "best"]
_STARTS = ("neighbour", "ridge", "best")


@dataclass(frozen=True, eq=False)
class Path:
    """Solutions for n pairs of q and rho, in the order in which these were given.

    Attributes
    ----------
    solutions : tuple of Solution
    """

    solutions: tuple[Solution, ...]

    @property
    def q(self) -> np.ndarray:
        """The exponents, (n,)."""
        return np.array([solution.q for solution in self.solutions])

    @property
    def rho(self) -> np.ndarray:
        """The weights of the penalty, (n,)."""
        return np.array([solution.rho for solution in self.solutions])

    @property
    def omegas(self) -> np.ndarray:
        """The coefficients, (n, M+1), one solution a row."""
        return np.array([solution.omega for solution in self.solutions])

    @property
    def objective(self) -> np.ndarray:
        """J of each, (n,)."""
        return np.array([solution.objective for solution in self.solutions])

    @property
    def retained(self) -> np.ndarray:
        """How many kernel columns each retains, (n,)."""
        return np.array([len(solution.retained) for solution in self.solutions], dtype=int)

    @property
    def certificate(self) -> np.ndarray:
        """How far each is from its conditions, (n,).

        The gap as a share of J for q = 1, else stationarity. For q < 1, ``curvature`` tells the rest.
        """
        return np.array([_certificate(solution) for solution in self.solutions])

    @property
    def curvature(self) -> np.ndarray:
        """The smallest eigenvalue of the Hessian on the support for q < 1, (n,); nan for other q."""
        return np.array([np.nan if s.curvature is None else s.curvature for s in self.solutions])

    @property
    def converged(self) -> np.ndarray:
        """Whether the solver's own rule was met, (n,) of bool."""
        return np.array([solution.converged for solution in self.solutions], dtype=bool)

    def __len__(self) -> int:
        """Return n."""
        return len(self.solutions)


def _certificate(solution: Solution) -> float:
    if solution.dual_gap is not None:
        return solution.dual_gap / max(solution.objective, np.finfo(float).tiny)
    return np.nan if solution.stationarity is None else solution.stationarity


def rho_path(
    problem: Problem,
    q: float,
    rhos: Iterable[float],
    *,
    start: Start = "neighbour",
    penalize_bias: bool = True,
) -> Path:
    r"""Minimise J for one q and each of `rhos`.

    Parameters
    ----------
    problem : Problem
    q : float
        In (0, 2]. For q = 1 the path is :func:`~marginbook.kfda.solvers.lasso.lasso_path`; for q > 1 each
        solution starts from its ridge solution.
    rhos : sequence of float
        Positive, in any order. For q < 1 the smallest is solved first, from the ridge solution.
    start : {"neighbour", "ridge", "best"}
        For q < 1: the solution of the next smaller rho, the ridge solution, or both, of which the one with
        the lower J is kept.
    penalize_bias : bool

    Examples
    --------
    >>> import numpy as np
    >>> from marginbook.kfda.model.objective import Problem, targets
    >>> x = np.array([0.0, 0.2, 1.0, 1.3])
    >>> problem = Problem(np.exp(-((x[:, None] - x) ** 2)), targets(x > 0.5))
    >>> rho_path(problem, 0.5, [0.01, 0.1, 1.0]).retained
    array([2, 2, 0])
    """
    _validate_start(start)
    values = [float(rho) for rho in rhos]
    for rho in values:
        validate_parameters(q, rho)
    if q == 1:
        return Path(tuple(lasso_path(problem, values, penalize_bias=penalize_bias)))
    found: dict[float, Solution] = {}
    before: Solution | None = None
    for rho in sorted(set(values)):
        before = found[rho] = _next(problem, q, rho, before, start, penalize_bias)
    return Path(tuple(found[rho] for rho in values))


def _next(
    problem: Problem, q: float, rho: float, before: Solution | None, start: Start, penalize_bias: bool
) -> Solution:
    candidates = []
    if before is None or q > 1 or start != "neighbour":
        candidates.append(shrinking_mm(problem, q, rho, penalize_bias=penalize_bias))
    if before is not None and q < 1 and start != "ridge":
        candidates.append(shrinking_mm(problem, q, rho, start=before.omega, penalize_bias=penalize_bias))
    return min(candidates, key=lambda solution: solution.objective)


def _validate_start(start: str) -> None:
    if start not in _STARTS:
        raise ValueError(f'start must be "neighbour", "ridge" or "best", got {start!r}')

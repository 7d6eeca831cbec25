"""Newton's method beside the iteration, from the same start to the same J, in multiplications."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from ..model.objective import Problem, gradient, objective
from ..solvers.irls import majorize_minimize, ridge_start
from .section_3_stopping import clouds

#: the smallest pivot as a share of the largest, the share of the fall that the slope promises, and how often
#: a step is halved
SINGULAR, ENOUGH, HALVINGS = 1e-8, 1e-4, 20


def multiplications(k: int, factorisations: int, evaluations: int) -> float:
    """Return the multiplications of a step for k coefficients, of (8) or of Newton's method.

    Both solve with the factor, evaluate J, and need one more product with a matrix: (8) scales the Gram
    matrix, and Newton's method needs the gradient. Terms of order k are left out.
    """
    return factorisations * k**3 / 6 + 2 * k**2 + evaluations * k**2


@dataclass
class Newton:
    """A run of Newton's method.

    Attributes
    ----------
    arrived : bool
    costs : list of float
        Multiplications of each step.
    lost : float
        Multiplications of a last step that found no descent.
    """

    arrived: bool = False
    costs: list[float] = field(default_factory=list)
    lost: float = 0.0

    @property
    def cost(self) -> float:
        """Multiplications in all."""
        return sum(self.costs) + self.lost

    def step_within(self, budget: float) -> float:
        """Return what a step costs in the mean of those that began within `budget`; 0 without a step."""
        spent = np.concatenate([[0.0], np.cumsum(self.costs)])
        begun = max(1, int(np.sum(spent[:-1] < budget)))
        return float(np.mean(self.costs[:begun])) if self.costs else 0.0


def newton_run(problem: Problem, q: float, rho: float, goal: float, max_iter: int = 200) -> Newton:
    """Run a safeguarded Newton's method from the ridge solution until J is at most `goal`.

    Where the Hessian is not positive definite, a multiple of the identity is added, twice as much in each
    attempt (Nocedal and Wright, 2006, Algorithm 3.3); where a full step does not descend enough, it is halved
    (Armijo); after twenty halvings the run has stalled.
    """
    omega, run = ridge_start(problem, rho), Newton()
    value, k = objective(problem, omega, q, rho), problem.n_coefficients
    least = 1e-3 * np.linalg.norm(problem.gram) / k
    while len(run.costs) < max_iter and not run.lost:
        if value <= goal:
            run.arrived = True
            break
        bend = rho * problem.n * q * (q - 1) * np.abs(omega) ** (q - 2)
        hessian, slope = problem.gram + np.diag(bend), gradient(problem, omega, q, rho)
        lowest = float(np.diag(hessian).min())
        shift = 0.0 if lowest > 0 else least - lowest
        attempts = trials = 1
        while (factor := _factor(hessian + shift * np.eye(k))) is None:
            shift, attempts = max(2 * shift, least), attempts + 1
        step = np.linalg.solve(factor.T, np.linalg.solve(factor, slope))
        length, fall = 1.0, ENOUGH * float(slope @ step)
        while (
            after := objective(problem, omega - length * step, q, rho)
        ) > value - length * fall and trials <= HALVINGS:
            length, trials = length / 2, trials + 1
        cost = multiplications(k, attempts, trials)
        if after <= value - length * fall:
            run.costs.append(cost)
            omega, value = omega - length * step, after
        else:
            run.lost = cost
    return run


def _factor(matrix: np.ndarray) -> np.ndarray | None:
    """Return the Cholesky factor; None unless the matrix is positive definite beyond rounding.

    For q = 1 the Hessian is singular, and only rounding decides whether a factorisation comes to its end.
    """
    try:
        factor = np.asarray(np.linalg.cholesky(matrix))
    except np.linalg.LinAlgError:
        return None
    pivots = np.diag(factor) ** 2
    return factor if pivots.min() > SINGULAR * pivots.max() else None


def races(powers: tuple[float, ...], tol: float) -> Iterator[tuple[float, float, int, Newton]]:
    """Yield q, the multiplications of (8) to its stop and its steps, and the run of Newton's method."""
    for problem, rho in clouds(repeats=1):
        for q in powers:
            run = majorize_minimize(problem, q, rho, tol=tol, max_iter=20_000)
            goal = run.objective * (1 + tol)
            first = int(np.flatnonzero(run.objective_path <= goal)[0])
            cost = first * multiplications(problem.n_coefficients, 1, 1)
            yield q, cost, first, newton_run(problem, q, rho, goal)

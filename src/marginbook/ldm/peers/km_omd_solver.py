r"""Kernel method for the direct optimisation of the margin distribution (Aiolli, San Martino, Sperduti 2008).

A game: one side chooses a direction, the other a distribution over the examples of each class that makes the
expected margin small. With a quadratic charge on distributions that are concentrated it is

.. math::
   \min_{\gamma\in\Delta_+\times\Delta_-}\ \gamma^\top YGY\gamma+\lambda\lVert\gamma\rVert^2,\qquad
   \Delta_\pm=\Big\{\gamma\ge0:\sum_{y_i=\pm1}\gamma_i=1\Big\}.

The two extremes: :math:`\lambda=0` gives the nearest points of the two convex hulls, which is the hard-margin
SVM; :math:`\lambda\to\infty` gives the two class means. In between it is the hard-margin SVM of the kernel
:math:`G+\lambda I`, the SVM with squared hinge loss: its dual variables, divided by their sum in a class, are
:math:`\gamma`. What is its own is the threshold, see `solve_km_omd`. Weights :math:`\omega_i` of the rows
divide the charge, :math:`\lambda\sum_i\gamma_i^2/\omega_i`: k equal rows share their weight equally, at the
charge of one row of weight k.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .km_omd_systems import GramMatrix, Indefinite, StoredGram

#: the objective counts as at least this share of mean k(x, x) where the gap is compared with it
FLOOR = 1e-4
#: steps that exchange many indices without fewer of them being wrong, before indices are exchanged singly
PATIENCE = 5
#: accuracy of the first systems, where they are iterated, and its share of the violations that count
ROUGH, SHARE = 1e-2, 0.25


@dataclass(frozen=True)
class KMOMDSolution:
    r"""Weights of the examples, and how far they can be from the optimum.

    Attributes
    ----------
    gamma : (m,) array
        In the product of the two simplices.
    objective : float
        :math:`F(\gamma)=\gamma^\top YGY\gamma+\lambda\lVert\gamma\rVert^2`.
    dual_gap : float
        :math:`\nabla F(\gamma)^\top\gamma-\min_{\delta\in\Delta_+\times\Delta_-}\nabla F(\gamma)^\top\delta`,
        an upper bound of :math:`F(\gamma)-\min F`.
    threshold : float
        Value of :math:`\sum_iy_i\gamma_ik(x_i,x)` midway between the classes.
    n_iter : int
        Linear systems solved.
    converged : bool
        The gap reached its tolerance.
    """

    gamma: np.ndarray
    objective: float
    dual_gap: float
    threshold: float
    n_iter: int
    converged: bool


class _Problem:
    """The quadratic on a set of free indices, with a proximal term where it alone would be singular."""

    def __init__(self, gram: GramMatrix, y: np.ndarray, lam: float, weights: np.ndarray | None) -> None:
        self.gram, self.y = gram, y
        self.charge = np.full(len(y), lam) if weights is None else lam / weights
        self.positive = y > 0
        self.scale = max(gram.mean_diagonal(), np.finfo(float).tiny)
        # systems with a smaller ridge lose the digits that the gap is to be measured with
        self.delta = max(0.0, 1e-10 * len(y) * self.scale - float(self.charge.min()))
        self.centre = np.zeros(len(y))
        self.n_solved = 0
        self.accuracy = ROUGH

    def solve(self, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the minimiser with zeros outside `free` but no bounds inside, and its multipliers (+, -)."""
        index = np.flatnonzero(free)
        y = self.y[index]
        found = None
        while found is None:
            right = np.zeros((len(index), 3 if self.delta else 2), order="F")
            right[:, 0], right[:, 1] = y > 0, y < 0
            if self.delta:
                right[:, 2] = self.delta * self.centre[index] * y
            found = self.gram.solve(index, self.charge[index] + self.delta, right, self.accuracy)
            self.n_solved += 1
            if found is None and self.delta > 1e-6 * self.scale:
                raise Indefinite
            if found is None:
                self.delta = max(100 * self.delta, 1e-12 * self.scale)
        v = found if found.shape[1] == 3 else np.column_stack([found, np.zeros(len(index))])
        # y gamma = mu_+ v_+ - mu_- v_- + v_0, where the mu make the sums in the classes 1
        sums = np.array([[v[y > 0, k].sum(), v[y < 0, k].sum()] for k in range(3)])
        system = np.array([[sums[0, 0], -sums[1, 0]], [-sums[0, 1], sums[1, 1]]])
        mu = np.linalg.solve(system, [1 - sums[2, 0], 1 + sums[2, 1]])
        gamma = np.zeros(len(self.y))
        gamma[index] = y * (mu[0] * v[:, 0] - mu[1] * v[:, 1] + v[:, 2])
        return gamma, mu

    def slope(self, gamma: np.ndarray, proximal: bool = True) -> np.ndarray:
        """Return half the gradient at `gamma`, (m,)."""
        slope = self.y * self.gram.times(self.y * gamma) + self.charge * gamma
        return slope + self.delta * (gamma - self.centre) if proximal and self.delta else slope

    def feasible(self, gamma: np.ndarray) -> np.ndarray:
        """Return `gamma` without its negative entries, scaled to sums 1."""
        gamma = np.maximum(gamma, 0.0)
        for side in (self.positive, ~self.positive):
            gamma[side] /= gamma[side].sum()
        return gamma

    def measure(self, gamma: np.ndarray) -> tuple[float, float]:
        """Return objective and gap of a feasible `gamma`, without the proximal term."""
        slope = self.slope(gamma, proximal=False)
        objective = max(0.0, float(gamma @ slope))
        least = slope[self.positive].min() + slope[~self.positive].min()
        return objective, max(0.0, 2 * (objective - float(least)))

    def violation(self, gamma: np.ndarray, mu: np.ndarray) -> np.ndarray:
        """Return how far the slope at each index lies above the multiplier of its class, (m,)."""
        return self.slope(gamma) - np.where(self.positive, mu[0], mu[1])


def solve_km_omd(
    G: np.ndarray | GramMatrix,
    y: np.ndarray,
    lam: float,
    *,
    tol: float = 1e-6,
    max_iter: int = 1000,
    start: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> KMOMDSolution:
    r"""Minimise :math:`\gamma^\top YGY\gamma+\lambda\lVert\gamma\rVert^2` over the product of the simplices.

    Active sets. On a set F of free indices the minimiser solves :math:`(G_F+\lambda I)Y\gamma_F=Y\mu`, one
    multiplier :math:`\mu` a class. Free indices with negative weights leave, fixed indices whose slope is
    below the multiplier enter, all at once, as long as that makes fewer indices wrong; after that along
    feasible points, one index at a time, where each step lowers the objective and no set comes twice. A
    singular system gets a proximal term that vanishes at the solution.

    The threshold: the weighted class means :math:`c_\pm=\sum_{y_i=\pm1}\gamma_i\varphi(x_i)` and
    :math:`w=c_+-c_-` give

    .. math::
       \theta=\tfrac12w^\top(c_++c_-)=\tfrac12(\lVert c_+\rVert^2-\lVert c_-\rVert^2)
       =\tfrac12\gamma^\top GY\gamma,\qquad f(x)=\sum_iy_i\gamma_ik(x_i,x)-\theta .

    Parameters
    ----------
    G : (m, m) array, or a GramMatrix
        Symmetric and positive semidefinite. Beyond 3000 free rows the systems are iterated.
    y : (m,) array of -1 and 1, both present
    lam : float
        At least 0.
    tol : float
        Of the gap, relative to the objective (or to a ten-thousandth of mean k(x, x), if that is larger).
    max_iter : int
        Linear systems to solve at most.
    start : (m,) array, optional
        Weights of a solution nearby, of which the positive ones are free at first; by default all are.

    weights : (m,) array of positive numbers, optional
        The charge of a row is `lam` over its weight.

    Returns
    -------
    KMOMDSolution

    Raises
    ------
    ValueError
        For `lam` below 0, a class that is missing, or a matrix that is found not to be semidefinite.
    """
    y = np.asarray(y, dtype=float)
    if not (np.isfinite(lam) and lam >= 0):
        raise ValueError(f"lam must be a finite number >= 0, got {lam!r}")
    if not ((y > 0).any() and (y < 0).any() and (np.abs(y) == 1).all()):
        raise ValueError("y must hold -1 and 1, both of them")
    matrix = StoredGram(np.asarray(G, dtype=float)) if isinstance(G, list | np.ndarray) else G
    problem = _Problem(matrix, y, float(lam), weights)
    free = np.ones(len(y), dtype=bool)
    if start is not None and all((start[side] > 0).any() for side in (problem.positive, ~problem.positive)):
        free = np.asarray(start) > 0
    problem.centre = problem.feasible(free.astype(float))
    while True:
        gamma = _exchange(problem, free, tol, max_iter)
        objective, gap = problem.measure(gamma)
        converged = gap <= tol * max(objective, FLOOR * problem.scale)
        if converged or problem.delta == 0 or problem.n_solved >= max_iter:
            break
        problem.centre, free = gamma, gamma > 0
    threshold = 0.5 * float(gamma @ matrix.times(y * gamma))
    return KMOMDSolution(gamma, objective, gap, threshold, problem.n_solved, converged)


def _exchange(problem: _Problem, free: np.ndarray, tol: float, max_iter: int) -> np.ndarray:
    """Exchange many indices at once; return feasible weights, optimal up to `tol` unless steps ran out."""
    fewest, patience = len(free) + 1, PATIENCE
    while True:
        gamma, mu = problem.solve(free)
        enough = tol / 8 * max(float(mu.sum()), FLOOR * problem.scale)
        above = problem.violation(gamma, mu)
        wrong = np.where(free, gamma < 0, above < -enough)
        n_wrong = int(wrong.sum())
        finest = SHARE * tol / 8
        if problem.gram.iterates and n_wrong <= fewest // 4 and problem.accuracy > finest:
            fewest, patience = n_wrong, PATIENCE
            problem.accuracy = max(finest, problem.accuracy * (1e-1 if n_wrong else 0.0))
            free = free ^ wrong
            continue
        if n_wrong == 0 or problem.n_solved >= max_iter:
            return problem.feasible(gamma)
        if n_wrong < fewest:
            fewest, patience = n_wrong, PATIENCE
        elif (patience := patience - 1) == 0:
            return _descend(problem, problem.feasible(gamma), tol, max_iter)
        free = free ^ wrong


def _descend(problem: _Problem, gamma: np.ndarray, tol: float, max_iter: int) -> np.ndarray:
    """Go on from feasible weights, one index at a time; the objective falls in each step."""
    free = gamma > 0
    while problem.n_solved < max_iter:
        target, mu = problem.solve(free)
        low = free & (target <= 0)
        if low.any():
            ratio = gamma[low] / (gamma[low] - target[low])
            gamma = gamma + ratio.min() * (target - gamma)
            gamma[np.flatnonzero(low)[ratio <= ratio.min()]] = 0.0
            gamma = problem.feasible(gamma)
            free = gamma > 0
            continue
        gamma = target
        above = np.where(free, 0.0, problem.violation(gamma, mu))
        if above.min() >= -tol / 8 * max(float(mu.sum()), FLOOR * problem.scale):
            break
        free[above.argmin()] = True
    return problem.feasible(gamma)

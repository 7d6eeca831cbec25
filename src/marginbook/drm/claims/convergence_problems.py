"""Random problems with their spectrum and bad starts: what the claims about rates of convergence run on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..model.objective import system_matrix
from ..model.operators import DenseSystem, LinearSystem, System
from ..solvers.direct import closed_form
from .problems import KERNELS, SIZES, problems

#: (alpha, beta): kernel ridge, plain, a strong within-class term, almost no ridge
PARAMETERS = ((0.0, 0.1), (1.0, 1.0), (100.0, 0.01), (0.1, 1e-5))
EPS = float(np.finfo(float).eps)
#: a bound is attained where this share of it is reached: less than 2 % are left
ATTAINED = 0.99


@dataclass(frozen=True)
class Trial:
    """One problem, three starts.

    Attributes
    ----------
    system : System
        Without a matrix for the linear kernel, dense for the others.
    sigma : (n,) array
        Eigenvalues of Q, rising; those that rounding made negative are 0.
    flattest : (n,) array
        The eigenvector of the smallest.
    Kx, optimum, start : (n, 3) arrays
        The same problem three times; the starts are 0, a random point, and the one from which gradient
        descent is slowest, :math:`w^\\star+s(u_1/\\lambda_1+u_n/\\lambda_n)` with the extreme eigenvectors.
    """

    system: System
    sigma: np.ndarray
    flattest: np.ndarray
    Kx: np.ndarray
    optimum: np.ndarray
    start: np.ndarray

    @property
    def smallest(self) -> float:
        return float(self.sigma[0])

    @property
    def largest(self) -> float:
        return float(self.sigma[-1])

    @property
    def kappa(self) -> float:
        """The condition number of Q + beta I."""
        return (self.largest + self.system.beta) / (self.smallest + self.system.beta)

    @property
    def distance(self) -> np.ndarray:
        """The distances of the starts from the optimum, (3,)."""
        length: np.ndarray = np.linalg.norm(self.start - self.optimum, axis=0)
        return length

    @property
    def rounding(self) -> np.ndarray:
        """What rounding does to a value of f near these starts and the optimum, times a generous 64; (3,)."""
        longest = np.maximum(np.linalg.norm(self.optimum, axis=0), np.linalg.norm(self.start, axis=0))
        return 64 * EPS * ((self.largest + self.system.beta) * longest**2 + longest * np.abs(self.Kx).max())


def trials(
    seed: int, repeats: int, parameters: Sequence[tuple[float, float]] = PARAMETERS
) -> Iterator[Trial]:
    """Yield every problem of :func:`problems` at half of the (alpha, beta), the halves in turn."""
    rng = np.random.default_rng(seed)
    each = len(KERNELS)
    for number, problem in enumerate(problems(seed, repeats)):
        # kernel + sizes + repeat: every two of them meet every pair
        turn = number + number // each + number // (each * len(SIZES))
        for alpha, beta in parameters[turn % 2 :: 2]:
            arguments = (problem.sizes, alpha, beta)
            system = (
                LinearSystem(problem.X, *arguments)
                if problem.kernel == "linear"
                else DenseSystem(problem.K, *arguments)
            )
            eigenvalues, U = np.linalg.eigh(system_matrix(problem.K, problem.sizes, alpha))
            sigma = np.maximum(eigenvalues, 0.0)
            Kx = problem.Kx[:, None]
            w = closed_form(problem.K, *arguments).weights(Kx)
            slow = U[:, :1] / (sigma[0] + beta) + U[:, -1:] / (sigma[-1] + beta)
            away = np.hstack([-w, rng.normal(size=w.shape), slow])
            # the same height above the minimum for all three: f is then as precise for one as for the other
            height = _height(system, away)
            away *= np.sqrt(height[0] / height)
            three = np.ones((1, 3))
            yield Trial(system, sigma, U[:, 0], Kx * three, w * three, w + away)


def _height(system: System, away: np.ndarray) -> np.ndarray:
    """Return f(w* + away) - f(w*) of each column."""
    height: np.ndarray = 0.5 * np.sum(away * system.apply_ridged(away), axis=0)
    return height


def tight(trial: Trial) -> Trial:
    """Return the trial with its second start replaced by one whose error is along the flattest direction."""
    start = trial.start.copy()
    start[:, 1] = trial.optimum[:, 1] + trial.distance[1] * trial.flattest
    return replace(trial, start=start)

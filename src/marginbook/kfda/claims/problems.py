"""Random small problems on which the claims are measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...kernels import Kernel, gram
from ..model.objective import Problem, targets

KERNELS: tuple[Kernel, ...] = (
    ("rbf", {"gamma": 0.5}),
    "linear",
    ("poly", {"degree": 2, "gamma": 0.5, "coef0": 1.0}),
)
#: sizes of the two classes
SIZES = ((6, 5), (9, 1), (1, 1), (3, 14), (16, 10))
#: values of q: far below 1, those of the tables, between 1 and 2, ridge
POWERS = (0.1, 0.25, 0.5, 1.0, 1.5, 2.0)
#: values of rho from nearly no penalty to nearly nothing left
RHOS = (1e-4, 1e-2, 0.3)
#: values of rho for `small_problems`
SMALL_RHOS = (1e-3, 0.05, 0.3)


@dataclass(frozen=True)
class Sample:
    """A random training set with its Gram matrix.

    Attributes
    ----------
    X : (N, m) array
        Examples as rows.
    positive : (N,) array of bool
        Members of the first class.
    kernel : Kernel
    K : (N, N) array
    """

    X: np.ndarray
    positive: np.ndarray
    kernel: Kernel
    K: np.ndarray

    @property
    def problem(self) -> Problem:
        """The penalised least-squares problem of this sample."""
        return Problem(self.K, targets(self.positive))


def samples(seed: int, repeats: int = 4, kernels: tuple[Kernel, ...] = KERNELS) -> Iterator[Sample]:
    """Yield random training sets: more features than examples and fewer, classes apart and overlapping.

    In every second repeat the first two points are equal, their classes equal or not as it comes; in every
    fourth a feature is constant.

    Parameters
    ----------
    seed : int
    repeats : int
        Times that all of `SIZES` and `kernels` are gone through.
    kernels : tuple of Kernel
    """
    rng = np.random.default_rng(seed)
    for repeat in range(repeats):
        for sizes in SIZES:
            for kernel in kernels:
                m = int(rng.choice([2, 3, 40]))
                positive = rng.permutation(np.repeat([True, False], sizes))
                X = rng.normal(size=(sum(sizes), m))
                X[:, 0] += rng.choice([0.5, 4.0]) * np.where(positive, 1.0, -1.0)
                if repeat % 2 and len(X) > 2:  # of two points, equal ones would leave nothing to learn
                    X[1] = X[0]
                if repeat % 4 == 3:
                    X[:, 1] = 1.0
                X /= np.sqrt(m)
                yield Sample(X, positive, kernel, gram(kernel, X))


def small_problems(seed: int, count: int = 4, n: int = 5) -> Iterator[Problem]:
    """Yield problems of n points in the plane, few enough for all their minima to be found."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        positive = np.arange(n) < 1 + k % (n - 1)
        X = rng.normal(size=(n, 2))
        X[positive, 0] += 1.0
        yield Problem(gram(("rbf", {"gamma": 0.5}), X), targets(positive))


def start(problem: Problem, rng: np.random.Generator) -> np.ndarray:
    """Return a random start without zeros, (M + 1,), of magnitudes spread over several powers of ten."""
    size = problem.design.shape[1]
    return np.asarray(rng.choice([-1.0, 1.0], size=size) * 10 ** rng.uniform(-3, 1, size=size))


def described(count: int) -> dict[str, object]:
    """Return the sizes of `count` problems of `samples` as evidence names them."""
    return {"problems": count, "N": sorted({sum(sizes) for sizes in SIZES}), "kernels": len(KERNELS)}

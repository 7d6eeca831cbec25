"""Random small problems on which the claims are measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..model.objective import weights_for

#: n, d1, d2, r: fewer matrices than features and more, wide and tall, vectors, full rank
SIZES = ((12, 3, 4, 1), (40, 3, 4, 2), (30, 5, 2, 1), (15, 4, 4, 4), (25, 6, 1, 1), (60, 4, 4, 2))
#: from nearly no penalty to nearly nothing left
LAMBDAS = (1e-3, 0.03, 0.5)


@dataclass(frozen=True)
class Sample:
    """A random training set with the settings of one fit.

    Attributes
    ----------
    X : (n, d1, d2) array
    y : (n,) array of -1 and +1
    rank : int
    lam : float
    weights : (n,) array
        Those of a random level, or ones.
    fit_intercept : bool
    """

    X: np.ndarray
    y: np.ndarray
    rank: int
    lam: float
    weights: np.ndarray
    fit_intercept: bool


def drawn(
    rng: np.random.Generator, n: int, d1: int, d2: int, rank: int, noise: float = 0.5, shift: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Draw n matrices of normal entries with the signs of a random matrix of the rank, and noise.

    Parameters
    ----------
    rng : Generator
    n, d1, d2, rank : int
    noise : float
        Deviation of what is added to the decision value, whose own is 1.
    shift : float
        Added to the decision value.

    Returns
    -------
    X : (n, d1, d2) array
    y : (n,) array of -1 and +1, both present
    """
    B = rng.normal(size=(d1, rank)) @ rng.normal(size=(rank, d2))
    X = rng.normal(size=(n, d1, d2))
    values = np.einsum("nij,ij->n", X, B / np.linalg.norm(B)) + noise * rng.normal(size=n) + shift
    y = np.where(values > 0, 1.0, -1.0)
    y[0], y[1] = 1.0, -1.0
    return X, y


def samples(seed: int, repeats: int = 1, intercepts: tuple[bool, ...] = (False, True)) -> Iterator[Sample]:
    """Yield random training sets of all sizes and penalties, with weights, duplicates and one-sided classes.

    Parameters
    ----------
    seed : int
    repeats : int
        How often all sizes and penalties come up.
    intercepts : tuple of bool
        With or without an intercept, in turns.
    """
    rng = np.random.default_rng(seed)
    count = 0
    for _ in range(repeats):
        for n, d1, d2, rank in SIZES:
            for lam in LAMBDAS:
                X, y = drawn(rng, n, d1, d2, rank, shift=(0.0, 1.0, -0.5)[count % 3])
                if count % 4 == 3:
                    X[-1] = X[0]
                pi = None if count % 2 else float(rng.uniform(0.1, 0.9))
                yield Sample(X, y, rank, lam, weights_for(pi, y), intercepts[count % len(intercepts)])
                count += 1

"""The small problem of the chapter's first figure, which the browser draws by the same formulas."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

#: training matrices, new ones, and their shape
TRAINED, NEW, SHAPE = 60, 120, (6, 5)
#: log odds are this times the score
SCALE = 4.0
#: what the figure starts with: rank, penalty, level, cells of the probability, and which sample
RANK, LAM, LEVEL, LEVELS, SAMPLE = 1, 0.01, 0.5, 10, 1
#: Park and Miller's generator, which takes three lines in any language
FACTOR, MODULUS = 16807, 2**31 - 1


class Problem(NamedTuple):
    """Training matrices (n, 6, 5) and labels -1 or 1, (n,); new ones and P(y = 1 | X) of them; the truth."""

    X: np.ndarray
    y: np.ndarray
    new: np.ndarray
    probability: np.ndarray
    truth: np.ndarray


def idea_problem(sample: int = SAMPLE) -> Problem:
    """Return the problem of a sample: entries are independent N(0, 1), the truth has rank 1 and length 1.

    Parameters
    ----------
    sample : int
        At least 1.
    """
    truth = np.outer([2.0, 1.0, 0.0, 0.0, -1.0, -2.0], [1.0, 2.0, 0.0, -2.0, -1.0])
    truth /= np.linalg.norm(truth)
    size = truth.size
    uniform = _uniform(sample, (TRAINED + NEW) * size + TRAINED)
    pairs = uniform[TRAINED:].reshape(-1, 2)  # Box and Muller
    length, turn = np.sqrt(-2 * np.log(pairs[:, 0])), 2 * np.pi * pairs[:, 1]
    X = np.column_stack([length * np.cos(turn), length * np.sin(turn)]).reshape(-1, *SHAPE)
    probability = expit(SCALE * np.einsum("nij,ij->n", X, truth))
    y = np.where(uniform[:TRAINED] < probability[:TRAINED], 1.0, -1.0)
    return Problem(X[:TRAINED], y, X[TRAINED:], probability[TRAINED:], truth)


def _uniform(seed: int, count: int) -> np.ndarray:
    found, state = np.empty(count), 1000 * seed
    for _ in range(3):  # small seeds begin with small numbers
        state = FACTOR * state % MODULUS
    for at in range(count):
        state = FACTOR * state % MODULUS
        found[at] = state / MODULUS
    return found

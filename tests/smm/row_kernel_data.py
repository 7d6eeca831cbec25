"""What the tests of machines with row kernels share: data, a kernel, and the objective by its definition."""

from __future__ import annotations

import numpy as np

from marginbook.smm.model.objective import loss_values
from marginbook.smm.model.row_kernels import row_values
from marginbook.smm.solvers.kernel_solution import KernelSolution

RBF = ("rbf", {"gamma": 0.2})


def data(n: int = 50, d1: int = 4, d2: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d1, d2))
    score = X[:, 0, 0] * X[:, 0, 1] + X[:, -1, -1] + 0.3 * rng.standard_normal(n)
    return X, np.where(score > 0, 1.0, -1.0), rng.uniform(0.2, 1.5, n)


def objective_of(
    found: KernelSolution, X: np.ndarray, y: np.ndarray, w: np.ndarray, lam: float, loss: str
) -> float:
    """Return the objective from the decision function and the norm of B by its definition."""
    among = row_values(found.kernel, found.rows, found.places)
    square = np.trace(found.U.T @ found.U @ found.C.T @ among @ found.C)
    return float(w @ loss_values(y * found.decision(X), loss)) / len(y) + lam * float(square)

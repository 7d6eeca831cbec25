"""A step of (8), and one that re-weights the rows, on numbers that count their multiplications."""

from __future__ import annotations

import numpy as np

from ...claims.counted_numbers import Number, Tally, plain, plain_array
from ..model.objective import Problem


def counted_step(
    problem: Problem, psi: np.ndarray, force: float, *, reweighted_rows: bool = False
) -> tuple[np.ndarray, int]:
    """Take a step number by number; return its end, and how many multiplications and divisions it takes.

    Parameters
    ----------
    problem : Problem
    psi : (M+1,) array
        The weights of the columns.
    force : float
        Added to the diagonal.
    reweighted_rows : bool
        Weigh the rows by ones instead, and form the matrix: what a generalised linear model does.
    """
    tally, k = Tally(), problem.n_coefficients
    D, gram, weights, c = map(tally.numbers, (problem.design, problem.gram, psi, problem.correlations))
    A = np.empty((k, k), dtype=object)
    rows = 1.0 * D if reweighted_rows else D
    c = c if reweighted_rows else weights * c
    for i in range(k):
        for j in range(i + 1):
            A[i, j] = rows[:, i] @ D[:, j] if reweighted_rows else weights[i] * gram[i, j] * weights[j]
        A[i, i] += force
    for j in range(k):  # Cholesky, a column after the other
        for i in range(j, k):
            A[i, j] -= A[i, :j] @ A[j, :j]
        A[j, j] = Number(plain(A[j, j]) ** 0.5, tally)
        A[j + 1 :, j] /= A[j, j]
    for i in range(k):
        c[i] = (c[i] - A[i, :i] @ c[:i]) / A[i, i]
    for i in reversed(range(k)):
        c[i] = (c[i] - A[i + 1 :, i] @ c[i + 1 :]) / A[i, i]
    return plain_array(c if reweighted_rows else weights * c), tally.count

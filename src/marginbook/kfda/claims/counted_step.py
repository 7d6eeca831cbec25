"""A step of (8), and one that re-weights the rows, with every multiplication counted."""

from __future__ import annotations

import numpy as np

from ..model.objective import Problem


def counted_step(
    problem: Problem, psi: np.ndarray, force: float, *, reweighted_rows: bool = False
) -> tuple[np.ndarray, int]:
    """Take a step number by number; return its end, and how many multiplications and divisions it takes.

    Parameters
    ----------
    problem : Problem
    psi : (M+1,) array
        What weighs the columns.
    force : float
        Added to the diagonal.
    reweighted_rows : bool
        Weigh the rows by ones instead, and form the matrix: what a generalised linear model does.
    """
    D, k, count = problem.design, problem.n_coefficients, 0
    A, c = np.zeros((k, k)), problem.correlations.copy()
    rows = 1.0 * D if reweighted_rows else D
    count += D.size if reweighted_rows else k  # the weights on the rows, or on the right-hand side
    for i in range(k):
        for j in range(i + 1):
            if reweighted_rows:
                A[i, j], count = rows[:, i] @ D[:, j], count + len(D)
            else:
                A[i, j], count = psi[i] * problem.gram[i, j] * psi[j], count + 2
        A[i, i] += force
    c = c if reweighted_rows else psi * c
    for j in range(k):  # Cholesky, a column after the other
        for i in range(j, k):
            A[i, j], count = A[i, j] - A[i, :j] @ A[j, :j], count + j
        A[j, j] = np.sqrt(A[j, j])
        A[j + 1 :, j], count = A[j + 1 :, j] / A[j, j], count + k - j - 1
    for i in range(k):
        c[i], count = (c[i] - A[i, :i] @ c[:i]) / A[i, i], count + i + 1
    for i in reversed(range(k)):
        c[i], count = (c[i] - A[i + 1 :, i] @ c[i + 1 :]) / A[i, i], count + k - i
    return (c, count) if reweighted_rows else (psi * c, count + k)

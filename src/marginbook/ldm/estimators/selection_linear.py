"""All parameters of a grid for the linear kernel on features: where a Gram matrix would be too large."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from ..model.linear import LinearSolution, Matrix
from ..solvers.linear_cd import linear_coordinate_descent, solve_linear


def linear_grid_decisions(
    X: Matrix,
    y: np.ndarray,
    Z: Matrix,
    lambda1s: Sequence[float],
    lambda2s: Sequence[float],
    Cs: Sequence[float],
    *,
    small: bool,
    tol: float = 1e-6,
    max_iter: int = 10_000,
    weights: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Solve (14) for every combination of three lists of parameters; return what the solutions say of `Z`.

    Parameters
    ----------
    X : (m, d) array or CSR matrix
    y : (m,) array of -1 and +1
    Z : (n, d) array or CSR matrix
    lambda1s, lambda2s, Cs : sequences of float
        Of n1, n2 and nC values.
    small : bool
        Whether each problem is solved from scratch by an interior point. Else by coordinate descent, with the
        solution for the neighbouring parameters as the start.
    tol, max_iter
        As in :func:`marginbook.ldm.solvers.linear_cd.solve_linear`.
    weights : (m,) array of positive numbers, optional

    Returns
    -------
    decisions : (n1, n2, nC, n) array
        w'z of the rows z of `Z`.
    gaps : (n1, n2, nC) array
        Relative duality gaps.
    """
    shape = (len(lambda1s), len(lambda2s), len(Cs))
    decisions, gaps = np.empty((*shape, Z.shape[0])), np.empty(shape)
    columns: list[LinearSolution | None] = [None] * shape[2]
    for i, k, j in product(range(shape[0]), range(shape[2]), range(shape[1])):
        point = (float(lambda1s[i]), float(lambda2s[j]), float(Cs[k]))
        if small:
            found = solve_linear(X, y, *point, tol=tol, max_iter=max_iter, weights=weights)
        else:
            start = columns[k] if columns[k] is not None else columns[k - 1]
            found = linear_coordinate_descent(
                X, y, *point, tol=tol, max_iter=max_iter, start=start, weights=weights
            )
        columns[k] = found
        decisions[i, j, k], gaps[i, j, k] = Z @ found.coef, found.relative_gap
    return decisions, gaps

"""Low-rank classification with row kernels by features of landmarks: the linear problem with d2 = m."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular

from ...kernels import Kernel
from ..row_features import RowFeatures, row_features
from ..row_kernels import row_values
from .block_descent import low_rank_svm
from .inner import solve_inner
from .kernel_solution import KernelSolution


def by_features(
    X: ArrayLike,
    y: np.ndarray,
    *,
    kernel: Kernel,
    rank: int,
    max_features: int,
    start: KernelSolution | np.ndarray | None,
    **options: Any,
) -> KernelSolution:
    """Choose landmarks, solve the linear problem in their features, and write its solution in rows.

    Parameters
    ----------
    X, y, kernel, rank, max_features, start
        As in :func:`~marginbook.smm.solvers.kernel_descent.low_rank_kernel_svm`.
    **options
        Passed to :func:`~marginbook.smm.solvers.block_descent.low_rank_svm`.
    """
    found, values = row_features(kernel, X, max_features=max_features)
    m = values.shape[2]
    if m < rank:  # features of zeros change nothing, and let the rank be what was asked
        values = np.concatenate([values, np.zeros((*values.shape[:2], rank - m))], axis=2)
    first = None if start is None else _start(found, values, y, start, rank, options)
    solution = low_rank_svm(values, y, rank=rank, start=first, **options)
    U, triangle = np.linalg.qr(solution.U)
    V = (solution.V @ triangle.T)[:m]
    C = solve_triangular(found.factor, V, lower=True, trans="T", check_finite=False)
    return KernelSolution(
        kernel,
        U,
        C,
        found.rows,
        found.places,
        found.shape,
        solution.intercept,
        solution.multipliers,
        solution.objective,
        solution.lower_bound,
        solution.block_gap,
        solution.objective_path,
        solution.n_iter,
        solution.converged,
        solution.start,
        "features",
        found.missed,
    )


def _start(
    found: RowFeatures,
    values: np.ndarray,
    y: np.ndarray,
    start: KernelSolution | np.ndarray,
    rank: int,
    options: dict[str, Any],
) -> tuple[np.ndarray, np.ndarray]:
    """Return U and V in the features for a start in rows, or for U alone with the best V for it."""
    n, d1, m = values.shape
    if isinstance(start, KernelSolution):
        between = row_values(found.kernel, found.rows, found.places, start.rows, start.places)
        V = solve_triangular(found.factor, between @ start.C, lower=True, check_finite=False)
        U = start.U
    else:
        U = np.linalg.qr(start)[0]
        Z = np.einsum("nam,ak->nmk", values, U).reshape(n, -1)
        kept = {key: options[key] for key in ("lam", "loss", "sample_weight", "fit_intercept")}
        V = solve_inner(Z, y, tol=1e-3, **kept).weights.reshape(m, -1)
    U_padded, V_padded = np.zeros((d1, rank)), np.zeros((m, rank))
    k = min(U.shape[1], rank)
    U_padded[:, :k], V_padded[: len(V), :k] = U[:, :k], V[:, :k]
    return U_padded, V_padded

"""The general problem (8) by cvxpy's interior point, as a reference and for the norms without a fast path."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..model.penalties import INF
from .direct import NotPositiveDefinite

if TYPE_CHECKING:
    from .general import GeneralProblem


def oracle(problem: GeneralProblem, Kx: np.ndarray, **options: object) -> np.ndarray:
    """Solve eq. (8) by cvxpy's interior point, any supported norm; the problem is compiled once.

    Parameters
    ----------
    problem : GeneralProblem
    Kx : (n, m) array
    **options
        For ``cvxpy.Problem.solve``; the solver is CLARABEL by default.

    Raises
    ------
    ImportError
        Without cvxpy: it comes with ``marginbook[oracle]``.
    """
    try:
        import cvxpy as cp
    except ImportError as error:
        raise ImportError(
            f"(q, r) = ({problem.q:g}, {problem.r:g}) is solved by cvxpy, which is not installed: "
            "pip install 'marginbook[oracle]'"
        ) from error
    values, vectors = problem.spectrum
    # w = (|K_x| / largest) v: the interior point sees a problem of size one, whatever the units
    largest = max(float(values[-1]), np.finfo(float).tiny)
    kept = values > 0
    factor = np.sqrt(values[kept] / largest)[:, None] * vectors[:, kept].T
    v, b, weight = cp.Variable(len(Kx)), cp.Parameter(len(Kx)), cp.Parameter(nonneg=True)
    ends = np.cumsum(problem.sizes)
    # cvxpy wants whole exponents as int, infinity as text
    q, r = ("inf" if p == INF else int(p) for p in (problem.q, problem.r))
    parts = [cp.norm(v[e - s : e], q) for s, e in zip(problem.sizes, ends, strict=True)]
    norm = cp.norm(cp.hstack(parts), r)
    cost = 0.5 * cp.sum_squares(factor @ v) - b @ v
    curvature = problem.penalty.curvature
    task = cp.Problem(cp.Minimize(cost + weight * (norm if curvature is None else cp.square(norm))))
    W = np.zeros_like(Kx)
    for column, right in enumerate(Kx.T):
        size = float(np.linalg.norm(right))
        if size == 0:
            continue
        b.value = right / size
        weight.value = problem.beta / size if curvature is None else curvature / largest
        task.solve(**{"solver": cp.CLARABEL, **options})
        if v.value is None:
            raise NotPositiveDefinite(problem.K, problem.alpha, problem.beta)
        W[:, column] = size / largest * v.value
    return W

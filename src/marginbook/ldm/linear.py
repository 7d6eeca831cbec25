r"""The linear LDM, exactly, at LIBLINEAR's price: dual coordinate descent on the separable form of (14).

.. math:: \min_{w,t}\ \tfrac12\lVert w\rVert^2+\sum_i a(\gamma_i-t)^2-b\gamma_i+C(1-\gamma_i)_+,
          \qquad \gamma_i=y_iw^\top x_i,\quad a=2\lambda_1/m,\quad b=\lambda_2/m

The inner minimum is at t = the mean margin, where it is (14). For any :math:`0\le\beta\le C` and any
:math:`\delta` that sums to 0, :math:`w=\sum_i(\beta_i+b-\delta_i)y_ix_i` gives the lower bound

.. math:: e^\top\beta-\lVert\delta\rVert^2/4a-\tfrac12\lVert w\rVert^2

of (14), and at the optimum :math:`\delta_i=2a(\gamma_i-t)`: the certificate needs no inverse of Q.
"""

from __future__ import annotations

import time

import numpy as np

from .linear_passes import csr_pass, dense_pass
from .linear_problem import (
    Certificate,
    LinearSolution,
    Matrix,
    gap_scale,
    prepared,
    squared_norms,
    unsigned,
)
from .objective import check_parameters

__all__ = ["LinearSolution", "linear_coordinate_descent"]


def linear_coordinate_descent(
    X: Matrix,
    y: np.ndarray,
    lambda1: float,
    lambda2: float,
    C: float,
    *,
    tol: float = 1e-6,
    max_iter: int = 1000,
    random_state: int | np.random.Generator | None = 0,
    start: LinearSolution | None = None,
    record: bool = False,
) -> LinearSolution:
    r"""Solve (14) by dual coordinate descent; O(nnz) a pass, `X` never made dense.

    Each step solves for the pair :math:`(\beta_i,\delta_i)` of one example in closed form; the mean margin t
    moves along by the method of multipliers, with the penalty :math:`\epsilon=2am/(1+2a\lVert p\rVert^2/m)`,
    :math:`p=\sum_iy_ix_i`: about the curvature of the objective along t, so that t converges in a few passes
    for every lambda1, where exact minimisation over w and t in turn slows down as lambda1 grows.

    Parameters
    ----------
    X : (m, d) array or CSR matrix
    y : (m,) array of -1 and +1
    lambda1, lambda2 : float
        At least 0.
    C : float
        Positive.
    tol : float
        Stop when ``dual_gap <= tol * max(|objective|, min(1, m C))``.
    max_iter : int
        Most passes over the data.
    random_state : int, Generator or None
        Seeds the order of the examples, new in every pass.
    start : LinearSolution, optional
        Solution of a problem with the same examples to start from; its beta is clipped to [0, C].
    record : bool
        Keep (passes, seconds, objective, dual_gap) of each check, and check after each pass.

    Returns
    -------
    LinearSolution

    Raises
    ------
    ValueError
        If a parameter is out of range, or the data are not finite numbers with labels -1 and +1.
    """
    check_parameters(lambda1, lambda2, C)
    X, y = prepared(X, y)
    m = len(y)
    rng = np.random.default_rng(random_state)
    twice_a, b = 4.0 * lambda1 / m, lambda2 / m
    certificate = Certificate(X, y, lambda1, lambda2, C)
    squares = squared_norms(X)
    beta, delta, t = np.zeros(m), np.zeros(m), 0.0
    if start is not None:
        if start.beta.size != m:
            raise ValueError(f"start must have {m} examples, got {start.beta.size}; start from none")
        beta, t = np.clip(start.beta, 0.0, C), start.mean_margin
        if start.lambda1 > 0:
            delta = start.delta * (lambda1 / start.lambda1)
    w = X.T @ (y * (beta + b - delta))
    stiffness = 0.0
    if twice_a > 0:
        stiffness = (1.0 + twice_a * float(certificate.p @ certificate.p) / m) / (twice_a * m)
    began = time.perf_counter()
    path: list[tuple[int, float, float, float]] = []
    centre = t
    objective = gap = np.inf
    converged, passes, next_check = False, 0, 1
    while passes < max_iter:
        order = rng.permutation(m)
        t = one_pass(X, y, squares, order, w, beta, delta, t, stiffness, twice_a, b, C)
        passes += 1
        if passes >= next_check or passes == max_iter or record:
            objective, gap, mean = certificate(w, beta, delta)
            if record:
                path.append((passes, time.perf_counter() - began, objective, gap))
            if gap <= tol * gap_scale(objective, C, m):
                converged = True
                break
            next_check = passes + 1 + passes // 4
        centre = t
        t = centre + stiffness * delta.sum()
    w = X.T @ (y * (beta + b - delta))
    objective, gap, mean = certificate(w, beta, delta)
    return LinearSolution(
        w, mean, beta, delta, y * (beta + b - delta), objective, gap, passes, converged,
        lambda1, lambda2, C, path,
    )  # fmt: skip


def one_pass(
    X: Matrix,
    y: np.ndarray,
    squares: np.ndarray,
    order: np.ndarray,
    w: np.ndarray,
    beta: np.ndarray,
    delta: np.ndarray,
    t: float,
    stiffness: float,
    twice_a: float,
    b: float,
    C: float,
) -> float:
    """Do the pass that suits the storage of `X`; see :func:`marginbook.ldm.linear_passes.csr_pass`."""
    if isinstance(X, np.ndarray):
        return dense_pass(X, y, squares, order, w, beta, delta, t, stiffness, twice_a, b, C)
    data, indices, indptr = X.data, unsigned(X.indices), X.indptr
    return csr_pass(data, indices, indptr, y, squares, order, w, beta, delta, t, stiffness, twice_a, b, C)

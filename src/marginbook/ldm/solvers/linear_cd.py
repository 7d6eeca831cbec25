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

from ..model.linear import (
    LinearSolution,
    Matrix,
    gap_scale,
    prepared,
)
from ..model.objective import validate_parameters
from .linear_cd_state import CoordinateDescent
from .linear_interior_point import linear_interior_point

# up to so many multiplications in a Newton step, some tenths of a second, and numbers in the matrix, of which
# several copies are made, the interior point goes first: its 10 to 40 steps do not depend on C and lambda1
_SMALL_STEP, _SMALL_SIZE = 2e9, 2e7

__all__ = ["LinearSolution", "linear_coordinate_descent", "solve_linear"]


def solve_linear(
    X: Matrix,
    y: np.ndarray,
    lambda1: float,
    lambda2: float,
    C: float,
    *,
    method: str = "auto",
    tol: float = 1e-6,
    max_iter: int = 1000,
    random_state: int | np.random.Generator | None = 0,
    weights: np.ndarray | None = None,
    constant: bool = False,
) -> LinearSolution:
    r"""Solve (14) by the method that suits the size.

    Parameters
    ----------
    X, y, lambda1, lambda2, C, tol, max_iter, random_state, weights, constant
        As in :func:`linear_coordinate_descent`.
    method : {"auto", "coordinate-descent", "interior-point"}
        "auto" takes the interior point while :math:`m\min(m,d)^2` is small, whatever lambda1 and C, and
        coordinate descent for all other data.

    Returns
    -------
    LinearSolution

    Raises
    ------
    ValueError
        If the method is unknown, a parameter is out of range, or the data are not finite numbers with labels
        -1 and +1.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    >>> found = solve_linear(X, np.array([1, 1, -1]), 0.5, 0.1, 10.0)
    >>> found.coef.round(3), round(found.mean_margin, 3), found.dual_gap < 1e-6
    (array([1., 1.]), 1.0, True)
    """
    if method not in ("auto", "coordinate-descent", "interior-point"):
        raise ValueError(f"method must be auto, coordinate-descent or interior-point, got {method!r}")
    m, d = np.shape(X)
    d += int(constant)
    small = m * min(m, d) ** 2 <= _SMALL_STEP and m * d <= _SMALL_SIZE
    found = None
    if method == "interior-point" or (method == "auto" and small):
        found = linear_interior_point(
            X,
            y,
            lambda1,
            lambda2,
            C,
            tol=tol,
            max_iter=min(max_iter, 200),
            weights=weights,
            constant=constant,
        )
        if found.converged or method != "auto":
            return found
    # where rounding stops the interior point, coordinate descent goes on from its solution
    return linear_coordinate_descent(
        X, y, lambda1, lambda2, C, tol=tol, max_iter=max_iter, random_state=random_state, start=found,
        weights=weights, constant=constant,
    )  # fmt: skip


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
    weights: np.ndarray | None = None,
    constant: bool = False,
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
        Most passes; an example that rests takes no part in a pass.
    random_state : int, Generator or None
        Seeds the order of the examples, new in every pass.
    start : LinearSolution, optional
        Solution of a problem with the same examples to start from; its beta is clipped to [0, C].
    record : bool
        Check after each pass, and keep (passes, CPU seconds of the passes, objective, dual_gap).
    weights : (m,) array of positive numbers, optional
        A row of weight k counts as k equal rows.
    constant : bool
        Give every row a last feature that is 1, whose weight is the intercept; `X` stays as it is.

    Returns
    -------
    LinearSolution

    Raises
    ------
    ValueError
        If a parameter is out of range, or the data are not finite numbers with labels -1 and +1.
    """
    validate_parameters(lambda1, lambda2, C)
    X, y = prepared(X, y)
    state = CoordinateDescent(X, y, lambda1, lambda2, C, tol, random_state, start, weights, constant)
    path: list[tuple[int, float, float, float]] = []
    passes, seconds, failures, next_check = 0, 0.0, 0, 0
    if start is not None:
        objective, gap = state.certificate.gap(state.w, state.beta, state.delta)
        if gap <= tol * gap_scale(objective, C, state.certificate.total):
            return state.solution(0, path)
    while passes < max_iter:
        began = time.process_time()
        state.one_pass()
        passes += 1
        seconds += time.process_time() - began
        likely = state.shares.sum() <= tol * state.scale
        if not (record or (likely and passes >= next_check)):
            continue
        objective, gap = state.certificate.gap(state.w, state.beta, state.delta)
        if record:
            path.append((passes, seconds, objective, gap))
        if gap <= tol * gap_scale(objective, C, state.certificate.total):
            break
        if likely:
            failures += 1
            next_check = passes + failures
            state.wake()
    return state.solution(passes, path)

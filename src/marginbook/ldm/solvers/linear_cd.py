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
    Certificate,
    LinearSolution,
    Matrix,
    gap_scale,
    prepared,
    squared_norms,
    unsigned,
)
from ..model.objective import validate_parameters
from .linear_cd_passes import csr_pass, dense_pass
from .linear_interior_point import linear_interior_point

# neighbouring rows in memory order: reading them is bound by bandwidth, reading rows at random by latency
_BLOCK = 64
# passes that an example sits out at most; its share of the gap is looked at before the end in any case
_LONGEST_REST = 31

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
) -> LinearSolution:
    r"""Solve (14) by the method that suits the size.

    Parameters
    ----------
    X, y, lambda1, lambda2, C, tol, max_iter, random_state
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
    small = m * min(m, d) ** 2 <= _SMALL_STEP and m * d <= _SMALL_SIZE
    found = None
    if method == "interior-point" or (method == "auto" and small):
        found = linear_interior_point(X, y, lambda1, lambda2, C, tol=tol, max_iter=min(max_iter, 200))
        if found.converged or method != "auto":
            return found
    # where rounding stops the interior point, coordinate descent goes on from its solution
    return linear_coordinate_descent(
        X, y, lambda1, lambda2, C, tol=tol, max_iter=max_iter, random_state=random_state, start=found
    )


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
        Most passes; an example that rests takes no part in a pass.
    random_state : int, Generator or None
        Seeds the order of the examples, new in every pass.
    start : LinearSolution, optional
        Solution of a problem with the same examples to start from; its beta is clipped to [0, C].
    record : bool
        Check after each pass, and keep (passes, CPU seconds of the passes, objective, dual_gap).

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
    state = CoordinateDescent(X, y, lambda1, lambda2, C, tol, random_state, start)
    path: list[tuple[int, float, float, float]] = []
    passes, seconds, failures, next_check = 0, 0.0, 0, 0
    if start is not None:
        objective, gap = state.certificate.gap(state.w, state.beta, state.delta)
        if gap <= tol * gap_scale(objective, C, len(y)):
            return state.certificate.solution(state.beta, state.delta, 0, tol, path)
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
        if gap <= tol * gap_scale(objective, C, len(y)):
            break
        if likely:
            failures += 1
            next_check = passes + failures
            state.wake()
    return state.certificate.solution(state.beta, state.delta, passes, tol, path)


class CoordinateDescent:
    """What a pass leaves to the next one.

    Parameters
    ----------
    X, y
        As :func:`marginbook.ldm.model.linear.prepared` returns them.
    lambda1, lambda2, C, tol, random_state, start
        As in :func:`linear_coordinate_descent`.
    """

    def __init__(
        self,
        X: Matrix,
        y: np.ndarray,
        lambda1: float,
        lambda2: float,
        C: float,
        tol: float,
        random_state: int | np.random.Generator | None,
        start: LinearSolution | None,
    ) -> None:
        m = len(y)
        self.X, self.y, self.C, self.tol = X, y, C, tol
        self.certificate = Certificate(X, y, lambda1, lambda2, C)
        self.twice_a, self.b = self.certificate.twice_a, self.certificate.b
        self.squares = squared_norms(X)
        self.rng = np.random.default_rng(random_state)
        self.beta, self.delta, self.t = np.zeros(m), np.zeros(m), 0.0
        if start is not None:
            if start.beta.size != m:
                raise ValueError(f"start must have {m} examples, got {start.beta.size}; start from none")
            self.beta, self.t = np.clip(start.beta, 0.0, C), start.mean_margin
            if start.lambda1 > 0:
                self.delta = start.delta * (lambda1 / start.lambda1)
        self.w = X.T @ (y * (self.beta + self.b - self.delta))
        self.stiffness = self.certificate.stiffness()
        self.shares = np.full(m, np.inf)
        self.rest, self.wakes = np.zeros(m, dtype=np.int32), np.zeros(m, dtype=np.int32)
        self.passes, self.since = 0, 0
        self.scale = gap_scale(0.0, C, m)

    def wake(self) -> None:
        """Let every example take part in the next pass."""
        self.wakes[:] = 0

    def one_pass(self) -> None:
        """Visit the examples that do not rest."""
        m = len(self.y)
        active = np.flatnonzero(self.wakes <= self.passes).astype(np.int32)
        self.t = visit(
            self.X, self.y, self.squares, active, self.rng,
            self.w, self.beta, self.delta, self.shares, self.rest, 0.1 * self.tol * self.scale / m,
            self.t, self.stiffness, self.twice_a, self.b, self.C,
        )  # fmt: skip
        self.passes += 1
        self.wakes[active] = self.passes + self.rest[active]
        self.since += active.size
        self.scale = gap_scale(self.certificate.bound(self.w, self.beta, self.delta), self.C, m)
        if self.since >= m:  # a multiplier must not move faster than the examples can follow
            self.since = 0
            self.t += self.stiffness * float(self.delta.sum())


def visit(
    X: Matrix,
    y: np.ndarray,
    squares: np.ndarray,
    active: np.ndarray,
    rng: np.random.Generator,
    w: np.ndarray,
    beta: np.ndarray,
    delta: np.ndarray,
    shares: np.ndarray,
    rest: np.ndarray,
    negligible: float,
    t: float,
    stiffness: float,
    twice_a: float,
    b: float,
    C: float,
) -> float:
    """Visit the `active` rows in a new order; see
    :func:`marginbook.ldm.solvers.linear_cd_passes.csr_pass`.
    """
    size = _BLOCK if active.size >= 64 * _BLOCK else 1
    blocks = rng.permutation(-(-active.size // size)).astype(np.int32)
    if isinstance(X, np.ndarray):
        return dense_pass(
            X, y, squares, active, blocks, size, w, beta, delta, shares, rest,
            negligible, _LONGEST_REST, t, stiffness, twice_a, b, C,
        )  # fmt: skip
    return csr_pass(
        X.data, unsigned(X.indices), X.indptr, y, squares, active, blocks, size, w, beta, delta, shares, rest,
        negligible, _LONGEST_REST, t, stiffness, twice_a, b, C,
    )  # fmt: skip

"""What a pass of dual coordinate descent for the linear LDM leaves to the next one."""

from __future__ import annotations

import numpy as np

from ..model.linear import Certificate, LinearSolution, Matrix, gap_scale, squared_norms, unsigned
from .linear_cd_passes import csr_pass, dense_pass

# neighbouring rows in memory order: reading them is bound by bandwidth, reading rows at random by latency
_BLOCK = 64
# passes that an example sits out at most; its share of the gap is looked at before the end in any case
_LONGEST_REST = 31


class CoordinateDescent:
    """What a pass leaves to the next one.

    Parameters
    ----------
    X, y
        As :func:`marginbook.ldm.model.linear.prepared` returns them.
    lambda1, lambda2, C, tol, random_state, start, weights, constant
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
        weights: np.ndarray | None,
        constant: bool,
    ) -> None:
        m = len(y)
        self.X, self.y, self.C, self.tol = X, y, C, tol
        self.certificate = Certificate(X, y, lambda1, lambda2, C, weights, constant)
        self.twice_a, self.b = self.certificate.twice_a, self.certificate.b
        self.squares = squared_norms(X)
        self.weights = np.ones(m) if weights is None else weights
        self.rng = np.random.default_rng(random_state)
        self.beta, self.delta, self.t = np.zeros(m), np.zeros(m), 0.0
        if start is not None:
            if start.beta.size != m:
                raise ValueError(
                    f"start must have {m} example{'' if m == 1 else 's'}, got {start.beta.size}; "
                    "start from none"
                )
            self.beta, self.t = np.clip(start.beta, 0.0, C * self.weights), start.mean_margin
            if start.lambda1 > 0:
                self.delta = start.delta * (lambda1 / start.lambda1)
        self.w = self.certificate.combined(self.certificate.alpha(self.beta, self.delta))
        self.share = float(constant)
        #: squared length of the mean of the rows
        self.common = float(np.square(X.T @ np.full(m, 1.0 / m)).sum())
        self.stiffness = self.certificate.stiffness()
        self.shares = np.full(m, np.inf)
        self.rest, self.wakes = np.zeros(m, dtype=np.int32), np.zeros(m, dtype=np.int32)
        self.passes, self.since = 0, 0
        self.scale = gap_scale(0.0, C, self.certificate.total)

    def wake(self) -> None:
        """Let every example take part in the next pass."""
        self.wakes[:] = 0

    def one_pass(self) -> None:
        """Visit the examples that do not rest."""
        m = len(self.y)
        active = np.flatnonzero(self.wakes <= self.passes).astype(np.int32)
        self.t = visit(
            self.X, self.y, self.squares, self.weights, active, self.rng,
            self.w, self.beta, self.delta, self.shares, self.rest, 0.1 * self.tol * self.scale / m,
            self.t, self.stiffness, self.twice_a, self.b, self.C, self.share,
        )  # fmt: skip
        self.passes += 1
        self.wakes[active] = self.passes + self.rest[active]
        self.since += active.size
        self.scale = gap_scale(
            self.certificate.bound(self.w, self.beta, self.delta), self.C, self.certificate.total
        )
        if self.since >= m:  # a multiplier must not move faster than the examples can follow
            self.since = 0
            self.t += self.stiffness * float(self.delta.sum())
            if self.certificate.constant:
                self.move_intercept()

    def move_intercept(self) -> None:
        r"""Take the rest of the way of the intercept, and let the next pass take about as much as it can.

        That is the share :math:`1/(1+\rho)` with :math:`\rho` the curvature of the losses along the
        intercept. The n rows on the margin stay there, by a change of w of the least length: of square
        :math:`e^\top(XX^\top)^{-1}e=n/(q+n\lVert\mu\rVert^2)` for rows of squared length q that have the
        mean :math:`\mu` in common and nothing else.
        """
        total = float(self.certificate.alpha(self.beta, self.delta).sum())
        self.w[-1] += self.share * (total - float(self.w[-1]))
        free = float(((self.beta > 0.0) & (self.beta < self.C * self.weights)).sum())
        curvature = free / max(float(self.squares.mean()) + free * self.common, np.finfo(float).tiny)
        self.share = 1.0 / (1.0 + curvature)
        self.stiffness = self.certificate.stiffness(self.share)

    def solution(self, passes: int, path: list[tuple[int, float, float, float]]) -> LinearSolution:
        """Return where it stands, with its certificate."""
        intercept = None
        if self.certificate.constant:
            intercept = float(self.certificate.repaired(self.w, self.delta)[0][-1])
        return self.certificate.solution(self.beta, self.delta, passes, self.tol, path, intercept)


def visit(
    X: Matrix,
    y: np.ndarray,
    squares: np.ndarray,
    weights: np.ndarray,
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
    constant: float = 0.0,
) -> float:
    """Visit the `active` rows in a new order; see
    :func:`marginbook.ldm.solvers.linear_cd_passes.csr_pass`.
    """
    size = _BLOCK if active.size >= 64 * _BLOCK else 1
    blocks = rng.permutation(-(-active.size // size)).astype(np.int32)
    if isinstance(X, np.ndarray):
        return dense_pass(
            X, y, squares, weights, active, blocks, size, w, beta, delta, shares, rest,
            negligible, _LONGEST_REST, t, stiffness, twice_a, b, C, constant,
        )  # fmt: skip
    return csr_pass(
        X.data, unsigned(X.indices), X.indptr, y, squares, weights, active, blocks, size,
        w, beta, delta, shares, rest, negligible, _LONGEST_REST, t, stiffness, twice_a, b, C, constant,
    )  # fmt: skip

r"""The LDM with a kernel by decomposition: no matrix of all rows, and no factor of more than the free ones.

With multipliers :math:`\delta` of the spread of the margins beside those of the hinge, and weights
:math:`\omega_i` of the rows with sum M, the dual has the Gram matrix itself in it,

.. math:: \min_{0\le\beta_i\le C\omega_i,\;e^\top\delta=0}\ \tfrac12a^\top Ga-e^\top\beta
        +\sum_i\frac{\delta_i^2}{2c\omega_i},
    \qquad a=Y(\beta+b\omega-\delta),\quad c=\tfrac{4\lambda_1}M,\quad b=\tfrac{\lambda_2}M,

and at its minimum :math:`\delta_i=c\omega_i(\gamma_i-\bar\gamma)`. For given :math:`\delta` it is the box
problem of a support vector machine, which needs the columns of the rows with :math:`\beta_i>0` only, a chunk
of them at a time (:mod:`marginbook.ldm.solvers.box_steps`). For given :math:`\beta` its Hessian on
:math:`\delta`, scaled by :math:`c\omega`, is :math:`I+c\,\Omega^{1/2}YGY\Omega^{1/2}`, hardly more than the
identity where :math:`\lambda_1` times the largest eigenvalue of G / m is small: conjugate gradients need one
or two products with G, and both blocks go down, so their turns converge for every c.
"""

from __future__ import annotations

import numpy as np

from ..model.objective import weighted_objective
from .box_steps import minimise_box, violations
from .dual import Solution
from .kernel_rows import GramRows

#: rows of a chunk: its share of m, within limits; 4500 take 0.16 GB, and as much again for a factor
SHARE, LEAST, MOST = 8, 3000, 4500
#: rows of the first chunk
FIRST = 1500
#: how much of the gap of a chunk is left to later ones
REST = 0.01
#: Newton steps in a chunk
NEWTON = 10
#: the share of delta in the gap from which it is moved before further chunks
SPREAD = 0.5
#: gap, as a share of the objective, at which delta is looked at for the first time
ROUGH = 1e-2
#: c trace(G), a bound of c times the largest eigenvalue, up to which delta may go all the way at once
SAFE = 1.0
#: the share of the gap that counts as progress, by which it falls or the dual rises
PROGRESS = 0.01
#: chunks and moves of delta without progress before it is given up
PATIENCE = 30


def decompose(
    rows: GramRows,
    y: np.ndarray,
    lambda1: float,
    lambda2: float,
    C: float,
    *,
    weights: np.ndarray | None = None,
    tol: float,
    max_iter: int = 100_000,
) -> Solution:
    r"""Solve the dual in :math:`\beta` and :math:`\delta` from cold.

    Parameters
    ----------
    rows : GramRows
        Of a positive semidefinite Gram matrix G, (m, m), which is not checked.
    y : (m,) array of -1 and +1
    lambda1, lambda2, C : float
    weights : (m,) array of positive numbers, optional
        1 by default.
    tol : float
        Stop when the duality gap is at most ``tol * max(1, |objective|)``.
    max_iter : int
        Chunks.

    Returns
    -------
    Solution
        Its margins are ``y * (G @ alpha)``, summed afresh, its gap the sum of what the rows add,
        :math:`(C\omega_i-\beta_i)(1-\gamma_i)_++\beta_i(\gamma_i-1)_+
        +(c\omega_i(\gamma_i-\bar\gamma)-\delta_i)^2/(2c\omega_i)`, so that nothing cancels. ``converged`` is
        False where rounding, `max_iter`, a large c, or more free rows than a chunk holds stopped it.

    Examples
    --------
    >>> from marginbook.ldm.solvers.kernel_rows import StoredRows
    >>> found = decompose(StoredRows(np.eye(2)), np.array([1.0, -1]), 0.0, 0.0, 10.0, tol=1e-9)
    >>> found.alpha.tolist(), found.objective
    ([1.0, -1.0], 1.0)
    """
    run = _Run(rows, y, lambda1, lambda2, C, weights, tol)
    count = run.settle(max_iter)
    beta, delta = run.beta, run.delta - run.delta.mean()
    alpha = y * (beta + run.b * run.weights - delta)
    margins = y * rows.times(alpha)
    run.grad, run.delta = margins - 1.0, delta
    objective, box, spread = run.measure(float(alpha @ (y * margins)))
    gap = box + spread
    return Solution(
        beta + run.b * run.weights, beta, alpha, margins, objective, gap, count,
        bool(gap <= tol * max(1.0, abs(objective))), lambda1, lambda2, C,
    )  # fmt: skip


class _Run:
    """A point (beta, delta), the gradient of beta there, and what moves it."""

    def __init__(
        self,
        rows: GramRows,
        y: np.ndarray,
        lambda1: float,
        lambda2: float,
        C: float,
        weights: np.ndarray | None,
        tol: float,
    ) -> None:
        m = len(y)
        self.rows, self.y, self.tol = rows, y, tol
        self.lambda1, self.lambda2, self.C = lambda1, lambda2, C
        self.weights = np.ones(m) if weights is None else weights
        total = float(self.weights.sum())
        self.c, self.b, self.upper = 4.0 * lambda1 / total, lambda2 / total, C * self.weights
        self.beta, self.delta = np.zeros(m), np.zeros(m)
        #: -1 + margins; at first without the part of lambda2, which comes with the first move of delta
        self.grad, self.whole = np.full(m, -1.0), lambda2 == 0.0
        self.last: tuple[np.ndarray, np.ndarray, float] | None = None
        self.size = min(m, max(LEAST, min(MOST, m // SHARE)))
        self.chunks = 0

    def measure(self, norm: float | None = None) -> tuple[float, float, float]:
        """Return the objective, and what hinge and spread add to its gap."""
        margins = self.grad + 1.0
        if norm is None:
            norm = float((self.beta + self.b * self.weights - self.delta) @ margins)
        objective = weighted_objective(margins, norm, self.weights, self.lambda1, self.lambda2, self.C)
        towards = self.towards()
        spread = 0.5 * float(towards @ (towards / (self.c * self.weights))) if self.c > 0.0 else 0.0
        return objective, float(violations(self.beta, self.grad, self.upper).sum()), spread

    def dual(self) -> float:
        """Return the dual objective, without the part of lambda2 as long as that is left out."""
        given = self.beta + self.b * self.weights - self.delta if self.whole else self.beta
        value = float(self.beta.sum()) - 0.5 * float(given @ (self.grad + 1.0))
        if self.c > 0.0:
            value -= 0.5 * float(self.delta @ (self.delta / (self.c * self.weights)))
        return value

    def towards(self) -> np.ndarray:
        """Return the way from delta to what it is at the optimum for these margins."""
        mean = float(self.weights @ self.grad) / float(self.weights.sum())
        return self.c * self.weights * (self.grad - mean) - self.delta

    def settle(self, most: int) -> int:
        """Move both until the gap is within the tolerance, or there is no progress; return the chunks.

        Far from the optimum the gap goes up and down; the dual, which no step lowers, tells then.
        """
        least, most_dual, idle = np.inf, -np.inf, 0
        while idle < PATIENCE:
            objective, box, spread = self.measure()
            scale = max(1.0, abs(objective))
            if not self.whole:
                if box <= ROUGH * scale or self.chunks >= most:
                    self.include_rest()
                    least, most_dual, idle = np.inf, -np.inf, 0
                    continue
            elif box + spread <= self.tol * scale:
                break
            if self.chunks >= most:
                break
            gap, dual = box + spread, self.dual()
            if gap < (1.0 - PROGRESS) * least or dual > most_dual + PROGRESS * gap:
                least, most_dual, idle = min(least, gap), max(most_dual, dual), 0
            else:
                idle += 1
            if self.whole and self.c > 0.0 and spread > SPREAD * box:
                self.move_delta()
            else:
                self.chunks += 1
                self.solve_chunk(0.3 * self.tol * scale)
        return self.chunks

    def include_rest(self) -> None:
        """Take in the part of lambda2, together with a first delta: one product with G."""
        if self.c * float(self.weights @ self.rows.diagonal()) <= SAFE:
            self.delta = self.towards()
        self.grad = self.grad + self.y * self.rows.times(self.y * (self.b * self.weights - self.delta))
        self.whole = True

    def move_delta(self) -> None:
        """Take a step of conjugate gradients (Polak and Ribiere) on delta: one product with G."""
        towards = self.towards()
        slope = towards / (self.c * self.weights)
        direction = towards
        if self.last is not None:
            before, way, size = self.last
            direction = towards + max(0.0, float(towards @ (slope - before)) / size) * way
            if float(direction @ slope) <= 0.0:
                direction = towards
        turned = self.y * self.rows.times(self.y * direction)
        curvature = float(direction @ turned) + float(direction @ (direction / (self.c * self.weights)))
        step = float(direction @ slope) / curvature
        self.delta = self.delta + step * direction
        self.grad = self.grad - step * turned
        self.last = (slope, direction, float(towards @ slope))

    def solve_chunk(self, enough: float) -> None:
        """Minimise over the rows that add most to the gap, and those between their bounds."""
        shares = violations(self.beta, self.grad, self.upper)
        chunk = self.chosen(shares)
        signs = self.y[chunk]
        H = self.rows.block(chunk)
        H *= signs
        H *= signs[:, None]
        beta, grad, upper = self.beta[chunk], self.grad[chunk], self.upper[chunk]
        minimise_box(H, beta, grad, upper, max(enough, REST * float(shares[chunk].sum())), NEWTON)
        change = beta - self.beta[chunk]
        moved = np.flatnonzero(change)
        if len(chunk) == len(self.y):
            self.grad = grad
        elif len(moved):
            where = chunk[moved]
            self.grad = self.grad + self.y * self.rows.combined(where, self.y[where] * change[moved])
        self.beta[chunk] = beta

    def chosen(self, shares: np.ndarray) -> np.ndarray:
        """Return the rows of the next chunk, in order: those between their bounds, and of both classes.

        Kernel values that are far from 0 on average let multipliers of one class move all margins of the
        other; chunks of the worst rows alone would take the classes in turn.
        """
        m = len(shares)
        if self.chunks == 1 and m > FIRST:
            return np.sort(np.random.default_rng(0).choice(m, FIRST, replace=False))
        free = (self.beta > 0.0) & (self.beta < self.upper)
        n_free = int(free.sum())
        if n_free >= self.size:
            count = max(1, min(int((shares > 0.0).sum()), self.size))
            return np.sort(np.argpartition(-shares, count - 1)[:count])
        room = min(max(self.size - n_free, self.size // 10), self.size // 2)
        parts = [np.flatnonzero(free)]
        for sign in (1.0, -1.0):
            others = np.flatnonzero((self.y == sign) & ~free & (shares > 0.0))
            count = min(len(others), (room + 1) // 2)
            if count:
                parts.append(others[np.argpartition(-shares[others], count - 1)[:count]])
        chosen = np.sort(np.concatenate(parts))
        return chosen if len(chosen) else np.zeros(1, dtype=np.int64)

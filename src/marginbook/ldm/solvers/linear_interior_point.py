r"""The linear LDM by an interior point: for data with few features, or few examples, and any parameters.

Coordinate descent slows down without limit as C or lambda1 grows; the number of Newton steps here does not
depend on them. With :math:`\tilde x_i=y_ix_i`, :math:`c=4\lambda_1/m`, :math:`b=\lambda_2/m`, (14) is the
quadratic program

.. math:: \min_{w,\xi\ge0}\ \tfrac12w^\top Qw-b\,e^\top\tilde Xw+C\,e^\top\xi
          \quad\text{with}\quad \tilde Xw+\xi\ge e,\qquad
          Q=I+c\,\tilde X^\top(I-ee^\top/m)\tilde X,

and a step of Mehrotra's predictor and corrector needs one Cholesky factor of
:math:`Q+\tilde X^\top D\tilde X`, D diagonal: O(m d^2).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..model.linear import Certificate, LinearSolution, Matrix, gap_scale, prepared
from ..model.objective import validate_parameters


def linear_interior_point(
    X: Matrix,
    y: np.ndarray,
    lambda1: float,
    lambda2: float,
    C: float,
    *,
    tol: float = 1e-8,
    max_iter: int = 100,
) -> LinearSolution:
    r"""Solve (14) by a primal-dual interior-point method.

    With more features than examples the rows are first written in an orthonormal basis of their span, so that
    d is at most m.

    Parameters
    ----------
    X : (m, d) array or CSR matrix
        Made dense.
    y : (m,) array of -1 and +1
    lambda1, lambda2 : float
        At least 0.
    C : float
        Positive.
    tol : float
        Stop when ``dual_gap <= tol * max(|objective|, min(1, m C))``.
    max_iter : int
        Most Newton steps.

    Returns
    -------
    LinearSolution
        `n_iter` counts Newton steps.

    Raises
    ------
    ValueError
        If a parameter is out of range, or the data are not finite numbers with labels -1 and +1.
    """
    validate_parameters(lambda1, lambda2, C)
    X, y = prepared(X, y)
    certificate = Certificate(X, y, lambda1, lambda2, C)
    rows = (X if isinstance(X, np.ndarray) else X.toarray()) * y[:, None]
    if rows.shape[1] > rows.shape[0]:
        rows = np.ascontiguousarray(np.linalg.qr(rows.T)[1].T)
    program = Program(rows, certificate.twice_a, certificate.b, C)
    point = Point(np.zeros(rows.shape[1]), *np.full((2, len(y)), C / 2), *np.ones((2, len(y))))
    best, least, steps = point.beta, np.inf, 0
    while steps < max_iter:
        try:
            point = program.step(point)
        except LinAlgError:  # past what double precision can resolve
            break
        steps += 1
        objective, gap = program.value(point.beta)
        if not gap < least:
            if steps > 30:
                break
            continue
        best, least = point.beta, gap
        if gap <= 0.1 * tol * gap_scale(objective, C, len(y)):
            break
    return certificate.solution(best, program.delta(best), steps, tol, [])


class Point(NamedTuple):
    """An iterate: w (d,), and beta, its distance mu to C, xi and slack (m,), all four positive."""

    w: np.ndarray
    beta: np.ndarray
    mu: np.ndarray
    xi: np.ndarray
    slack: np.ndarray

    def gap(self) -> float:
        """Return what complementarity lacks, summed."""
        return float(self.beta @ self.slack + self.mu @ self.xi)

    def moved(self, direction: Point, length: float) -> Point:
        """Return the point `length` along `direction`."""
        return Point(*(old + length * new for old, new in zip(self, direction, strict=True)))

    def longest(self, direction: Point) -> float:
        """Return the length, at most 1, at which the first of the positive numbers is 0."""
        length = 1.0
        for old, new in zip(self[1:], direction[1:], strict=True):
            falling = new < 0
            length = min(length, float(np.min(-old[falling] / new[falling], initial=1.0)))
        return length


class Program:
    """The quadratic program for rows :math:`y_ix_i`, (m, d)."""

    def __init__(self, rows: np.ndarray, c: float, b: float, C: float) -> None:
        self.rows, self.c, self.C = rows, c, C
        centred = rows - rows.mean(axis=0)
        self.Q = c * (centred.T @ centred)
        self.Q[np.diag_indices_from(self.Q)] += 1.0
        self.factor = cho_factor(self.Q)
        self.linear = b * rows.sum(axis=0)

    def margins(self, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return w and the margins that minimise the Lagrangian of `beta`."""
        right = self.linear + self.rows.T @ beta
        w = cho_solve(self.factor, right)
        w += cho_solve(self.factor, right - self.Q @ w)
        return w, self.rows @ w

    def delta(self, beta: np.ndarray) -> np.ndarray:
        """Return the delta that belongs to `beta`."""
        margins = self.margins(beta)[1]
        return self.c * (margins - margins.mean())

    def value(self, beta: np.ndarray) -> tuple[float, float]:
        """Return (14), and its distance to the lower bound, at the w that belongs to `beta`."""
        w, margins = self.margins(beta)
        hinge = np.maximum(1.0 - margins, 0.0)
        smooth = 0.5 * float(w @ (self.Q @ w)) - float(self.linear @ w)
        gap = float(self.C * hinge.sum() - beta @ (1.0 - margins))
        return smooth + self.C * float(hinge.sum()), gap

    def step(self, point: Point) -> Point:
        """Return the point after a predictor and a corrector with the same factor.

        Raises
        ------
        LinAlgError
            If the matrix of the step is not positive definite in double precision.
        """
        w, beta, mu, xi, slack = point
        D = 1.0 / (xi / mu + slack / beta)
        factor = cho_factor(self.Q + (self.rows.T * D) @ self.rows)
        short = self.rows @ w + xi - 1.0 - slack
        residual = self.Q @ w - self.linear - self.rows.T @ beta

        def towards(lower: np.ndarray, upper: np.ndarray) -> Point:
            right = D * (lower / beta - upper / mu - short)
            dw = cho_solve(factor, self.rows.T @ right - residual)
            change = right - D * (self.rows @ dw)
            return Point(dw, change, -change, (upper + xi * change) / mu, (lower - slack * change) / beta)

        guess = towards(-beta * slack, -mu * xi)
        ahead = point.moved(guess, point.longest(guess)).gap()
        aim = (ahead / point.gap()) ** 3 * point.gap() / (2 * len(beta))
        final = towards(aim - beta * slack - guess.beta * guess.slack, aim - mu * xi - guess.mu * guess.xi)
        return point.moved(final, min(1.0, 0.99 * point.longest(final)))

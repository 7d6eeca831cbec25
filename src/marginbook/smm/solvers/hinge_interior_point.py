r"""The hinge loss by a primal-dual interior point method: ten to twenty systems, whatever the start.

The dual of :math:`\min_{w,b}\sum_iC_i(1-m_i)_++\lambda\lVert w\rVert^2`, :math:`m_i=a_i^\top w+y_ib`,
:math:`a_i=y_iz_i`, is

.. math::
    \max_c\ \mathbf 1^\top c-\frac1{4\lambda}\lVert A^\top c\rVert^2,\qquad 0\le c_i\le C_i,\quad y^\top c=0
    \text{ where the intercept is free},

and the conditions of both are :math:`m_i-1=s_i-\xi_i`, :math:`2\lambda w=A^\top c`, :math:`y^\top c=0`,
:math:`c_is_i=0`, :math:`(C_i-c_i)\xi_i=0` with :math:`s,\xi\ge0`. Mehrotra's predictor and corrector share
the factor of :math:`2\lambda I+A^\top D^{-1}A`, p x p, or of :math:`D+AA^\top/2\lambda`, n x n, with
:math:`D_i=s_i/c_i+\xi_i/(C_i-c_i)`. That w is kept beside c, and not computed from it, matters for small
:math:`\lambda`: the sum :math:`A^\top c` cancels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dsyrk

from .certificate import Certificate, Point
from .newton import factorise, solve
from .solution import InnerSolution

#: share of the way to the boundary that a step may go
BOUNDARY = 0.995


@dataclass
class _Iterate:
    """Coefficients, intercept, multipliers, slacks and losses."""

    w: np.ndarray
    b: float
    c: np.ndarray
    s: np.ndarray
    xi: np.ndarray

    def plus(self, size: float, other: _Iterate) -> _Iterate:
        return _Iterate(
            self.w + size * other.w,
            self.b + size * other.b,
            self.c + size * other.c,
            self.s + size * other.s,
            self.xi + size * other.xi,
        )

    def reach(self, C: np.ndarray, step: _Iterate) -> float:
        """Return the longest step, at most 1, that keeps 0 <= c <= C and s, xi >= 0."""
        ratios = (
            np.max(-step.c / self.c),
            np.max(step.c / (C - self.c)),
            np.max(-step.s / self.s),
            np.max(-step.xi / self.xi),
        )
        return 1.0 / max(1.0, *map(float, ratios))

    def complementarity(self, C: np.ndarray) -> float:
        return (float(self.c @ self.s) + float((C - self.c) @ self.xi)) / (2 * len(C))


def interior_point(
    Z: np.ndarray,
    y: np.ndarray,
    *,
    lam: float,
    sample_weight: np.ndarray,
    fit_intercept: bool,
    tol: float,
    start: tuple[np.ndarray, float] | None = None,
    multipliers: np.ndarray | None = None,
    max_iter: int = 60,
) -> InnerSolution:
    """Minimise the hinge risk of a linear function.

    Parameters
    ----------
    Z : (n, p) array
    y : (n,) array of -1 and +1
    lam : float
    sample_weight : (n,) array
    fit_intercept : bool
    tol : float
        Duality gap at which to stop, relative to the objective.
    start : ((p,) array, float), optional
    multipliers : (n,) array, optional
        A point and multipliers that are returned if nothing better is found, at once if their gap is small
        enough. The iteration does not begin with them: near the boundary it would be slow.
    max_iter : int

    Returns
    -------
    InnerSolution
    """
    n, p = Z.shape
    A = y[:, None] * Z
    best = Certificate(A, y, lam, "hinge", sample_weight, fit_intercept, tol)
    best.offer(Point(np.zeros(p), 0.0, np.zeros(n)), np.zeros(n))
    if start is not None:
        b = float(start[1]) if fit_intercept else 0.0
        point = Point(np.asarray(start[0], dtype=float), b, A @ start[0] + y * b)
        best.offer(point, np.zeros(n) if multipliers is None else multipliers)
    kept = sample_weight > 0
    if best.met or not kept.any():
        return best.solution(0)
    everything = bool(kept.all())
    problem = _Problem(
        A if everything else A[kept],
        y if everything else y[kept],
        sample_weight[kept] / n,
        lam,
        fit_intercept,
    )
    at, steps = problem.start(), 0
    while steps < max_iter:
        at, size = problem.advance(at)
        if not size > 0:
            break
        steps += 1
        c = at.c
        if not everything:
            c = np.zeros(n)
            c[kept] = at.c
        if best.offer(Point(at.w, at.b, A @ at.w + at.b * y), c) or size < 1e-10:
            break
    return best.solution(steps)


class _Problem:
    """Samples of positive weight and the Newton steps of their conditions."""

    def __init__(self, A: np.ndarray, y: np.ndarray, C: np.ndarray, lam: float, fit_intercept: bool) -> None:
        self.A, self.y, self.C, self.lam, self.fit_intercept = A, y, C, lam, fit_intercept
        self.gram = dsyrk(0.5 / lam, A.T, trans=1, lower=1) if len(C) <= A.shape[1] else None

    def start(self) -> _Iterate:
        """Return multipliers in the middle of their box, balanced between the classes, and their w."""
        c = 0.5 * self.C
        if self.fit_intercept:
            positive = self.y > 0
            sums = float(c[positive].sum()), float(c[~positive].sum())
            c = c * np.where(positive, min(1.0, sums[1] / sums[0]), min(1.0, sums[0] / sums[1]))
        w = (c @ self.A) / (2.0 * self.lam)
        slack = 1.0 - self.A @ w
        size = max(1.0, float(np.median(np.abs(slack))))
        return _Iterate(w, 0.0, c, np.maximum(-slack, 0.0) + size, np.maximum(slack, 0.0) + size)

    def advance(self, at: _Iterate) -> tuple[_Iterate, float]:
        """Return the next iterate and the length of its step; length 0 if rounding allows none."""
        C = self.C
        room = C - at.c
        mu = at.complementarity(C)
        if not mu > 0:
            return at, 0.0
        with np.errstate(all="ignore"):
            newton = _Newton(self, at)
            affine = newton.step(-at.c * at.s, -room * at.xi)
            after = at.plus(at.reach(C, affine), affine).complementarity(C)
            centre = mu * min(1.0, max(after / mu, 0.0) ** 3)
            step = newton.step(
                centre - at.c * at.s - affine.c * affine.s, centre - room * at.xi + affine.c * affine.xi
            )
            size = at.reach(C, step)
            size = min(1.0, BOUNDARY * size) if size < 1.0 else 1.0
            following = at.plus(size if size < 1.0 else BOUNDARY, step)
        inside = (following.c > 0).all() and (following.c < C).all()
        if not (inside and np.isfinite(following.w).all() and following.complementarity(C) > 0):
            return at, 0.0
        return following, size


class _Newton:
    """The linear system in one iterate, for several right-hand sides."""

    def __init__(self, problem: _Problem, at: _Iterate) -> None:
        self.problem, self.at, lam = problem, at, problem.lam
        A, y = problem.A, problem.y
        self.room = problem.C - at.c
        D = at.s / at.c + at.xi / self.room
        self.inverse = 1.0 / D
        self.residual = A @ at.w + at.b * y - 1.0 - at.s + at.xi
        self.residual_w = 2.0 * lam * at.w - at.c @ A
        self.residual_y = float(y @ at.c)
        if problem.gram is not None:
            K = problem.gram.copy(order="F")
            K.flat[:: len(D) + 1] += D
            self.factor = factorise(K)
            self.spread = solve(self.factor, y) if problem.fit_intercept else None
            return
        H = dsyrk(1.0, (A * np.sqrt(self.inverse)[:, None]).T, lower=1)
        H.flat[:: A.shape[1] + 1] += 2.0 * lam
        self.factor = factorise(H)
        self.mixed = (self.inverse * y) @ A
        self.spread = solve(self.factor, self.mixed) if problem.fit_intercept else None

    def step(self, first: np.ndarray, second: np.ndarray) -> _Iterate:
        """Return the step for which c s and (C - c) xi change by `first` and `second`, to first order."""
        at, problem = self.at, self.problem
        A, y, lam = problem.A, problem.y, problem.lam
        q = -self.residual + first / at.c - second / self.room
        db = 0.0
        if problem.gram is not None:
            dc = solve(self.factor, q + A @ self.residual_w / (2.0 * lam))
            if self.spread is not None:
                db = (float(y @ dc) + self.residual_y) / (float(y @ self.spread) or np.nan)
                dc = dc - db * self.spread
            dw = (dc @ A - self.residual_w) / (2.0 * lam)
        else:
            dw = solve(self.factor, (self.inverse * q) @ A - self.residual_w)
            if self.spread is not None:
                wanted = float(self.inverse @ (y * q)) + self.residual_y - float(self.mixed @ dw)
                db = wanted / (float(self.inverse.sum()) - float(self.mixed @ self.spread) or np.nan)
                dw = dw - db * self.spread
            dc = self.inverse * (q - A @ dw - db * y)
        return _Iterate(dw, db, dc, (first - at.s * dc) / at.c, (second + at.xi * dc) / self.room)

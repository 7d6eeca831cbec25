r"""The hinge loss by a primal-dual interior point method: the same few systems from every start.

The dual of :math:`\min_{w,b}\sum_iC_i(1-m_i)_++\lambda\lVert w\rVert^2` with :math:`a_i=y_iz_i` is

.. math::
    \max_c\ \mathbf 1^\top c-\frac1{4\lambda}\lVert A^\top c\rVert^2,\qquad 0\le c_i\le C_i,\quad y^\top c=0
    \text{ where the intercept is free},

and its conditions are :math:`AA^\top c/2\lambda-\mathbf 1+by=s-\xi`, :math:`c_is_i=0`,
:math:`(C_i-c_i)\xi_i=0`; :math:`\xi` are the losses. Mehrotra's predictor and corrector share the factor of
:math:`D+AA^\top/2\lambda`, :math:`D_i=s_i/c_i+\xi_i/(C_i-c_i)`: n x n, or by Woodbury's formula p x p.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg.blas import dsyrk

from .newton import Certificate, Point, factorise, solve
from .solution import InnerSolution

#: share of the way to the boundary that a step may go
BOUNDARY = 0.995


def interior_point(
    Z: np.ndarray,
    y: np.ndarray,
    *,
    lam: float,
    sample_weight: np.ndarray,
    fit_intercept: bool,
    tol: float,
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
    max_iter : int
    """
    n, p = Z.shape
    A_all = y[:, None] * Z
    best = Certificate(A_all, y, lam, "hinge", sample_weight, fit_intercept, tol)
    kept = sample_weight > 0
    A, signs, C = A_all[kept], y[kept], sample_weight[kept] / n
    best.offer(Point(np.zeros(p), 0.0, np.zeros(n)), np.zeros(n))
    if not len(C) or best.met:
        return best.solution(0)
    c, b = 0.5 * C, 0.0
    if fit_intercept:
        c = _balanced(C, signs)
        if c is None:  # one class only: b alone makes every loss zero
            b = float(signs[0])
            best.offer(Point(np.zeros(p), b, y * b), np.zeros(n))
            return best.solution(0)
    slack = 1.0 - A @ (c @ A) / (2.0 * lam) - b * signs
    size = max(1.0, float(np.median(np.abs(slack))))
    s, xi = np.maximum(-slack, 0.0) + size, np.maximum(slack, 0.0) + size
    gram = A @ A.T / (2.0 * lam) if len(C) <= p else None
    for iteration in range(1, max_iter + 1):
        w = (c @ A) / (2.0 * lam)
        dual_residual = A @ w - 1.0 + b * signs - s + xi
        balance = float(signs @ c) if fit_intercept else 0.0
        mu = (float(c @ s) + float((C - c) @ xi)) / (2 * len(C))
        system = _system(A, s / c + xi / (C - c), lam, gram)
        spread = system(signs) if fit_intercept else None

        def step(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, float, np.ndarray, np.ndarray]:
            move = system(-dual_residual + first / c - second / (C - c))
            move_b = 0.0
            if spread is not None:
                move_b = (float(signs @ move) + balance) / float(signs @ spread)
                move = move - move_b * spread
            return move, move_b, (first - s * move) / c, (second + xi * move) / (C - c)

        dc, _, ds, dxi = step(-c * s, -(C - c) * xi)
        reach, reach_dual = _reach(c, C, dc), _reach_dual(s, xi, ds, dxi)
        after = float((c + reach * dc) @ (s + reach_dual * ds)) + float(
            (C - c - reach * dc) @ (xi + reach_dual * dxi)
        )
        centre = mu * (max(after, 0.0) / (2 * len(C) * mu)) ** 3
        dc, db, ds, dxi = step(centre - c * s - dc * ds, centre - (C - c) * xi + dc * dxi)
        reach = min(1.0, BOUNDARY * _reach(c, C, dc))
        reach_dual = min(1.0, BOUNDARY * _reach_dual(s, xi, ds, dxi))
        if not (np.isfinite(dc).all() and np.isfinite(ds).all() and np.isfinite(dxi).all()):
            return best.solution(iteration)
        c = c + reach * dc
        s, xi, b = s + reach_dual * ds, xi + reach_dual * dxi, b + reach_dual * db
        w = (c @ A) / (2.0 * lam)
        full = np.zeros(n)
        full[kept] = c
        if best.offer(Point(w, b, A_all @ w + b * y), full) or max(reach, reach_dual) < 1e-10:
            break
    return best.solution(iteration)


def _balanced(C: np.ndarray, signs: np.ndarray) -> np.ndarray | None:
    """Return interior multipliers with equal sums in both classes; None if a class is missing."""
    sums = np.array([C[signs > 0].sum(), C[signs < 0].sum()])
    if not sums.min() > 0:
        return None
    return np.asarray(0.5 * C * np.where(signs > 0, sums.min() / sums[0], sums.min() / sums[1]))


def _system(
    A: np.ndarray, D: np.ndarray, lam: float, gram: np.ndarray | None
) -> Callable[[np.ndarray], np.ndarray]:
    """Return the solver of (D + A A' / 2 lam) x = q."""
    if gram is not None:
        K = np.asfortranarray(gram)
        K.flat[:: len(D) + 1] += D
        factor = factorise(K)
        return lambda q: solve(factor, q)
    inverse = 1.0 / D
    root = np.sqrt(inverse)
    H = dsyrk(1.0, (A * root[:, None]).T, lower=1)
    H.flat[:: A.shape[1] + 1] += 2.0 * lam
    factor = factorise(H)
    return lambda q: inverse * (q - A @ solve(factor, (inverse * q) @ A))


def _reach(c: np.ndarray, C: np.ndarray, dc: np.ndarray) -> float:
    """Return the longest step that keeps c between 0 and C."""
    down, up = dc < 0, dc > 0
    return min(
        float(np.min(-c[down] / dc[down], initial=1e300)),
        float(np.min((C - c)[up] / dc[up], initial=1e300)),
        1.0,
    )


def _reach_dual(s: np.ndarray, xi: np.ndarray, ds: np.ndarray, dxi: np.ndarray) -> float:
    """Return the longest step that keeps s and xi nonnegative."""
    first, second = ds < 0, dxi < 0
    return min(
        float(np.min(-s[first] / ds[first], initial=1e300)),
        float(np.min(-xi[second] / dxi[second], initial=1e300)),
        1.0,
    )

r"""Accelerated proximal gradient with Newton steps on the active groups: (q, r) = (1, 1), (2, 1) of eq. (8).

The gradient steps (FISTA of Beck & Teboulle, restarted when the momentum points uphill) find which groups are
zero; on the others, and for fixed signs, the objective is smooth and Newton's method ends the work in a few
steps. All test points go through the gradient steps at once, as columns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..model.penalties import Penalty, proximal_map

#: gradient steps between two looks at the certificate
BURST = 10


def accelerated_proximal_gradient(
    Q: np.ndarray,
    Kx: np.ndarray,
    penalty: Penalty,
    largest: float,
    certificate: Callable[..., Any],
    tol: float,
    max_iter: int,
    newton: bool = True,
) -> tuple[np.ndarray, np.ndarray]:
    r"""Minimise :math:`\frac12w^\top Qw-K_x^\top w+g(w)` for each column of `Kx`.

    Parameters
    ----------
    Q : (n, n) positive semidefinite matrix
    Kx : (n, m) array
    penalty : Penalty
        Its norm must be a sum of 2-norms of groups.
    largest : float
        Largest eigenvalue of `Q`; the step is its inverse.
    certificate : callable
        ``certificate(W, Kx, QW)`` with an attribute ``relative_gap``, (m,).
    tol : float
        A column stops when its relative gap is at most this.
    max_iter : int
        Gradient steps.
    newton : bool
        Take Newton steps on the active groups after each burst.

    Returns
    -------
    weights : (n, m) array
    n_iter : (m,) array of int
        Gradient steps that each column took.
    """
    groups = penalty.groups()
    n, m = Kx.shape
    step = 1.0 / largest if largest > 0 else 1.0
    weights, n_iter, open_ = np.zeros((n, m)), np.zeros(m, dtype=int), np.arange(m)
    W, Y, t, b = np.zeros((n, m)), np.zeros((n, m)), np.ones(m), Kx
    done, burst = 0, BURST
    while open_.size:
        gaps = certificate(W, b, Q @ W).relative_gap
        weights[:, open_], n_iter[open_] = W, max(done, 1)
        keep = ~(gaps <= tol)
        if done >= max_iter or not keep.any():
            break
        open_, W, Y, t, b = open_[keep], W[:, keep], Y[:, keep], t[keep], b[:, keep]
        for _ in range(min(burst, max_iter - done)):
            before = W != 0
            W, Y, t = _step(Q, b, W, Y, t, step, penalty, groups)
            done += 1
        if newton:  # where the last step left the zeros as they were
            for column in np.flatnonzero(((W != 0) == before).all(axis=0)):
                better = newton_on_active_groups(Q, b[:, column], W[:, column], penalty, groups)
                if better is not None:
                    W[:, column] = Y[:, column] = better
                    t[column] = 1.0
        burst = min(2 * burst, 100)
    return weights, n_iter


def _step(
    Q: np.ndarray,
    b: np.ndarray,
    W: np.ndarray,
    Y: np.ndarray,
    t: np.ndarray,
    step: float,
    penalty: Penalty,
    groups: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    new = proximal_map(Y - step * (Q @ Y - b), step, penalty, groups)
    move = new - W
    uphill = np.sum((Y - new) * move, axis=0) > 0
    t = np.where(uphill, 1.0, t)
    after = 0.5 * (1 + np.sqrt(1 + 4 * t**2))
    momentum = np.where(uphill, 0.0, (t - 1) / after)
    return new, new + momentum * move, after


def newton_on_active_groups(
    Q: np.ndarray, b: np.ndarray, w: np.ndarray, penalty: Penalty, groups: np.ndarray, steps: int = 5
) -> np.ndarray | None:
    r"""Return weights of lower objective with the same zero groups, or None.

    With u the gradient of N, :math:`\sigma=\beta\rho'(N)` and :math:`\kappa=\beta\rho''(N)`, the gradient on
    the active groups is :math:`Qw-b+\sigma u` and the Hessian
    :math:`Q+\kappa uu^\top+\sigma\,\mathrm{blockdiag}((I-u_gu_g^\top)/\lVert w_g\rVert)`. A single weight
    that would change its sign stops at zero; a step counts only if the objective falls.
    """
    labels = np.repeat(np.arange(len(groups)), groups)
    kappa = 2.0 * (penalty.curvature or 0.0)
    improved = None
    for _ in range(steps):
        norms = np.sqrt(np.bincount(labels, w**2, minlength=len(groups)))
        active = np.flatnonzero(norms[labels] > 0)
        if active.size == 0:
            return improved
        own, size = labels[active], norms[labels[active]]
        QS, x, total = Q[np.ix_(active, active)], w[active], norms.sum()
        u, sigma = x / size, float(penalty.slope(np.array([total]))[0])
        gradient = QS @ x - b[active] + sigma * u
        H = QS + kappa * u[:, None] * u
        if len(groups) < len(w):
            ends = np.append(np.flatnonzero(np.diff(own)) + 1, len(own))
            for start, end in zip(np.append(0, ends[:-1]), ends, strict=True):
                H[start:end, start:end] -= sigma / size[start] * u[start:end, None] * u[start:end]
            H[np.diag_indices_from(H)] += sigma / size
        H[np.diag_indices_from(H)] += 1e-13 * np.trace(H)
        try:
            direction = -cho_solve(cho_factor(H, overwrite_a=True), gradient)
        except LinAlgError:
            return improved
        if -gradient @ direction <= 1e-16 * np.abs(b[active] @ x):
            return improved
        taken = _descend(QS, b[active], x, direction, penalty, own, len(groups) == len(w))
        if taken is None:
            return improved
        found, whole = taken
        w = np.zeros_like(w)
        w[active] = found
        improved = w
        if not whole:  # far from the optimum, where gradient steps are cheaper
            break
    return improved


def _descend(
    QS: np.ndarray,
    b: np.ndarray,
    x: np.ndarray,
    direction: np.ndarray,
    penalty: Penalty,
    own: np.ndarray,
    single: bool,
) -> tuple[np.ndarray, bool] | None:
    """Return the first of x + d, x + d / 4, ... of lower objective and whether it is x + d, or None."""

    def cost(z: np.ndarray) -> float:
        norm = np.abs(z).sum() if single else np.sqrt(np.bincount(own, z**2)).sum()
        return float(z @ (0.5 * (QS @ z) - b) + penalty.value(np.array([norm]))[0])

    before, t = cost(x), 1.0
    for _ in range(4):
        z = x + t * direction
        if single:
            z = np.where(z * x < 0, 0.0, z)
        if cost(z) < before:
            return z, t == 1.0
        t *= 0.25
    return None

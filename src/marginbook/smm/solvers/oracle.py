r"""The same descent with every block solved by cvxpy: slow, obvious, and the peer of the room's solvers.

It follows Algorithm 1 to the letter: the U-step minimises equation (2) or (3) over U with V fixed, the V-step
over V with U fixed, and each hands its whole problem to a convex solver. A QR factor of the fixed block makes
the penalty :math:`\lVert UV^\top\rVert_F^2` the square norm of the free one, as the draft's dual does with
:math:`(V^\top V)^{-1}`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model.objective import objective, validate_loss, validate_sample_weight, validate_signs


def by_cvxpy(
    Z: np.ndarray,
    y: np.ndarray,
    *,
    lam: float,
    loss: str = "hinge",
    sample_weight: np.ndarray | None = None,
    fit_intercept: bool = False,
    **options: Any,
) -> tuple[np.ndarray, float, float]:
    r"""Return w, b and the value of :math:`\min\frac1n\sum_iw_iL(y_i(z_i^\top w+b))+\lambda\lVert w\rVert^2`.

    Parameters
    ----------
    Z : (n, p) array
    y : (n,) array of -1 and +1
    lam, loss, sample_weight, fit_intercept
        As in :func:`~marginbook.smm.solvers.block.solve_inner`.
    **options
        Passed to the solver (Clarabel).
    """
    import cvxpy as cp

    validate_loss(loss)
    signs = validate_signs(y, len(Z))
    share = validate_sample_weight(sample_weight, len(Z)) / len(Z)
    w: Any = cp.Variable(Z.shape[1])
    b: Any = cp.Variable() if fit_intercept else 0.0
    margins = cp.multiply(signs, Z @ w + b)
    if loss == "logistic":
        losses = cp.logistic(-margins)
    else:
        losses = cp.pos(1 - margins) if loss == "hinge" else cp.square(cp.pos(1 - margins))
    problem = cp.Problem(cp.Minimize(share @ losses + lam * cp.sum_squares(w)))
    problem.solve(solver=cp.CLARABEL, **options)
    return np.asarray(w.value), float(b.value) if fit_intercept else 0.0, float(problem.value)


def alternation_by_cvxpy(
    X: np.ndarray,
    y: np.ndarray,
    *,
    rank: int,
    lam: float,
    loss: str = "hinge",
    sample_weight: np.ndarray | None = None,
    fit_intercept: bool = False,
    start: tuple[np.ndarray, np.ndarray] | None = None,
    tol: float = 1e-6,
    max_iter: int = 200,
) -> tuple[np.ndarray, float, np.ndarray]:
    """Return B, b and the objective after each block.

    Parameters
    ----------
    X : (n, d1, d2) array
    y : (n,) array of -1 and +1
    rank, lam, loss, sample_weight, fit_intercept, start, tol, max_iter
        As in :func:`~marginbook.smm.solvers.block_descent.low_rank_svm`, with the same start by default.
    """
    n, d1, d2 = X.shape
    settings: dict[str, Any] = {
        "lam": lam,
        "loss": loss,
        "sample_weight": sample_weight,
        "fit_intercept": fit_intercept,
    }
    if start is None:
        B = by_cvxpy(X.reshape(n, -1), y, **settings)[0].reshape(d1, d2)
        V = np.linalg.svd(B)[2][:rank].T
    else:
        V = np.asarray(start[1], dtype=float)
    path: list[float] = []
    B, b = np.zeros((d1, d2)), 0.0
    for _ in range(max_iter):
        P = np.linalg.qr(V)[0]
        w, b, _ = by_cvxpy((X @ P).reshape(n, -1), y, **settings)
        U = w.reshape(d1, rank)
        path.append(objective(U @ P.T, b, X, y, lam=lam, loss=loss, sample_weight=sample_weight))
        Q = np.linalg.qr(U)[0]
        w, b, _ = by_cvxpy((X.transpose(0, 2, 1) @ Q).reshape(n, -1), y, **settings)
        V = w.reshape(d2, rank)
        B = Q @ V.T
        path.append(objective(B, b, X, y, lam=lam, loss=loss, sample_weight=sample_weight))
        if len(path) > 2 and path[-3] - path[-1] <= tol * abs(path[-1]):
            break
    return B, b, np.array(path)

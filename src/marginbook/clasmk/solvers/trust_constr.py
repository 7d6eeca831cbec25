r"""An interior-point method for the kernel weights, the nearest here to what the paper ran.

The paper gives (33) to MATLAB's fmincon with its interior-point technique (Section 5.1) and starts from equal
weights (Algorithm 1). fmincon differentiates numerically unless told otherwise, and by default ends after
1000 iterations or 3000 evaluations of the objective, differences included. With C classes and K kernels one
gradient costs CK + 1 evaluations, so that ten classes and eight kernels leave about 40 iterations. SciPy's
``trust-constr`` is a method of the same family (Byrd, Hribar & Nocedal 1999): a barrier for the bounds, steps
within a trust region. It is no copy of fmincon, and like it a local solver.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import BFGS, Bounds, LinearConstraint, minimize

from ...base.parameters import validate_choice
from ..model.objective import (
    COMBINE,
    diagonals,
    forms,
    kkt_residual,
    ratio,
    validate_kernel_weights,
    validate_matrices,
)
from .solution import Weights

#: a step shorter than this ends the iteration, as fmincon's does
SHORTEST_STEP = 1e-10


def minimise_trust_constr(
    numerator: ArrayLike,
    denominator: ArrayLike,
    *,
    combine: str = "sum",
    start: ArrayLike | None = None,
    tol: float = 1e-6,
    max_iter: int = 1000,
    max_evaluations: int | None = 3000,
) -> Weights:
    r"""Minimise the separation ratio locally by an interior-point method with numerical derivatives.

    .. math:: \min_\nu F(\nu),\qquad 0\le\nu_{ci}\le1,\quad\sum_i\nu_{ci}=1,

    with F of :mod:`~marginbook.clasmk.model.objective`. F is taken as it is, not scaled: the barrier is added
    to it with the first weight 0.1.

    Parameters
    ----------
    numerator, denominator : (C, K, K) arrays
    combine : {"sum", "concat"}
    start : (C, K) array, optional
        Weights to start from; default uniform, as in Algorithm 1. Zeros are moved inside.
    tol : float
        Of the gradient of the Lagrangian and of the barrier's last weight.
    max_iter : int
    max_evaluations : int or None
        The iteration after which so many evaluations are reached is the last one. None: no limit.

    Returns
    -------
    Weights
        The best of the start and all iterates; no bound. ``converged`` is False at either limit, and where
        the steps became short far from a stationary point: the gradient of the Lagrangian is above the root
        of `tol`. Another call from there goes on. ``n_evaluations`` counts those of finite differences too.

    Raises
    ------
    ValueError
        If an option is unknown, or the matrices are not as they must be.

    Examples
    --------
    >>> import numpy as np
    >>> N = np.array([[[2.0, 0.5], [0.5, 1.0]], [[1.0, -0.5], [-0.5, 3.0]]])
    >>> D = np.array([[[4.0, 1.0], [1.0, 1.0]], [[2.0, 1.0], [1.0, 2.0]]])
    >>> [round(minimise_trust_constr(N, D, max_evaluations=most).objective, 3) for most in (30, 3000)]
    [0.442, 0.438]
    """
    validate_choice("combine", combine, COMBINE)
    top, bottom = validate_matrices(numerator, denominator)
    shape = top.shape[:2]
    first = np.full(shape, 1 / shape[1]) if start is None else validate_kernel_weights(start, *shape)
    # both scaled alike: the ratio stays
    size = float(np.abs(bottom).max())
    N, D = top / size, bottom / size
    n, d = diagonals(N), diagonals(D)

    def value(x: np.ndarray) -> float:
        nu = x.reshape(shape)
        if combine == "concat":
            return float((nu * n).sum() / (nu * d).sum())
        s = np.sqrt(np.maximum(nu, 0.0))
        return float(forms(s, N).sum() / forms(s, D).sum())

    best, path = first, [value(first.ravel())]

    def watch(x: np.ndarray, state: Any) -> bool:
        nonlocal best
        now = _feasible(x.reshape(shape))
        path.append(value(now.ravel()))
        if path[-1] < value(best.ravel()):
            best = now
        return max_evaluations is not None and state.nfev >= max_evaluations

    with warnings.catch_warnings():
        # where F is flat the quasi-Newton matrix stays, which SciPy tells
        warnings.filterwarnings("ignore", "delta_grad == 0.0", UserWarning)
        result = minimize(
            value,
            first.ravel(),
            jac="2-point",
            # F is concave along many directions: updates that are skipped there would leave it at the start
            hess=BFGS(exception_strategy="damp_update"),
            method="trust-constr",
            bounds=Bounds(0.0, 1.0, keep_feasible=True),
            constraints=LinearConstraint(_row_sums(shape), 1.0, 1.0),
            options={
                "gtol": tol,
                "barrier_tol": tol,
                "xtol": SHORTEST_STEP,
                "maxiter": max_iter,
                "initial_tr_radius": float(np.sqrt(first.size)),
            },
            callback=watch,
        )
    return Weights(
        weights=best,
        objective=ratio(best, top, bottom, combine=combine),
        lower_bound=None,
        kkt_residual=kkt_residual(best, top, bottom, combine=combine),
        n_iter=len(path) - 1,
        # 1: a small gradient; 2: a short step, which a bad quasi-Newton matrix can cause anywhere
        converged=result.status == 1 or (result.status == 2 and result.optimality <= np.sqrt(tol)),
        objective_path=np.array(path),
        n_evaluations=int(result.nfev),
    )


def _feasible(weights: np.ndarray) -> np.ndarray:
    """Return the weights without what rounding has made negative, each row of sum 1."""
    inside = np.maximum(weights, 0.0)
    scaled: np.ndarray = inside / inside.sum(axis=1, keepdims=True)
    return scaled


def _row_sums(shape: tuple[int, int]) -> np.ndarray:
    """Return the (C, CK) matrix of the sums of rows."""
    return np.kron(np.eye(shape[0]), np.ones(shape[1]))

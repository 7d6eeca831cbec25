r"""Solvers of the LDM dual (12): the matrix H in, a solution with its duality gap out.

.. math:: \min_{\beta'}\ \tfrac12\beta'^\top H\beta'-e^\top\beta'
    \quad\text{with}\quad \tfrac{\lambda_2}m\le\beta'_i\le C+\tfrac{\lambda_2}m

:func:`coordinate_descent` is Algorithm 1 of the paper, :func:`active_set` the fast one. Many parameters of
one Gram matrix are solved by :func:`marginbook.ldm.solvers.grid.solve_grid`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.objective import (
    coefficients,
    dual_gap,
    primal_objective,
    relative_gap,
    squared_norm,
    validate_parameters,
    validate_signs,
)
from .active_sets import minimise
from .box_qp import sweep

#: passes of coordinate descent before a cold start of the active-set method
SWEEPS = 30


@dataclass(frozen=True)
class Solution:
    r"""A point of the dual box with the primal point that belongs to it, and by how much both can miss.

    Attributes
    ----------
    shifted : (m,) array
        :math:`\beta'=\beta+\lambda_2/m`.
    beta : (m,) array
        The dual variables of (12), in [0, C].
    alpha : (m,) array
        :math:`f(z)=\sum_i\alpha_ik(x_i,z)`.
    margins : (m,) array
        :math:`\gamma_i=y_if(x_i)` on the training examples.
    objective : float
        The primal objective F; the dual value is ``objective - dual_gap``.
    dual_gap : float
        F - D: the objective exceeds the optimum by no more.
    n_iter : int
        Passes over the examples, and exchanges of the active-set method.
    converged : bool
        Whether ``dual_gap <= tol * max(1, |objective|)``.
    lambda1, lambda2, C : float
    path : (n_iter + 1, 2) array or None
        Dual value D and gap before the first and after each pass, if they were recorded.
    """

    shifted: np.ndarray
    beta: np.ndarray
    alpha: np.ndarray
    margins: np.ndarray
    objective: float
    dual_gap: float
    n_iter: int
    converged: bool
    lambda1: float
    lambda2: float
    C: float
    path: np.ndarray | None = None


def coordinate_descent(
    H: np.ndarray,
    y: np.ndarray,
    lambda1: float,
    lambda2: float,
    C: float,
    *,
    tol: float = 1e-6,
    max_iter: int = 1000,
    start: np.ndarray | None = None,
    record: bool = False,
) -> Solution:
    r"""Solve the dual by coordinate descent: Algorithm 1 of the paper, free of inverses.

    .. math:: \beta_i\leftarrow\min\Bigl(\max\Bigl(\beta_i-\frac{[\nabla f(\beta)]_i}{h_{ii}},0\Bigr),C\Bigr)

    for i = 1, ..., m in cyclic order, with the gradient :math:`H\beta'-e` kept current; O(m) per changed
    coordinate.

    Parameters
    ----------
    H : (m, m) array
        Of :meth:`marginbook.ldm.model.whitening.WhitenedGram.hessian` for the same `lambda1`.
    y : (m,) array of -1 and +1
    lambda1, lambda2, C : float
    tol : float
        Stop when the duality gap is at most ``tol * max(1, |objective|)``.
    max_iter : int
        Passes over the examples.
    start : (m,) array, optional
        Shifted dual variables to start from, clipped to the box; beta = 0 by default, as in the paper.
    record : bool
        Keep the dual value and the gap of every pass.

    Returns
    -------
    Solution
        ``converged`` is False if `max_iter` passes did not suffice.

    Raises
    ------
    ValueError
        If a parameter is out of range or shapes disagree.
    """
    H, signs, x = _prepare(H, y, lambda1, lambda2, C, start)
    lower = lambda2 / len(x)
    grad = H @ x - 1.0
    path, passes = [], 0
    while True:
        primal, gap = _certificate(x, grad + 1.0, lambda1, lambda2, C)
        path.append((primal - gap, gap))
        if gap <= tol * max(1.0, abs(primal)) or passes >= max_iter:
            # the kept gradient has collected the rounding of all its updates; stop only on a fresh one
            grad = H @ x - 1.0
            primal, gap = _certificate(x, grad + 1.0, lambda1, lambda2, C)
            if gap <= tol * max(1.0, abs(primal)) or passes >= max_iter:
                break
        sweep(H, x, grad, lower, C + lower)
        passes += 1
    recorded = np.array(path) if record else None
    return solution_at(H, signs, x, lambda1, lambda2, C, tol=tol, n_iter=passes, path=recorded)


def active_set(
    H: np.ndarray,
    y: np.ndarray,
    lambda1: float,
    lambda2: float,
    C: float,
    *,
    tol: float = 1e-10,
    max_iter: int = 100_000,
    start: np.ndarray | None = None,
) -> Solution:
    r"""Solve the dual by the primal active-set method; finite, and exact up to rounding.

    A set B of free variables with :math:`H_{BB}` positive definite is minimised over exactly; variables that
    meet a bound leave it, and the one that adds most to the duality gap enters
    (:mod:`marginbook.ldm.solvers.active_sets`). Singular H needs no regularisation.

    Parameters
    ----------
    H, y, lambda1, lambda2, C, tol, start
        As for :func:`coordinate_descent`.
    max_iter : int
        Variables that enter B.

    Returns
    -------
    Solution

    Raises
    ------
    ValueError
        If a parameter is out of range or shapes disagree.

    Examples
    --------
    >>> solution = active_set(np.eye(2), np.array([1.0, -1]), 0.0, 0.0, C=10.0)
    >>> solution.alpha.tolist(), solution.objective
    ([1.0, -1.0], 1.0)
    """
    H, signs, x = _prepare(H, y, lambda1, lambda2, C, start)
    lower = lambda2 / len(x)
    sweeps = SWEEPS if start is None else 0
    exchanges, _, _ = minimise(H, x, lower, C + lower, tol, max_iter, sweeps, np.empty(0))
    return solution_at(H, signs, x, lambda1, lambda2, C, tol=tol, n_iter=sweeps + exchanges)


def solution_at(
    H: np.ndarray,
    y: np.ndarray,
    shifted: np.ndarray,
    lambda1: float,
    lambda2: float,
    C: float,
    *,
    tol: float,
    n_iter: int = 0,
    path: np.ndarray | None = None,
) -> Solution:
    """Return the Solution that a point of the box stands for, with margins computed afresh from `H`."""
    margins = H @ shifted
    primal, gap = _certificate(shifted, margins, lambda1, lambda2, C)
    lower = lambda2 / len(shifted)
    # (C + lower) - lower need not be C in floating point, and support vectors are counted by beta = C
    beta = np.where(shifted >= C + lower, C, np.clip(shifted - lower, 0.0, C))
    return Solution(
        shifted,
        beta,
        coefficients(shifted, margins, y, lambda1),
        margins,
        primal,
        gap,
        n_iter,
        bool(relative_gap(gap, primal) <= tol),
        float(lambda1),
        float(lambda2),
        float(C),
        path,
    )


def _certificate(
    shifted: np.ndarray, margins: np.ndarray, lambda1: float, lambda2: float, C: float
) -> tuple[float, float]:
    norm = squared_norm(shifted, margins, lambda1)
    primal = primal_objective(margins, norm, lambda1, lambda2, C)
    return float(primal), float(dual_gap(shifted, margins, lambda2, C))


def _prepare(
    H: np.ndarray, y: np.ndarray, lambda1: float, lambda2: float, C: float, start: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    validate_parameters(lambda1, lambda2, C)
    H = np.ascontiguousarray(H, dtype=float)
    if H.ndim != 2 or H.shape[0] != H.shape[1]:
        raise ValueError(f"H must be square, got shape {H.shape}; take WhitenedGram(G, y).hessian(lambda1)")
    signs = validate_signs(y, len(H))
    lower = lambda2 / len(H)
    if start is None:
        return H, signs, np.full(len(H), lower)
    x = np.array(start, dtype=float)
    if x.shape != (len(H),):
        raise ValueError(f"start has shape {x.shape}, H asks for ({len(H)},)")
    return H, signs, np.clip(x, lower, C + lower)

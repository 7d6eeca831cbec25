r"""The hard-margin model: every example on its side of the margin, or a proof that none can be.

.. math:: \min_w\ \tfrac12\lVert w\rVert^2+\lambda_1V-\lambda_2\bar\gamma\quad\text{with}\quad\gamma_i\ge1

Its dual is that of :mod:`marginbook.ldm.model.objective` without the upper bound. It is feasible exactly if
some hyperplane through the origin separates the classes; otherwise, by Gordan's theorem, there are
:math:`\beta\ge0` with :math:`e^\top\beta=1` and :math:`\sum_i\beta_iy_i\varphi(x_i)=0`, and that is the
certificate.
"""

from __future__ import annotations

import numpy as np

from ...kernels.decomposition import eigh
from ...kernels.nonnegative import nnls
from ..model.objective import (
    coefficients,
    dual_objective,
    primal_objective,
    relative_gap,
    squared_norm,
    validate_parameters,
    validate_signs,
)
from ..model.whitening import WhitenedGram
from .active_sets import minimise
from .dual import SWEEPS, Solution

#: residual of the certificate, as a share of the largest norm of an example, that counts as zero
_SEPARABLE = 1e-7


class InfeasibleError(ValueError):
    r"""No hyperplane through the origin separates the classes.

    Attributes
    ----------
    certificate : (m,) array or None
        :math:`\beta\ge0` with sum 1.
    residual : float
        :math:`\lVert\sum_i\beta_iy_i\varphi(x_i)\rVert`, zero up to rounding.
    """

    def __init__(self, certificate: np.ndarray | None = None, residual: float = np.nan) -> None:
        self.certificate, self.residual = certificate, residual
        proof = (
            "" if certificate is None else f" (a convex combination of y_i phi(x_i) has norm {residual:.1e})"
        )
        super().__init__(
            f"no hyperplane through the origin separates the classes{proof}; "
            "use the soft margin, a richer kernel, or fit_intercept=True"
        )


def gram_features(G: np.ndarray) -> np.ndarray:
    """Return features, (m, r), whose inner products are `G`, (m, m), up to rounding; r is its rank.

    The columns are orthogonal, in order of growing norm.
    """
    s, U = eigh(G)
    kept = s > len(s) * np.finfo(float).eps * max(float(s[-1]), 0.0)
    F: np.ndarray = U[:, kept] * np.sqrt(s[kept])
    return F


def inseparability(G: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float]:
    r"""Return the convex combination of the :math:`y_i\varphi(x_i)` that comes closest to 0, and its norm.

    Solved by non-negative least squares, :math:`\min_{\beta\ge0}\lVert A\beta\rVert^2+(e^\top\beta-1)^2`,
    whose solution is a multiple of that combination.

    Parameters
    ----------
    G : (m, m) Gram matrix
    y : (m,) array of -1 and +1

    Returns
    -------
    weights : (m,) array
        Non-negative, with sum 1.
    distance : float
        The largest margin that a unit vector w can give; 0 up to rounding if none separates.
    """
    y = validate_signs(y, len(G))
    radius = float(np.sqrt(max(np.diagonal(G).max(), 0.0)))
    A = (gram_features(G) * y[:, None]).T / (radius or 1.0)
    system = np.vstack([A, np.ones(len(y))])
    target = np.zeros(len(system))
    target[-1] = 1.0
    weights, _ = nnls(system, target, maxiter=30 * len(y))
    weights /= weights.sum()
    return weights, radius * float(np.linalg.norm(A @ weights))


def solve_hard_margin(
    whitened: WhitenedGram, lambda1: float, lambda2: float, *, tol: float = 1e-8, max_iter: int = 100_000
) -> Solution:
    r"""Solve the hard-margin model by the active-set method, with an upper bound that grows until it is idle.

    Parameters
    ----------
    whitened : WhitenedGram
        Of the training examples.
    lambda1, lambda2 : float
    tol : float
        Bound on the gap of the result, as a share of max(1, abs(objective)).
    max_iter : int
        Exchanges of one solve.

    Returns
    -------
    Solution
        With ``C = inf``. Its w is scaled by the factor 1 + O(rounding) that makes every margin at least 1, so
        that `objective` and `dual_gap` belong to a feasible point.

    Raises
    ------
    InfeasibleError
        With a certificate, if the classes cannot be separated.
    ValueError
        If a parameter is out of range, or the margin below about 1e-5 of the largest norm of an example.

    Examples
    --------
    >>> solution = solve_hard_margin(WhitenedGram(np.eye(2), np.array([1.0, -1])), 0.0, 0.0)
    >>> solution.alpha.tolist(), solution.objective
    ([1.0, -1.0], 1.0)
    """
    validate_parameters(lambda1, lambda2, 1.0)
    m, H = whitened.m, whitened.hessian(lambda1)
    size = float(np.diagonal(H).max())
    lower = lambda2 / m
    if size > 0:
        x, upper, margin = np.full(m, lower), 100.0 / size, 0.0
        radius = float(np.sqrt(np.diagonal(whitened.gram).max()))
        while True:
            steps, _, _ = minimise(H, x, lower, lower + upper, 0.01 * tol, max_iter, SWEEPS, np.empty(0))
            if np.all(x < lower + upper):
                solution = _feasible(H, whitened.y, x, lambda1, lambda2, tol, steps)
                if solution is not None:
                    return solution
            if not margin and upper > 1e3 / size:
                weights, margin = inseparability(whitened.gram, whitened.y)
                if margin <= _SEPARABLE * radius:
                    raise InfeasibleError(weights, margin)
            if upper > 1e18 / size:
                raise ValueError(
                    f"the classes are separable, but by a margin of {margin:.1e}, too small against a radius "
                    f"of {radius:.1e} for double precision; use the soft margin or a richer kernel"
                )
            upper *= 100.0
    raise InfeasibleError(*inseparability(whitened.gram, whitened.y))


def _feasible(
    H: np.ndarray, y: np.ndarray, x: np.ndarray, lambda1: float, lambda2: float, tol: float, steps: int
) -> Solution | None:
    margins = H @ x
    smallest = float(margins.min())
    if smallest < 0.5:
        return None
    stretch = max(1.0, 1.0 / smallest)
    norm = stretch**2 * float(squared_norm(x, margins, lambda1))
    dual = float(dual_objective(x, margins, lambda2))
    # C = 1: there is no hinge loss at a feasible point
    objective = float(primal_objective(np.maximum(stretch * margins, 1.0), norm, lambda1, lambda2, 1.0))
    return Solution(
        x,
        np.maximum(x - lambda2 / len(x), 0.0),
        stretch * coefficients(x, margins, y, lambda1),
        stretch * margins,
        objective,
        max(objective - dual, 0.0),
        steps,
        bool(relative_gap(objective - dual, objective) <= tol),
        float(lambda1),
        float(lambda2),
        np.inf,
    )

r"""The convex problem of one block whose features are known by their inner products only.

.. math::
    \min_{\beta,b}\ \frac1n\sum_iw_iL\bigl(y_i((G\beta)_i+b)\bigr)+\lambda\beta^\top G\beta
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from ..model.objective import loss_values
from .block import solve_inner
from .solution import InnerSolution

#: excess of the objective, relative to it, for which coefficients that are zero off the support are preferred
SPARSE = 1e-10


@dataclass(frozen=True)
class GramFactor:
    r"""A Gram matrix with its pivoted Cholesky factor :math:`G=RR^\top`.

    Attributes
    ----------
    gram : (n, n) array
    features : (n, m) array
        R; one column of zeros where G is 0.
    landmarks : (k,) array of int
        The rows S of R that are triangular; k is the rank of G.
    """

    gram: np.ndarray
    features: np.ndarray
    landmarks: np.ndarray

    @property
    def corner(self) -> np.ndarray:
        """The triangle, (k, m)."""
        return self.features[self.landmarks]


def factor_gram(gram: np.ndarray) -> GramFactor:
    """Return the factor of a Gram matrix, (n, n), positive semidefinite up to rounding."""
    n = len(gram)
    factor, pivots, rank, _ = dpstrf(gram, lower=1)
    rank, order = int(rank), pivots - 1
    if not np.any(gram.diagonal() > 0):
        rank = 0
    features = np.zeros((n, max(rank, 1)))
    features[order] = np.tril(factor)[:, : max(rank, 1)] if rank else 0.0
    return GramFactor(gram, features, order[:rank])


def gram_machine(
    gram: np.ndarray | GramFactor,
    y: np.ndarray,
    *,
    lam: float,
    loss: str,
    sample_weight: np.ndarray,
    fit_intercept: bool,
    tol: float,
    start: tuple[np.ndarray, float] | None = None,
    multipliers: np.ndarray | None = None,
) -> InnerSolution:
    r"""Return the solution in coefficients of the samples, with an objective that is theirs.

    By a pivoted Cholesky factor, :math:`G=RR^\top` with rows S of R triangular, it is the linear problem
    with features R. Its multipliers c give :math:`\beta=c_iy_i/2\lambda`, but a linear solution w that is
    optimal to a gap :math:`\varepsilon` may be :math:`(\varepsilon/\lambda)^{1/2}` away from
    :math:`R^\top\beta`, and a hinge loss feels that at first order. So what is missing,
    :math:`w-R^\top\beta`, is added on S.

    Parameters
    ----------
    gram : (n, n) array or GramFactor
        G, symmetric, positive semidefinite up to rounding, or its factor.
    y, lam, loss, sample_weight, fit_intercept, tol, multipliers
        As in :func:`~marginbook.smm.solvers.block.solve_inner`.
    start : ((n,) array, float), optional
        Values :math:`G\beta` and intercept near the solution.

    Returns
    -------
    InnerSolution
        ``weights`` are the (n,) coefficients :math:`\beta`.
    """
    factored = gram if isinstance(gram, GramFactor) else factor_gram(gram)
    gram, features, landmarks = factored.gram, factored.features, factored.landmarks
    n, rank, corner = len(gram), len(landmarks), factored.corner
    first = None
    if start is not None and rank:
        inside = solve_triangular(corner, start[0][landmarks], lower=True, check_finite=False)
        if np.isfinite(inside).all():
            first = inside, start[1]
    found = solve_inner(
        features,
        y,
        lam=lam,
        loss=loss,
        sample_weight=sample_weight,
        fit_intercept=fit_intercept,
        tol=tol,
        start=first,
        multipliers=multipliers,
    )

    def value(beta: np.ndarray) -> float:
        decisions = gram @ beta
        losses = loss_values(y * (decisions + found.intercept), loss)
        return float(sample_weight @ losses) / n + lam * float(beta @ decisions)

    beta = found.multipliers * y / (2.0 * lam)
    objective = value(beta)
    if rank and objective > found.objective + SPARSE * abs(found.objective):
        missing = found.weights - features.T @ beta
        whole = beta.copy()
        whole[landmarks] += solve_triangular(corner, missing, lower=True, trans="T", check_finite=False)
        other = value(whole)
        if other < objective:
            beta, objective = whole, other
    gap = max(0.0, found.dual_gap + objective - found.objective)
    return InnerSolution(
        beta, found.intercept, found.multipliers, objective, gap, found.n_iter, found.converged
    )

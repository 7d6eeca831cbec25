r"""q = 2 by preconditioned conjugate gradients: O(N^2) an iteration, where a factor costs O(N^3).

With the bias eliminated, :math:`b=1^\top(\hat y-K\alpha)/(N+\nu)` for its own penalty :math:`\nu\ge0`, the
minimiser of

.. math:: \tfrac12\lVert\hat y-b1-K\alpha\rVert^2+\tfrac\mu2\lVert\alpha\rVert^2+\tfrac\nu2b^2

solves :math:`A\alpha=KP\hat y` with :math:`A=KPK+\mu I`, :math:`P=I-11^\top/(N+\nu)`. The eigenvalues of A
are the squares of those of K, plus :math:`\mu`: what is above it counts. A Nyström approximation
:math:`K\approx U\Lambda U^\top` from r columns (Frangella, Tropp & Udell, "Randomized Nyström
preconditioning", 2023) takes the largest ones out, with P in it; the rest converges as
:math:`\sqrt{(\lambda_{r+1}^2+\mu)/\mu}` asks. An iteration is two products with K, of which one triangle is
read.

The certificate needs no spectrum: A is at least :math:`\mu`, so with the residual s of the equations the
objective is above its minimum by at most :math:`\lVert s\rVert^2/(2\mu)`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas, cho_factor, cho_solve

from ...kernels.conjugate_gradients import Product, conjugate_gradients, nystrom_factor
from ..model.blocks import gram_of

#: columns of the approximation at most, and rows for each of them
RANK, ROWS_PER_COLUMN = 1000, 5
#: residual, relative to the right-hand side, at which to stop
TOLERANCE = 1e-12
#: iterations without a smaller residual after which rounding is what is left
IDLE = 200


@dataclass(frozen=True, eq=False)
class IterativeRidge:
    r"""Where the iteration ended.

    Attributes
    ----------
    coef : (N,) array, alpha
    bias : float, b
    values : (n_iter+1,) array
        The objective at the start, alpha = 0, and after each iteration.
    gap : float
        Bound of what the objective is above its minimum.
    """

    coef: np.ndarray
    bias: float
    values: np.ndarray
    gap: float

    @property
    def n_iter(self) -> int:
        """Number of iterations."""
        return len(self.values) - 1


def ridge_by_iteration(
    K: np.ndarray,
    yhat: np.ndarray,
    mu: float,
    *,
    ones: np.ndarray | None = None,
    nu: float = 0.0,
    tol: float = TOLERANCE,
    max_iter: int = 1000,
) -> IterativeRidge:
    """Minimise the penalised least squares.

    Parameters
    ----------
    K : (N, N) array
        Symmetric; contiguous, or it is copied. One of its triangles is read.
    yhat : (N,) array
    mu : float
        Above 0.
    ones : (N,) array, optional
        The column of the bias.
    nu : float
        Penalty of the bias, 0 where it goes free.
    tol : float
        Norm of the residual, relative to that of the right-hand side.
    max_iter : int

    Examples
    --------
    >>> K = np.array([[2.0, 1, 0], [1, 2, 1], [0, 1, 2]])
    >>> found = ridge_by_iteration(K, np.array([1.5, 1.5, -3]), 1.0)
    >>> round(found.bias, 3), found.gap < 1e-12
    (-1.2, True)
    """
    if not mu > 0:
        raise ValueError(f"mu must be a number > 0, got {mu!r}")
    product = symmetric_product(K)
    column = np.ones(len(yhat)) if ones is None else ones
    whole = float(column @ column) + nu

    def projected(v: np.ndarray) -> np.ndarray:
        return np.asarray(v - column * (float(column @ v) / whole))

    def system(v: np.ndarray) -> np.ndarray:
        return product(projected(product(v))) + mu * v

    left = projected(yhat)
    right = product(left)
    goal = tol * float(np.linalg.norm(right))
    best, idle = np.inf, 0

    def settled(residual: np.ndarray) -> np.ndarray:
        nonlocal best, idle
        size = float(np.linalg.norm(residual))
        idle = 0 if size < 0.9 * best else idle + 1
        best = min(best, size)
        return np.array([size <= goal or idle >= IDLE])

    precondition = nystrom_preconditioner(K, column, whole, mu)
    found, gains = conjugate_gradients(
        lambda V: system(V[:, 0])[:, np.newaxis], precondition, right[:, np.newaxis], settled, max_iter
    )
    coef = found[:, 0]
    values = 0.5 * float(yhat @ left) - np.cumsum([0.0, *gains])
    fitted = product(coef)
    bias = float(column @ (yhat - fitted)) / whole
    missing = product(yhat - column * bias - fitted) - mu * coef
    return IterativeRidge(coef, bias, values, float(missing @ missing) / (2.0 * mu))


def symmetric_product(K: np.ndarray) -> Product:
    """Return the product with a symmetric `K`, (N, N), by one triangle: half of the memory is read."""
    columns = K if K.flags.f_contiguous else K.T if K.flags.c_contiguous else np.asfortranarray(K)
    return lambda v: np.asarray(blas.dsymv(1.0, columns, v, lower=1))


def nystrom_preconditioner(K: np.ndarray, column: np.ndarray, whole: float, mu: float) -> Product:
    """Return the product with an approximate inverse of A; the identity where K has no Nyström factor."""
    n = len(K)
    rank = max(1, min(RANK, n // ROWS_PER_COLUMN))
    picked = np.sort(np.random.default_rng(0).choice(n, rank, replace=False))
    low = nystrom_factor(np.asfortranarray(K[:, picked]), picked)
    if low is None:
        return lambda V: V
    values, vectors = np.linalg.eigh(gram_of(low.T))
    kept = values > 1e-12 * values[-1]
    values, vectors = values[kept], vectors[:, kept] / np.sqrt(values[kept])
    along = vectors.T @ (low.T @ column)
    inner = np.outer(values * along, -values * along) / whole
    inner.flat[:: len(values) + 1] += values**2 + mu
    solve = cho_factor(inner, lower=True, overwrite_a=True, check_finite=False)
    rest = float(values[0]) ** 2 + mu

    def apply(V: np.ndarray) -> np.ndarray:
        inside = vectors.T @ (low.T @ V)
        change = cho_solve(solve, inside, check_finite=False) - inside / rest
        return np.asarray(V / rest + low @ (vectors @ change))

    return apply

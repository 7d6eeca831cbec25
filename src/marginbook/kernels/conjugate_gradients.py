r"""Conjugate gradients for a Gram matrix with a ridge, and its Nyström approximation to precondition them.

With some columns S of a positive semidefinite K, and :math:`K_{SS}=LL^\top`, the factor
:math:`F=K_{\cdot S}L^{-\top}` has :math:`FF^\top\approx K`: exactly in the columns of S, and
:math:`K-FF^\top` is positive semidefinite. The inverse of :math:`FF^\top+D`, D diagonal, by Woodbury's
identity costs two products with F; preconditioned by it, the equations with K + D have the condition
:math:`1+\lVert D^{-1}\rVert\lVert K-FF^\top\rVert` at most.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from scipy.linalg import blas, cho_factor, cho_solve, lapack

#: share of their mean that is added to the diagonal entries of K_SS, so that it has a factor
JITTER = 1e-10

#: of columns, (n, k), to as many
Product: TypeAlias = Callable[[np.ndarray], np.ndarray]


def nystrom_factor(columns: np.ndarray, places: np.ndarray) -> np.ndarray | None:
    """Return F, (n, m), by columns; None where K_SS has no Cholesky factor, as of an indefinite matrix.

    Parameters
    ----------
    columns : (n, m) array
        Of K; overwritten where it is in Fortran's order.
    places : (m,) array of int
        Which columns they are.
    """
    own = columns[places]
    own = (own + own.T) / 2
    own.flat[:: len(own) + 1] += JITTER * max(float(np.trace(own)), 0.0) / len(own)
    factor, failed = lapack.dpotrf(own, lower=1)
    if failed:
        return None
    return np.asarray(blas.dtrsm(1.0, factor, columns, side=1, lower=1, trans_a=1, overwrite_b=1))


def ridge_inverse(F: np.ndarray, ridge: np.ndarray | float) -> Product:
    """Return the product with the inverse of ``F F' + diag(ridge)``.

    Parameters
    ----------
    F : (n, m) array
    ridge : (n,) array of positive numbers, or one number
    """
    root = np.broadcast_to(np.sqrt(ridge), len(F))[:, np.newaxis]
    half = F / root
    small = half.T @ half
    small.flat[:: len(small) + 1] += 1.0
    factor = cho_factor(small, lower=True, overwrite_a=True, check_finite=False)

    def apply(V: np.ndarray) -> np.ndarray:
        V = V / root
        return np.asarray((V - half @ cho_solve(factor, half.T @ V, check_finite=False)) / root)

    return apply


def conjugate_gradients(
    times: Product, precondition: Product, right: np.ndarray, settled: Product, most: int
) -> tuple[np.ndarray, list[float]]:
    """Solve A V = `right` from V = 0, each column by itself; A is symmetric.

    Parameters
    ----------
    times, precondition : callable
        Products with A, and with an approximation of its inverse that is positive definite.
    right : (n, k) array
    settled : callable
        Of residuals, (n, j), the (j,) array that says which are small enough: these columns are left as they
        are, and out.
    most : int
        Iterations.

    Returns
    -------
    V : (n, k) array
    gains : list of float
        What each iteration took off the sum of :math:`v^\top Av/2-v^\top r` over the columns.

    Examples
    --------
    >>> A, right = np.array([[2.0, 1], [1, 2]]), np.array([[3.0], [0.0]])
    >>> V, gains = conjugate_gradients(A.__matmul__, np.copy, right, lambda R: abs(R).max(axis=0) < 1e-9, 9)
    >>> V.ravel().round(9).tolist(), len(gains)
    ([2.0, -1.0], 2)
    """
    found, gains = np.zeros_like(right), list[float]()
    residual, going = right, np.arange(right.shape[1])
    direction, before = found, np.ones(len(going))
    while len(gains) < most:
        kept = ~settled(residual)
        if not kept.any():
            break
        going, residual = going[kept], residual[:, kept]
        turned = precondition(residual)
        size = np.einsum("nk,nk->k", residual, turned)
        direction = turned + _ratio(size, before[kept]) * direction[:, kept]
        product = times(direction)
        length = _ratio(size, np.einsum("nk,nk->k", direction, product))
        found[:, going] += length * direction
        residual, before = residual - length * product, size
        gains.append(0.5 * float(length @ size))
    return found, gains


def _ratio(over: np.ndarray, under: np.ndarray) -> np.ndarray:
    """Return the quotients, 0 for those by 0."""
    return np.divide(over, under, out=np.zeros_like(over), where=under != 0)

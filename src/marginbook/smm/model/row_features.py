r"""Explicit features of rows by an incomplete Cholesky factor: a kernel problem becomes a linear one.

With landmark rows S and :math:`\mathcal K_{SS}=LL^\top`, row x gets the features
:math:`\varphi(x)=L^{-1}[k(s,x)]_{s\in S}\in\mathbb R^m`, its coordinates in the span of the landmarks in
feature space. What they miss of a row is its squared distance to that span,
:math:`k(x,x)-\lVert\varphi(x)\rVert^2\ge0`; landmarks are the rows that are farthest, one after the other.
When nothing is missed, the linear problem in :math:`\varphi(X)\in\mathbb R^{d_1\times m}` is the kernel
problem itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular

from ...base.parameters import validate_within
from ...kernels import Kernel
from .row_kernels import as_rows, row_diagonal, row_values, validate_row_kernel, validate_same_shape

#: squared distance to the span, relative to the largest squared norm, that rounding cannot tell from 0
ROUNDING = 1e-12


@dataclass(frozen=True)
class RowFeatures:
    """Landmark rows and the triangular factor that makes features of any row.

    Attributes
    ----------
    kernel : str, (str, dict) or callable
    rows : (m, d2) array
        The landmarks.
    places : (m,) array of int
        The number of each landmark in its matrix.
    factor : (m, m) array
        L, lower triangular, :math:`LL^\top=K_{SS}`.
    shape : (int, int)
        d1 and d2.
    missed : float
        The share of the sum of all squared norms that the span of the landmarks misses, in [0, 1].
    """

    kernel: Kernel
    rows: np.ndarray
    places: np.ndarray
    factor: np.ndarray
    shape: tuple[int, int]
    missed: float

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Return the (n, d1, m) features of (n, d1, d2) matrices."""
        rows, places = as_rows(X)
        validate_same_shape(self.shape, np.shape(X)[1:])
        values = row_values(self.kernel, self.rows, self.places, rows, places)
        features = solve_triangular(self.factor, values, lower=True, check_finite=False)
        return np.ascontiguousarray(features.T).reshape(len(np.asarray(X)), self.shape[0], len(self.rows))


def row_features(
    kernel: Kernel, X: ArrayLike, *, max_features: int = 500, tol: float = 1e-10
) -> tuple[RowFeatures, np.ndarray]:
    r"""Choose landmarks among all rows by pivoted Cholesky, and return them with the features of X.

    Parameters
    ----------
    kernel : str, (str, dict) or callable
    X : (n, d1, d2) array
    max_features : int
        Landmarks at most.
    tol : float
        Stop as soon as the share that the landmarks miss is at most this.

    Returns
    -------
    features : RowFeatures
    values : (n, d1, m) array
        ``features.transform(X)``, m >= 1.

    Raises
    ------
    ValueError
        Unless max_features >= 1 and 0 <= tol < 1; and as :func:`~marginbook.smm.model.row_kernels.row_gram`.

    Notes
    -----
    The incomplete factor of Fine and Scheinberg (2001): :math:`O(nd_1m^2)` operations and :math:`O(nd_1m)`
    numbers; the :math:`nd_1\times nd_1` matrix is never made.

    Examples
    --------
    >>> X = np.array([[[1.0, 0.0], [0.0, 2.0]], [[3.0, 0.0], [1.0, 1.0]]])
    >>> found, values = row_features("linear", X)
    >>> found.rows.tolist(), found.missed
    ([[3.0, 0.0], [0.0, 2.0]], 0.0)
    >>> values[1].tolist()
    [[3.0, 0.0], [1.0, 1.0]]
    """
    if int(max_features) != max_features or max_features < 1:
        raise ValueError(f"max_features must be an integer >= 1, got {max_features!r}")
    validate_within("[0, 1)", tol=tol)
    validate_row_kernel(kernel)
    rows, places = as_rows(X)
    n, d1, d2 = np.shape(np.asarray(X))
    residual = row_diagonal(kernel, rows)
    total, floor = float(residual.sum()), ROUNDING * float(residual.max())
    cap = min(int(max_features), len(rows))
    # one row for each landmark: the transposed factor grows by contiguous pieces
    store = np.zeros((min(cap, 64), len(rows)))
    chosen: list[int] = []
    while len(chosen) < cap:
        pivot, k = int(np.argmax(residual)), len(chosen)
        if k and (residual[pivot] <= floor or residual.sum() <= tol * total):
            break
        if k == len(store):
            store = np.concatenate([store, np.zeros((min(k, cap - k), len(rows)))])
        here = slice(pivot, pivot + 1)
        column = row_values(kernel, rows[here], places[here], rows, places)[0]
        column -= store[:k, pivot] @ store[:k]
        # a matrix of zeros has no features: one landmark with a factor of 1 gives it the feature 0
        column /= np.sqrt(residual[pivot]) if residual[pivot] > 0 else 1.0
        column[chosen] = 0.0
        store[k] = column
        residual = np.maximum(residual - column**2, 0.0)
        residual[pivot] = 0.0
        chosen.append(pivot)
    m = len(chosen)
    factor = np.tril(store[:m, chosen].T)
    factor[np.diag_indices(m)] = np.where(np.diag(factor) > 0, np.diag(factor), 1.0)
    missed = float(residual.sum() / total) if total > 0 else 0.0
    found = RowFeatures(kernel, rows[chosen], places[chosen], factor, (d1, d2), missed)
    return found, np.ascontiguousarray(store[:m].T).reshape(n, d1, m)

r"""Subspaces of one kernel's feature space from a greedily chosen basis (section 3.1).

A sample is chosen when its squared distance to the span of those chosen so far exceeds a tolerance (greedy
spectral embedding, Ouimet and Bengio 2005): an incomplete Cholesky factorisation of the normalised Gram
matrix. With chosen rows B and :math:`K_{BB}=R^\top R`, the samples have the coordinates
:math:`L=K_{\cdot B}R^{-1}` in an orthonormal basis of the span. Uncentred kernel principal components there,
:math:`L^\top L/n=V\Lambda V^\top`, give

.. math::
    U=\Phi_BA,\qquad A=R^{-1}V,\qquad A^\top K_{BB}A=I,\qquad U^\top\varphi(x)=A^\top k(X_B,x).

Uncentred, because model (9) writes :math:`\varphi=U\beta+e` without a mean: that of :math:`\beta` lies in the
span.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular

from ...base.parameters import validate_choice
from ...kernels import Kernel
from ...kernels.decomposition import eigh
from .incomplete_cholesky import FLOOR, GrowingFactor, well_conditioned
from .normalised_kernels import SharedPairs
from .self_similarity import validate_rows

ORDERS = ("pivoted", "sequential")


@dataclass(frozen=True)
class Embedding:
    r"""The rows that the greedy rule chose, and the incomplete Cholesky factor.

    Attributes
    ----------
    indices : (m,) array of int
        Chosen rows, in the order of choice.
    factor : (m, n) array
        :math:`L^\top`, coordinates of all n rows: :math:`K\approx LL^\top`, exact in the chosen rows.
    residual : (n,) array
        Squared distance of each row to the span, >= 0.
    capped : bool
        Whether `max_rank` stopped the choice before the tolerance was met.
    """

    indices: np.ndarray
    factor: np.ndarray
    residual: np.ndarray
    capped: bool


@dataclass(frozen=True)
class Subspace:
    r"""A subspace of the feature space of one normalised kernel, with orthonormal basis :math:`U=\Phi_BA`.

    Attributes
    ----------
    rows : (m, p) array
        The chosen samples :math:`X_B`.
    indices : (m,) array of int
        Where they were in the data that the subspace was built from.
    A : (m, r) array
        :math:`A^\top\tilde K_{BB}A=I`; columns by decreasing eigenvalue.
    eigenvalues : (r,) array
        Mean squared coordinate of the data on each column of U.
    kernel : str, (str, dict) or callable
    residual : float
        Largest squared distance of a sample to the subspace, before `n_components` drops directions.
    capped : bool
        Whether `max_rank` stopped the choice before the tolerance was met.
    """

    rows: np.ndarray
    indices: np.ndarray
    A: np.ndarray
    eigenvalues: np.ndarray
    kernel: Kernel
    residual: float
    capped: bool = False

    @property
    def n_components(self) -> int:
        """Dimension r of the subspace."""
        return self.A.shape[1]

    def coordinates(self, X: ArrayLike) -> np.ndarray:
        r"""Return :math:`z(x)=A^\top\tilde k(X_B,x)` of each row.

        Parameters
        ----------
        X : (n, p) array

        Returns
        -------
        (n, r) array
        """
        return SharedPairs(self.rows, validate_rows(X)).values(self.kernel).T @ self.A


def greedy_embedding(
    kernel: Kernel,
    X: ArrayLike,
    *,
    tol: float = 1e-3,
    max_rank: int | None = None,
    order: str = "pivoted",
) -> Embedding:
    r"""Choose samples until the others are within `tol` of their span, in squared distance.

    Parameters
    ----------
    kernel : str, (str, dict) or callable
        Normalised, so that every sample has squared length 1.
    X : (n, p) array
    tol : float
        In [0, 1]. A sample is taken when its squared residual exceeds this; the first one always is. Less
        than 1e-6 counts as 1e-6 (``marginbook.clasmk.model.incomplete_cholesky.FLOOR``).
    max_rank : int, optional
        Most samples to take.
    order : {"pivoted", "sequential"}
        Next comes the sample with the largest residual, or the next one in the order of the data.

    Returns
    -------
    Embedding

    Examples
    --------
    >>> greedy_embedding(("rbf", {"gamma": 1.0}), [[0.0], [9.0], [0.0]]).indices
    array([0, 1])
    """
    validate_embedding(tol, max_rank, None, order)
    return embed(SharedPairs(validate_rows(X)), kernel, tol=tol, max_rank=max_rank, order=order)


def class_subspace(
    kernel: Kernel,
    X: ArrayLike,
    *,
    tol: float = 1e-3,
    max_rank: int | None = None,
    n_components: int | float | None = None,
    order: str = "pivoted",
) -> Subspace:
    r"""Return the subspace of one class under one kernel.

    Parameters
    ----------
    kernel : str, (str, dict) or callable
    X : (n, p) array
        The samples of the class.
    tol, max_rank, order
        As in :func:`greedy_embedding`.
    n_components : int or float, optional
        Keep so many principal directions, or, for a float in (0, 1], as many as hold this share of the energy
        in the span. All by default.

    Returns
    -------
    Subspace
        The sign of each column of A is such that the mean of its coordinate over `X` is >= 0; where that mean
        is zero, such that the column's largest entry is positive. (No sign is implied by the subspace; the
        sum over kernels in (29) depends on it.)

    Notes
    -----
    With a `tol` near 1e-6 some chosen samples may nearly depend on the others, and A grow beyond what
    rounding allows. Then the directions that cause it are left out, and samples that this leaves farther
    from the subspace than 1e-5 and `tol` are chosen too.

    Examples
    --------
    >>> subspace = class_subspace("linear", [[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    >>> subspace.coordinates([[3.0, 4.0]]).round(3)
    array([[0.6, 0.8]])
    """
    validate_embedding(tol, max_rank, n_components, order)
    rows = validate_rows(X)
    return subspace_of_block(
        SharedPairs(rows), rows, kernel, tol=tol, max_rank=max_rank, n_components=n_components, order=order
    )


def validate_embedding(
    tol: float, max_rank: int | None, n_components: int | float | None, order: str
) -> None:
    """Raise an error that says which parameter is wrong and what it should be."""
    if not 0 <= tol <= 1:
        raise ValueError(f"tol = {tol}, wanted a squared residual in [0, 1]; 1e-3 is usual")
    if max_rank is not None and (max_rank != int(max_rank) or max_rank < 1):
        raise ValueError(f"max_rank = {max_rank}, wanted a whole number >= 1 or None")
    if n_components is not None:
        share = isinstance(n_components, float | np.floating) and 0 < n_components <= 1
        if not share and (n_components != int(n_components) or n_components < 1):
            raise ValueError(
                f"n_components = {n_components}, wanted a whole number >= 1, a float in (0, 1] or None"
            )
    validate_choice("order", order, ORDERS)


def embed(pairs: SharedPairs, kernel: Kernel, *, tol: float, max_rank: int | None, order: str) -> Embedding:
    """Do the work of :func:`greedy_embedding` on pairs that several kernels share."""
    n = pairs.shape[0]
    tol, cap = max(float(tol), FLOOR), n if max_rank is None else min(int(max_rank), n)
    found = GrowingFactor(pairs, kernel, cap)
    found.sequential(tol) if order == "sequential" else found.pivoted(tol)
    residual = found.residual
    if residual.min() < -1e-6:
        raise ValueError(
            f"a squared residual is {residual.min():.2g}, wanted >= 0; choose a positive semidefinite kernel"
        )
    np.maximum(residual, 0.0, out=residual)
    return Embedding(found.indices, found.factor, residual, bool(residual.max() > tol))


def subspace_of_block(
    pairs: SharedPairs,
    X: np.ndarray,
    kernel: Kernel,
    *,
    tol: float,
    max_rank: int | None,
    n_components: int | float | None,
    order: str,
) -> Subspace:
    """Do the work of :func:`class_subspace` on pairs that several kernels share."""
    embedding = embed(pairs, kernel, tol=tol, max_rank=max_rank, order=order)
    indices = embedding.indices
    corner = np.tril(embedding.factor[:, indices].T)
    values, vectors = _principal(embedding.factor)
    A = solve_triangular(corner, vectors, lower=True, trans="T", check_finite=False)
    mean = vectors.T @ embedding.factor.mean(axis=1)
    residual = embedding.residual.max()
    if np.einsum("ij,ij->j", A, A).max() > 1 / FLOOR:
        indices, whitening, factor = well_conditioned(pairs, kernel, indices, tol, max_rank)
        values, vectors = _principal(factor)
        A, mean = whitening @ vectors, vectors.T @ factor.mean(axis=1)
        residual = max(0.0, (1 - np.einsum("ij,ij->j", factor, factor)).max())
    r = _kept(values, n_components)
    values, A, mean = values[:r], A[:, :r], mean[:r]
    undecided = np.abs(mean) <= 1e-10 * np.sqrt(values)
    largest = A[np.abs(A).argmax(axis=0), np.arange(r)]
    A = A * np.where(np.where(undecided, largest, mean) < 0, -1.0, 1.0)
    capped = embedding.capped or bool(residual > max(tol, 10 * FLOOR))
    return Subspace(X[indices], indices, A, values, kernel, float(residual), capped)


def _principal(factor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues, decreasing, and eigenvectors of the mean of the outer products of the columns."""
    second = factor @ factor.T
    second /= factor.shape[1]
    values, vectors = eigh(second)
    return np.maximum(values[::-1], 0.0), vectors[:, ::-1]


def _kept(values: np.ndarray, n_components: int | float | None) -> int:
    if n_components is None:
        return len(values)
    if isinstance(n_components, float | np.floating) and n_components <= 1:
        shares = np.cumsum(values) / values.sum()
        return min(int(np.searchsorted(shares, n_components * (1 - 1e-12))) + 1, len(values))
    return min(int(n_components), len(values))

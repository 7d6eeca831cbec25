r"""Normalised kernels :math:`\tilde k(x,z)=k(x,z)/\sqrt{k(x,x)\,k(z,z)}`, computed without overflow.

A polynomial kernel of degree d is normalised before it is raised to its degree,

.. math::
    \tilde k(x,z)=\left(\frac{g\,x^\top z+c}
        {\sqrt{(g\lVert x\rVert^2+c)(g\lVert z\rVert^2+c)}}\right)^{d},

so that degree 64 on any data stays within [-1, 1]. All kernels of one family are elementwise functions of the
same matrix, the squared distances or the cosines in the bracket: :class:`SharedPairs` computes it once.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from ...kernels import Kernel, KernelOverflow, gram, parse_kernel
from .self_similarity import (
    LARGEST_ENTRY,
    gamma_of,
    polynomial,
    power,
    precomputed,
    self_similarity,
    validate_rows,
    validate_self_base,
)

#: most entries of a matrix of pairs that is kept for the next kernel of its family (128 MB)
KEPT_ENTRIES = 2**24
#: exponents of the Gaussian kernel below this count as this: exp(-230) is 1e-100, and processors are several
#: times slower where results or their squares leave the range of numbers
SMALLEST_EXPONENT = -230.0
#: squared distances below this share of the rows' squared lengths are computed from differences
CLOSE = 1e-3


def normalised_gram(kernel: Kernel, X: ArrayLike, Z: ArrayLike | None = None) -> np.ndarray:
    r"""Return the matrix of the normalised kernel :math:`\tilde k(x_i,z_j)`.

    Parameters
    ----------
    kernel : str, (str, dict) or callable
        As in :mod:`marginbook.kernels`, but not ``"precomputed"``. A gamma of None is 1/p.
    X : (n, p) array
    Z : (m, p) array, optional
        `X` by default; the result is then symmetric with ones on its diagonal.

    Returns
    -------
    (n, m) float64 array

    Raises
    ------
    ValueError
        If k(x, x) is not positive for a row, as for a row of zeros under the linear kernel.

    Examples
    --------
    >>> normalised_gram(("poly", {"degree": 64}), [[3.0], [4.0]]).round(3)
    array([[1.   , 0.828],
           [0.828, 1.   ]])
    """
    rows = validate_rows(X)
    others = None if Z is None else validate_rows(Z, "Z")
    return SharedPairs(rows, others).values(kernel)


class SharedPairs:
    r"""Pairs of rows of X and Z, from which every kernel takes its normalised values.

    The squared distances (rbf) and the cosines (linear, poly: one matrix for each gamma and coef0) are
    computed when the first kernel of the family asks and kept for the others, unless they would exceed
    :data:`KEPT_ENTRIES`. Then each request computes what it needs.

    Parameters
    ----------
    X : (n, p) array
    Z : (m, p) array, optional
        `X` by default, and :math:`\tilde k(x_i,x_i)` is then exactly 1.
    """

    def __init__(self, X: np.ndarray, Z: np.ndarray | None = None) -> None:
        if Z is not None and Z.shape[1] != X.shape[1]:
            raise ValueError(f"the rows have {X.shape[1]} and {Z.shape[1]} features, wanted the same number")
        for rows in (X,) if Z is None else (X, Z):
            largest = float(np.abs(rows).max())
            if largest > LARGEST_ENTRY:
                raise KernelOverflow(
                    f"an entry of the rows is as large as {largest:.1e} and its square overflows, wanted at "
                    f"most {LARGEST_ENTRY:.0e}; scale the features"
                )
        self._X, self._Z, self._same = X, X if Z is None else Z, Z is None
        self._bases: dict[Hashable, np.ndarray] = {}
        self._norms: dict[Hashable, tuple[np.ndarray, np.ndarray]] = {}
        self._centred: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows of X and Z."""
        return len(self._X), len(self._Z)

    def values(
        self, kernel: Kernel, rows: np.ndarray | None = None, columns: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the normalised kernel between the chosen rows of X and of Z.

        Parameters
        ----------
        kernel : str, (str, dict) or callable
        rows, columns : arrays of int, optional
            Rows of X and of Z; all by default.

        Returns
        -------
        (len(rows), len(columns)) array, new at each call
        """
        name, parameters = parse_kernel(kernel)
        if callable(name):
            return self._called(kernel, rows, columns)
        if name == "precomputed":
            raise precomputed()
        if name == "rbf":
            gamma = gamma_of(parameters["gamma"], self._X.shape[1])
            found = self._family(("distance",), rows, columns)
            found *= -gamma
            np.maximum(found, SMALLEST_EXPONENT, out=found)
            return np.exp(found, out=found)
        gamma, coef0, degree = polynomial(name, parameters, self._X.shape[1])
        for which in (self._X,) if self._same else (self._X, self._Z):
            validate_self_base(self._norms, which, gamma, coef0, degree, kernel)
        return power(self._family(("cosine", gamma, coef0), rows, columns), degree)

    def _family(
        self, family: tuple[Any, ...], rows: np.ndarray | None, columns: np.ndarray | None
    ) -> np.ndarray:
        """Return a fresh array of the family's matrix at `rows` and `columns`."""
        kept = self._bases.get(family)
        if kept is None and self.shape[0] * self.shape[1] <= KEPT_ENTRIES:
            kept = self._bases[family] = self._compute(family, None, None)
        if kept is None:
            return self._compute(family, rows, columns)
        if rows is None:
            return kept.copy() if columns is None else kept[:, columns]
        return kept[rows] if columns is None else kept[np.ix_(rows, columns)]

    def _compute(
        self, family: tuple[Any, ...], rows: np.ndarray | None, columns: np.ndarray | None
    ) -> np.ndarray:
        if family[0] == "distance":
            if self._centred is None:
                # distances far from the origin would lose their digits to cancellation
                mean = self._X.mean(axis=0)
                X = self._X - mean
                self._centred = X, X if self._same else self._Z - mean
            X, Z = (_take(part, chosen) for part, chosen in zip(self._centred, (rows, columns), strict=True))
            found, itself = _squared_distances(X, Z), 0.0
        else:
            _, gamma, coef0 = family
            X, Z = _take(self._X, rows), _take(self._Z, columns)
            found = X @ Z.T
            found *= gamma
            found += coef0
            for part, axis in ((X, 1), (Z, 0)):
                scale = np.sqrt(np.abs(gamma * np.einsum("ij,ij->i", part, part) + coef0))
                found /= np.expand_dims(scale, axis)
            if coef0 >= 0:
                np.clip(found, -1.0, 1.0, out=found)
            itself = 1.0
        if self._same:
            i = np.arange(len(self._X))
            at_rows, at_columns = _take(i, rows), _take(i, columns)
            if rows is None and columns is None:
                found = (found + found.T) / 2
                np.fill_diagonal(found, itself)
            else:
                found[at_rows[:, None] == at_columns] = itself
        return found

    def _called(self, kernel: Kernel, rows: np.ndarray | None, columns: np.ndarray | None) -> np.ndarray:
        X, Z = _take(self._X, rows), _take(self._Z, columns)
        whole = self._same and rows is None and columns is None
        found = gram(kernel, X, None if whole else Z)
        found /= np.sqrt(self_similarity(kernel, X))[:, None]
        found /= np.sqrt(self_similarity(kernel, Z))
        if self._same:
            i = np.arange(len(self._X))
            found[_take(i, rows)[:, None] == _take(i, columns)] = 1.0
        return found


def _squared_distances(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Return squared distances to nearly full accuracy, also of rows that are close to each other."""
    scale = np.add.outer(np.einsum("ij,ij->i", X, X), np.einsum("ij,ij->i", Z, Z))
    found = X @ Z.T
    found *= -2.0
    found += scale
    scale *= CLOSE
    # here the sum has cancelled; a copy of a row would seem to be apart from it, and be chosen beside it
    close = np.flatnonzero(found < scale)
    if len(close) > found.size // 4:
        return cdist(X, Z, "sqeuclidean")
    for part in np.array_split(close, len(close) // 2**16 + 1):
        i, j = np.divmod(part, len(Z))
        gap = X[i] - Z[j]
        found.ravel()[part] = np.einsum("ij,ij->i", gap, gap)
    return found


def _take(rows: np.ndarray, chosen: np.ndarray | None) -> np.ndarray:
    return rows if chosen is None else rows[chosen]

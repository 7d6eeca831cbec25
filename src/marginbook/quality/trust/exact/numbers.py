"""Arrays of numbers with 60 digits and more, and the linear algebra of small systems on them.

Arrays are NumPy arrays of `mpmath.mpf`: a number of double precision goes in without any rounding. Nothing
here calls LAPACK, nor the functions of the rooms: these are the second opinion.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mpmath
import numpy as np
from mpmath import mp

#: decimal digits that all of this computes with
DIGITS = 100
#: pivots up to this share of the largest diagonal entry count as zero
TINY = 1e-60
mp.dps = DIGITS

_convert = np.vectorize(mpmath.mpf, otypes=[object])


def exactly(values: Any) -> np.ndarray:
    """Return an array of doubles as numbers of many digits, unrounded; what is one already stays as it is."""
    given = np.asarray(values)
    if given.size == 0:
        return np.zeros(given.shape, dtype=object)
    if given.dtype == object:
        return given
    return _convert(given.astype(float))


def zeros(*shape: int) -> np.ndarray:
    """Return an array of zeros of many digits."""
    return np.full(shape, mpmath.mpf(0), dtype=object)


def identity(n: int) -> np.ndarray:
    """Return the (n, n) identity."""
    result = zeros(n, n)
    result[np.diag_indices(n)] = mpmath.mpf(1)
    return result


class Factored:
    """A square matrix after Gaussian elimination with row pivots, ready for any right-hand side.

    Raises
    ------
    ZeroDivisionError
        If the matrix is singular to all digits.
    """

    def __init__(self, A: np.ndarray) -> None:
        n = len(A)
        self.work, self.rows = A.copy(), np.arange(n)
        for k in range(n):
            pivot = k + int(np.argmax(np.abs(self.work[k:, k])))
            if self.work[pivot, k] == 0:
                raise ZeroDivisionError(f"column {k} of {n} depends on those before it: a singular matrix")
            self.work[[k, pivot]], self.rows[[k, pivot]] = self.work[[pivot, k]], self.rows[[pivot, k]]
            for row in range(k + 1, n):
                if self.work[row, k] != 0:
                    share = self.work[row, k] = self.work[row, k] / self.work[k, k]
                    self.work[row, k + 1 :] -= share * self.work[k, k + 1 :]

    def solve(self, B: np.ndarray) -> np.ndarray:
        """Return X with A X = B, (n,) or (n, m)."""
        X = B[self.rows].copy()
        for k in range(1, len(X)):
            X[k] = X[k] - self.work[k, :k] @ X[:k]
        for k in range(len(X) - 1, -1, -1):
            X[k] = (X[k] - (self.work[k, k + 1 :] @ X[k + 1 :] if k + 1 < len(X) else 0)) / self.work[k, k]
        return X


def solve(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return X with A X = B; A is (n, n), B (n,) or (n, m)."""
    return Factored(A).solve(B)


def factor(G: np.ndarray) -> np.ndarray:
    """Return F, (n, r), with F F' = G for a positive semidefinite G, (n, n): Cholesky with pivots."""
    left = G.copy()
    largest = max(left.diagonal())
    columns: list[np.ndarray] = []
    for _ in range(len(G)):
        k = int(np.argmax(left.diagonal()))
        if left[k, k] <= TINY * largest:
            break
        column = left[:, k] / mpmath.sqrt(left[k, k])
        columns.append(column)
        left = left - np.outer(column, column)
    return np.array(columns, dtype=object).T if columns else zeros(len(G), 1)


def singular_values(A: np.ndarray) -> np.ndarray:
    """Return the singular values of a small matrix, largest first."""
    return np.array(list(mp.svd_r(mp.matrix(A.tolist()), compute_uv=False)), dtype=object)


def condition(A: np.ndarray) -> float:
    """Return the ratio of the largest and the smallest singular value; infinity for a singular matrix."""
    values = singular_values(exactly(A))
    return float(values[0] / values[-1]) if values[-1] > 0 else float("inf")


def gram(kernel: Any, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Return the kernel's values between rows of `X` and of `Z`, from its definition.

    Parameters
    ----------
    kernel : ("linear" or "rbf" or "poly" or "precomputed", parameters)
    X, Z : (n, p) and (m, p) arrays; for "precomputed" `X` itself is returned
    """
    name, parameters = (kernel, {}) if isinstance(kernel, str) else kernel
    settings: Mapping[str, Any] = parameters
    X, Z = exactly(X), exactly(Z)
    if name == "precomputed":
        return X
    if name == "linear":
        return X @ Z.T
    gamma = mpmath.mpf(settings["gamma"])
    if name == "poly":
        return (gamma * (X @ Z.T) + mpmath.mpf(settings["coef0"])) ** int(settings["degree"])
    if name != "rbf":
        raise ValueError(f"no definition of the kernel {name!r} here; take linear, rbf, poly or precomputed")
    squares = np.array([[((x - z) ** 2).sum() for z in Z] for x in X], dtype=object)
    return np.vectorize(mpmath.exp, otypes=[object])(-gamma * squares)


def norm(values: np.ndarray) -> Any:
    """Return the square root of the sum of squares of all entries."""
    return mpmath.sqrt((values.ravel() ** 2).sum()) if values.size else mpmath.mpf(0)


def largest(values: np.ndarray) -> Any:
    """Return the largest absolute value, 0 of none."""
    return max(np.abs(values.ravel()), default=mpmath.mpf(0))


def positive(values: np.ndarray) -> np.ndarray:
    """Return the positive parts."""
    return np.where(values > 0, values, mpmath.mpf(0))


def digits(found: Any, right: Any) -> float:
    """Return to how many decimal digits `found` agrees with `right`, relative to its largest entry.

    At most 17, which is what double precision can hold; 0 where nothing agrees or `found` is not finite.
    """
    given = np.asarray(found)
    if given.dtype != object and not np.isfinite(given.astype(float)).all():
        return 0.0
    a, b = exactly(given).ravel(), exactly(right).ravel()
    size, error = largest(b), largest(a - b)
    if error == 0:
        return 17.0
    if size == 0:
        return 0.0
    return float(min(max(-mpmath.log10(error / size), 0), 17))

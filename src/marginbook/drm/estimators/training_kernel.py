"""What kernel classifiers of this room share: training rows that are grouped by class."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from ...kernels import gram
from ...kernels.validation import validate_square, validate_symmetric
from ..solvers.upper_gram import upper_gram

#: test points whose kernel vectors are formed at a time, and how many numbers these may hold
CHUNK, BATCH = 4096, 2**22


@dataclass(frozen=True)
class TrainingRows:
    """Training rows that are sorted by class, ready for kernel vectors of other rows.

    Attributes
    ----------
    kernel : (str, dict) or callable
    sizes : (g,) class sizes
    order : (n,) array
        The places of these rows among those that were given; rows of weight 0 are left out.
    weights : (n,) array or None
        Of the rows in this order; None where all are 1.
    train : (n, p) array or CSR matrix; for "precomputed" the (n, n) Gram matrix of these rows
    constant : bool
        Whether a feature that is 1 everywhere is appended.
    """

    kernel: tuple[str, dict[str, Any]] | Callable[..., Any]
    sizes: np.ndarray
    order: np.ndarray
    weights: np.ndarray | None
    train: Any
    constant: bool = False

    @classmethod
    def fit(
        cls,
        kernel: Any,
        X: Any,
        codes: np.ndarray,
        weights: np.ndarray | None = None,
        constant: bool = False,
    ) -> Self:
        """Sort rows `X`, (n, p), or the (n, n) Gram matrix for "precomputed", by class `codes`, (n,)."""
        order = np.argsort(codes, kind="stable")
        if weights is not None:
            order = order[weights[order] > 0]
            weights = weights[order]
        name = "callable" if callable(kernel) else kernel[0]
        if name in ("precomputed", "callable") and sparse.issparse(X):
            raise ValueError("a precomputed or callable kernel needs dense data; call X.toarray()")
        if name == "precomputed":
            validate_square(X)
            validate_symmetric(X)
            train = X[np.ix_(order, order)]
        else:
            train = augmented(X[order], constant)
        return cls(kernel, np.bincount(codes[order]), order, weights, train, constant)

    @property
    def precomputed(self) -> bool:
        """Whether the Gram matrix was given instead of rows."""
        return not callable(self.kernel) and self.kernel[0] == "precomputed"

    def gram(self) -> np.ndarray:
        """Return the Gram matrix, (n, n)."""
        return gram(self.kernel, self.train)

    def upper_gram(self) -> np.ndarray:
        """Return an array of its own whose upper triangle is that of the Gram matrix."""
        return self.train.copy() if self.precomputed else upper_gram(self.kernel, self.train)

    def vectors(self, X: Any) -> np.ndarray:
        """Return the kernel vectors, (n, m), of rows `X`, (m, p), or (m, n) for "precomputed"."""
        if self.precomputed:
            return X[:, self.order].T
        return gram(self.kernel, self.train, augmented(X, self.constant))

    def batches(self, X: Any, most: int = CHUNK) -> Iterator[np.ndarray]:
        """Yield the kernel vectors of the rows of `X`, batch by batch of at most so many."""
        width = max(1, min(most, BATCH // len(self.order)))
        for start in range(0, X.shape[0], width):
            yield self.vectors(X[start : start + width])


def augmented(X: Any, constant: bool) -> Any:
    """Return rows `X`, (n, p), with a feature that is 1 everywhere appended if `constant`."""
    if not constant:
        return X
    ones = np.ones((X.shape[0], 1))
    return sparse.csr_matrix(sparse.hstack([X, ones])) if sparse.issparse(X) else np.hstack([X, ones])

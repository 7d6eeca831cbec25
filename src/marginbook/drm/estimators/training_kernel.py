"""What kernel classifiers of this room share: the Gram matrix of rows that are grouped by class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from ...kernels import gram


@dataclass(frozen=True)
class TrainingKernel:
    """Gram matrix of training rows that are sorted by class, ready for kernel vectors of other rows.

    Attributes
    ----------
    gram : (n, n) array, grouped by class
    sizes : (g,) class sizes
    order : (n,) array
        ``gram`` belongs to the training rows in this order.
    """

    kernel: tuple[str, dict[str, Any]] | Callable[..., Any]
    gram: np.ndarray
    sizes: np.ndarray
    order: np.ndarray
    train: Any

    @classmethod
    def fit(cls, kernel: Any, X: Any, codes: np.ndarray) -> Self:
        """Sort rows `X`, (n, p), or the (n, n) Gram matrix for "precomputed", by class `codes`, (n,)."""
        order = np.argsort(codes, kind="stable")
        name = "callable" if callable(kernel) else kernel[0]
        if name in ("precomputed", "callable") and sparse.issparse(X):
            raise ValueError("a precomputed or callable kernel needs dense data; call X.toarray()")
        if name == "precomputed":
            if X.shape[0] != X.shape[1]:
                raise ValueError(f"kernel='precomputed' needs a square matrix, got shape {X.shape}")
            return cls(kernel, X[np.ix_(order, order)], np.bincount(codes), order, None)
        train = X[order]
        return cls(kernel, gram(kernel, train), np.bincount(codes), order, train)

    def vectors(self, X: Any) -> np.ndarray:
        """Return the kernel vectors, (n, m), of rows `X`, (m, p), or (m, n) for "precomputed"."""
        if self.train is None:
            return X[:, self.order].T
        return gram(self.kernel, self.train, X)

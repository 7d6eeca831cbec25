"""What kernel classifiers of this room share: the kernel that is meant, and the grouped Gram matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from ...kernels import Kernel, gram, parse_kernel


def resolve_kernel(
    kernel: Kernel, gamma: float | None, degree: float, coef0: float
) -> tuple[str, dict[str, Any]] | Callable[..., Any]:
    """Return the kernel as a pair or a callable; `gamma`, `degree`, `coef0` serve a kernel given by name.

    Raises
    ------
    ValueError
        For an unknown kernel or an unknown parameter of it.
    """
    name, parameters = parse_kernel(kernel)
    if callable(name):
        return name
    if isinstance(kernel, str) and name in ("rbf", "poly"):
        parameters = {"gamma": gamma if name == "rbf" or gamma is not None else 1.0}
        if name == "poly":
            parameters |= {"degree": degree, "coef0": coef0}
    return name, parameters


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

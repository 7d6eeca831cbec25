"""Random small problems on which two methods are compared, degenerate ones among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...kernels import Kernel, gram

KERNELS: tuple[Kernel, ...] = (
    "linear",
    ("rbf", {"gamma": 0.5}),
    ("poly", {"degree": 2, "gamma": 0.5, "coef0": 1.0}),
)
#: sizes of the negative and of the positive class: a class of one, two points in all, large beside small
SIZES = ((6, 5), (9, 1), (1, 1), (3, 14), (16, 10))
#: new points of each problem
NEW = 6


@dataclass(frozen=True)
class Pair:
    """A training set of two classes, grouped by class, with new points.

    Attributes
    ----------
    X : (n, p) array
    y : (n,) array of -1 and then +1
    new : (m, p) array
    kernel : Kernel
    K : (n, n) array
    Kx : (n, m) array, training rows against new ones
    """

    X: np.ndarray
    y: np.ndarray
    new: np.ndarray
    kernel: Kernel
    K: np.ndarray
    Kx: np.ndarray

    @property
    def sizes(self) -> tuple[int, int]:
        """Sizes of the negative and of the positive class."""
        positive = int((self.y > 0).sum())
        return len(self.y) - positive, positive

    @property
    def scale(self) -> float:
        """Mean of the kernel's diagonal: what ridges are measured against."""
        return float(np.trace(self.K)) / len(self.y)


def pairs(seed: int, repeats: int = 4, kernels: tuple[Kernel, ...] = KERNELS) -> Iterator[Pair]:
    """Yield random problems with fewer features than points and with more, classes apart and overlapping.

    In every second repeat the first two points are equal (of the same class, or of two where each has one
    point); in every fourth a feature is constant.

    Parameters
    ----------
    seed : int
    repeats : int
        Times that all sizes and kernels are gone through.
    kernels : tuple of Kernel
    """
    rng = np.random.default_rng(seed)
    for repeat in range(repeats):
        for negative, positive in SIZES:
            for kernel in kernels:
                p = int(rng.choice([1, 3, 40]))
                y = np.repeat([-1.0, 1.0], (negative, positive))
                X, new = rng.normal(size=(len(y), p)), rng.normal(size=(NEW, p))
                X[:, 0] += rng.choice([0.3, 3.0]) * y
                if repeat % 2 and len(y) > 2:
                    X[1] = X[0]
                if repeat % 4 == 3 and p > 1:
                    X[:, 1] = new[:, 1] = 1.0
                X, new = X / np.sqrt(p), new / np.sqrt(p)
                yield Pair(X, y, new, kernel, gram(kernel, X), gram(kernel, X, new))


def described(count: int) -> dict[str, object]:
    """Return the sizes of `count` problems of :func:`pairs` as evidence names them."""
    return {
        "problems": count,
        "n": sorted({sum(sizes) for sizes in SIZES}),
        "p": [1, 3, 40],
        "kernels": len(KERNELS),
    }


def apart(one: np.ndarray, other: np.ndarray, scale: float | None = None) -> float:
    """Return the largest difference of two arrays, relative to `scale` or to the largest entry of `other`."""
    one, other = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    size = float(np.abs(other).max(initial=0.0)) if scale is None else scale
    return float(np.abs(one - other).max(initial=0.0)) / (size or 1.0)

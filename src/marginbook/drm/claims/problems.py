"""Random problems on which the claims are measured, a class of one and duplicated points among them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...kernels import Kernel, gram

KERNELS: tuple[Kernel, ...] = (
    "linear",
    ("rbf", {"gamma": 0.5}),
    ("poly", {"degree": 3, "coef0": 1.0}),
    ("poly", {"degree": 2, "coef0": 0.0}),
)
SIZES = ((5, 5), (7, 1), (12, 5, 3), (1, 1, 1), (4, 9, 2, 6), (30, 3))


@dataclass(frozen=True)
class Problem:
    """A random training set, grouped by class, with one test point."""

    X: np.ndarray
    sizes: tuple[int, ...]
    kernel: Kernel
    K: np.ndarray
    Kx: np.ndarray
    x: np.ndarray


def problems(seed: int, repeats: int = 5, kernels: tuple[Kernel, ...] = KERNELS) -> Iterator[Problem]:
    """Yield random problems; in every second one the first two points are equal."""
    rng = np.random.default_rng(seed)
    for repeat in range(repeats):
        for sizes in SIZES:
            for kernel in kernels:
                p = int(rng.integers(1, 8))
                X, x = rng.normal(size=(sum(sizes), p)), rng.normal(size=(1, p))
                if repeat % 2:
                    X[1] = X[0]
                yield Problem(X, sizes, kernel, gram(kernel, X), gram(kernel, X, x)[:, 0], x[0])


def described(count: int) -> dict[str, object]:
    return {"problems": count, "n": [sum(sizes) for sizes in SIZES], "kernels": len(KERNELS)}


def longer(solver: Callable[..., Any]) -> Callable[..., Any]:
    """Return a swap of a solver whose result has weights: they are 2 % longer."""

    def swapped(*arguments: Any, **named: Any) -> Any:
        found = solver(*arguments, **named)
        return replace(found, weights=1.02 * found.weights)

    return swapped


def longer_maps(maps: Callable[..., Any]) -> Callable[..., Any]:
    """Return a swap of the linear maps: the parts that they give are 2 % longer."""

    def swapped(moments: Any) -> Any:
        found = maps(moments)
        return replace(found, T=1.02 * found.T, R=1.02 * found.R)

    return swapped

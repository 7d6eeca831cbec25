"""Random problems on which the claims are measured, and the value of the model as the paper writes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...kernels import Kernel, gram
from ..solvers.oracle import soft_margin_oracle

KERNELS: tuple[Kernel, ...] = (
    "linear",
    ("rbf", {"gamma": 0.5}),
    ("poly", {"degree": 2, "gamma": 0.5, "coef0": 1.0}),
)
#: sizes of the two classes
SIZES = ((6, 5), (9, 1), (1, 1), (3, 14), (16, 10))
#: lambda1, lambda2, C: the machine without its two terms, two corners of the paper's grid, beyond the grid
PARAMETERS = ((0.0, 0.0, 1.0), (2**-2, 2**-8, 10.0), (2**-8, 2**-2, 100.0), (50.0, 20.0, 0.1))

#: how far the general solver goes in checks
ACCURATE = {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9}


@dataclass(frozen=True)
class Problem:
    """A random training set with its Gram matrix.

    Attributes
    ----------
    X : (m, d) array
        Examples as rows.
    y : (m,) array of -1.0 and 1.0
    kernel : Kernel
    G : (m, m) array
    F : (r, m) array
        Features as columns, `G` = F'F: the examples themselves where the kernel is linear.
    """

    X: np.ndarray
    y: np.ndarray
    kernel: Kernel
    G: np.ndarray
    F: np.ndarray


def problems(seed: int, repeats: int = 4, kernels: tuple[Kernel, ...] = KERNELS) -> Iterator[Problem]:
    """Yield random problems: more features than examples and fewer, apart and overlapping.

    In every second repeat the first two points are equal, with the labels equal or opposite as it comes; in
    every fourth a feature is constant.
    """
    rng = np.random.default_rng(seed)
    for repeat in range(repeats):
        for sizes in SIZES:
            for kernel in kernels:
                d = int(rng.choice([2, 3, 40]))
                y = rng.permutation(np.repeat([1.0, -1.0], sizes))
                X = rng.normal(size=(sum(sizes), d))
                X[:, 0] += rng.choice([0.5, 4.0]) * y
                if repeat % 2 and len(y) > 2:  # of two points, equal ones would leave only w = 0
                    X[1] = X[0]
                if repeat % 4 == 3:
                    X[:, 1] = 1.0
                X /= np.sqrt(d)
                G = gram(kernel, X)
                yield Problem(X, y, kernel, G, X.T if kernel == "linear" else features(G))


def features(G: np.ndarray) -> np.ndarray:
    """Return F with G = F'F: columns that stand for the examples in the kernel's feature space."""
    eigenvalues, U = np.linalg.eigh(G)
    kept = eigenvalues > 1e-15 * eigenvalues[-1]
    return np.asarray(np.sqrt(eigenvalues[kept])[:, None] * U[:, kept].T)


def margin_terms(margins: np.ndarray) -> tuple[float, float]:
    r"""Return mean and, as (6) uses it, variance of margins: :math:`\bar\gamma`,
    :math:`\frac2{m^2}(m\sum\gamma_i^2-(\sum\gamma_i)^2)`."""
    m = len(margins)
    return float(margins.mean()), float(2 / m**2 * (m * margins @ margins - margins.sum() ** 2))


def soft_value(
    F: np.ndarray, y: np.ndarray, w: np.ndarray, lambda1: float, lambda2: float, C: float
) -> float:
    """Return the value of (6) at `w`, term by term."""
    margins = y * (F.T @ w)
    mean, variance = margin_terms(margins)
    hinge = np.maximum(1.0 - margins, 0.0).sum()
    return float(0.5 * w @ w + lambda1 * variance - lambda2 * mean + C * hinge)


def by_cvxpy(
    F: np.ndarray, y: np.ndarray, lambda1: float, lambda2: float, C: float
) -> tuple[np.ndarray, float]:
    """Solve (6) in feature space by an interior point, to nine digits; return w, (r,), and the value.

    Parameters
    ----------
    F : (r, m) array
        Features as columns.
    y : (m,) array of -1.0 and 1.0
    lambda1, lambda2, C : float
    """
    found = soft_margin_oracle(F.T, y, lambda1, lambda2, C, **ACCURATE)
    return found.coef, found.objective


def described(count: int) -> dict[str, object]:
    return {
        "problems": count,
        "m": sorted({sum(sizes) for sizes in SIZES}),
        "kernels": len(KERNELS),
        "parameters": len(PARAMETERS),
    }

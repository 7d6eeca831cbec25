"""k(x, x) of the rows, and what every normalised kernel needs of it: parameters, checks, powers."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...kernels import Kernel, KernelOverflow, kernel_name, parse_kernel

#: entries beyond this have squared distances that overflow; k(x, x) below the other has lost its digits
LARGEST_ENTRY, SMALLEST_SIMILARITY = 1e150, 1e-290


def validate_rows(X: ArrayLike, what: str = "X") -> np.ndarray:
    """Return `X` as a finite (n, p) float64 array with n >= 1; raise an error otherwise."""
    rows = np.asarray(X, dtype=float)
    if rows.ndim != 2 or 0 in rows.shape:
        raise ValueError(
            f"{what} has shape {rows.shape}, wanted (n, p) with n, p >= 1; give one row per sample"
        )
    if not np.isfinite(rows).all():
        raise ValueError(f"{what} has infinite or undefined entries, wanted finite ones; impute or drop them")
    return rows


def self_similarity(kernel: Kernel, X: ArrayLike) -> np.ndarray:
    """Return the (n,) array of k(x, x) before normalisation.

    Parameters
    ----------
    kernel : str, (str, dict) or callable
    X : (n, p) array

    Raises
    ------
    ValueError
        If a k(x, x) is not positive: such a row has no normalised kernel.
    KernelOverflow
        If a k(x, x) is infinite. (The normalised kernel may be finite nevertheless.)
    """
    rows = validate_rows(X)
    name, parameters = parse_kernel(kernel)
    if callable(name):
        found = np.array([float(name(row, row)) for row in rows])
        validate_positive(found, kernel, 0.0)
        return found
    if name == "precomputed":
        raise precomputed()
    if name == "rbf":
        return np.ones(len(rows))
    gamma, coef0, degree = polynomial(name, parameters, rows.shape[1])
    base = self_base(rows, gamma, coef0, degree, kernel)
    with np.errstate(over="ignore"):
        found = np.abs(base) ** degree
    if not np.isfinite(found).all():
        raise KernelOverflow(f"k(x, x) of kernel {name!r} with {parameters} is infinite; scale the features")
    return found


def gamma_of(gamma: float | None, n_features: int) -> float:
    return 1.0 / n_features if gamma is None else float(gamma)


def polynomial(name: str, parameters: dict[str, Any], n_features: int) -> tuple[float, float, float]:
    """Return gamma, coef0 and degree of a linear or polynomial kernel."""
    if name == "linear":
        return 1.0, 0.0, 1.0
    return gamma_of(parameters["gamma"], n_features), float(parameters["coef0"]), float(parameters["degree"])


def self_base(X: np.ndarray, gamma: float, coef0: float, degree: float, kernel: Kernel) -> np.ndarray:
    r"""Return :math:`g\lVert x\rVert^2+c` of each row, checked: its power must be positive."""
    with np.errstate(over="ignore", invalid="ignore"):
        base = gamma * np.einsum("ij,ij->i", X, X) + coef0
    if not np.isfinite(base).all():
        raise KernelOverflow(f"k(x, x) of kernel {kernel_name(kernel)!r} is infinite; scale the features")
    validate_positive(np.abs(base) if degree % 2 == 0 else base, kernel, SMALLEST_SIMILARITY)
    return base


def validate_self_base(
    cache: dict[Hashable, Any], X: np.ndarray, gamma: float, coef0: float, degree: float, kernel: Kernel
) -> None:
    """Check the rows once for each kernel parameter that matters."""
    key = (id(X), gamma, coef0, degree % 2 == 0)
    if key not in cache:
        self_base(X, gamma, coef0, degree, kernel)
        cache[key] = True


def validate_positive(similarity: np.ndarray, kernel: Kernel, least: float) -> None:
    bad = np.flatnonzero(~(similarity > least))
    if len(bad):
        raise ValueError(
            f"k(x, x) = {similarity[bad[0]]:.3g} in row {bad[0]} under kernel {kernel_name(kernel)!r} "
            f"({len(bad)} such rows), wanted > 0 and {least:g}; drop these rows, scale up or add a coef0 > 0"
        )


def power(base: np.ndarray, degree: float) -> np.ndarray:
    """Return `base` to the power `degree`; whole degrees by squaring, far faster than ``**`` on floats."""
    if degree != int(degree):
        if (base < 0).any():
            raise ValueError(
                f"degree {degree} of a negative number is undefined, wanted a whole degree; round the degree"
            )
        return np.power(base, degree, out=base)
    left = int(degree)
    if left == 0:
        return np.ones_like(base)
    found: np.ndarray | None = None
    while True:
        if left % 2:
            if left == 1:
                return base if found is None else np.multiply(found, base, out=found)
            found = base.copy() if found is None else np.multiply(found, base, out=found)
        left //= 2
        np.multiply(base, base, out=base)


def precomputed() -> ValueError:
    return ValueError(
        "kernel 'precomputed' cannot be normalised or evaluated on new rows; give a vector kernel"
    )

r"""Vector kernels and their Gram matrices.

A kernel is named as scikit-learn names it, with scikit-learn's parameters, or is a callable:

* ``("linear", {})``: :math:`k(x,z)=x^\top z`
* ``("poly", {"degree": d, "gamma": g, "coef0": c})``: :math:`k(x,z)=(g\,x^\top z+c)^d`
* ``("rbf", {"gamma": g})``: :math:`k(x,z)=\exp(-g\lVert x-z\rVert^2)`; a paper's
  :math:`\sigma` in :math:`\exp(-\lVert x-z\rVert^2/(2\sigma^2))` is ``gamma = 1 / (2 * sigma**2)``
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels

from ..base.parameters import real

Kernel: TypeAlias = str | tuple[str, Mapping[str, Any]] | Callable[..., Any]

_PARAMETERS: dict[str, set[str]] = {
    "linear": set(),
    "poly": {"degree", "gamma", "coef0"},
    "rbf": {"gamma"},
    "precomputed": set(),
}
_DEFAULTS: dict[str, dict[str, Any]] = {
    "poly": {"degree": 3, "gamma": 1.0, "coef0": 1.0},
    "rbf": {"gamma": None},
}


class KernelOverflow(ValueError):
    """A kernel value is infinite or undefined."""


def kernel_name(kernel: Kernel) -> str:
    """Return the name of `kernel`, or "callable"."""
    name, _ = parse_kernel(kernel)
    return "callable" if callable(name) else name


def parse_kernel(kernel: Kernel) -> tuple[str | Callable[..., Any], dict[str, Any]]:
    """Return name (or callable) and parameters of `kernel`; raise an error that lists the choices.

    >>> parse_kernel(("rbf", {"gamma": 0.5}))
    ('rbf', {'gamma': 0.5})
    """
    if callable(kernel):
        return kernel, {}
    pair = (kernel, {}) if isinstance(kernel, str) else kernel
    if not (isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[1], Mapping)):
        raise ValueError(
            f"a kernel is a name, a pair such as ('rbf', {{'gamma': 0.5}}) or a callable, got {kernel!r}"
        )
    name, parameters = pair
    if name not in _PARAMETERS:
        raise ValueError(f"unknown kernel {name!r}; choose from {', '.join(_PARAMETERS)} or give a callable")
    unknown = set(parameters) - _PARAMETERS[name]
    if unknown:
        known = ", ".join(sorted(_PARAMETERS[name])) or "no parameters"
        raise ValueError(f"kernel {name!r} does not know {', '.join(sorted(unknown))}; it takes {known}")
    found = {**_DEFAULTS.get(name, {}), **parameters}
    for key, value in found.items():
        low = -np.inf if key == "coef0" else 0.0
        if not (math.isfinite(real(value)) and low <= real(value)) and not (key == "gamma" and value is None):
            raise ValueError(
                f"{key} of kernel {name!r} must be a finite number{' >= 0' * (low == 0)}, got {value!r}"
            )
    return name, found


def resolve_kernel(
    kernel: Kernel, gamma: float | None, degree: float, coef0: float
) -> tuple[str, dict[str, Any]] | Callable[..., Any]:
    r"""Return the kernel as a pair or a callable; `gamma`, `degree`, `coef0` serve one given by its name.

    A `gamma` of None is 1 / n_features for "rbf" and 1 for "poly".

    Raises
    ------
    ValueError
        For an unknown kernel, an unknown parameter of it, or one out of range.
    """
    name, parameters = parse_kernel(kernel)
    if callable(name):
        return name
    if isinstance(kernel, str) and name in ("rbf", "poly"):
        given: dict[str, Any] = {"gamma": gamma if name == "rbf" or gamma is not None else 1.0}
        if name == "poly":
            given |= {"degree": degree, "coef0": coef0}
        parameters = parse_kernel((name, given))[1]
    return name, parameters


def tidy(X: Any) -> Any:
    """Return `X`, or of sparse rows with entries that are not summed up or not in order a copy without such.

    The norm of a row is wrong where an entry stands in parts.
    """
    if sparse.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def gram(kernel: Kernel, X: Any, Z: Any = None) -> np.ndarray:
    """Return the Gram matrix ``[k(x_i, z_j)]``.

    Parameters
    ----------
    kernel : str, (str, dict) or callable
        See the module's docstring. A callable gets two vectors and returns a number, as in scikit-learn.
    X : (n, p) array or CSR matrix; for ``"precomputed"`` the (n, m) matrix itself
    Z : (m, p) array or CSR matrix, optional
        `X` by default, and the result is then exactly symmetric.

    Returns
    -------
    (n, m) float64 array

    Raises
    ------
    KernelOverflow
        If a kernel value is infinite or undefined: scale the data or lower the degree.
    """
    name, parameters = parse_kernel(kernel)
    if name == "precomputed":
        return np.asarray(X, dtype=float)
    X, Z = tidy(X), tidy(Z)
    with np.errstate(over="ignore", invalid="ignore"):
        values = np.asarray(pairwise_kernels(X, Z, metric=name, **parameters), dtype=float)
    if not np.isfinite(values).all():
        raise KernelOverflow(
            f"kernel {name!r} with {parameters} is infinite or undefined on these data; scale the features"
        )
    if Z is None:
        values = (values + values.T) / 2
    return values

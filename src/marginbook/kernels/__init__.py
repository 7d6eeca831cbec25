r"""Vector kernels and their Gram matrices.

A kernel is named as scikit-learn names it, with scikit-learn's parameters, or is a callable:

* ``("linear", {})``: :math:`k(x,z)=x^\top z`
* ``("poly", {"degree": d, "gamma": g, "coef0": c})``: :math:`k(x,z)=(g\,x^\top z+c)^d`
* ``("rbf", {"gamma": g})``: :math:`k(x,z)=\exp(-g\lVert x-z\rVert^2)`; a paper's
  :math:`\sigma` in :math:`\exp(-\lVert x-z\rVert^2/(2\sigma^2))` is ``gamma = 1 / (2 * sigma**2)``
* ``("precomputed", {})``: the kernel values themselves, given in place of the rows
* a callable: gets two rows, each a vector of p numbers, and returns a number, as in scikit-learn's
  ``pairwise_kernels``; that of ``SVC`` gets two matrices, as does
  ``sklearn.metrics.pairwise.rbf_kernel``: name it, ``"rbf"``, or give its values as "precomputed"

What a name or a pair leaves open is filled from the `gamma`, `degree` and `coef0` of an estimator that has
them. Elsewhere, as in lists of kernels, "poly" has degree 3, gamma 1 (scikit-learn: 1 / n_features) and coef0
1, and "rbf" has gamma 1 / n_features.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels

from ..base.parameters import real
from ..base.user_line import user_level

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
    if not (isinstance(name, str) and name in _PARAMETERS):  # what is no name may have no hash
        raise ValueError(f"unknown kernel {name!r}; choose from {', '.join(_PARAMETERS)} or give a callable")
    unknown = set(parameters) - _PARAMETERS[name]
    if unknown:
        known = ", ".join(sorted(_PARAMETERS[name])) or "no parameters"
        raise ValueError(
            f"kernel {name!r} does not know {', '.join(sorted(map(str, unknown)))}; it takes {known}"
        )
    found = {**_DEFAULTS.get(name, {}), **parameters}
    for key, value in found.items():
        low = -np.inf if key == "coef0" else 0.0
        if not (math.isfinite(real(value)) and low <= real(value)) and not (key == "gamma" and value is None):
            raise ValueError(
                f"{key} of kernel {name!r} must be a finite number{' >= 0' * (low == 0)}, got {value!r}"
                f"{'; such a word goes to the gamma of the estimator' * isinstance(value, str)}"
            )
    return name, found


def scale_gamma(X: Any, weights: np.ndarray | None = None) -> float:
    """Return what ``gamma="scale"`` is for rows `X`, (n, p): 1 / (p times the variance of all entries).

    As in scikit-learn it is 1 where all entries are equal. A row of weight k, of `weights`, (n,), counts as k
    equal rows.

    >>> scale_gamma([[0.0, 2.0], [2.0, 0.0]])
    0.5
    """
    X = X if sparse.issparse(X) else np.asarray(X, dtype=float)
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(f"gamma='scale' needs rows of numbers, got an array of shape {X.shape}")
    with np.errstate(over="ignore", invalid="ignore"):
        variance = _variance(X, weights)
    if not math.isfinite(variance):
        raise KernelOverflow("gamma='scale' is undefined: the variance of the features overflows; scale them")
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0


def _variance(X: Any, weights: np.ndarray | None) -> float:
    """Return the variance of all entries of `X`, with rows counted by `weights`; 0 where all are equal.

    Of sparse rows it is about the mean as well: the mean square less the square of the mean cancels.
    """
    n, p = X.shape
    if weights is not None and not (weights > 0).all():
        n, X, weights = int((weights > 0).sum()), X[weights > 0], weights[weights > 0]
    if X.min() == X.max():
        return 0.0
    if weights is None or np.ptp(weights) == 0:
        if not sparse.issparse(X):
            return float(X.var())
        weights = np.ones(n)
    shares = weights / (weights.sum() * p)
    mean = np.float64((shares @ X).sum())  # whose square overflows to infinity
    if not sparse.issparse(X):
        return float((shares @ (X - mean) ** 2).sum())
    squares = X.tocsr().astype(np.float64, copy=True)
    squares.sum_duplicates()  # an entry in parts has the square of their sum
    absent = p - np.diff(squares.indptr)
    squares.data = (squares.data - mean) ** 2
    return float(shares @ np.asarray(squares.sum(axis=1)).ravel() + (shares @ absent) * mean**2)


def resolve_kernel(
    kernel: Kernel,
    gamma: float | str | None,
    degree: float,
    coef0: float,
    X: Any = None,
    weights: np.ndarray | None = None,
) -> tuple[str, dict[str, Any]] | Callable[..., Any]:
    r"""Return the kernel as a pair or a callable, with `gamma`, `degree`, `coef0` where it leaves them open.

    A name alone leaves all of them open, and a pair those that it does not have.

    Parameters
    ----------
    kernel : str, (str, dict) or callable
    gamma : float, "scale", "auto" or None
        "scale" is :func:`scale_gamma` of `X`, "auto" is 1 / n_features, as in scikit-learn. None is
        1 / n_features for "rbf" and 1 for "poly".
    degree, coef0 : float
        Of "poly".
    X : (n, p) array or CSR matrix, optional
        The training rows. Without them "scale" and "auto" are checked, and stay words.
    weights : (n,) array, optional
        How often each row counts for "scale".

    Raises
    ------
    ValueError
        For an unknown kernel, an unknown parameter of it, or one out of range.
    """
    if isinstance(gamma, str) and gamma not in ("scale", "auto"):
        raise ValueError(f"gamma must be a number >= 0, 'scale', 'auto' or None, got {gamma!r}")
    name, parameters = parse_kernel(kernel)
    if callable(name):
        return name
    own = {} if isinstance(kernel, str) or callable(kernel) else kernel[1]
    given = {"gamma": gamma, "degree": degree, "coef0": coef0}
    given = {key: value for key, value in given.items() if key in _PARAMETERS[name] and key not in own}
    if isinstance(given.get("gamma"), str) and X is not None:
        given["gamma"] = scale_gamma(X, weights) if gamma == "scale" else 1.0 / X.shape[1]
    word = given.get("gamma")
    if word is None or isinstance(word, str):  # no number: what the kernel has by default
        given.pop("gamma", None)
    parameters = parse_kernel((name, {**own, **given}))[1]
    if isinstance(word, str):
        parameters["gamma"] = word
    return name, parameters


def warn_of_scale(kernel: Kernel, G: np.ndarray) -> None:
    """Warn where the Gram matrix `G` of an rbf kernel, (n, n), tells no rows apart, or none together.

    All that is fitted to it then answers one class, or learns the rows by heart.
    """
    if kernel_name(kernel) != "rbf" or len(G) < 2:
        return
    off = (float(G.sum()) - float(np.trace(G))) / (len(G) * (len(G) - 1))
    if off * len(G) < 1e-3:
        warnings.warn(
            "gamma is too large for these features: no row is near to any other; scale the features "
            "(StandardScaler), or take gamma='scale'",
            UserWarning,
            stacklevel=user_level(),
        )
    elif G.shape[0] == G.shape[1] and float(np.median(G.sum(axis=1))) - 1.0 < 1e-3:
        warnings.warn(
            "gamma is too large for most rows: half of them are near to no other; scale the features "
            "(StandardScaler), or take gamma='scale'",
            UserWarning,
            stacklevel=user_level(),
        )
    elif 1 - off < 1e-9:
        warnings.warn(
            "gamma is too small for these features: all rows are the same; scale the features "
            "(StandardScaler), or take gamma='scale'",
            UserWarning,
            stacklevel=user_level(),
        )


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

"""The parameters of the room's classifiers: their range, their kernel, and what the two classes are."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from numbers import Integral
from typing import Any

import numpy as np

from ...base.labels import check_labels
from ...kernels import Kernel, parse_kernel, real

SOLVERS = ("auto", "mm", "plain", "squarem", "lasso")
THRESHOLDS = ("midpoint", "means")


def is_number(value: Any) -> bool:
    """Return whether `value` is a finite real number; a truth value is none."""
    return not isinstance(value, bool) and bool(isfinite(real(value)))


def check_q(q: Any) -> None:
    """Raise ValueError unless the exponent `q` of the penalty is in (0, 2]."""
    if not (is_number(q) and 0 < q <= 2):
        raise ValueError(f"q must be a number in (0, 2], got {q!r}; 1 is the lasso, 2 is ridge")


def check_rho(rho: Any) -> None:
    """Raise ValueError unless the weight `rho` of the penalty is above 0, and its square a finite number."""
    if not (is_number(rho) and rho > 0):
        raise ValueError(
            f"rho must be a finite number > 0, got {rho!r}; without a penalty take KFDAClassifier"
        )
    if not 1e-100 <= rho <= 1e100:
        raise ValueError(f"rho must be in [1e-100, 1e+100], beyond which squares overflow, got {rho!r}")


def check_cut(cut: Any) -> None:
    """Raise ValueError unless the relative `cut`, below which a coefficient counts as zero, is in [0, 1)."""
    if not (is_number(cut) and 0 <= cut < 1):
        raise ValueError(f"cut must be a number in [0, 1), a share of the largest coefficient, got {cut!r}")


def check_tol(tol: Any) -> None:
    """Raise ValueError unless `tol` is a number >= 0."""
    if not (is_number(tol) and tol >= 0):
        raise ValueError(f"tol must be a number >= 0, got {tol!r}")


def check_counts(**counts: Any) -> None:
    """Raise ValueError for a count, given by its name, that is no whole number >= 1."""
    for name, value in counts.items():
        if not (isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1):
            raise ValueError(f"{name} must be a whole number >= 1, got {value!r}")


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise ValueError unless parameter `name` has one of the `choices` as `value`."""
    if not (isinstance(value, str) and value in choices):
        raise ValueError(f"unknown {name} {value!r}; choose from {', '.join(choices)}")


def check_flag(name: str, value: Any) -> None:
    """Raise ValueError unless parameter `name` is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}")


def resolve_kernel(
    kernel: Kernel, gamma: float | None, degree: float, coef0: float
) -> tuple[str | Callable[..., Any], dict[str, Any]]:
    r"""Return name (or callable) and parameters; `gamma`, `degree`, `coef0` serve a kernel given by its name.

    A paper's width :math:`\sigma` in :math:`\exp(-\lVert u-v\rVert^2/(2\sigma^2))` is
    ``gamma = 1 / (2 * sigma**2)``. A `gamma` of None is 1 / n_features for "rbf" and 1 for "poly".

    Raises
    ------
    ValueError
        For an unknown kernel or an unknown parameter of it.
    """
    name, parameters = parse_kernel(kernel)
    if isinstance(kernel, str) and name in ("rbf", "poly"):
        given: dict[str, Any] = {"gamma": gamma if name == "rbf" or gamma is not None else 1.0}
        if name == "poly":
            given |= {"degree": degree, "coef0": coef0}
        return parse_kernel((name, given))
    return name, parameters


def binary_classes(y: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the two classes of the labels `y`, (N,), sorted, and which rows are of the second, the positive.

    Parameters
    ----------
    y : (N,) labels of any type that has an order
    name : str
        Of the estimator, for the messages.

    Returns
    -------
    classes : (2,) array
    positive : (N,) array of bool
        Rows of ``classes[1]``, whose target is N / N1.

    Raises
    ------
    ValueError
        For one class, more than two, or labels that are no classes.
    """
    check_labels(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) == 1:
        raise ValueError(f"{name} needs 2 classes, got one class: {classes[0]}")
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass, with "
            f"{len(classes)} classes; wrap {name} in OneVsRestClassifier or OneVsOneClassifier of "
            "sklearn.multiclass"
        )
    return classes, codes == 1

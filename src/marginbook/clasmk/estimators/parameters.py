"""The parameters of the room's estimators: their range, and the kernels that None stands for."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np

from ...base.parameters import (
    is_number,
    is_whole,
    validate_choice,
    validate_counts,
    validate_flags,
    validate_limits,
    validate_not_negative,
    validate_within,
)
from ...kernels import Kernel, kernel_name, parse_kernel
from ..model.embedding import ORDERS
from ..model.kernel_sets import paper_kernels
from ..model.objective import COMBINE
from ..model.statistics import DENOMINATORS

SOLVERS = ("dinkelbach", "slsqp")
LEAST_SQUARES_SOLVERS = ("auto", "factor", "cg")
WEIGHTS_ON = ("nu", "basis")
TRUNCATIONS = ("sum", "mean")
MARGINS = ("printed", "signed")


def validate_subspaces(model: Any) -> None:
    """Raise ValueError for parameters of `model` that concern how rows span a subspace."""
    validate_within("[0, 1]", meaning=", a squared distance", tol=model.tol)
    validate_limits(max_rank=model.max_rank)
    components = model.n_components
    share = is_number(components) and not isinstance(components, Integral) and 0 < components <= 1
    if not (components is None or share or is_whole(components)):
        raise ValueError(
            f"n_components must be None, a whole number >= 1 or a float in (0, 1], got {components!r}"
        )
    validate_choice("order", model.order, ORDERS)


def validate_bases(model: Any) -> None:
    """Raise ValueError for parameters of `model` that concern bases, split and statistics."""
    validate_not_negative(eta=model.eta)
    validate_subspaces(model)
    validate_choice("denominator", model.denominator, DENOMINATORS)
    validate_choice("truncation", model.truncation, TRUNCATIONS)
    validate_choice("weights_on", model.weights_on, WEIGHTS_ON)
    validate_within("(0, 1)", basis_fraction=model.basis_fraction)


def validate_weight_learning(model: Any) -> None:
    """Raise ValueError for parameters of `model` that concern the weights of several kernels."""
    validate_choice("combine", model.combine, COMBINE)
    validate_choice("solver", model.solver, SOLVERS)
    validate_counts(max_iter=model.max_iter)
    validate_within("[0, 1]", meaning=", a share of the largest weight", threshold=model.threshold)


def resolve_kernels(kernels: Any) -> list[Kernel]:
    """Return the list of kernels that the parameter `kernels` means; None is the 13 of Table 4.

    Raises
    ------
    ValueError
        Unless it is a list of at least one kernel, each as in :mod:`marginbook.kernels`.
    """
    if kernels is None:
        return list(paper_kernels("table-4"))
    pair = isinstance(kernels, tuple) and len(kernels) == 2 and isinstance(kernels[1], Mapping)
    if isinstance(kernels, str) or callable(kernels) or pair:
        raise ValueError(f"kernels must be None or a list of kernels, got {kernels!r}; write [{kernels!r}]")
    # np.iterable knows of arrays without dimensions, which have an __iter__ that fails
    if not np.iterable(kernels) or isinstance(kernels, Mapping | bytes):
        raise ValueError(f"kernels must be None or a list of kernels, got {kernels!r}")
    found = list(kernels)
    if not found:
        raise ValueError("kernels must name at least one kernel, got an empty list")
    for kernel in found:
        validate_spanning(kernel)
    return found


def validate_spanning(kernel: Kernel) -> None:
    """Raise ValueError unless `kernel` is one as in :mod:`marginbook.kernels`, between rows."""
    parse_kernel(kernel)
    if kernel_name(kernel) == "precomputed":
        raise ValueError(
            "kernel 'precomputed' has no rows to span a subspace with; give a kernel's name or a callable"
        )


def gamma_of(kernel: Kernel, n_features: int) -> float:
    """Return the gamma of a resolved kernel "rbf" or "poly" as a number."""
    found = parse_kernel(kernel)[1]["gamma"]
    return 1.0 / n_features if found is None else float(found)


def validate_least_squares(model: Any) -> str:
    """Check the parameters of an LSSVMClassifier but C and gamma; return its kernel's name, or "callable"."""
    validate_flags(normalised=model.normalised)
    validate_choice("solver", model.solver, LEAST_SQUARES_SOLVERS)
    validate_counts(max_iter=model.max_iter)
    validate_limits(n_components=model.n_components)
    validate_within("(0, 1)", tol=model.tol)
    name = kernel_name(model.kernel)
    if name == "precomputed" and model.normalised:
        raise ValueError(
            "normalised=True does not go with kernel='precomputed', which lacks k(x, x) of new rows; "
            "normalise the matrix"
        )
    if model.n_components is not None and model.normalised and name != "rbf":
        raise ValueError(
            "n_components does not go with normalised=True; take kernel='rbf', which is normalised"
        )
    if model.solver == "cg" and np.iterable(model.C):
        raise ValueError("solver='cg' has no leave-one-out to choose C by; give one C, or solver='factor'")
    return name

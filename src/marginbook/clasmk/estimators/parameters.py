"""The parameters of the room's estimators: their range, and the kernels that None stands for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from numbers import Integral
from typing import Any

from ...kernels import Kernel, kernel_name, parse_kernel, real
from ..model.kernel_sets import paper_kernels

RULES = ("exact", "exhaustive", "greedy")
COMBINE = ("sum", "concat")
DENOMINATORS = ("energy", "mean")
SOLVERS = ("dinkelbach", "slsqp")
WEIGHTS_ON = ("nu", "basis")
TRUNCATIONS = ("sum", "mean")
ORDERS = ("pivoted", "sequential")
MARGINS = ("printed", "signed")


def is_number(value: Any) -> bool:
    """Return whether `value` is a finite real number; a truth value is none."""
    return not isinstance(value, bool) and bool(isfinite(real(value)))


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise ValueError unless parameter `name` has one of the `choices` as `value`."""
    if not (isinstance(value, str) and value in choices):
        raise ValueError(f"unknown {name} {value!r}; choose from {', '.join(choices)}")


def check_counts(**counts: Any) -> None:
    """Raise ValueError for a count, given by its name, that is no whole number >= 1."""
    for name, value in counts.items():
        if not (isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1):
            raise ValueError(f"{name} must be a whole number >= 1, got {value!r}")


def check_limits(**limits: Any) -> None:
    """Raise ValueError for a limit, given by its name, that is neither None nor a whole number >= 1."""
    for name, value in limits.items():
        if value is not None and not (
            isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1
        ):
            raise ValueError(f"{name} must be None or a whole number >= 1, got {value!r}")


def check_not_negative(**values: Any) -> None:
    """Raise ValueError for a value, given by its name, that is no finite number >= 0."""
    for name, value in values.items():
        if not (is_number(value) and value >= 0):
            raise ValueError(f"{name} must be a number >= 0, got {value!r}")


def check_bases(model: Any) -> None:
    """Raise ValueError for parameters of `model` that concern bases, split and statistics."""
    check_not_negative(eta=model.eta)
    if not (is_number(model.tol) and 0 <= model.tol <= 1):
        raise ValueError(f"tol must be a number in [0, 1], a squared distance, got {model.tol!r}")
    check_limits(max_rank=model.max_rank)
    components = model.n_components
    share = is_number(components) and not isinstance(components, Integral) and 0 < components <= 1
    whole = isinstance(components, Integral) and not isinstance(components, bool) and int(components) >= 1
    if not (components is None or share or whole):
        raise ValueError(
            f"n_components must be None, a whole number >= 1 or a float in (0, 1], got {components!r}"
        )
    check_choice("order", model.order, ORDERS)
    check_choice("denominator", model.denominator, DENOMINATORS)
    check_choice("truncation", model.truncation, TRUNCATIONS)
    check_choice("weights_on", model.weights_on, WEIGHTS_ON)
    fraction = model.basis_fraction
    if not (is_number(fraction) and 0 < fraction < 1):
        raise ValueError(f"basis_fraction must be a number in (0, 1), got {fraction!r}")


def check_weights(model: Any) -> None:
    """Raise ValueError for parameters of `model` that concern the weights of several kernels."""
    check_choice("combine", model.combine, COMBINE)
    check_choice("solver", model.solver, SOLVERS)
    check_counts(max_iter=model.max_iter)
    threshold = model.threshold
    if not (is_number(threshold) and 0 <= threshold <= 1):
        raise ValueError(
            f"threshold must be a number in [0, 1], a share of the largest weight, got {threshold!r}"
        )


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
    if isinstance(kernels, str) or callable(kernels) or pair or not isinstance(kernels, Iterable):
        raise ValueError(f"kernels must be None or a list of kernels, got {kernels!r}; write [{kernels!r}]")
    found = list(kernels)
    if not found:
        raise ValueError("kernels must name at least one kernel, got an empty list")
    for kernel in found:
        parse_kernel(kernel)
        if kernel_name(kernel) == "precomputed":
            raise ValueError(
                "kernel 'precomputed' has no rows to span a subspace with; give a kernel's name or a callable"
            )
    return found

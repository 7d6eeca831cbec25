"""The parameters of the room's estimators: their range, and what None stands for."""

from __future__ import annotations

from math import isfinite
from numbers import Integral
from typing import Any

import numpy as np

from ...kernels import Kernel, kernel_name, parse_kernel, real
from ..model.aggregation import AGGREGATES
from ..model.objective import LOSSES
from ..model.row_kernels import check_row_kernel
from .matrix_input import Shape, parse_shape


def is_number(value: Any) -> bool:
    """Return whether `value` is a finite real number; a truth value is none."""
    return not isinstance(value, bool) and bool(isfinite(real(value)))


def is_whole(value: Any, least: int) -> bool:
    """Return whether `value` is a whole number >= `least`; a truth value is none."""
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_) and int(value) >= least


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise ValueError unless parameter `name` has one of the `choices` as `value`."""
    if not (isinstance(value, str) and value in choices):
        raise ValueError(f"unknown {name} {value!r}; choose from {', '.join(choices)}")


def check_flag(name: str, value: Any) -> None:
    """Raise ValueError unless parameter `name` is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}")


def check_lam_parameter(lam: Any) -> None:
    """Raise ValueError unless `lam` is a finite number above 0, small or large enough for its square."""
    if not (is_number(lam) and 1e-100 <= lam <= 1e100):
        raise ValueError(f"lam must be a number > 0, from 1e-100 to 1e+100, got {lam!r}")


def check_rank_parameter(rank: Any) -> None:
    """Raise ValueError unless `rank` is None or a whole number >= 1."""
    if rank is not None and not is_whole(rank, 1):
        raise ValueError(f"rank must be None, for full rank, or a whole number >= 1, got {rank!r}")


def check_machine(model: Any) -> None:
    """Raise ValueError for a parameter that all estimators of the room have and that is out of range."""
    check_rank_parameter(model.rank)
    check_lam_parameter(model.lam)
    check_solving(model)


def check_solving(model: Any) -> None:
    """As :func:`check_machine`, for all but `rank` and `lam`."""
    check_choice("loss", model.loss, LOSSES)
    resolve_kernel(model.kernel, model.gamma, model.degree, model.coef0)
    check_flag("fit_intercept", model.fit_intercept)
    parse_shape(model.shape)
    for name in ("n_restarts", "bound_iter"):
        if not is_whole(getattr(model, name), 0):
            raise ValueError(f"{name} must be a whole number >= 0, got {getattr(model, name)!r}")
    if not is_whole(model.n_landmarks, 1):
        raise ValueError(f"n_landmarks must be a whole number >= 1, got {model.n_landmarks!r}")
    if not (is_number(model.tol) and model.tol >= 0):
        raise ValueError(f"tol must be a number >= 0, got {model.tol!r}")
    if not is_whole(model.max_iter, 1):
        raise ValueError(f"max_iter must be a whole number >= 1, got {model.max_iter!r}")


def check_pi(pi: Any) -> None:
    """Raise ValueError unless the level `pi` is between 0 and 1; at the ends one class has no weight."""
    if not (is_number(pi) and 0 < pi < 1):
        raise ValueError(f"pi must be a number in (0, 1), got {pi!r}; at the ends one class has no weight")


def check_levels(n_levels: Any, aggregate: Any) -> None:
    """Raise ValueError unless `n_levels` is a whole number >= 2 and `aggregate` a known rule."""
    if not is_whole(n_levels, 2):
        raise ValueError(f"n_levels must be a whole number >= 2, got {n_levels!r}; 2 has the level 1/2 only")
    check_choice("aggregate", aggregate, AGGREGATES)


def resolve_kernel(kernel: Kernel, gamma: Any, degree: Any, coef0: Any) -> Kernel:
    r"""Return the row kernel as a pair or a callable; `gamma`, `degree`, `coef0` serve one given by its name.

    A paper's width :math:`\sigma` in :math:`\exp(-\lVert u-v\rVert^2/(2\sigma^2))` is
    ``gamma = 1 / (2 * sigma**2)``. A `gamma` of None is 1 / d2 for "rbf" and 1 for "poly".

    Raises
    ------
    ValueError
        For an unknown kernel, an unknown parameter of it, or one that is not positive semidefinite.
    """
    name, parameters = parse_kernel(kernel)
    if callable(name):
        return name
    if isinstance(kernel, str) and name in ("rbf", "poly"):
        given: dict[str, Any] = {"gamma": gamma if name == "rbf" or gamma is not None else 1.0}
        if name == "poly":
            given |= {"degree": degree, "coef0": coef0}
        parameters = parse_kernel((name, given))[1]
    check_row_kernel((name, parameters))
    return name, parameters


def resolve_rank(rank: int | None, shape: Shape, kernel: Kernel) -> int:
    """Return the rank that `rank` means for matrices of `shape`; None is full.

    Full is min(d1, d2) for the linear kernel and d1 for others, whose rows have many features.

    Raises
    ------
    ValueError
        If it is above full.
    """
    linear = kernel_name(kernel) == "linear"
    full = min(shape) if linear else shape[0]
    if rank is None:
        return full
    if rank > full:
        limit = f"min(d1, d2) = {full}" if linear else f"d1 = {full}"
        raise ValueError(
            f"rank is {rank}, wanted at most {limit} for matrices of {shape[0]} x {shape[1]}; "
            "rank=None is full rank"
        )
    return int(rank)

"""The parameters of the room's estimators: their range, and what None stands for."""

from __future__ import annotations

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
from ...kernels import Kernel, kernel_name, parse_kernel, resolve_kernel, scale_gamma
from ..model.aggregation import AGGREGATES
from ..model.objective import LOSSES
from ..model.row_kernels import validate_row_kernel
from .matrix_input import Shape, parse_shape


def validate_lam_parameter(lam: Any) -> None:
    """Raise ValueError unless `lam` is a finite number above 0, small or large enough for its square."""
    if not (is_number(lam) and 1e-100 <= lam <= 1e100):
        raise ValueError(f"lam must be a number > 0, from 1e-100 to 1e+100, got {lam!r}")


def validate_rank_parameter(rank: Any) -> None:
    """Raise ValueError unless `rank` is None or a whole number >= 1."""
    if not (rank is None or is_whole(rank)):
        raise ValueError(f"rank must be None, for full rank, or a whole number >= 1, got {rank!r}")


def validate_machine(model: Any) -> None:
    """Raise ValueError for a parameter that all estimators of the room have and that is out of range."""
    validate_rank_parameter(model.rank)
    validate_lam_parameter(model.lam)
    validate_solving(model)


def validate_solving(model: Any) -> None:
    """As :func:`validate_machine`, for all but `rank` and `lam`."""
    validate_choice("loss", model.loss, LOSSES)
    resolve_row_kernel(model.kernel, model.gamma, model.degree, model.coef0)
    validate_flags(fit_intercept=model.fit_intercept)
    parse_shape(model.shape)
    validate_counts(0, n_restarts=model.n_restarts, bound_iter=model.bound_iter)
    validate_limits(n_components=model.n_components)
    validate_not_negative(tol=model.tol)
    validate_counts(max_iter=model.max_iter)


def validate_pi(pi: Any) -> None:
    """Raise ValueError unless the level `pi` is between 0 and 1; at the ends one class has no weight."""
    validate_within("(0, 1)", hint="; at the ends one class has no weight", pi=pi)


def validate_levels(n_levels: Any, aggregate: Any) -> None:
    """Raise ValueError unless `n_levels` is a whole number >= 2 and `aggregate` a known rule."""
    if not is_whole(n_levels, 2):
        raise ValueError(f"n_levels must be a whole number >= 2, got {n_levels!r}; 2 has the level 1/2 only")
    validate_choice("aggregate", aggregate, AGGREGATES)


def resolve_row_kernel(
    kernel: Kernel,
    gamma: Any,
    degree: Any,
    coef0: Any,
    X: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> Kernel:
    """Return the kernel between rows as :func:`resolve_kernel` does.

    Parameters
    ----------
    kernel, gamma, degree, coef0
        Of an estimator.
    X : (n, d1, d2) array, optional
        The training matrices, whose n d1 rows are what "scale" and "auto" mean. Without them these words are
        checked, and any number stands for them.
    weights : (n,) array, optional
        How often each matrix counts for "scale".

    Raises
    ------
    ValueError
        Unless it is semidefinite.
    """
    if isinstance(gamma, str):
        resolve_kernel(kernel, gamma, degree, coef0)
        gamma = _gamma_of(gamma, X, weights) if X is not None else 1.0
    resolved = resolve_kernel(kernel, gamma, degree, coef0)
    if not callable(resolved):
        validate_row_kernel(resolved)
    return resolved


def _gamma_of(word: str, X: np.ndarray, weights: np.ndarray | None) -> float:
    """Return what the `word` "scale" or "auto" is for the rows of `X`, (n, d1, d2)."""
    d1, d2 = X.shape[1:]
    if word == "auto":
        return 1.0 / d2
    return scale_gamma(X.reshape(-1, d2), None if weights is None else np.repeat(weights, d1))


def gamma_of_rows(kernel: Kernel, d2: int) -> float | None:
    """Return the gamma of a resolved `kernel` between rows of `d2` numbers; None where it has none."""
    name, parameters = parse_kernel(kernel)
    if callable(name) or "gamma" not in parameters:
        return None
    return 1.0 / d2 if parameters["gamma"] is None else float(parameters["gamma"])


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
            f"rank must be at most {limit} for matrices of {shape[0]} x {shape[1]}, got {rank}; "
            "rank=None is full rank"
        )
    return int(rank)

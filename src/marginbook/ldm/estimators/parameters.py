"""The parameters of LDMClassifier: their range, and what goes together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from ...base.parameters import (
    is_number,
    validate_choice,
    validate_counts,
    validate_flags,
    validate_not_negative,
)
from ...kernels import resolve_kernel
from ..model.objective import validate_parameters

SOLVERS = ("auto", "active-set", "interior-point", "dcd", "asgd", "cvxpy")
#: examples beyond which "auto" avoids the Gram matrix of the linear kernel however long the rows are
MEDIUM = 5000
#: multiplications of a step of the interior point, about a tenth of a second, up to which "auto" takes it
SMALL_STEP = 2e8


def validate_penalties(lambda1: Any, lambda2: Any, C: Any) -> None:
    """Raise ValueError as `validate_parameters` does, except for an infinite `C`, the hard margin."""
    if not (is_number(C, infinite=True) and C > 0):
        raise ValueError(f"C must be a number > 0 (np.inf is the hard margin), got {C!r}")
    validate_parameters(lambda1, lambda2, 1.0 if np.isinf(C) else C)


def validate_settings(model: Any) -> tuple[str | Callable[..., Any], dict[str, Any]]:
    """Return name (or callable) and parameters of the kernel of `model`, an LDMClassifier.

    Its gamma may be a word.

    Raises
    ------
    ValueError
        For parameters out of range, and for what does not go together.
    """
    validate_penalties(model.lambda1, model.lambda2, model.C)
    validate_flags(fit_intercept=model.fit_intercept)
    validate_counts(n_passes=model.n_passes)
    if model.max_iter is not None:
        validate_counts(max_iter=model.max_iter)
    validate_not_negative(tol=model.tol)
    validate_choice("solver", model.solver, SOLVERS)
    resolved = resolve_kernel(model.kernel, model.gamma, model.degree, model.coef0)
    name, parameters = resolved if isinstance(resolved, tuple) else (resolved, {})
    if model.solver in ("asgd", "interior-point") and name != "linear":
        raise ValueError(f"solver {model.solver!r} needs kernel='linear', got {name!r}; use 'active-set'")
    if np.isinf(model.C) and model.solver not in ("auto", "active-set", "cvxpy"):
        raise ValueError(
            f"C=inf, the hard margin, needs solver 'auto', 'active-set' or 'cvxpy', got {model.solver!r}"
        )
    return name, parameters


def validate_weights_allowed(model: Any, solver: str, linear: bool) -> None:
    """Raise ValueError where `model`, an LDMClassifier, has no place for weights of rows."""
    if np.isinf(model.C):
        raise ValueError("weights of rows need a finite C: the hard margin takes every row for certain")
    if solver in ("asgd", "cvxpy") or (solver == "dcd" and not linear):
        raise ValueError(
            f"solver {solver!r} takes no weights of rows, neither sample_weight nor class_weight; "
            "use solver='auto'"
        )


def choose_solver(solver: str, name: str | Callable[..., Any], X: Any, C: float) -> str:
    """Return the solver that `solver` means for kernel `name` on rows `X`, (m, d)."""
    if solver != "auto":
        return solver
    m, d = X.shape
    if name != "linear" or np.isinf(C) or not (sparse.issparse(X) or m > min(d, MEDIUM)):
        return "active-set"
    return "interior-point" if m * max(d, min(m, d) ** 2) <= SMALL_STEP else "dcd"


def steps_allowed(solver: str, max_iter: int | None) -> int:
    """Return `max_iter`, or where it is None what is usual for `solver`."""
    return {"dcd": 10_000, "interior-point": 200}.get(solver, 100_000) if max_iter is None else int(max_iter)

"""The parameters of DRMClassifier: their range, and what goes together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scipy import sparse

from ...base.parameters import validate_choice
from ...kernels import parse_kernel, resolve_kernel
from ..model.objective import validate_parameters
from ..solvers.iteration import validate_stopping
from .prediction import ITERATIVE

SOLVERS = ("auto", "closed", "one-pass", *ITERATIVE)


def validate_settings(model: Any, X: Any) -> tuple[str | Callable[..., Any], dict[str, Any]]:
    """Return name (or callable) and parameters of the kernel of `model`, a DRMClassifier, for data `X`.

    Raises
    ------
    ValueError
        For parameters out of range, and for what does not go together.
    """
    validate_parameters(model.alpha, model.beta)
    validate_stopping(model.max_iter, model.tol)
    validate_choice("solver", model.solver, SOLVERS)
    name, parameters = parse_kernel(resolve_kernel(model.kernel, model.gamma, model.degree, model.coef0))
    if model.solver == "one-pass" and name != "linear":
        raise ValueError(f"solver 'one-pass' needs kernel='linear', got {name!r}; use solver='closed'")
    if name == "precomputed" and model.fit_intercept:
        raise ValueError("fit_intercept=True has no meaning for kernel='precomputed'; add 1 to the kernel")
    if (name == "precomputed" or callable(name)) and sparse.issparse(X):
        raise ValueError("a precomputed or callable kernel needs dense data; call X.toarray()")
    return name, parameters

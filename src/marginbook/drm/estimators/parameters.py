"""The parameters of DRMClassifier: their range, and what goes together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from ...base.parameters import validate_choice, validate_flags, validate_limits
from ...kernels import kernel_name, resolve_kernel
from ..model.objective import validate_parameters
from ..solvers.iteration import validate_stopping
from .prediction import ITERATIVE

SOLVERS = ("auto", "closed", "one-pass", "cg", *ITERATIVE)
#: a p x p matrix for each class, or an n x n one, is the quicker way up to these p and n
WIDE, LONG = 4096, 12_000
#: features up to which it does not matter which way is taken when there are more rows
SMALL = 256


def validate_settings(
    model: Any, X: Any, weights: np.ndarray | None = None
) -> tuple[str | Callable[..., Any], dict[str, Any]]:
    """Return name (or callable) and parameters of the kernel of `model`, a DRMClassifier, for rows `X`.

    Without rows, None, "scale" and "auto" stay words.

    Raises
    ------
    ValueError
        For parameters out of range, and for what does not go together.
    """
    validate_parameters(model.alpha, model.beta)
    validate_flags(fit_intercept=model.fit_intercept)
    validate_stopping(model.max_iter, model.tol)
    validate_choice("solver", model.solver, SOLVERS)
    validate_limits(n_components=model.n_components)
    kernel = resolve(model, X, weights)
    name, parameters = (kernel, {}) if callable(kernel) else kernel
    if model.solver == "one-pass" and name != "linear" and model.n_components is None:
        raise ValueError(f"solver 'one-pass' needs kernel='linear', got {name!r}; use solver='closed'")
    if name == "precomputed" and model.fit_intercept:
        raise ValueError("fit_intercept=True has no meaning for kernel='precomputed'; add 1 to the kernel")
    if (name == "precomputed" or callable(name)) and sparse.issparse(X):
        raise ValueError("a precomputed or callable kernel needs dense data; call X.toarray()")
    return name, parameters


def resolve(
    model: Any, X: Any, weights: np.ndarray | None
) -> tuple[str, dict[str, Any]] | Callable[..., Any]:
    """Return the kernel of `model` for rows `X`, (n, p); with weights of rows, "scale" is that of copies."""
    return resolve_kernel(model.kernel, model.gamma, model.degree, model.coef0, X, weights)


def takes_chunks(model: Any) -> bool:
    """Return whether `model`, a DRMClassifier, adds up over parts of the rows."""
    return (
        kernel_name(model.kernel) == "linear"
        and model.solver in ("auto", "one-pass")
        and model.n_components is None
    )


def available_chunks(model: Any) -> bool:
    """As `takes_chunks`; where not, raise AttributeError with what `partial_fit` needs."""
    if not takes_chunks(model):
        raise AttributeError(
            "partial_fit of DRMClassifier needs kernel='linear', solver 'auto' or 'one-pass', and no "
            "n_components"
        )
    return True


def choose_solver(solver: str, name: Any, X: Any, n_classes: int) -> str:
    """Return what "auto" stands for with a kernel of this name and rows `X`, (n, p)."""
    n, p = X.shape
    if solver != "auto":
        return solver
    if name != "linear":
        return "closed"
    if sparse.issparse(X) and p > WIDE and n > LONG:
        return "cg"
    # an eigendecomposition of a p x p matrix for each class, which takes about 10 p^3; below, milliseconds
    dear = p > SMALL and n * p**2 + 10 * n_classes * p**3 > n**2 * p + n**3 / 6
    return "one-pass" if n > p and not dear else "closed"

"""The solutions of one classifier, one for each row of signs, all of them on the same kernel values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...kernels import Kernel, parse_kernel, warn_of_scale
from ..model.linear import LinearSolution
from ..model.whitening import WhitenedGram
from ..solvers.decomposition import decompose
from ..solvers.dual import Solution
from ..solvers.kernel_rows import ComputedRows
from ..solvers.linear_cd import solve_linear
from .gram_checks import always_positive, training_gram
from .training import STORED, Penalties, solve_on_gram

#: rows up to which a problem that chunks of rows leave unsolved is factorised
FACTORISED = 4000
#: rows that a warning about the scale of the features looks at
LOOKED_AT = 1000


def solutions_on_kernel(
    kernel: Kernel,
    X: Any,
    signs: np.ndarray,
    penalties: Penalties,
    solver: str,
    tol: float,
    max_iter: int,
    *,
    fit_intercept: bool = False,
    weights: np.ndarray | None = None,
) -> list[Solution]:
    """Return the solution for each row of `signs`, (k, m), with a kernel.

    Up to 3000 rows there is one Gram matrix, and where it has to be factorised one factor. Beyond, for a
    kernel given by its name, its rows are computed on demand and shared.

    Parameters
    ----------
    kernel : Kernel
        With its parameters in numbers.
    X : (m, d) array or CSR matrix; for "precomputed" the (m, m) matrix itself
    signs : (k, m) array of -1 and +1
    penalties, solver, tol, max_iter, weights
        As in :func:`marginbook.ldm.estimators.training.solve_on_gram`.
    fit_intercept : bool
        Add 1 to the kernel.
    """
    m, name = X.shape[0], parse_kernel(kernel)[0]
    computable = name != "precomputed" and not callable(name) and always_positive(kernel)
    solved: dict[int, Solution] = {}
    if solver == "active-set" and computable and m > STORED and np.isfinite(penalties[2]):
        warn_of_scale(kernel, ComputedRows(kernel, X, kept=0).block(np.arange(0, m, -(-m // LOOKED_AT))))
        rows = ComputedRows(kernel, X, float(fit_intercept))
        for k, y in enumerate(signs):
            found = decompose(rows, y, *penalties, tol=tol, max_iter=max_iter, weights=weights)
            if found.converged or weights is not None or m > FACTORISED:
                solved[k] = found
        del rows
    if len(solved) == len(signs):
        return [solved[k] for k in range(len(signs))]
    G = training_gram(kernel, X, fit_intercept)
    if m <= STORED:
        warn_of_scale(kernel, G - 1.0 if fit_intercept else G)
    shared = WhitenedGram(G, signs[0]) if len(signs) > 1 and weights is None else None
    for k, y in enumerate(signs):
        if k not in solved:
            whitened = None if shared is None else shared.relabelled(y)
            solved[k] = solve_on_gram(
                G, y, penalties, solver, tol, max_iter, weights=weights, whitened=whitened
            )
    return [solved[k] for k in range(len(signs))]


def solutions_on_features(
    rows: Any,
    signs: np.ndarray,
    penalties: Penalties,
    method: str,
    tol: float,
    max_iter: int,
    seeds: Callable[[], int],
    *,
    constant: bool,
    weights: np.ndarray | None,
) -> list[LinearSolution]:
    """Return the solution for each row of `signs`, (k, m), with the linear kernel on `rows`, (m, d)."""
    return [
        solve_linear(
            rows,
            y,
            *penalties,
            method=method,
            tol=tol,
            max_iter=max_iter,
            random_state=seeds(),
            weights=weights,
            constant=constant,
        )
        for y in signs
    ]

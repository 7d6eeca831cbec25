"""The grid of LDMClassifierCV: its values, the table of its results, and the choice from it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...base.parameters import validate_not_negative
from ...base.user_line import user_level
from ...kernels import resolve_kernel
from ...kernels.open_gamma import leaves_gamma_open
from ..model.objective import relative_gap
from ..solvers.grid import Grid
from .parameters import validate_penalties
from .scores import validate_scoring

#: parameters of a grid point, the last fastest
NAMES = ("gamma", "C", "lambda1", "lambda2")


def validate_grids(model: Any) -> None:
    """Raise ValueError for grids and parameters of an LDMClassifierCV that are out of range."""
    for name in ("lambda1s", "lambda2s", "Cs", "gammas"):
        values = getattr(model, name)
        if values is None and name == "gammas":
            continue
        # an array without an axis has no length, though it has the attribute
        if isinstance(values, str) or np.ndim(values) == 0 or not len(values):
            raise ValueError(f"{name} must be a sequence of at least one value, got {values!r}")
    for lambda1 in model.lambda1s:
        validate_penalties(lambda1, 0.0, 1.0)
    for lambda2 in model.lambda2s:
        validate_penalties(0.0, lambda2, 1.0)
    for C in model.Cs:
        validate_penalties(0.0, 0.0, C)
        if not np.isfinite(C):
            raise ValueError("Cs must be finite, got inf; LDMClassifier(C=np.inf) is the hard margin")
    validate_not_negative(tol=model.tol)
    validate_scoring(model.scoring)
    if model.gammas is not None:
        if not leaves_gamma_open(model.kernel):
            raise ValueError(
                f"gammas are for a kernel 'rbf' or 'poly' that leaves its gamma open, got {model.kernel!r}"
            )
        for gamma in model.gammas:
            if gamma is None:
                raise ValueError("gammas must be numbers, got None; gammas=None is the paper's grid")
            resolve_kernel(model.kernel, gamma, model.degree, model.coef0)
    resolve_kernel(model.kernel, None, model.degree, model.coef0)


def results(points: list[tuple[Any, ...]], scores: np.ndarray, gaps: np.ndarray) -> dict[str, Any]:
    """Return the table of the grid as scikit-learn's searches shape it, for `points` in the order of NAMES.

    A parameter that is None everywhere, the width of a kernel without one, is left out of ``params``.
    """
    found: dict[str, Any] = {
        "params": [
            {name: value for name, value in zip(NAMES, point, strict=True) if value is not None}
            for point in points
        ]
    }
    for k, name in enumerate(NAMES):
        column = np.array([point[k] for point in points])
        found[f"param_{name}"] = found[name] = column
    known = scores[~np.isnan(scores)]
    ranks = 1 + np.array([np.sum(known > score) if score == score else len(known) for score in scores])
    found["mean_test_score"] = found["score"] = scores
    return found | {"rank_test_score": ranks.astype(np.int32), "dual_gap": gaps}


def first_best(values: np.ndarray) -> int:
    """Return where the first of the largest scores is, (n,) -> int; a score that is undefined never wins."""
    undefined = np.isnan(values)
    if undefined.all():
        raise ValueError(
            f"all {len(values)} grid points have a fold whose score is undefined; choose folds with both "
            "classes, or another scoring"
        )
    if undefined.any():
        count = int(undefined.sum())
        warnings.warn(
            f"{count} of {len(values)} grid points {'has' if count == 1 else 'have'} a fold whose score is "
            "undefined; choose folds with both classes, or another scoring",
            UserWarning,
            stacklevel=user_level(),
        )
    return int(np.argmax(np.where(undefined, -np.inf, values)))


def relative_gaps(grid: Grid) -> np.ndarray:
    """Return the relative gap of each grid point."""
    return np.asarray(relative_gap(grid.gap, grid.objective))


def warn_of_gaps(gaps: np.ndarray, tol: float) -> None:
    """Warn with the count where relative gaps of grid points are above `tol`."""
    missed = int(np.sum(gaps > tol))
    if missed:
        warnings.warn(
            f"{missed} of {len(gaps)} grid point{'' if len(gaps) == 1 else 's'} "
            f"{'has' if missed == 1 else 'have'} a relative duality gap above tol={tol:.2e}, "
            f"up to {gaps.max():.2e}; raise tol, or scale the features",
            ConvergenceWarning,
            stacklevel=user_level(),
        )

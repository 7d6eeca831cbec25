r"""The linear LDM on few features from chunks: exact, in a dozen passes.

Newton's method on the rounded hinge (:mod:`marginbook.large.margins`) comes close: a step needs one pass.
Each pass looks at two widths, so that none is spent on the change from one to the next, and keeps the rows
nearest to the margin. When these are more than the parabola touches, the problem is solved on them
(:mod:`marginbook.large.near`), and the next pass proves that the rest did not matter, or goes on from there.
Memory is O(p\ :sup:`2`) beside the rows kept; the multipliers, which the solvers in memory have for every
row, are a function of w.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from rich.console import Console
from scipy.linalg import cho_factor, cho_solve
from sklearn.exceptions import ConvergenceWarning

from ..ldm import LDMClassifier
from ..ldm.linear_problem import gap_scale
from ..ldm.settings import check_settings
from .bar import PassBar
from .margins import Pass, Problem, Rounded, one_pass
from .near import Near, solve_near
from .sources import Source
from .statistics import Collector

Evaluate: TypeAlias = Callable[[np.ndarray, tuple[float, ...], Near | None], Pass]

#: features up to which p x p matrices are reasonable: 0.2 GB each
MOST_FEATURES = 5000
#: passes if max_iter is None
PASSES = 200
#: the first width, for which all rows are on the parabola at w = 0, and the factor by which it shrinks
WIDEST, SHRINK = 2.0, 4.0
#: share of the predicted decrease that a step must bring
DECREASE = 1e-4


def fit_ldm(model: LDMClassifier, source: Source, *, console: Console | None = None) -> LDMClassifier:
    """Fit a linear LDM to rows that need not fit into memory; few features, any number of rows.

    One pass for mean and covariance, about a dozen for the hinge, until the duality gap over all rows is at
    most ``tol * max(|objective|, min(1, m C))``, as in memory. For many sparse features there is
    ``LDMClassifier.fit_file``, which keeps numbers for every row and none for pairs of features.

    Parameters
    ----------
    model : LDMClassifier
        With ``kernel="linear"``, solver "auto" and a finite C; `max_iter` is the most passes, 200 if None.
    source : Source
    console : rich.console.Console, optional
        Where a bar is shown if it is a terminal; default: standard error.

    Returns
    -------
    LDMClassifier
        `model`, fitted: `coef_`, `intercept_`, `objective_`, `dual_gap_`, `n_iter_` (passes), `margin_mean_`,
        `margin_variance_`, ``solver_ == "newton"``. No multipliers, so neither `dual_coef_` nor `loo_bound`.

    Raises
    ------
    ValueError
        For another kernel or solver, an infinite C, other than two classes, more than 5000 features, and rows
        that the source refuses.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import minmax_scale
    >>> from marginbook.large import Pairs
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = minmax_scale(X)
    >>> parts = Pairs(lambda: ((X[k::5], y[k::5]) for k in range(5)))
    >>> model = LDMClassifier(kernel="linear", fit_intercept=True)
    >>> round(fit_ldm(model, parts).objective_, 2), round(model.fit(X, y).objective_, 2)
    (405.91, 405.91)
    """
    name, _ = check_settings(model)
    if name != "linear" or model.solver != "auto" or not np.isfinite(model.C):
        raise ValueError(
            "fit_ldm needs kernel='linear', solver='auto' and a finite C, got "
            f"kernel={name!r}, solver={model.solver!r}, C={model.C!r}"
        )
    constant, collector = bool(model.fit_intercept), Collector(bool(model.fit_intercept))
    with PassBar(source, console) as bar:
        for chunk in bar.chunks("mean and covariance"):
            width = chunk.X.shape[1]
            if width > MOST_FEATURES:
                raise ValueError(
                    f"fit_ldm takes up to {MOST_FEATURES} features, got {width}; use LDMClassifier.fit_file"
                )
            collector.add(chunk)
        found = collector.total()
        problem = Problem(found, float(model.lambda1), float(model.lambda2), float(model.C))

        def evaluate(w: np.ndarray, widths: tuple[float, ...], earlier: Near | None) -> Pass:
            return one_pass(bar.chunks("hinge"), problem, w, widths, constant, earlier)

        most = PASSES if model.max_iter is None else int(model.max_iter)
        best, passes = minimise(evaluate, problem, model.tol, most)
    scale = gap_scale(best.objective, problem.C, found.m)
    if best.gap > model.tol * scale:
        warnings.warn(
            f"fit_ldm stopped after {passes} passes at the relative duality gap {best.gap / scale:.2e} > "
            f"tol={model.tol:.2e}; raise max_iter or tol, or scale the features",
            ConvergenceWarning,
            stacklevel=2,
        )
    model._forget()
    for state in ("dual_coef_", "beta_", "feature_names_in_"):
        model.__dict__.pop(state, None)
    model.classes_, model.n_features_in_, model._kernel = found.classes, width, ("linear", {})
    model.solver_, model.n_iter_ = "newton", passes
    model.objective_, model.dual_gap_ = best.objective, best.gap
    model.margin_mean_ = float(best.w @ found.mean)
    model.margin_variance_ = 2.0 * float(best.w @ found.covariance @ best.w)  # as (4) defines it
    model._set_weights(best.w)
    return model


def minimise(evaluate: Evaluate, problem: Problem, tol: float, most: int) -> tuple[Pass, int]:
    """Return the pass with the smallest gap, and how many passes there were.

    Parameters
    ----------
    evaluate : callable
        From w, (p,), widths, and the rows that were near, to a pass.
    problem : Problem
    tol : float
    most : int
        Passes.
    """
    m, A = problem.statistics.m, problem.curvature()
    here = evaluate(np.zeros(len(A)), (WIDEST, WIDEST / SHRINK), None)
    best, passes, rest = here, 1, False

    def allowed() -> float:
        return tol * gap_scale(best.objective, problem.C, m)

    while best.gap > allowed() and passes < most:
        # once the gap is more of the width than of w, the smaller width is the better guide
        at = int(here.rounded[0].hinge_gap > here.rounded[0].slope_gap)
        widths = (here.rounded[at].width, here.rounded[at].width / SHRINK)
        if not rest and here.near.width >= (np.inf if at == 0 else widths[0]):
            there, passes = _by_near_rows(evaluate, problem, here, widths, allowed()), passes + 1
            rest = there.gap > best.gap / 2
        else:
            after, used = _by_newton(evaluate, here, at, widths, most - passes)
            passes, rest = passes + used, False
            if after is None:
                break
            there = after
        best = min(best, there, key=lambda found: found.gap)
        if not rest:
            here = there
    return best, passes


def _by_near_rows(
    evaluate: Evaluate, problem: Problem, here: Pass, widths: tuple[float, ...], allowed: float
) -> Pass:
    """Return the pass at the optimum for the rows that are near, with a gap for those that are not."""
    A, near = problem.curvature(), here.near
    q = problem.lambda2 * problem.statistics.mean + problem.C * near.below
    w, gap = solve_near(A, q, problem.C, near.rows, allowed / 10)
    there = evaluate(w, widths, near)
    return replace(there, gap=min(there.gap, gap + there.crossings))


def _by_newton(
    evaluate: Evaluate, here: Pass, at: int, widths: tuple[float, ...], most: int
) -> tuple[Pass | None, int]:
    """Return the pass after a step that brings the rounded objective down, and the passes that it took."""
    start = here.rounded[at]
    direction = -cho_solve(cho_factor(start.hessian), start.gradient)
    slope, step = float(start.gradient @ direction), 1.0
    for used in range(1, most + 1):
        there = evaluate(here.w + step * direction, widths, None)
        if _is_enough(start, there.rounded[0], step * slope):
            return there, used
        step *= min(max(_secant(slope, float(there.rounded[0].gradient @ direction)), 0.1), 0.9)
        if step < 1e-10:  # the slope is rounding
            return None, used
    return None, most


def _is_enough(start: Rounded, reached: Rounded, predicted: float) -> bool:
    rounding = 1e-14 * (abs(start.value) + abs(reached.value))
    return bool(reached.value <= start.value + DECREASE * predicted + rounding)


def _secant(before: float, after: float) -> float:
    """Return where a line through two slopes at 0 and 1 has its zero; the rounded objective is convex."""
    return before / (before - after) if after > before else 0.5

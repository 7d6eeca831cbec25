r"""The linear LDM on few features from chunks: exact, in a dozen passes.

Newton's method on the rounded hinge (:mod:`marginbook.large.margins`) comes close: a step needs one pass.
Each pass looks at two widths, so that none is spent on the change from one to the next, and keeps the rows
nearest to the margin. When these are more than the parabola touches, the problem is solved on them
by an interior point, and the next pass proves that the rest did not matter, or goes on from there.
Memory is O(p\ :sup:`2`) beside the rows kept; the multipliers, which the solvers in memory have for every
row, are a function of w.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from sklearn.exceptions import ConvergenceWarning

from ..kernels.hinge_interior_point import HingeProgram
from ..ldm import LDMClassifier
from ..ldm.estimators.parameters import validate_settings
from ..ldm.model.linear import gap_scale
from .margins import LinearLDM, Pass, Rounded, one_pass, slopes_along
from .near import Near
from .progress_bar import PassBar
from .sources import Chunk, Source
from .statistics import Collector

if TYPE_CHECKING:
    from rich.console import Console

#: features up to which p x p matrices are reasonable: 0.2 GB each
MOST_FEATURES = 5000
#: passes if max_iter is None
PASSES = 200
#: the first width, for which all rows are on the parabola at w = 0, and the factor by which it shrinks
WIDEST, SHRINK = 2.0, 4.0
#: share of the predicted decrease that a step must bring
DECREASE = 1e-4
#: steps 1, 1/2, 1/4, ... at which one pass looks where a whole step does not bring it
HALVINGS = 40
#: most steps of the interior point on the rows near the margin; 15 to 30 are usual
STEPS = 100


def fit_ldm(model: LDMClassifier, source: Source, *, console: Console | None = None) -> LDMClassifier:
    """Fit a linear LDM to rows that need not fit into memory; few features, any number of rows.

    One pass for mean and covariance, about a dozen for the hinge, until the duality gap over all rows is at
    most ``tol * max(|objective|, min(1, m C))``, as in memory. For many sparse features there is
    ``LDMClassifier.fit_file``, which keeps numbers for every row and none for pairs of features.

    Parameters
    ----------
    model : LDMClassifier
        With ``kernel="linear"``, solver "auto", a finite C and no `class_weight`; `max_iter` is the most
        passes, 200 if None.
    source : Source
        :class:`~marginbook.large.ParquetFiles`, :class:`~marginbook.large.LibsvmFiles` or
        :class:`~marginbook.large.Pairs`.
    console : rich.console.Console, default=None
        Where a bar is shown if it is a terminal; default: standard error.

    Returns
    -------
    LDMClassifier
        `model`, fitted: `coef_`, `intercept_`, `objective_`, `dual_gap_`, `n_iter_` (passes), `margin_mean_`,
        `margin_variance_`, ``solver_ == "newton"``. No multipliers, so neither `dual_coef_` nor `loo_bound`.

    Raises
    ------
    ValueError
        For another kernel or solver, an infinite C, `class_weight`, parameters out of range, other than two
        classes, more than 5000 features, and rows that the source refuses.

    Warns
    -----
    ConvergenceWarning
        If the gap is above the `tol` of `model` at the end.

    Examples
    --------
    >>> from marginbook.large import Pairs, fit_ldm
    >>> from marginbook.ldm import LDMClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import minmax_scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = minmax_scale(X)
    >>> parts = Pairs(lambda: ((X[k::5], y[k::5]) for k in range(5)))
    >>> model = LDMClassifier(kernel="linear", fit_intercept=True)
    >>> round(fit_ldm(model, parts).objective_, 1), round(model.fit(X, y).objective_, 1)
    (405.9, 405.9)
    """
    name, _ = validate_settings(model)
    if name != "linear" or model.solver != "auto" or not np.isfinite(model.C):
        raise ValueError(
            "fit_ldm needs kernel='linear', solver='auto' and a finite C, got "
            f"kernel={name!r}, solver={model.solver!r}, C={model.C!r}"
        )
    if model.class_weight is not None:
        raise ValueError("fit_ldm takes no class_weight; use LDMClassifier.fit, or repeat the rows")
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
        problem = LinearLDM(found, float(model.lambda1), float(model.lambda2), float(model.C))

        most = PASSES if model.max_iter is None else int(model.max_iter)
        passes = Passes(lambda: bar.chunks("hinge"), problem, constant, most)
        best = minimise(passes, model.tol)
    scale = gap_scale(best.objective, problem.C, found.m)
    if best.gap > model.tol * scale:
        warnings.warn(
            f"fit_ldm stopped after {passes.count} pass{'' if passes.count == 1 else 'es'} at the relative "
            f"duality gap {best.gap / scale:.2e} > tol={model.tol:.2e}; raise max_iter or tol, or scale "
            "the features",
            ConvergenceWarning,
            stacklevel=2,
        )
    model._forget()
    for state in ("dual_coef_", "beta_", "feature_names_in_"):
        model.__dict__.pop(state, None)
    model.classes_, model.n_features_in_, model._kernel = found.classes, width, ("linear", {})
    model.solver_, model.n_iter_ = "newton", passes.count
    model.objective_, model.dual_gap_ = best.objective, best.gap
    model.margin_mean_ = float(best.w @ found.mean)
    model.margin_variance_ = 2.0 * float(best.w @ found.covariance @ best.w)  # as (4) defines it
    model._set_weights(best.w)
    return model


class Passes:
    """Passes over the chunks, counted.

    Parameters
    ----------
    chunks : callable
        Returns the chunks of one pass.
    problem : LinearLDM
    constant : bool
        Append a feature that is 1 everywhere.
    most : int
        Passes that are allowed.
    """

    def __init__(
        self, chunks: Callable[[], Iterable[Chunk]], problem: LinearLDM, constant: bool, most: int
    ) -> None:
        self.chunks, self.problem, self.constant, self.most = chunks, problem, constant, most
        self.count = 0

    def at(self, w: np.ndarray, widths: tuple[float, ...], earlier: Near | None = None) -> Pass:
        """Return what a pass finds at `w`."""
        self.count += 1
        return one_pass(self.chunks(), self.problem, w, widths, self.constant, earlier)

    def step(self, w: np.ndarray, direction: np.ndarray, width: float) -> float:
        """Return the step, up to 1, after which the rounded objective rises again; one pass."""
        self.count += 1
        steps = 0.5 ** np.arange(HALVINGS)
        slopes = slopes_along(self.chunks(), self.problem, w, direction, steps, width, self.constant)
        rises = np.flatnonzero(slopes > 0)
        if rises.size == 0 or rises[-1] == HALVINGS - 1:
            return float(steps[0] if rises.size == 0 else 0.0)
        high, low = rises[-1], rises[-1] + 1
        share = float(slopes[low] / (slopes[low] - slopes[high]))
        return float(steps[low] + share * (steps[high] - steps[low]))


def minimise(passes: Passes, tol: float) -> Pass:
    """Return the pass with the smallest gap: one within `tol`, or the best that the passes allow."""
    problem = passes.problem
    m, p = problem.statistics.m, len(problem.statistics.mean)
    here = best = passes.at(np.zeros(p), (WIDEST, WIDEST / SHRINK))
    rest = False
    while passes.count < passes.most:
        allowed = tol * gap_scale(best.objective, problem.C, m)
        if best.gap <= allowed:
            break
        # once the gap is more of the width than of w, the smaller width is the better guide
        at = int(here.rounded[0].hinge_gap > here.rounded[0].slope_gap)
        widths = (here.rounded[at].width, here.rounded[at].width / SHRINK)
        covered = here.near.width >= (np.inf if at == 0 else widths[0]) and len(here.near.rows) > 0
        if covered and not rest:
            w, gap = _optimum_of_near(problem, here.near, allowed / 10)
            there = passes.at(w, widths, here.near)
            there = replace(there, gap=min(there.gap, gap + there.crossings))
            enough = there.gap <= best.gap / 2
            rest = not enough
        else:
            start = here.rounded[at]
            try:
                w = here.w - cho_solve(cho_factor(start.hessian), start.gradient)
            except LinAlgError:  # rounding: the best so far is told with its gap
                break
            there = passes.at(w, widths)
            enough = _is_enough(start, there.rounded[0], float(start.gradient @ (w - here.w)))
            rest = False
        best = min(best, there, key=lambda found: found.gap)
        if not enough and passes.count + 2 <= passes.most and best.gap > allowed:
            step = passes.step(here.w, w - here.w, widths[int(rest)])
            if step == 0.0 and rest:  # the optimum for the rows that are near is none to go to
                continue
            if step == 0.0:  # the slope is rounding
                break
            there = passes.at(here.w + step * (w - here.w), widths)
            best = min(best, there, key=lambda found: found.gap)
        here = there
    return best


def _optimum_of_near(problem: LinearLDM, near: Near, tol: float) -> tuple[np.ndarray, float]:
    q = problem.lambda2 * problem.statistics.mean + problem.C * near.below
    program = HingeProgram(near.rows, np.full(len(near.rows), problem.C), problem.curvature(), q)
    w, _, gap, _ = program.minimise(lambda _, gap: gap <= tol, STEPS)
    return w, gap


def _is_enough(start: Rounded, reached: Rounded, predicted: float) -> bool:
    rounding = 1e-14 * (abs(start.value) + abs(reached.value))
    return bool(reached.value <= start.value + DECREASE * predicted + rounding)

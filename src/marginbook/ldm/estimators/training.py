"""From data and parameters to a solution: the step between LDMClassifier and the solvers."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from scipy.optimize import lsq_linear
from sklearn.exceptions import ConvergenceWarning

from ...base.threads import few_threads
from ...base.user_line import user_level
from ...kernels import KernelOverflow
from ..model.linear import LinearSolution
from ..model.objective import dual_objective, primal_objective, relative_gap
from ..model.whitening import WhitenedGram
from ..solvers.active_set_gram import alternate, pays
from ..solvers.decomposition import decompose
from ..solvers.dual import Solution, active_set, coordinate_descent, solution_at
from ..solvers.hard_margin import gram_features, solve_hard_margin
from ..solvers.kernel_rows import GramRows, StoredRows
from ..solvers.leave_one_out_bound import error_bound
from ..solvers.oracle import hard_margin_oracle, soft_margin_oracle

#: lambda1, lambda2, C
Penalties: TypeAlias = tuple[float, float, float]

#: rows up to which exchanges on a Gram matrix are the fastest; beyond, chunks of its rows
STORED = 3000
#: steps on the multipliers of the spread where no route by H is left
WEIGHTED_TURNS = 1000
#: a gap between sums that is smaller, as a share of their terms, is rounding
ROUNDING = 1e-13
#: how near to 1 an oracle's margin may be to count as 1
ON_MARGIN = 1e-5


def solve_on_gram(
    G: np.ndarray,
    y: np.ndarray,
    penalties: Penalties,
    solver: str,
    tol: float,
    max_iter: int,
    *,
    weights: np.ndarray | None = None,
    whitened: WhitenedGram | None = None,
) -> Solution:
    """Return the solution for a checked Gram matrix.

    Parameters
    ----------
    G : (m, m) array
    y : (m,) array of -1 and +1
    penalties : lambda1, lambda2 and C; an infinite C is the hard margin
    solver : {"active-set", "dcd", "cvxpy"}
    tol : float
    max_iter : int
    weights : (m,) array of positive numbers, optional
        For a finite C and "active-set".
    whitened : WhitenedGram, optional
        Of `G` and `y`, where what it keeps is of use.

    Raises
    ------
    InfeasibleError
        For a hard margin that there is not.
    """
    with few_threads(len(y)):
        if weights is not None:
            return solve_weighted(StoredRows(G), y, penalties, tol, max_iter, weights)
        if solver == "active-set" and np.isfinite(penalties[2]) and len(y) > STORED:
            found = decompose(StoredRows(G), y, *penalties, tol=tol, max_iter=max_iter)
            if found.converged:
                return found
        return _solved(G, y, penalties, solver, tol, max_iter, whitened)


def solve_weighted(
    rows: GramRows, y: np.ndarray, penalties: Penalties, tol: float, max_iter: int, weights: np.ndarray
) -> Solution:
    """Return the solution with `weights` of the rows: by exchanges where they are few, else by chunks."""
    if isinstance(rows, StoredRows) and len(y) <= STORED:
        found = alternate(
            rows.G, y, *penalties, tol=tol, max_iter=max_iter, weights=weights, turns=WEIGHTED_TURNS
        )
        if found.converged:
            return found
    return decompose(rows, y, *penalties, tol=tol, max_iter=max_iter, weights=weights)


def _solved(
    G: np.ndarray,
    y: np.ndarray,
    penalties: Penalties,
    solver: str,
    tol: float,
    max_iter: int,
    whitened: WhitenedGram | None,
) -> Solution:
    if solver == "active-set" and len(y) <= STORED and pays(G, penalties[0], penalties[2]):
        found = alternate(G, y, *penalties, tol=tol, max_iter=max_iter)
        if found.converged:
            return found
    if whitened is None:
        whitened = WhitenedGram(G, y)
    if solver == "cvxpy":
        return _by_oracle(whitened, penalties, tol)
    if np.isinf(penalties[2]):
        whitened.decompose()  # H from the eigenvectors has more digits where G is large
        found = solve_hard_margin(whitened, *penalties[:2], tol=tol, max_iter=max_iter)
        return measured_on_gram(stretched(found, G, y), G, y, tol)
    solve = {"active-set": active_set, "dcd": coordinate_descent}[solver]
    found = solve(whitened.hessian(penalties[0]), y, *penalties, tol=tol, max_iter=max_iter)
    checked = measured_on_gram(found, G, y, tol)
    if found.converged and not checked.converged:  # as above
        accurate = WhitenedGram(G, y)
        accurate.decompose()
        H = accurate.hessian(penalties[0])
        again = solve(H, y, *penalties, tol=tol, max_iter=max_iter, start=found.shifted)
        again = replace(again, n_iter=found.n_iter + again.n_iter)
        checked = min(checked, measured_on_gram(again, G, y, tol), key=lambda solution: solution.dual_gap)
    return checked


def stretched(found: Solution, G: np.ndarray, y: np.ndarray) -> Solution:
    """Return a solution of the hard margin with alpha so scaled that its margins on `G` are at least 1.

    Raises
    ------
    ValueError
        If rounding left a margin far below 1.
    """
    smallest = float((y * (G @ found.alpha)).min())
    if smallest < 0.5:
        raise ValueError(
            f"rounding leaves a margin of {smallest:.1e} where all should be at least 1; scale the features, "
            "or use the soft margin"
        )
    return replace(found, alpha=found.alpha / min(1.0, smallest))


def measured_on_gram(found: Solution, G: np.ndarray, y: np.ndarray, tol: float) -> Solution:
    r"""Return a solution with margins, objective and gap of the w that its alpha gives.

    A solver measures its gap with H, which loses digits where :math:`\lambda_1G/m` is large, as alpha does.
    This one is measured with G: for any :math:`\delta` that sums to 0, with :math:`a=Y(\beta'-\delta)`,

    .. math:: e^\top\beta-\frac m{8\lambda_1}\lVert\delta\rVert^2-\tfrac12a^\top Ga

    is a lower bound of (5). It meets the optimum where :math:`\delta=\beta'-Y\alpha`, which is taken.

    Parameters
    ----------
    found : Solution
    G : (m, m) array
    y : (m,) array of -1 and +1
    tol : float
        Relative gap up to which the result counts as converged.
    """
    if found.lambda1 == 0.0:  # H is G with signs, and nothing is lost
        return found
    margins = y * (G @ found.alpha)
    square = float(found.alpha @ (y * margins))
    if np.isinf(found.C):  # no hinge loss but by rounding
        margins = np.maximum(margins, 1.0)
    C = min(found.C, np.finfo(float).max)
    objective = float(primal_objective(margins, square, found.lambda1, found.lambda2, C))
    delta = found.shifted - y * found.alpha
    delta -= delta.mean()
    a = y * (found.shifted - delta)
    parts = (found.beta.sum(), len(y) / (8.0 * found.lambda1) * (delta @ delta), 0.5 * a @ G @ a)
    gap = objective - float(parts[0] - parts[1] - parts[2])
    if abs(gap) <= ROUNDING * (abs(objective) + float(np.abs(parts).sum())):
        gap = 0.0
    gap = max(gap, found.dual_gap)
    converged = bool(relative_gap(gap, objective) <= tol)
    return replace(found, margins=margins, objective=objective, dual_gap=gap, converged=converged)


def _by_oracle(whitened: WhitenedGram, penalties: Penalties, tol: float) -> Solution:
    """Return the oracle's primal solution, certified by the dual vector that its margins and its w imply."""
    lambda1, lambda2, C = penalties
    features, y, m = gram_features(whitened.gram), whitened.y, whitened.m
    if np.isinf(C):
        found = hard_margin_oracle(features, y, lambda1, lambda2)
    else:
        found = soft_margin_oracle(features, y, lambda1, lambda2, C)
    gamma, signed, lower = found.margins, features * y[:, None], lambda2 / m
    # sum beta'_i y_i x_i = w + (4 lambda1 / m) sum (gamma_i - mean) y_i x_i, and off the margin a bound
    target = found.coef + 4.0 * lambda1 / m * (gamma - gamma.mean()) @ signed
    free = np.abs(gamma - 1.0) <= ON_MARGIN
    shifted = np.where(gamma > 1.0, lower, lower + C) if np.isfinite(C) else np.full(m, lower)
    if free.any() and features.shape[1]:
        left = target - shifted[~free] @ signed[~free]
        shifted[free] = lsq_linear(signed[free].T, left, (lower, lower + C), tol=1e-14).x
    dual = float(dual_objective(shifted, whitened.hessian(lambda1) @ shifted, lambda2))
    gap = max(found.objective - dual, 0.0)
    return Solution(
        shifted,
        shifted - lower,
        found.alpha,
        gamma,
        found.objective,
        gap,
        1,
        bool(relative_gap(gap, found.objective) <= tol),
        lambda1,
        lambda2,
        C,
    )


def left_out_bound(G: np.ndarray, y: np.ndarray, found: Solution | LinearSolution) -> float:
    """Return the bound on the leave-one-out error rate that the dual vector of a solution gives.

    Parameters
    ----------
    G : (m, m) Gram matrix
    y : (m,) array of -1 and +1
    found : Solution or LinearSolution
        Of the soft margin.
    """
    with few_threads(len(y)):
        whitened = WhitenedGram(G, y)
        eigen = whitened.decompose()
        # the bound is about the w of the dual vector, which not every solver returns
        shifted, H = found.beta + found.lambda2 / len(y), whitened.hessian(found.lambda1)
        point = solution_at(H, y, shifted, found.lambda1, found.lambda2, found.C, tol=np.inf)
        return error_bound(G, y, point, eigen=eigen)


def warn_of_gap(found: Solution | LinearSolution, tol: float, solver: str, max_iter: int) -> None:
    """Warn with both numbers when the duality gap of a solution misses `tol`, and say what helps.

    A solver that stopped before `max_iter` made no more progress: by rounding, or because more rows lie
    between their bounds than a chunk holds (:mod:`marginbook.ldm.solvers.decomposition`).

    Raises
    ------
    KernelOverflow
        If the objective or the gap is not finite.
    """
    if not (np.isfinite(found.objective) and np.isfinite(found.dual_gap)):
        raise KernelOverflow(
            f"the objective {found.objective} and its gap {found.dual_gap} are beyond double precision; "
            "scale the features, or lower lambda1, lambda2 and C"
        )
    if found.converged:
        return
    relative = (
        found.relative_gap
        if isinstance(found, LinearSolution)
        else found.dual_gap / max(1.0, abs(found.objective))
    )
    if solver == "cvxpy":
        ways = "raise tol"
    elif found.n_iter >= max_iter:
        ways = "raise max_iter or tol"
    else:
        ways = "more would not help: raise tol, lower C"
    warnings.warn(
        f"solver {solver!r} stopped after {found.n_iter} iteration{'' if found.n_iter == 1 else 's'} "
        f"at the relative duality gap {relative:.2e} > tol={tol:.2e}; {ways}, or scale the features",
        ConvergenceWarning,
        stacklevel=user_level(),
    )

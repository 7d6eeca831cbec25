"""From data and parameters to a solution: the step between LDMClassifier and the solvers."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cholesky, eigvalsh
from scipy.optimize import lsq_linear
from sklearn.exceptions import ConvergenceWarning

from ...base.threads import few_threads
from ...kernels import Kernel, KernelOverflow, gram, parse_kernel
from ..model.linear import LinearSolution, gap_scale
from ..model.objective import dual_objective, primal_objective, relative_gap
from ..model.whitening import WhitenedGram
from ..solvers.active_set_gram import alternate, pays
from ..solvers.dual import Solution, active_set, coordinate_descent, solution_at
from ..solvers.hard_margin import gram_features, solve_hard_margin
from ..solvers.loo_bound import error_bound
from ..solvers.oracle import hard_margin_oracle, soft_margin_oracle

#: lambda1, lambda2, C
Penalties: TypeAlias = tuple[float, float, float]

#: how far a Gram matrix may be from its transpose, as a share of its largest entry: single precision
ASYMMETRY = 1e-6
#: most negative eigenvalue that passes for rounding, as a share of the trace
NEGATIVE = 1e-7
#: a gap between sums that is smaller, as a share of their terms, is rounding
ROUNDING = 1e-13
#: how near to 1 an oracle's margin may be to count as 1
ON_MARGIN = 1e-5


def finite_rows(X: Any, constant: bool) -> Any:
    """Return rows `X`, (m, d), for the linear kernel, with a last feature that is 1 everywhere if `constant`.

    Raises
    ------
    KernelOverflow
        If squared margins, which are fourth powers of the features, are too large for double precision.
    """
    largest = float(np.abs(X.data if sparse.issparse(X) else X).max(initial=0.0))
    limit = (np.finfo(float).max / (X.shape[0] * X.shape[1])) ** 0.25 / X.shape[0]
    if largest > limit:
        raise KernelOverflow(
            f"features of up to {largest:.1e}, above {limit:.1e} for {X.shape[0]} rows, give squared margins "
            "beyond double precision; scale the features"
        )
    if not constant:
        return X
    ones = np.ones((X.shape[0], 1))
    return sparse.csr_matrix(sparse.hstack([X, ones])) if sparse.issparse(X) else np.hstack([X, ones])


def training_gram(kernel: Kernel, X: Any, fit_intercept: bool) -> np.ndarray:
    """Return the (m, m) Gram matrix of rows `X`, plus 1 with an intercept, checked as a kernel must be.

    Parameters
    ----------
    kernel : Kernel
    X : (m, d) array or CSR matrix; for "precomputed" the (m, m) matrix itself
    fit_intercept : bool

    Raises
    ------
    ValueError
        If it is not square, not symmetric, or has an eigenvalue below zero, the last two beyond rounding.
    """
    G = gram(kernel, X)
    name, parameters = parse_kernel(kernel)
    if name == "precomputed":
        if G.shape[0] != G.shape[1]:
            raise ValueError(f"kernel='precomputed' needs a square matrix, got shape {G.shape}")
        size = float(np.abs(G).max(initial=0.0))
        apart = np.abs(G - G.T)
        if float(apart.max(initial=0.0)) > ASYMMETRY * size:
            i, j = np.unravel_index(int(apart.argmax()), G.shape)
            raise ValueError(
                f"the precomputed Gram matrix is not symmetric: entry ({i}, {j}) is {G[i, j]:.6g} and "
                f"({j}, {i}) is {G[j, i]:.6g}; give k(x_i, x_j) of the training rows, or (G + G.T) / 2"
            )
        G = (G + G.T) / 2
    positive = name in ("linear", "rbf") or (
        name == "poly" and parameters["coef0"] >= 0 and float(parameters["degree"]).is_integer()
    )
    if not positive:
        validate_positive(G)
    return G + 1.0 if fit_intercept else G


def validate_positive(G: np.ndarray) -> None:
    """Raise ValueError if the symmetric matrix `G`, (m, m), has an eigenvalue below zero, beyond rounding."""
    allowed = NEGATIVE * float(np.trace(np.abs(G)))
    shifted = G.copy()
    shifted[np.diag_indices_from(shifted)] += allowed or np.finfo(float).tiny
    try:  # ten times cheaper than the eigenvalues
        cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        smallest = float(eigvalsh(G, subset_by_index=[0, 0])[0])
        if smallest < -allowed:
            raise ValueError(
                "the kernel is not positive semidefinite: its Gram matrix has the eigenvalue "
                f"{smallest:.3g}, so the problem is not convex; choose another kernel, or set negative "
                "eigenvalues to zero"
            ) from None


def solve_on_gram(
    G: np.ndarray, y: np.ndarray, penalties: Penalties, solver: str, tol: float, max_iter: int
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

    Raises
    ------
    InfeasibleError
        For a hard margin that there is not.
    """
    with few_threads(len(y)):
        return _solved(G, y, penalties, solver, tol, max_iter)


def _solved(
    G: np.ndarray, y: np.ndarray, penalties: Penalties, solver: str, tol: float, max_iter: int
) -> Solution:
    if solver == "active-set" and pays(G, penalties[0], penalties[2]):
        found = alternate(G, y, *penalties, tol=tol, max_iter=max_iter)
        if found.converged:
            return found
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


def warn_of_gap(found: Solution | LinearSolution, tol: float, solver: str) -> None:
    """Warn with both numbers when the duality gap of a solution misses `tol`.

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
    scale = (
        gap_scale(found.objective, found.C, len(found.beta))
        if isinstance(found, LinearSolution)
        else max(1.0, abs(found.objective))
    )
    ways = "raise tol" if solver == "cvxpy" else "raise max_iter or tol"
    warnings.warn(
        f"solver {solver!r} stopped after {found.n_iter} iterations at the relative duality gap "
        f"{found.dual_gap / scale:.2e} > tol={tol:.2e}; {ways}, or scale the features",
        ConvergenceWarning,
        stacklevel=5,
    )

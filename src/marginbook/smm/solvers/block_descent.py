r"""Minimisation of the weighted risk over matrices of low rank: starts, descents, certificate.

Algorithm 1 needs a start, and its result depends on it. The first is the solution without a constraint on the
rank, cut off after r singular values; then come, on request, the minimiser of the convex relaxation that also
gives the lower bound (:mod:`~marginbook.smm.solvers.global_bound`), and random row spaces. The best is kept.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..model.objective import (
    decision_values,
    loss_slopes,
    validate_lam,
    validate_loss,
    validate_sample_weight,
    validate_signs,
)
from .block import only_class, solve_inner
from .block_descent_one_start import Descent, State, balanced
from .block_problem import BlockProblem
from .global_bound import improve
from .hinge_coarse import FEW, coarse
from .sequential_qp import carried
from .solution import LowRankSolution
from .starts import completed, leading_rows, random_basis

METHODS = ("joint", "alternation")
#: a global gap below this share of the objective ends the restarts
CERTIFIED = 1e-6
#: relative duality gap of the solution without a rank, where it is only a start
COARSE = 1e-2
#: objective of a given start, in units of that at B = 0, above which only its row space is taken
WORSE = 100.0


def low_rank_svm(
    X: np.ndarray,
    y: np.ndarray,
    *,
    rank: int,
    lam: float,
    loss: str = "hinge",
    sample_weight: np.ndarray | None = None,
    fit_intercept: bool = False,
    n_restarts: int = 0,
    start: LowRankSolution | tuple[np.ndarray, np.ndarray] | None = None,
    tol: float = 1e-6,
    max_iter: int = 200,
    method: str = "joint",
    bound_iter: int = 0,
    random_state: int | np.random.Generator | None = None,
    gram: np.ndarray | None = None,
) -> LowRankSolution:
    r"""Minimise (2) or (3) over matrices of rank at most `rank` by block descent.

    Parameters
    ----------
    X : (n, d1, d2) array
    y : (n,) array of -1 and +1
    rank : int
        Between 1 and min(d1, d2); the latter is the vector machine on vec(X), one convex problem.
    lam : float
    loss : {"hinge", "squared_hinge", "logistic"}
    sample_weight : (n,) array, optional
        :math:`w_i`, see :func:`~marginbook.smm.model.objective.weights_for`.
    fit_intercept : bool
    n_restarts : int
        Random starts after the first one; they end early when the lower bound proves the best to be global.
    start : LowRankSolution or ((d1, rank) array, (d2, rank) array), optional
        A solution of a problem nearby, or U and V, to begin with instead of the solution without a rank.
    tol : float
        Relative change of the objective by a sweep at which to stop.
    max_iter : int
        Sweeps of each start.
    method : {"joint", "alternation"}
        Whether Newton steps in both blocks together come before the steps of Algorithm 1, or these alone.
        Those are quicker, and they do not stop where only each block by itself is optimal.
    bound_iter : int
        Steps to improve the lower bound, some hundred; its relaxation is then a start as well.
    random_state : int or Generator, optional
    gram : (n, n) array, optional
        Of the inner products of the matrices, for the start; see :func:`start_gram`.

    Returns
    -------
    LowRankSolution

    Raises
    ------
    ValueError
        If a shape, a label, a weight, `rank`, `lam` or `loss` is not as above.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 4, 3))
    >>> y = np.where(X[:, 0, 0] + X[:, 1, 0] > 0, 1, -1)
    >>> found = low_rank_svm(X, y, rank=1, lam=0.1)
    >>> found.coef.shape, int(np.linalg.matrix_rank(found.coef)), found.lower_bound <= found.objective
    ((4, 3), 1, True)
    """
    X = np.ascontiguousarray(X, dtype=float)
    if X.ndim != 3 or 0 in X.shape:
        raise ValueError(f"X has shape {X.shape}, wanted (n, d1, d2): one matrix per sample")
    if not np.isfinite(X).all():
        raise ValueError("X has entries that are not finite; impute or remove them first")
    y = validate_signs(y, len(X))
    lam = validate_lam(lam)
    validate_loss(loss)
    weights = validate_sample_weight(sample_weight, len(X))
    least = min(X.shape[1:])
    if int(rank) != rank or not 1 <= rank <= least:
        raise ValueError(f"rank must be a whole number between 1 and min(d1, d2) = {least}, got {rank}")
    if method not in METHODS:
        raise ValueError(f"method must be one of {METHODS}, got {method!r}")
    if max_iter < 1 or not tol >= 0:
        raise ValueError(f"max_iter must be >= 1 and tol >= 0, got {max_iter} and {tol}")
    descent = Descent(X, y, int(rank), lam, loss, weights, fit_intercept)
    convex = rank == least or (fit_intercept and only_class(y, weights) is not None)
    if convex:
        return _full_rank(descent, tol)
    options: dict[str, Any] = {"tol": tol, "max_iter": max_iter, "method": method}
    if start is None:
        best = _from_full_rank(descent, gram, **options)
    else:
        at = _given(descent, start)
        best = descent.run(at, name="given", near=True, **options)
    lower = best.lower_bound
    if bound_iter > 0:
        relaxed = improve(
            X,
            y,
            rank=rank,
            lam=lam,
            loss=loss,
            sample_weight=weights,
            fit_intercept=fit_intercept,
            multipliers=best.multipliers,
            start=(best.coef, best.intercept),
            target=best.objective - CERTIFIED * abs(best.objective),
            max_iter=bound_iter,
        )
        lower = max(lower, relaxed.value)
        if not _certified(best, lower):
            at = _cut(descent, relaxed.coef, relaxed.intercept, relaxed.multipliers)
            best = _better(best, descent.run(at, name="relaxed", near=False, **options))
    rng = np.random.default_rng(random_state)
    for k in range(n_restarts):
        if _certified(best, lower):
            break
        P = random_basis(X.shape[2], rank, rng)
        nothing = np.zeros(X.shape[1:])
        at = State(nothing, 0.0, descent.value(nothing, 0.0), P)
        other = descent.run(at, name=f"random-{k}", near=False, **options)
        lower = max(lower, other.lower_bound)
        best = _better(best, other)
    # no loss is negative, and no minimum above what is reached: rounding must not say otherwise
    return replace(best, lower_bound=min(max(lower, 0.0), best.objective))


def _certified(best: LowRankSolution, lower: float) -> bool:
    return best.objective - lower <= CERTIFIED * abs(best.objective)


def _better(first: LowRankSolution, second: LowRankSolution) -> LowRankSolution:
    return second if second.objective < first.objective else first


def _cut(descent: Descent, coef: np.ndarray, b: float, c: np.ndarray) -> State:
    """Return the state of a matrix cut off after r singular values."""
    P = leading_rows(coef, descent.rank)
    kept = (coef @ P) @ P.T
    nothing = np.zeros_like(coef)
    value, trivial = descent.value(kept, b), descent.value(nothing, 0.0)
    return State(kept, b, value, P, c) if value <= trivial else State(nothing, 0.0, trivial, P)


def start_gram(X: np.ndarray, loss: str) -> np.ndarray | None:
    """Return the inner products of the matrices, (n, n), if the start for `loss` needs them."""
    if loss != "hinge" or len(X) > FEW:
        return None
    rows = X.reshape(len(X), -1)
    return np.asarray(rows @ rows.T)


def _from_full_rank(
    descent: Descent, gram: np.ndarray | None, *, tol: float, max_iter: int, method: str
) -> LowRankSolution:
    X = descent.X
    rows, wanted = X.reshape(len(X), -1), COARSE if method == "joint" else min(tol, COARSE)
    problem: dict[str, Any] = {
        "lam": descent.lam,
        "sample_weight": descent.sample_weight,
        "fit_intercept": descent.fit_intercept,
        "tol": wanted,
        "loss": descent.loss,
    }
    if gram is None and method == "joint":
        gram = start_gram(X, descent.loss)
    if gram is not None and method == "joint":
        whole = coarse(BlockProblem(rows, descent.y, **problem), gram)
    else:
        whole = solve_inner(rows, descent.y, **problem)
    at = _cut(descent, whole.weights.reshape(X.shape[1:]), whole.intercept, whole.multipliers)
    found = descent.run(at, tol=tol, max_iter=max_iter, name="full", method=method, near=False)
    return replace(found, lower_bound=max(found.lower_bound, descent.bound(whole.multipliers)))


def _full_rank(descent: Descent, tol: float) -> LowRankSolution:
    """Return the solution where the rank does not constrain it: one convex problem."""
    X = descent.X
    found = solve_inner(
        X.reshape(len(X), -1),
        descent.y,
        lam=descent.lam,
        loss=descent.loss,
        sample_weight=descent.sample_weight,
        fit_intercept=descent.fit_intercept,
        tol=max(min(0.01 * tol, 1e-9), 1e-12),
    )
    U, V = balanced(found.weights.reshape(X.shape[1:]), descent.rank)
    path = np.array([descent.value(np.zeros(X.shape[1:]), 0.0), found.objective])
    lower = found.objective - max(found.dual_gap, 0.0)
    return LowRankSolution(
        U,
        V,
        U @ V.T,
        found.intercept,
        found.multipliers,
        found.objective,
        lower,
        found.dual_gap,
        path,
        1,
        found.converged or found.dual_gap <= tol * abs(found.objective),
        "full",
    )


def _given(descent: Descent, start: LowRankSolution | tuple[np.ndarray, np.ndarray]) -> State:
    _, d1, d2 = descent.X.shape
    b = start.intercept if isinstance(start, LowRankSolution) and descent.fit_intercept else 0.0
    pair = (start.U, start.V) if isinstance(start, LowRankSolution) else start
    U, V = (np.asarray(part, dtype=float) for part in pair)
    if U.shape != (d1, descent.rank) or V.shape != (d2, descent.rank):
        wanted = f"{(d1, descent.rank)} and {(d2, descent.rank)}"
        raise ValueError(f"start has shapes {U.shape} and {V.shape}, wanted {wanted}")
    if not (np.isfinite(U).all() and np.isfinite(V).all()):
        raise ValueError("start has entries that are not finite; begin without it")
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is worse than nothing
        coef = U @ V.T
        value, nothing = descent.value(coef, b), np.zeros((d1, d2))
    trivial = descent.value(nothing, 0.0)
    if not value <= WORSE * trivial:  # a solution for another scale: only its directions are of use
        return State(nothing, 0.0, trivial, completed(V))
    margins, C = descent.y * decision_values(coef, b, descent.X), descent.sample_weight / len(descent.y)
    c = None
    if descent.loss != "hinge":
        c = -loss_slopes(margins, descent.loss) * C
    elif isinstance(start, LowRankSolution) and len(start.multipliers) == len(C):
        c = carried(margins, start.multipliers, C)
    return State(coef, b, value, completed(V), c)

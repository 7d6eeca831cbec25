r"""Algorithm 1: descent over the blocks U and V of :math:`B=UV^\top`.

With the rows of B in the span of orthonormal columns P (d2 x r), :math:`B=WP^\top` has
:math:`\langle B,X_i\rangle=\langle W,X_iP\rangle` and :math:`\lVert B\rVert_F=\lVert W\rVert_F`: the U-step is a
linear machine on the :math:`d_1r` features :math:`X_iP`, equation (2) with V fixed. From :math:`W=QR` the V-step has
the features :math:`Q^\top X_i`. No step can increase the objective.
"""

from __future__ import annotations

import numpy as np

from ..objective import (
    check_lam,
    check_loss,
    check_signs,
    check_weights,
    combination,
    conjugate_sum,
    loss_values,
)
from .inner import solve_inner
from .joint_newton import Factors, factors
from .smoothing import hinge_continuation, smooth_descent
from .solution import InnerSolution, LowRankSolution
from .starts import completed, full_rank, leading_rows, random_basis

#: a global gap below this share of the objective ends the restarts
CERTIFIED = 1e-6


class Descent:
    """The data of a problem in both orders, and the steps of both blocks."""

    def __init__(
        self,
        X: np.ndarray,
        y: np.ndarray,
        *,
        rank: int,
        lam: float,
        loss: str,
        sample_weight: np.ndarray,
        fit_intercept: bool,
    ) -> None:
        self.X = X
        self.n, self.d1, self.d2 = X.shape
        self.X_t = np.ascontiguousarray(X.transpose(0, 2, 1))
        self.y, self.rank, self.lam, self.loss = y, rank, lam, loss
        self.sample_weight, self.fit_intercept = sample_weight, fit_intercept

    def step(
        self,
        basis: np.ndarray,
        *,
        rows: bool,
        tol: float,
        start: tuple[np.ndarray, float] | None,
        multipliers: np.ndarray | None,
    ) -> InnerSolution:
        """Solve for W (``rows``: B = W basis', else B = basis W') with the basis of the other side fixed."""
        X = self.X if rows else self.X_t
        n, d, _ = X.shape
        Z = (X.reshape(n * d, -1) @ basis).reshape(n, -1)
        return solve_inner(
            Z,
            self.y,
            lam=self.lam,
            loss=self.loss,
            sample_weight=self.sample_weight,
            fit_intercept=self.fit_intercept,
            tol=tol,
            start=start,
            multipliers=multipliers,
        )

    def value(self, coef: np.ndarray, intercept: float) -> float:
        margins = self.y * (self.X.reshape(self.n, -1) @ coef.ravel() + intercept)
        return float(self.sample_weight @ loss_values(margins, self.loss)) / self.n + self.lam * float(
            np.sum(coef * coef)
        )

    def bound(self, multipliers: np.ndarray) -> float:
        """Return the lower bound of feasible multipliers over all matrices of the rank."""
        sigma = np.linalg.svd(combination(multipliers, self.X, self.y), compute_uv=False)
        value = conjugate_sum(multipliers, loss=self.loss, sample_weight=self.sample_weight)
        return value - float(np.sum(sigma[: self.rank] ** 2)) / (4.0 * self.lam)

    def run(
        self,
        P: np.ndarray,
        *,
        tol: float,
        max_iter: int,
        name: str,
        method: str,
        first: tuple[np.ndarray, float] | None = None,
        multipliers: np.ndarray | None = None,
    ) -> LowRankSolution:
        """Descend from the row space P; `first` are coefficients in it and an intercept."""
        W, b = (np.zeros((self.d1, self.rank)), 0.0) if first is None else first
        coef = W @ P.T
        objective = self.value(coef, b)
        path = [objective]
        c, warm = multipliers, None if first is None else (W.ravel(), b)
        if method == "joint":
            at, found_c = self.together(P, W, b, c, tol)
            value = self.value(at.coef, at.b)
            if value <= objective:
                coef, b, P, objective, c = at.coef, at.b, at.P, value, found_c
                W, warm = at.Q * at.s, ((at.Q * at.s).ravel(), at.b)
                path.append(objective)
        lower, gap, converged, sweep = -np.inf, np.inf, False, 0
        while not converged and sweep < max_iter:
            before = objective
            sweep += 1
            for rows in (True, False):
                basis = P if rows else completed(W, combination(c, self.X, self.y).T)
                warm = warm if rows else ((coef.T @ basis).ravel(), b)
                found = self.step(basis, rows=rows, tol=0.01 * tol, start=warm, multipliers=c)
                c = found.multipliers
                lower = max(lower, self.bound(c))
                gap = found.dual_gap
                if found.objective <= objective:
                    objective, b = found.objective, found.intercept
                    W = found.weights.reshape(-1, self.rank)
                    coef = W @ basis.T if rows else basis @ W.T
                elif rows:
                    W = coef @ basis
                else:
                    W = coef.T @ basis
                path.append(objective)
            P = completed(W, combination(c, self.X, self.y))
            W = coef @ P
            warm = (W.ravel(), b)
            converged = before - objective <= tol * abs(objective)
        U, V = _balanced(coef, self.rank)
        return LowRankSolution(
            U, V, U @ V.T, b, c, objective, lower, gap, np.array(path), sweep, converged, name
        )

    def together(
        self, P: np.ndarray, W: np.ndarray, b: float, c: np.ndarray | None, tol: float
    ) -> tuple[Factors, np.ndarray]:
        """Return factors in which both blocks are nearly optimal together, and their multipliers."""
        at = factors(W @ P.T, P, b, self.X, self.y)
        options = {
            "lam": self.lam,
            "sample_weight": self.sample_weight,
            "fit_intercept": self.fit_intercept,
            "tol": tol,
        }
        if self.loss == "hinge":
            return hinge_continuation(self.X, self.y, at, multipliers=c, **options)[:2]
        return smooth_descent(self.X, self.y, at, loss=self.loss, **options)[:2]


def _balanced(coef: np.ndarray, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """Return U and V with U V' = coef and columns of equal lengths in each pair."""
    left, sigma, right = np.linalg.svd(coef, full_matrices=False)
    root = np.sqrt(sigma[:rank])
    return left[:, :rank] * root, right[:rank].T * root


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
    start: tuple[np.ndarray, np.ndarray] | None = None,
    tol: float = 1e-6,
    max_iter: int = 200,
    method: str = "joint",
    random_state: int | np.random.Generator | None = None,
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
        :math:`w_i`, see :func:`~marginbook.smm.objective.weights_for`.
    fit_intercept : bool
    n_restarts : int
        Random starts after the first one; they end early when the lower bound proves the best to be global.
    start : ((d1, rank) array, (d2, rank) array), optional
        U and V to begin with instead of the singular vectors of the solution without a rank.
    tol : float
        Relative change of the objective by a sweep at which to stop.
    max_iter : int
        Sweeps of each start.
    method : {"joint", "alternation"}
        Whether Newton steps in both blocks together come before the steps of Algorithm 1, or these alone.
    random_state : int or Generator, optional

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
    if X.ndim != 3:
        raise ValueError(f"X has shape {X.shape}, wanted (n, d1, d2): one matrix per sample")
    y = check_signs(y, len(X))
    lam = check_lam(lam)
    check_loss(loss)
    weights = check_weights(sample_weight, len(X))
    n, d1, d2 = X.shape
    if not 1 <= rank <= min(d1, d2):
        raise ValueError(f"rank is {rank}, wanted between 1 and min(d1, d2) = {min(d1, d2)}")
    descent = Descent(X, y, rank=rank, lam=lam, loss=loss, sample_weight=weights, fit_intercept=fit_intercept)
    if start is None:
        whole = full_rank(X, y, lam=lam, loss=loss, sample_weight=weights, fit_intercept=fit_intercept)
        coef = whole.weights.reshape(d1, d2)
        P = leading_rows(coef, rank)
        best = descent.run(
            P,
            tol=tol,
            max_iter=max_iter,
            name="full",
            method=method,
            first=(coef @ P, whole.intercept),
            multipliers=whole.multipliers,
        )
    else:
        U, V = (np.asarray(part, dtype=float) for part in start)
        if U.shape != (d1, rank) or V.shape != (d2, rank):
            raise ValueError(
                f"start has shapes {U.shape} and {V.shape}, wanted {(d1, rank)} and {(d2, rank)}"
            )
        P = completed(V)
        first = (U @ (V.T @ P), 0.0)
        best = descent.run(P, tol=tol, max_iter=max_iter, name="given", method=method, first=first)
    rng = np.random.default_rng(random_state)
    lower = best.lower_bound
    for k in range(n_restarts):
        if best.objective - lower <= CERTIFIED * abs(best.objective):
            break
        other = descent.run(random_basis(d2, rank, rng), tol=tol, max_iter=max_iter, name=f"random-{k}")
        lower = max(lower, other.lower_bound)
        if other.objective < best.objective:
            best = other
    return best

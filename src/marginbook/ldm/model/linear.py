"""The linear LDM as a problem: data in one form, primal value, lower bound, and what a solver returns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_array, csr_matrix, issparse

from ...kernels import KernelOverflow
from .objective import primal_objective

Matrix: TypeAlias = "np.ndarray | csr_matrix | csr_array"


@dataclass(frozen=True)
class LinearSolution:
    r"""Solution of (14) with its certificate.

    Attributes
    ----------
    coef : (d,) array
        w.
    mean_margin : float
        The optimal t.
    beta : (m,) array
        Multipliers of the hinge, in [0, C].
    delta : (m,) array
        :math:`2a(\gamma_i-t)` up to the tolerance; sums to 0.
    alpha : (m,) array
        :math:`y_i(\beta_i+b-\delta_i)`: ``coef = X.T @ alpha``.
    objective, dual_gap : float
        Of `coef`, and its distance to the lower bound that `beta` and `delta` give.
    n_iter : int
        Passes over the data.
    converged : bool
        ``dual_gap <= tol * scale``; see :func:`linear_coordinate_descent`.
    path : list of (passes, seconds, objective, dual_gap)
        One entry per check, if asked for.
    """

    coef: np.ndarray
    mean_margin: float
    beta: np.ndarray
    delta: np.ndarray
    alpha: np.ndarray
    objective: float
    dual_gap: float
    n_iter: int
    converged: bool
    lambda1: float
    lambda2: float
    C: float
    path: list[tuple[int, float, float, float]] = field(default_factory=list)

    def taken(self, order: np.ndarray) -> LinearSolution:
        """Return the solution with its multipliers in another order of the examples."""
        return replace(self, beta=self.beta[order], delta=self.delta[order], alpha=self.alpha[order])

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the scale that the tolerance refers to."""
        return self.dual_gap / gap_scale(self.objective, self.C, len(self.beta))


def gap_scale(objective: float, C: float, m: int) -> float:
    """Return what a tolerance refers to: ``max(|objective|, min(1, m C))``, where m C is F(0)."""
    return max(abs(objective), min(1.0, m * C))


def prepared(X: Matrix, y: np.ndarray) -> tuple[Matrix, np.ndarray]:
    """Return `X` as C-ordered floats or canonical CSR, and `y` as floats -1, +1.

    Raises
    ------
    ValueError
        If the lengths differ, a value is not finite, or a label is not -1 or +1.
    """
    if issparse(X):
        matrix = csr_matrix(X, dtype=np.float64)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        values = matrix.data
    else:
        matrix = np.ascontiguousarray(X, dtype=np.float64)
        if matrix.ndim != 2:
            raise ValueError(f"X must have two dimensions (rows are examples), got shape {matrix.shape}")
        values = matrix
    labels = np.asarray(y, dtype=np.float64).ravel()
    if matrix.shape[0] != labels.size or labels.size == 0:
        raise ValueError(f"X and y must have the same length >= 1, got {matrix.shape[0]} and {labels.size}")
    if not np.isin(labels, (-1.0, 1.0)).all():
        raise ValueError(f"labels must be -1 or +1, got {np.unique(labels)[:5].tolist()}; encode them first")
    if not np.isfinite(values).all():
        raise ValueError("X holds values that are not finite; impute or drop them")
    return matrix, labels


def squared_norms(X: Matrix) -> np.ndarray:
    """Return the squared norms of the rows, (m,)."""
    if isinstance(X, np.ndarray):
        return np.einsum("ij,ij->i", X, X)
    return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()


def unsigned(indices: np.ndarray) -> np.ndarray:
    """Return a view of column numbers as unsigned integers: numba then does not look for negative ones."""
    return indices.view(np.uint32 if indices.dtype == np.int32 else np.uint64)


def linear_objective(
    X: Matrix, y: np.ndarray, w: np.ndarray, lambda1: float, lambda2: float, C: float
) -> float:
    """Return (14) at `w`; arguments as :func:`prepared` returns them."""
    margins = y * (X @ w)
    return float(primal_objective(margins, float(w @ w), lambda1, lambda2, C))


class Certificate:
    r"""Primal value and lower bound of a pair :math:`(\beta,\delta)` and its w.

    :math:`\delta` need not sum to 0 before the end: its mean is taken off, which moves w by a multiple of
    :math:`p=\sum_iy_ix_i`, so that the repair costs O(m + d), and the value of the repaired w O(nnz).
    Of `X` only ``X @ w`` and ``X.T @ v`` are used.
    """

    def __init__(self, X: Matrix, y: np.ndarray, lambda1: float, lambda2: float, C: float) -> None:
        self.X, self.y = X, y
        self.p = X.T @ y
        self.twice_a, self.b = 4.0 * lambda1 / len(y), lambda2 / len(y)
        self.lambda1, self.lambda2, self.C = lambda1, lambda2, C

    def stiffness(self) -> float:
        r"""Return :math:`1/\epsilon` of the method of multipliers; 0 where no variance needs t."""
        if self.twice_a == 0:
            return 0.0
        m = len(self.y)
        return (1.0 + self.twice_a * float(self.p @ self.p) / m) / (self.twice_a * m)

    def repaired(self, w: np.ndarray, delta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return w and delta of the nearest feasible pair."""
        excess = delta.mean()
        return w + excess * self.p, delta - excess

    def bound(self, w: np.ndarray, beta: np.ndarray, delta: np.ndarray) -> float:
        """Return the lower bound of (14), once w and `delta` are repaired."""
        w, delta = self.repaired(w, delta)
        spread = 0.5 * float(delta @ delta) / self.twice_a if self.twice_a > 0 else 0.0
        return float(beta.sum()) - spread - 0.5 * float(w @ w)

    def gap(self, w: np.ndarray, beta: np.ndarray, delta: np.ndarray) -> tuple[float, float]:
        r"""Return objective and duality gap, once w and `delta` are repaired.

        The gap is summed from the shares of the examples, so it is never negative; in the difference of
        the objective and :meth:`bound` the digits of a small gap cancel.

        .. math:: (C-\beta_i)(1-\gamma_i)_++\beta_i(\gamma_i-1)_++a(\gamma_i-t-\delta_i/2a)^2
        """
        w, delta = self.repaired(w, delta)
        margins = self.y * (self.X @ w)
        value = float(primal_objective(margins, float(w @ w), self.lambda1, self.lambda2, self.C))
        shares = np.where(margins < 1.0, (self.C - beta) * (1.0 - margins), beta * (margins - 1.0))
        if self.twice_a > 0:
            miss = self.twice_a * (margins - margins.mean()) - delta
            shares = shares + 0.5 * miss * (miss / self.twice_a)
        return value, float(shares.sum())

    def solution(
        self,
        beta: np.ndarray,
        delta: np.ndarray,
        n_iter: int,
        tol: float,
        path: list[tuple[int, float, float, float]],
    ) -> LinearSolution:
        """Return the solution that `beta` and the repaired `delta` stand for, w summed afresh.

        Raises
        ------
        KernelOverflow
            If objective or gap are beyond double precision.
        """
        beta = np.clip(beta, 0.0, self.C)
        delta = delta - delta.mean()
        alpha = self.y * (beta + self.b - delta)
        w = self.X.T @ alpha
        margins = self.y * (self.X @ w)
        with np.errstate(over="ignore", invalid="ignore"):
            objective, gap = self.gap(w, beta, delta)
        if not (np.isfinite(objective) and np.isfinite(gap)):
            raise KernelOverflow(
                f"the objective {objective} and its gap {gap} are beyond double precision; "
                "scale the features, or lower lambda1, lambda2 and C"
            )
        return LinearSolution(
            coef=w,
            mean_margin=float(margins.mean()),
            beta=beta,
            delta=delta,
            alpha=alpha,
            objective=objective,
            dual_gap=gap,
            n_iter=n_iter,
            converged=bool(gap <= tol * gap_scale(objective, self.C, len(beta))),
            lambda1=self.lambda1,
            lambda2=self.lambda2,
            C=self.C,
            path=path,
        )

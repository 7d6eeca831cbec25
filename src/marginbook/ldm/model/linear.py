"""The linear LDM as a problem: data in one form, primal value, lower bound, and what a solver returns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_array, csr_matrix, issparse

from ...kernels import KernelOverflow
from .objective import primal_objective, weighted_objective

Matrix: TypeAlias = "np.ndarray | csr_matrix | csr_array"


@dataclass(frozen=True)
class LinearSolution:
    r"""Solution of (14) with its certificate.

    Attributes
    ----------
    coef : (d,) array, or (d + 1,)
        w; with a constant feature its weight, the intercept, comes last.
    mean_margin : float
        The optimal t.
    beta : (m,) array
        Multipliers of the hinge, in [0, C] times the weight of the row.
    delta : (m,) array
        :math:`2a\omega_i(\gamma_i-t)` up to the tolerance; sums to 0.
    alpha : (m,) array
        :math:`y_i(\beta_i+b\omega_i-\delta_i)`: ``coef = X.T @ alpha``, an intercept up to the tolerance.
    objective, dual_gap : float
        Of `coef`, and its distance to the lower bound that `beta` and `delta` give.
    n_iter : int
        Passes over the data.
    converged : bool
        ``dual_gap <= tol * scale``; see :func:`linear_coordinate_descent`.
    path : list of (passes, seconds, objective, dual_gap)
        One entry per check, if asked for.
    total : float or None
        Sum of the weights of the rows; None stands for m.
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
    total: float | None = None

    def taken(self, order: np.ndarray) -> LinearSolution:
        """Return the solution with its multipliers in another order of the examples."""
        return replace(self, beta=self.beta[order], delta=self.delta[order], alpha=self.alpha[order])

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the scale that the tolerance refers to."""
        m = len(self.beta) if self.total is None else self.total
        return self.dual_gap / gap_scale(self.objective, self.C, m)


def gap_scale(objective: float, C: float, m: float) -> float:
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

    :math:`\delta` need not sum to 0 before the end: multiples of the weights are taken off, which moves w by
    a multiple of :math:`p=\sum_i\omega_iy_ix_i`, so that the repair costs O(m + d), and the value of the
    repaired w O(nnz). Of `X` only ``X @ w`` and ``X.T @ v`` are used.

    Parameters
    ----------
    X, y, lambda1, lambda2, C
    weights : (m,) array of positive numbers, optional
    constant : bool
        Rows have a last feature that is 1, which `X` does not hold. The last entry of w is then free: it need
        not be the one that the multipliers give, and the gap has half the square of the difference more.
    """

    def __init__(
        self,
        X: Matrix,
        y: np.ndarray,
        lambda1: float,
        lambda2: float,
        C: float,
        weights: np.ndarray | None = None,
        constant: bool = False,
    ) -> None:
        self.X, self.y, self.weights, self.constant = X, y, weights, constant
        self.total = float(len(y)) if weights is None else float(weights.sum())
        self.ones = 1.0 if weights is None else weights
        self.p = self.combined(y * self.ones)
        self.twice_a, self.b = 4.0 * lambda1 / self.total, lambda2 / self.total
        self.lambda1, self.lambda2, self.C = lambda1, lambda2, C

    def combined(self, alpha: np.ndarray) -> np.ndarray:
        """Return the w of coefficients `alpha`, (m,)."""
        w = self.X.T @ alpha
        return np.append(w, alpha.sum()) if self.constant else w

    def alpha(self, beta: np.ndarray, delta: np.ndarray) -> np.ndarray:
        """Return the coefficients, (m,)."""
        return np.asarray(self.y * (beta + self.b * self.ones - delta))

    def margins(self, w: np.ndarray) -> np.ndarray:
        """Return the margins of w, (m,)."""
        return np.asarray(self.y * (self.X @ w[:-1] + w[-1] if self.constant else self.X @ w))

    def mean(self, values: np.ndarray) -> float:
        """Return the weighted mean over the rows."""
        return float(values.mean() if self.weights is None else self.weights @ values / self.total)

    def stiffness(self, share: float = 1.0) -> float:
        r"""Return :math:`1/\epsilon` of the method of multipliers; 0 where no variance needs t.

        `share` is that of the constant feature in a step, see :func:`linear_coordinate_descent`.
        """
        if self.twice_a == 0:
            return 0.0
        square = float(self.p @ self.p)
        if self.constant:
            square -= (1.0 - share) * float(self.p[-1]) ** 2
        return (1.0 + self.twice_a * square / self.total) / (self.twice_a * self.total)

    def repaired(self, w: np.ndarray, delta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return w and delta of the nearest feasible pair."""
        excess = delta.sum() / self.total
        return w + excess * self.p, delta - excess * self.ones

    def bound(self, w: np.ndarray, beta: np.ndarray, delta: np.ndarray) -> float:
        """Return the lower bound of (14), once w and `delta` are repaired."""
        w, delta = self.repaired(w, delta)
        spread = 0.5 * float(delta @ (delta / self.ones)) / self.twice_a if self.twice_a > 0 else 0.0
        square = float(w @ w)
        if self.constant:
            square += float(self.alpha(beta, delta).sum()) ** 2 - float(w[-1]) ** 2
        return float(beta.sum()) - spread - 0.5 * square

    def gap(self, w: np.ndarray, beta: np.ndarray, delta: np.ndarray) -> tuple[float, float]:
        r"""Return objective and duality gap, once w and `delta` are repaired.

        The gap is summed from the shares of the examples, so it is never negative; in the difference of
        the objective and :meth:`bound` the digits of a small gap cancel.

        .. math:: (C\omega_i-\beta_i)(1-\gamma_i)_++\beta_i(\gamma_i-1)_+
            +a\omega_i(\gamma_i-t-\delta_i/2a\omega_i)^2
        """
        w, delta = self.repaired(w, delta)
        margins = self.margins(w)
        if self.weights is None:
            value = float(primal_objective(margins, float(w @ w), self.lambda1, self.lambda2, self.C))
        else:
            value = weighted_objective(
                margins, float(w @ w), self.weights, self.lambda1, self.lambda2, self.C
            )
        room = self.C * self.ones - beta
        shares = np.where(margins < 1.0, room * (1.0 - margins), beta * (margins - 1.0))
        if self.twice_a > 0:
            miss = self.twice_a * self.ones * (margins - self.mean(margins)) - delta
            shares = shares + 0.5 * miss * (miss / (self.twice_a * self.ones))
        gap = float(shares.sum())
        if self.constant:
            gap += 0.5 * (float(w[-1]) - float(self.alpha(beta, delta).sum())) ** 2
        return value, gap

    def solution(
        self,
        beta: np.ndarray,
        delta: np.ndarray,
        n_iter: int,
        tol: float,
        path: list[tuple[int, float, float, float]],
        intercept: float | None = None,
    ) -> LinearSolution:
        """Return the solution that `beta` and the repaired `delta` stand for, w summed afresh.

        Its intercept, if there is a constant feature, is `intercept`, or where that is None the sum of alpha.

        Raises
        ------
        KernelOverflow
            If objective or gap are beyond double precision.
        """
        beta = np.clip(beta, 0.0, self.C * self.ones)
        delta = delta - delta.sum() / self.total * self.ones
        alpha = self.alpha(beta, delta)
        w = self.combined(alpha)
        if intercept is not None:
            w[-1] = intercept
        margins = self.margins(w)
        with np.errstate(over="ignore", invalid="ignore"):
            objective, gap = self.gap(w, beta, delta)
        if not (np.isfinite(objective) and np.isfinite(gap)):
            raise KernelOverflow(
                f"the objective {objective} and its gap {gap} are beyond double precision; "
                "scale the features, or lower lambda1, lambda2 and C"
            )
        return LinearSolution(
            coef=w,
            mean_margin=self.mean(margins),
            beta=beta,
            delta=delta,
            alpha=alpha,
            objective=objective,
            dual_gap=gap,
            n_iter=n_iter,
            converged=bool(gap <= tol * gap_scale(objective, self.C, self.total)),
            lambda1=self.lambda1,
            lambda2=self.lambda2,
            C=self.C,
            path=path,
            total=None if self.weights is None else self.total,
        )

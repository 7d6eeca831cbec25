r"""Support vector machines of several outputs on one Gram matrix: value, lower bound and curvature.

For each column :math:`y_u\in\{-1,1\}^n` of the signs

.. math:: J_u(K)=\min_{f,b}\tfrac12\lVert f\rVert_K^2+C\sum_i\bigl[1-y_{iu}(f(x_i)+b)\bigr]_+
   =\max_{0\le a\le C,\,y_u^\top a=0}1^\top a-\tfrac12\beta^\top K\beta,\qquad\beta=y_ua,

and :math:`J=\sum_uJ_u` is convex in K, as a maximum of affine functions. Any feasible :math:`\beta` gives one
of them, however roughly the machine was trained: a lower bound of J at *every* K. With weights s of the rows
C is :math:`Cs_i` for row i, in both problems.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.svm import SVC

from ...base.interruptible import interruptible

#: steps of libsvm, or 100 a row, after which it has lost its way in rounding and would not end
STEPS = 1_000_000
#: tightest tolerance that libsvm, which keeps its matrix in single precision, can be asked for
TIGHTEST = 1e-7
#: MB for the columns that libsvm keeps
CACHE = 400
#: share of the box by which a dual coefficient must be away from its bounds to count as free
INSIDE = 1e-8
#: times that `polish` lets rows change sides
ROUNDS = 20
#: share of the sum of the weights that is rounding
ROUNDING = 1e-12


@dataclass(frozen=True)
class OutputSVMs:
    """The machines of m outputs.

    Attributes
    ----------
    beta : (n, m) array
        Signed dual coefficients, feasible.
    scale : (m,) array
        Near 1; ``scale * beta`` are the coefficients of f.
    bias : (m,) array
    value : float
        Sum of the primal objectives of f and bias: at least J.
    dual_sum : float
        Sum of all |beta|, the constant of the affine lower bound.
    energy : float
        Sum of beta' K beta; ``dual_sum - energy / 2`` is at most J.
    C : float
    weights : (n,) array or None
        Of the rows; None where all are 1.
    """

    beta: np.ndarray
    scale: np.ndarray
    bias: np.ndarray
    value: float
    dual_sum: float
    energy: float
    C: float
    weights: np.ndarray | None = None

    @property
    def costs(self) -> np.ndarray | float:
        """The largest coefficient of each row: (n,), or one number for all."""
        return self.C if self.weights is None else self.C * self.weights

    @property
    def inner_gap(self) -> float:
        """How far the machines themselves may be from their optimum, relative to ``value``."""
        return (self.value - self.dual_sum + self.energy / 2) / self.value

    def free(self, u: int) -> np.ndarray:
        """Return the rows whose coefficient in output `u` is strictly inside its box."""
        size = np.abs(self.beta[:, u])
        return np.flatnonzero((size > INSIDE * self.costs) & (size < (1 - INSIDE) * self.costs))


def train(
    K: np.ndarray, signs: np.ndarray, C: float, tol: float, weights: np.ndarray | None = None
) -> OutputSVMs:
    """Train one machine for each column of `signs` by scikit-learn's SVC.

    Parameters
    ----------
    K : (n, n) array
        Symmetric, positive semidefinite.
    signs : (n, m) array of -1 and 1, both in each column
    C : float
    tol : float
        Of SVC.
    weights : (n,) array of numbers > 0, optional
    """
    beta, bias = np.zeros(signs.shape), np.zeros(signs.shape[1])
    for u, y in enumerate(signs.T):
        steps = max(STEPS, 100 * len(y))
        machine = SVC(kernel="precomputed", C=C, tol=max(tol, TIGHTEST), cache_size=CACHE, max_iter=steps)
        interruptible(machine.fit, K, y, weights)
        beta[machine.support_, u] = machine.dual_coef_[0]
        bias[u] = machine.intercept_[0]
    fitted = K @ beta
    scale, value = np.ones(len(bias)), 0.0
    for u, y in enumerate(signs.T):
        bias[u] = best_bias(fitted[:, u], y, bias[u], weights)
        energy = float(beta[:, u] @ fitted[:, u])
        margins, wanted = y * fitted[:, u], 1 - y * bias[u]
        scale[u] = best_scale(margins, wanted, energy / C, weights)
        losses = np.maximum(0.0, wanted - scale[u] * margins)
        loss = losses.sum() if weights is None else weights @ losses
        value += scale[u] ** 2 * energy / 2 + C * float(loss)
    dual_sum, energy = float(np.abs(beta).sum()), float((beta * fitted).sum())
    return OutputSVMs(beta, scale, bias, value, dual_sum, energy, C, weights)


def best_scale(
    margins: np.ndarray, wanted: np.ndarray, energy: float, weights: np.ndarray | None = None
) -> float:
    r"""Return s > 0 that minimises :math:`\tfrac12s^2e+\sum_iv_i[w_i-sm_i]_+`.

    For a large C a loss that is left by the tolerance of the training costs more than a little length.

    Parameters
    ----------
    margins : (n,) array, m
    wanted : (n,) array, w
    energy : float, e
    weights : (n,) array, v, optional
    """
    pulls = margins if weights is None else margins * weights

    def pull(s: float) -> float:
        return float(pulls[wanted > s * margins].sum())

    corners = wanted[margins != 0] / margins[margins != 0]
    corners = np.sort(corners[(corners > 0) & np.isfinite(corners)])
    if energy <= 0 or len(corners) == 0:
        return 1.0
    # the slope s e - pull(s) increases with s
    first = bisect_left(corners, True, key=lambda s: s * energy >= pull(s))
    low = corners[first - 1] if first else 0.0
    high = corners[first] if first < len(corners) else np.inf
    s = pull((low + min(high, 2 * low + 1)) / 2) / energy
    s = float(np.clip(s, low, high))
    return s if s > 0 else 1.0


def best_bias(fitted: np.ndarray, y: np.ndarray, near: float, weights: np.ndarray | None = None) -> float:
    """Return the bias of least hinge loss that is nearest to `near`.

    Parameters
    ----------
    fitted : (n,) array
    y : (n,) array of -1 and 1, both
    near : float
    weights : (n,) array, optional
    """
    # the slope of the loss in the bias goes from -n_positive up by one, or the weight, at each of these
    corners = y - fitted
    if weights is None:
        corners = np.sort(corners)
        at = int((y > 0).sum()) - 1
        return float(np.clip(near, corners[at], corners[at + 1]))
    order = np.argsort(corners, kind="stable")
    corners, slopes = corners[order], np.cumsum(weights[order]) - weights[y > 0].sum()
    flat = ROUNDING * float(weights.sum())
    at = int(np.argmax(slopes > -flat))
    return float(np.clip(near, corners[at], corners[at + (slopes[at] < flat)]))


def curvature(K: np.ndarray, machines: OutputSVMs, moves: np.ndarray) -> np.ndarray:
    r"""Return the second derivative of J when K moves, as long as the free coefficients stay free.

    With Z the inverse of K on the free rows that keeps :math:`1^\top\beta=0`,
    :math:`H_{kl}=\sum_u(M_k\beta_u)^\top Z_u(M_l\beta_u)` for the directions :math:`M_k`.

    Parameters
    ----------
    K : (n, n) array
    machines : OutputSVMs
        Trained on K.
    moves : (k, n, m) array
        :math:`M_k\beta`.

    Returns
    -------
    (k, k) array
        Positive semidefinite.
    """
    found = np.zeros((len(moves), len(moves)))
    for u in range(machines.beta.shape[1]):
        rows = machines.free(u)
        if len(rows) < 2:
            continue
        block = K[np.ix_(rows, rows)]
        # identical rows make it singular; the curvature is a model that the line search checks
        block[np.diag_indices_from(block)] += 1e-8 * np.trace(block) / len(rows)
        try:
            factor = cho_factor(block, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            continue
        across = moves[:, rows, u]
        solved = cho_solve(factor, np.column_stack([across.T, np.ones(len(rows))]), check_finite=False)
        ones = solved[:, -1]
        mean = across @ ones
        found += across @ solved[:, :-1] - np.outer(mean, mean) / ones.sum()
    return found


def polish(K: np.ndarray, y: np.ndarray, beta: np.ndarray, costs: np.ndarray | float) -> np.ndarray | None:
    r"""Return the exact coefficients of one output from rough ones, or None if they do not show the way.

    Which coefficients are at 0 and at the cost tells the others by the linear equations
    :math:`y_i(f(x_i)+b)=1`, :math:`1^\top\beta=0`; where a bound or the sign of a margin's excess then fails,
    that row changes sides. libsvm keeps the kernel in single precision, this does not.

    Parameters
    ----------
    K : (n, n) array
    y : (n,) array of -1 and 1
    beta : (n,) array
    costs : (n,) array or float
    """
    costs = np.broadcast_to(costs, y.shape)
    a = np.abs(beta)
    free, full = (a > INSIDE * costs) & (a < (1 - INSIDE) * costs), a >= (1 - INSIDE) * costs
    for _ in range(ROUNDS):
        rows = np.flatnonzero(free)
        if len(rows) == 0:
            return None
        fixed = np.where(full, y * costs, 0.0)
        bordered = np.zeros((len(rows) + 1, len(rows) + 1))
        bordered[1:, 1:] = K[np.ix_(rows, rows)]
        bordered[0, 1:] = bordered[1:, 0] = 1.0
        right = np.append(-fixed.sum(), y[rows] - K[rows] @ fixed)
        try:
            solved = interruptible(np.linalg.solve, bordered, right)
        except np.linalg.LinAlgError:
            return None
        found = fixed
        found[rows] = solved[1:]
        a, excess = y * found, y * (K @ found + solved[0]) - 1.0
        low, high = free & (a < 0.0), free & (a > costs)
        # what rounding leaves of a margin decides nothing
        near = 1e-12 * (1.0 + np.abs(K @ found) + abs(solved[0]))
        back = (~free & ~full & (excess < -near)) | (full & (excess > near))
        if not (low.any() or high.any() or back.any()):
            return found if np.isfinite(found).all() else None
        free, full = (free & ~low & ~high) | back, (full & ~back) | high
    return None

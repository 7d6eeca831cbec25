r"""Support vector machines of several outputs on one Gram matrix: value, lower bound and curvature.

For each column :math:`y_u\in\{-1,1\}^n` of the signs

.. math:: J_u(K)=\min_{f,b}\tfrac12\lVert f\rVert_K^2+C\sum_i\bigl[1-y_{iu}(f(x_i)+b)\bigr]_+
   =\max_{0\le a\le C,\,y_u^\top a=0}1^\top a-\tfrac12\beta^\top K\beta,\qquad\beta=y_ua,

and :math:`J=\sum_uJ_u` is convex in K, as a maximum of affine functions. Any feasible :math:`\beta` gives one
of them, however roughly the machine was trained: a lower bound of J at *every* K.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.svm import SVC

#: steps of libsvm, or 100 a row, after which it has lost its way in rounding and would not end
STEPS = 1_000_000
#: tightest tolerance that libsvm, which keeps its matrix in single precision, can be asked for
TIGHTEST = 1e-7
#: MB for the columns that libsvm keeps
CACHE = 400
#: share of the box by which a dual coefficient must be away from its bounds to count as free
INSIDE = 1e-8


@dataclass(frozen=True)
class Machines:
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
    """

    beta: np.ndarray
    scale: np.ndarray
    bias: np.ndarray
    value: float
    dual_sum: float
    energy: float
    C: float

    @property
    def inner_gap(self) -> float:
        """How far the machines themselves may be from their optimum, relative to ``value``."""
        return (self.value - self.dual_sum + self.energy / 2) / self.value

    def free(self, u: int) -> np.ndarray:
        """Return the rows whose coefficient in output `u` is strictly inside its box."""
        size = np.abs(self.beta[:, u])
        return np.flatnonzero((size > INSIDE * self.C) & (size < (1 - INSIDE) * self.C))


def train(K: np.ndarray, signs: np.ndarray, C: float, tol: float) -> Machines:
    """Train one machine for each column of `signs` by scikit-learn's SVC.

    Parameters
    ----------
    K : (n, n) array
        Symmetric, positive semidefinite.
    signs : (n, m) array of -1 and 1, both in each column
    C : float
    tol : float
        Of SVC.
    """
    beta, bias = np.zeros(signs.shape), np.zeros(signs.shape[1])
    for u, y in enumerate(signs.T):
        steps = max(STEPS, 100 * len(y))
        machine = SVC(kernel="precomputed", C=C, tol=max(tol, TIGHTEST), cache_size=CACHE, max_iter=steps)
        machine.fit(K, y)
        beta[machine.support_, u] = machine.dual_coef_[0]
        bias[u] = machine.intercept_[0]
    fitted = K @ beta
    scale, value = np.ones(len(bias)), 0.0
    for u, y in enumerate(signs.T):
        bias[u] = best_bias(fitted[:, u], y, bias[u])
        energy = float(beta[:, u] @ fitted[:, u])
        margins, wanted = y * fitted[:, u], 1 - y * bias[u]
        scale[u] = best_scale(margins, wanted, energy / C)
        loss = np.maximum(0.0, wanted - scale[u] * margins).sum()
        value += scale[u] ** 2 * energy / 2 + C * float(loss)
    return Machines(beta, scale, bias, value, float(np.abs(beta).sum()), float((beta * fitted).sum()), C)


def best_scale(margins: np.ndarray, wanted: np.ndarray, energy: float) -> float:
    r"""Return s > 0 that minimises :math:`\tfrac12s^2e+\sum_i[w_i-sm_i]_+`.

    For a large C a loss that is left by the tolerance of the training costs more than a little length.

    Parameters
    ----------
    margins : (n,) array, m
    wanted : (n,) array, w
    energy : float, e
    """

    def pull(s: float) -> float:
        return float(margins[wanted > s * margins].sum())

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


def best_bias(fitted: np.ndarray, y: np.ndarray, near: float) -> float:
    """Return the bias of least hinge loss that is nearest to `near`.

    Parameters
    ----------
    fitted : (n,) array
    y : (n,) array of -1 and 1, both
    near : float
    """
    # the slope of the loss in the bias goes from -n_positive up by one at each of these
    corners = np.sort(y - fitted)
    at = int((y > 0).sum()) - 1
    return float(np.clip(near, corners[at], corners[at + 1]))


def curvature(K: np.ndarray, machines: Machines, moves: np.ndarray) -> np.ndarray:
    r"""Return the second derivative of J when K moves, as long as the free coefficients stay free.

    With Z the inverse of K on the free rows that keeps :math:`1^\top\beta=0`,
    :math:`H_{kl}=\sum_u(M_k\beta_u)^\top Z_u(M_l\beta_u)` for the directions :math:`M_k`.

    Parameters
    ----------
    K : (n, n) array
    machines : Machines
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

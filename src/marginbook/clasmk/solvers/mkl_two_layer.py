r"""Two layers of kernels: the weights inside an exponential that make the support vector machine best.

.. math:: \min_{\mu\ge0}F(\mu)=J(K(\mu))+\rho\sum_t\mu_t,\qquad K(\mu)=\exp\Bigl(\sum_t\mu_tK_t\Bigr)

elementwise, J as in :mod:`.kernel_machines`. Its gradient is
:math:`-\tfrac12\sum_u\beta_u^\top(K\circ K_t)\beta_u+\rho`. J is convex in K, K is not affine in
:math:`\mu`: F has several minima, and the method finds a stationary point. A step is projected onto
:math:`\mu\ge0` in the metric :math:`H+\varepsilon I`, H the curvature of J along the directions
:math:`K\circ K_t` (Gauss and Newton's); a step that does not decrease F enough is taken back and shortened
by a larger :math:`\varepsilon`.

The residual that is returned is that of the weights, with machines that are exact: in the end their free
coefficients are computed once more, in double precision (``polish``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...kernels.nonnegative import nnls
from .mkl import combine
from .svm_outputs import TIGHTEST, OutputSVMs, curvature, polish, train

#: sum of the weights times the largest kernel value beyond which exponentials are not computed
LARGEST = 50.0
#: most that a step may add to that product: machines on far larger kernels take long
LONGEST = 3.0
#: the same product at which machines stand in for those without a kernel
SLIGHT = 1e-3
#: share of the decrease of the model that F must make
ENOUGH = 1e-3
#: multiplier of the damping after a step that is taken back
SHORTER = 8.0
#: steps taken back in a row after which rounding is to blame
GIVE_UP = 12


@dataclass(frozen=True)
class LayerWeights:
    """Weights, the machines at them, and how stationary they are.

    Attributes
    ----------
    weights : (T,) array
    machines : OutputSVMs
    residual : float
        Largest entry of ``mu - max(mu - gradient / F, 0)``, F and its gradient those of exact machines: 0 at
        a stationary point.
    n_iter : int
        Trainings of all outputs, those taken back included.
    path : list of float
        F after each accepted step; decreasing.
    """

    weights: np.ndarray
    machines: OutputSVMs
    residual: float
    n_iter: int
    path: list[float] = field(repr=False)


@dataclass(frozen=True)
class _Point:
    weights: np.ndarray
    gram: np.ndarray
    machines: OutputSVMs
    value: float


def learn_layer(
    kernels: Sequence[np.ndarray],
    signs: np.ndarray,
    C: float,
    *,
    reg: float = 1.0,
    tol: float = 1e-3,
    max_iter: int = 100,
    row_weights: np.ndarray | None = None,
) -> LayerWeights:
    r"""Decrease F from equal weights until the residual is at most `tol`.

    Parameters
    ----------
    kernels : T arrays (n, n)
    signs : (n, m) array of -1 and 1, both in each column
    C : float
    reg : float
        :math:`\rho>0`.
    tol : float
    max_iter : int
        Trainings, at least 1.
    row_weights : (n,) array of numbers > 0, optional

    Raises
    ------
    ValueError
        If the exponential overflows.
    """
    largest = np.array([max(float(np.abs(K).max()), np.finfo(float).tiny) for K in kernels])
    svc_tol, damping, taken_back = 1e-3, 1e-3, 0
    at = _point(kernels, 1 / (len(kernels) * largest), signs, C, reg, svc_tol, row_weights)
    n_iter, path = 1, [at.value]
    gradient, metric = _model(kernels, at, signs, reg)
    while True:
        residual = float(np.abs(at.weights - np.maximum(at.weights - gradient / at.value, 0.0)).max())
        unsure = False
        if residual <= tol or n_iter >= max_iter or taken_back >= GIVE_UP:
            residual = _exact_residual(kernels, at, signs, reg, residual)
            unsure = residual > tol and n_iter < max_iter and taken_back < GIVE_UP and svc_tol > TIGHTEST
            if not unsure:
                return LayerWeights(at.weights, at.machines, residual, n_iter, path)
        if unsure or (at.machines.inner_gap > 0.1 * tol and svc_tol > TIGHTEST):
            # trained more tightly, the same weights have a smaller F and a better gradient
            inner_gap = max(at.machines.inner_gap, np.finfo(float).tiny)
            svc_tol = max(TIGHTEST, svc_tol * min(0.1, 0.05 * tol / inner_gap))
            again = _point(kernels, at.weights, signs, C, reg, svc_tol, row_weights)
            n_iter += 1
            if again.value <= at.value:
                at = again
                path.append(at.value)
                gradient, metric = _model(kernels, at, signs, reg)
            continue
        size = damping * at.value * largest**2
        weights = _step(at.weights, gradient, metric + np.diag(size))
        change = weights - at.weights
        change *= min(1.0, LONGEST / max(float(change @ largest), LONGEST))
        weights = at.weights + change
        expected = -(gradient @ change + 0.5 * change @ metric @ change)
        new = None
        if weights @ largest <= LARGEST:
            new = _point(kernels, weights, signs, C, reg, svc_tol, row_weights)
            n_iter += 1
        if new is not None and new.value < at.value - ENOUGH * max(0.0, expected):
            at, taken_back, damping = new, 0, max(1e-6, damping / 4)
            path.append(at.value)
            gradient, metric = _model(kernels, at, signs, reg)
        else:
            damping, taken_back = damping * SHORTER, taken_back + 1


def exponential(kernels: Sequence[np.ndarray], weights: np.ndarray) -> np.ndarray:
    r"""Return :math:`\exp(\sum_t\mu_tK_t)` elementwise.

    Parameters
    ----------
    kernels : T arrays (n, m)
    weights : (T,) array

    Raises
    ------
    ValueError
        If a value is not finite.
    """
    total = combine(kernels, weights)
    with np.errstate(over="ignore"):
        np.exp(total, out=total)
    if not np.isfinite(total).all():
        raise ValueError(
            f"the exponential of kernels with weights that sum to {weights.sum():.3g} is infinite; take "
            "normalised=True or a larger reg"
        )
    return total


def _point(
    kernels: Sequence[np.ndarray],
    weights: np.ndarray,
    signs: np.ndarray,
    C: float,
    reg: float,
    tol: float,
    row_weights: np.ndarray | None,
) -> _Point:
    K = exponential(kernels, weights)
    machines = train(K, signs, C, tol, row_weights)
    return _Point(weights, K, machines, machines.value + reg * float(weights.sum()))


def _model(
    kernels: Sequence[np.ndarray], at: _Point, signs: np.ndarray, reg: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the gradient of F, (T,), and the curvature of J along the kernels, (T, T)."""
    machines = at.machines
    if not at.weights.any():
        # a constant kernel leaves the coefficients open; the slope is that of those which a little of the
        # kernels selects
        slight = [
            SLIGHT / (len(kernels) * max(float(np.abs(K).max()), np.finfo(float).tiny)) for K in kernels
        ]
        machines = train(combine(kernels, np.array(slight)), signs, machines.C, TIGHTEST, machines.weights)
    beta = machines.beta
    rows = np.flatnonzero(beta.any(axis=1))
    block, inside = np.ix_(rows, rows), beta[rows]
    around = at.gram[block]
    moves = np.zeros((len(kernels), *beta.shape))
    for t, K in enumerate(kernels):
        moves[t, rows] = (around * K[block]) @ inside
    gradient = reg - 0.5 * np.einsum("tnm,nm->t", moves, beta)
    return gradient, curvature(at.gram, machines, moves)


def _exact_residual(
    kernels: Sequence[np.ndarray], at: _Point, signs: np.ndarray, reg: float, rough: float
) -> float:
    """Return the residual with exact machines, or the `rough` one and what their own gap may hide."""
    if not at.weights.any():
        return rough
    machines, exact = at.machines, np.empty_like(at.machines.beta)
    for u, y in enumerate(signs.T):
        beta = polish(at.gram, y, machines.beta[:, u], machines.costs)
        if beta is None:
            return rough + machines.inner_gap
        exact[:, u] = beta
    rows = np.flatnonzero(exact.any(axis=1))
    block, inside = np.ix_(rows, rows), exact[rows]
    around = at.gram[block]
    energy = float((inside * (around @ inside)).sum())
    value = float(np.abs(exact).sum()) - energy / 2 + reg * float(at.weights.sum())
    slopes = np.array([reg - 0.5 * float((inside * ((around * K[block]) @ inside)).sum()) for K in kernels])
    return float(np.abs(at.weights - np.maximum(at.weights - slopes / value, 0.0)).max())


def _step(weights: np.ndarray, gradient: np.ndarray, metric: np.ndarray) -> np.ndarray:
    """Return the weights >= 0 that minimise the quadratic model with a positive definite `metric`, (T, T)."""
    root = np.linalg.cholesky(metric).T
    found, _ = nnls(root, root @ weights - np.linalg.solve(root.T, gradient))
    return np.asarray(found)

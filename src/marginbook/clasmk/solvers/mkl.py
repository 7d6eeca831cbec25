r"""l1 multiple kernel learning: the weights of a sum of kernels that make the support vector machine best.

.. math:: \min_{d\ge0,\,1^\top d=1}J\Bigl(\sum_kd_kK_k\Bigr),

J as in :mod:`.kernel_machines`. A trained machine gives an affine lower bound
:math:`J(d)\ge s-\tfrac12\sum_kd_kq_k`, :math:`q_k=\sum_u\beta_u^\top K_k\beta_u`, and the free
coefficients give the second derivative H. The next weights minimise the largest of the bounds plus
:math:`\tfrac12(d-c)^\top H(d-c)`, c the best weights so far: a proximal bundle method in Newton's metric.
The least value of
the largest bound on the simplex certifies the weights; with one bound it is the duality gap of SimpleMKL
(Rakotomamonjy et al. 2008).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg.blas import daxpy
from scipy.optimize import linprog, minimize

from ...base.parameters import validate_counts
from .gram_blocks import GramBlocks
from .svm_outputs import TIGHTEST, OutputSVMs, curvature, train

#: tolerance of the first trainings; it shrinks where the machines' own gap hides that of the weights
FIRST_TOL = 1e-3
#: share of the predicted decrease that moves the centre
ENOUGH = 1e-3
#: weights below this are 0
NOTHING = 1e-9


@dataclass(frozen=True)
class KernelWeights:
    """Weights, the machines at them, and the certificate.

    Attributes
    ----------
    weights : (K,) array
        On the simplex.
    machines : OutputSVMs
        Trained on the weighted sum.
    lower_bound : float
        At most the least J.
    gap : float
        ``(machines.value - lower_bound) / machines.value``.
    n_iter : int
        Trainings of all outputs.
    path : list of (float, float)
        Best value and lower bound after each.
    """

    weights: np.ndarray
    machines: OutputSVMs
    lower_bound: float
    gap: float
    n_iter: int
    path: list[tuple[float, float]] = field(repr=False)


def learn_weights(
    kernels: Sequence[np.ndarray] | GramBlocks,
    signs: np.ndarray,
    C: float,
    *,
    tol: float = 1e-3,
    max_iter: int = 100,
    start: np.ndarray | None = None,
    row_weights: np.ndarray | None = None,
) -> KernelWeights:
    """Minimise J over the simplex until the relative gap is at most `tol`.

    Parameters
    ----------
    kernels : K arrays (n, n), or GramBlocks
        See :class:`GramBlocks` for more than memory holds.
    signs : (n, m) array of -1 and 1, both in each column
    C : float
    tol : float
    max_iter : int
        Trainings, at least 1.
    start : (K,) array, optional
        Weights to begin with; equal ones by default.
    row_weights : (n,) array of numbers > 0, optional
    """
    validate_counts(max_iter=max_iter)
    count = len(kernels)
    weights = np.full(count, 1 / count) if start is None else np.asarray(start, dtype=float)
    constants: list[float] = []
    slopes: list[np.ndarray] = []
    best: tuple[np.ndarray, OutputSVMs] | None = None
    centre = weights
    centre_value, predicted, lower, stretch, svc_tol = np.inf, 0.0, -np.inf, 1.0, FIRST_TOL
    metric: np.ndarray | None = None
    path: list[tuple[float, float]] = []
    gap = np.inf
    while len(path) < max_iter:
        if isinstance(kernels, GramBlocks):
            total = kernels.combine(weights)
            machines = train(total, signs, C, svc_tol, row_weights)
            moves = kernels.moves(machines.beta)
        else:
            total = combine(kernels, weights)
            machines = train(total, signs, C, svc_tol, row_weights)
            moves = np.stack([K @ machines.beta for K in kernels])
        slope = -0.5 * np.einsum("knm,nm->k", moves, machines.beta)
        constants.append(machines.dual_sum)
        slopes.append(slope)
        if best is None or machines.value < best[1].value:
            best = weights, machines
        if machines.value < centre_value - ENOUGH * predicted:
            centre, centre_value, stretch = weights, machines.value, max(1.0, stretch / 2)
            metric = None
        else:
            stretch *= 2
        lower = max(lower, _least_bound(np.array(constants), np.array(slopes)))
        gap = (best[1].value - lower) / best[1].value
        path.append((best[1].value, lower))
        if gap <= tol:
            break
        if machines.inner_gap > 0.25 * tol:
            svc_tol = max(TIGHTEST, svc_tol * min(0.5, 0.1 * tol / machines.inner_gap))
        if metric is None:  # at the centre, where the machines are
            metric = curvature(total, machines, moves)
        weights, model = _next(
            np.array(constants), np.array(slopes), centre, centre_value, stretch * metric, gap
        )
        predicted = centre_value - model
    assert best is not None
    return KernelWeights(best[0], best[1], lower, float(max(0.0, gap)), len(path), path)


def combine(kernels: Sequence[np.ndarray], weights: np.ndarray) -> np.ndarray:
    """Return the sum of `kernels`, arrays (n, m), with `weights`, (K,); those of weight 0 cost nothing."""
    total = np.zeros(kernels[0].shape)
    flat = total.reshape(-1)
    for K, weight in zip(kernels, weights, strict=True):
        if weight > 0:
            daxpy(np.ascontiguousarray(K).reshape(-1), flat, a=weight)
    return total


def _least_bound(constants: np.ndarray, slopes: np.ndarray) -> float:
    """Return the least value over the simplex of the largest of the affine functions."""
    size, count = slopes.shape
    scale = max(1e-300, float(np.abs(slopes).max()), float(np.abs(constants).max()))
    found = linprog(
        np.append(np.zeros(count), 1.0),
        A_ub=np.column_stack([slopes / scale, -np.ones(size)]),
        b_ub=-constants / scale,
        A_eq=np.append(np.ones(count), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * count + [(None, None)],
        method="highs",
    )
    if found.status != 0:  # one function alone is a bound too
        return float((constants + slopes.min(axis=1)).max())
    # a convex combination of the functions is a bound whatever the accuracy of its multipliers
    shares = np.maximum(-found.ineqlin.marginals, 0.0)
    shares /= shares.sum()
    return float(shares @ constants + (shares @ slopes).min())


def _next(
    constants: np.ndarray,
    slopes: np.ndarray,
    centre: np.ndarray,
    value: float,
    metric: np.ndarray,
    gap: float,
) -> tuple[np.ndarray, float]:
    """Return the weights that minimise bounds plus metric, and the largest bound at them."""
    count = len(centre)
    # where J is flat the step is still finite
    H = metric / value + 1e-3 * min(1.0, gap) * np.eye(count)
    A, s = slopes / value, constants / value

    def objective(x: np.ndarray) -> float:
        step = x[:-1] - centre
        return float(x[-1] + 0.5 * step @ H @ step)

    def gradient(x: np.ndarray) -> np.ndarray:
        return np.append(H @ (x[:-1] - centre), 1.0)

    above, sums = np.column_stack([-A, np.ones(len(s))]), np.append(np.ones(count), 0.0)
    found = minimize(
        objective,
        np.append(centre, (s + A @ centre).max()),
        jac=gradient,
        bounds=[(0, 1)] * count + [(None, None)],
        constraints=[
            {"type": "eq", "fun": lambda x: x @ sums - 1, "jac": lambda x: sums},
            {"type": "ineq", "fun": lambda x: above @ x - s, "jac": lambda x: above},
        ],
        method="SLSQP",
        options={"maxiter": 200, "ftol": 1e-14},
    )
    weights = np.where(found.x[:-1] > NOTHING, found.x[:-1], 0.0)
    if not np.isfinite(weights).all() or weights.sum() <= 0:
        weights = np.ones(count)
    weights /= weights.sum()
    return weights, float((constants + slopes @ weights).max())

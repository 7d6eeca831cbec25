r"""The primal problems of the LDM, solved by a general convex solver: slow, and independent of all else here.

cvxpy states (5) and its hard-margin form as they are written, for explicit features; a Gram matrix enters
through features whose inner products it holds. Tests and the ``cvxpy`` solver of the estimators use this.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.oracles import cvxpy
from ..model.objective import validate_parameters, validate_signs
from .hard_margin import InfeasibleError


@dataclass(frozen=True)
class OracleSolution:
    r"""An optimum as the general solver found it.

    Attributes
    ----------
    coef : (d,) array
        w, for the features that were given, or those of
        :func:`~marginbook.ldm.solvers.hard_margin.gram_features`.
    alpha : (m,) array
        :math:`w=\sum_i\alpha_i\varphi(x_i)`, of least norm where it is not unique.
    margins : (m,) array
        :math:`\gamma_i=y_iw^\top\varphi(x_i)`.
    objective : float
    """

    coef: np.ndarray
    alpha: np.ndarray
    margins: np.ndarray
    objective: float


def soft_margin_oracle(
    features: np.ndarray, y: np.ndarray, lambda1: float, lambda2: float, C: float, **options: Any
) -> OracleSolution:
    r"""Minimise F of (5) over w by Clarabel.

    Parameters
    ----------
    features : (m, d) array
        One example a row; for a Gram matrix G pass ``gram_features(G)``.
    y : (m,) array of -1 and +1
    lambda1, lambda2, C : float
    **options
        For cvxpy's ``solve``, such as ``verbose=True``.

    Raises
    ------
    ModuleNotFoundError
        If cvxpy is not installed.
    ValueError
        If a parameter is out of range.
    """
    validate_parameters(lambda1, lambda2, C)
    return _solve(features, y, lambda1, lambda2, C, options)


def hard_margin_oracle(
    features: np.ndarray, y: np.ndarray, lambda1: float, lambda2: float, **options: Any
) -> OracleSolution:
    """Minimise F without hinge loss over the w whose margins are all at least 1; see soft_margin_oracle.

    Raises
    ------
    InfeasibleError
        If there is no such w.
    """
    validate_parameters(lambda1, lambda2, 1.0)
    return _solve(features, y, lambda1, lambda2, None, options)


def _solve(
    features: np.ndarray,
    y: np.ndarray,
    lambda1: float,
    lambda2: float,
    C: float | None,
    options: dict[str, Any],
) -> OracleSolution:
    cp = cvxpy()
    F = np.asarray(features, dtype=float)
    signs = validate_signs(y, len(F))
    signed = signs[:, None] * F
    if F.shape[1] == 0:  # a Gram matrix of zeros
        if C is None:
            raise InfeasibleError()
        zero = np.zeros(len(F))
        return OracleSolution(np.zeros(0), zero, zero, C * len(F))
    w, margins, mean = cp.Variable(F.shape[1]), cp.Variable(len(F)), cp.Variable()
    spread = 2.0 * lambda1 / len(F) * cp.sum_squares(margins - mean)
    objective = 0.5 * cp.sum_squares(w) + spread - lambda2 * mean
    constraints = [margins == signed @ w, mean == cp.sum(margins) / len(F)]
    if C is None:
        constraints.append(margins >= 1)
    else:
        objective = objective + C * cp.sum(cp.pos(1 - margins))
    problem = cp.Problem(cp.Minimize(objective), constraints)
    with suppress(cp.SolverError):  # then there is no solution, which is told below
        problem.solve(**{"solver": cp.CLARABEL, **options})
    if problem.status in (cp.INFEASIBLE, cp.INFEASIBLE_INACCURATE):
        raise InfeasibleError()
    if w.value is None:
        status = problem.status or "failed"
        raise ValueError(f"the general solver stopped with the status {status!r}; scale the data")
    alpha = np.linalg.lstsq(F.T, w.value, rcond=None)[0]
    return OracleSolution(w.value, alpha, signed @ w.value, float(problem.value))

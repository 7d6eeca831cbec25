r"""A general solver for the kernel weights, in the place of the paper's fmincon: SLSQP of SciPy.

The paper gives (33) to MATLAB's fmincon, which differentiates numerically by default. SLSQP is such a general
solver for constraints that are smooth; the gradient by finite differences costs CK + 1 evaluations of the
objective. It is a local solver: its end depends on the start.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from ...base.parameters import validate_choice
from ..model.objective import (
    COMBINE,
    diagonals,
    forms,
    gradient,
    kkt_residual,
    ratio,
    roots_gradient,
    validate_kernel_weights,
    validate_matrices,
)
from .solution import Weights

VARIABLES = ("weights", "roots")
GRADIENTS = ("finite-differences", "analytic")
#: smallest weight at which the analytic gradient in the weights is taken: at 0 it is infinite
SMALLEST_WEIGHT = 1e-12


def slsqp(
    numerator: ArrayLike,
    denominator: ArrayLike,
    *,
    combine: str = "sum",
    start: ArrayLike | None = None,
    variable: str = "weights",
    gradient_by: str = "finite-differences",
    tol: float = 1e-10,
    max_iter: int = 1000,
) -> Weights:
    r"""Minimise the separation ratio by sequential quadratic programming.

    Parameters
    ----------
    numerator, denominator : (C, K, K) arrays
    combine : {"sum", "concat"}
    start : (C, K) array, optional
        Weights to start from; default uniform.
    variable : {"weights", "roots"}
        Unknowns :math:`\nu_c\ge0`, :math:`\sum_i\nu_{ci}=1`, as (33) is printed, whose derivative is infinite
        at the boundary under ``combine="sum"``; or :math:`s_c\ge0`, :math:`\lVert s_c\rVert^2=1`, where it is
        smooth. Under ``"concat"`` only ``"weights"``.
    gradient_by : {"finite-differences", "analytic"}
    tol : float
        SLSQP's ``ftol``, for the ratio divided by its value at the start.
    max_iter : int

    Returns
    -------
    Weights
        The best feasible point of the start and the end; no bound. ``n_evaluations`` counts those of
        finite differences too.

    Raises
    ------
    ValueError
        If an option is unknown, or the matrices are not as they must be.
    """
    validate_choice("combine", combine, COMBINE)
    for name, got, known in (("variable", variable, VARIABLES), ("gradient_by", gradient_by, GRADIENTS)):
        if got not in known:
            raise ValueError(f"{name} must be one of {known}, got {got!r}")
    if combine == "concat" and variable == "roots":
        raise ValueError('combine="concat" is linear in the weights, got variable="roots"; use "weights"')
    top, bottom = validate_matrices(numerator, denominator)
    shape = top.shape[:2]
    first = np.full(shape, 1 / shape[1]) if start is None else validate_kernel_weights(start, *shape)
    # one scale for both, so that the ratio is 1 at the start, as far as it is not 0
    N, D = top / (float(np.abs(top).max()) or 1.0), bottom / float(np.abs(bottom).max())
    unit = ratio(first, N, D, combine=combine) or 1.0
    N = N / unit
    roots = variable == "roots"

    def value(x: np.ndarray) -> float:
        s = x.reshape(shape)
        if combine == "concat":
            return float((s * diagonals(N)).sum() / (s * diagonals(D)).sum())
        if not roots:
            s = np.sqrt(np.maximum(s, 0.0))
        return float(forms(s, N).sum() / forms(s, D).sum())

    def slope(x: np.ndarray) -> np.ndarray:
        s = x.reshape(shape)
        if roots:
            return roots_gradient(s, N, D).ravel()
        return gradient(np.maximum(s, SMALLEST_WEIGHT), N, D, combine=combine).ravel()

    path: list[float] = []
    x0 = np.sqrt(first).ravel() if roots else first.ravel()
    result = minimize(
        value,
        x0,
        jac=slope if gradient_by == "analytic" else "2-point",
        method="SLSQP",
        bounds=[(0.0, 1.0)] * x0.size,
        constraints=_row_constraint(shape, roots),
        options={"ftol": tol, "maxiter": max_iter},
        callback=lambda x: path.append(value(x)),
    )
    end = np.maximum(result.x.reshape(shape), 0.0) ** (2 if roots else 1)
    sums = end.sum(axis=1, keepdims=True)
    feasible = np.isfinite(end).all() and (sums > 0).all()
    weights = end / sums if feasible else first
    if not feasible or not value(_point(weights, roots)) <= value(x0):
        weights = first
    objective = ratio(weights, top, bottom, combine=combine)
    factor = objective / (value(_point(weights, roots)) or 1.0)
    return Weights(
        weights=weights,
        objective=objective,
        lower_bound=None,
        kkt_residual=kkt_residual(weights, top, bottom, combine=combine),
        n_iter=int(result.nit),
        converged=bool(result.success),
        objective_path=np.array([value(x0), *path]) * factor,
        n_evaluations=int(result.nfev),
    )


def _point(weights: np.ndarray, roots: bool) -> np.ndarray:
    return (np.sqrt(weights) if roots else weights).ravel()


def _row_constraint(shape: tuple[int, int], roots: bool) -> dict[str, object]:
    """Return the C constraints, the sum of each row or of its squares is 1, with their exact Jacobian."""
    n_classes, n_kernels = shape
    rows = np.repeat(np.arange(n_classes), n_kernels)
    columns = np.arange(n_classes * n_kernels)

    def excess(x: np.ndarray) -> np.ndarray:
        values: np.ndarray = (x**2 if roots else x).reshape(shape).sum(axis=1) - 1.0
        return values

    def jacobian(x: np.ndarray) -> np.ndarray:
        J = np.zeros((n_classes, n_classes * n_kernels))
        J[rows, columns] = 2.0 * x if roots else 1.0
        return J

    return {"type": "eq", "fun": excess, "jac": jacobian}

r"""The convex problem of one block, solved by what suits its loss and shape.

.. math::
    \min_{w,b}\ \frac1n\sum_iw_iL\bigl(y_i(z_i^\top w+b)\bigr)+\lambda\lVert w\rVert^2 .

The hinge loss goes, with a start, to :func:`~marginbook.smm.solvers.hinge_active_set.confirmed`, then to
:func:`~marginbook.smm.solvers.hinge_block.solve_hinge_block` and, where its gap stays open, to
:func:`~marginbook.smm.solvers.hinge_augmented_lagrangian.augmented_newton`; the smooth losses go to
:func:`~marginbook.smm.solvers.newton.newton`.
"""

from __future__ import annotations

import numpy as np

from ..model.objective import loss_values, validate_lam, validate_loss, validate_sample_weight, validate_signs
from .block_problem import BlockProblem
from .hinge_active_set import confirmed
from .hinge_augmented_lagrangian import augmented_newton
from .hinge_block import solve_hinge_block
from .newton import newton
from .solution import InnerSolution

#: relative duality gap that is not asked of a second method
TIGHT = 1e-9


def solve_inner(
    Z: np.ndarray,
    y: np.ndarray,
    *,
    lam: float,
    loss: str = "hinge",
    sample_weight: np.ndarray | None = None,
    fit_intercept: bool = False,
    tol: float = 1e-9,
    start: tuple[np.ndarray, float] | None = None,
    multipliers: np.ndarray | None = None,
) -> InnerSolution:
    """Return the coefficients of least risk, with multipliers that certify them.

    Parameters
    ----------
    Z : (n, p) array
        Features.
    y : (n,) array of -1 and +1
    lam : float
    loss : {"hinge", "squared_hinge", "logistic"}
    sample_weight : (n,) array, optional
    fit_intercept : bool
    tol : float
        Duality gap, relative to the objective, at which to stop.
    start : ((p,) array, float), optional
        Coefficients and intercept near the solution.
    multipliers : (n,) array, optional
        Multipliers near the solution, for the hinge loss.

    Raises
    ------
    ValueError
        If a shape, a label, a weight, `lam` or `loss` is not as above.

    Examples
    --------
    >>> import numpy as np
    >>> found = solve_inner(np.array([[2.0], [-1.0]]), np.array([1, -1]), lam=0.5)
    >>> found.weights.round(3).tolist(), round(found.objective, 6), found.multipliers.round(3).tolist()
    ([0.5], 0.375, [0.0, 0.5])
    """
    Z = np.ascontiguousarray(Z, dtype=float)
    if Z.ndim != 2:
        raise ValueError(f"Z has shape {Z.shape}, wanted (n, p): one row of features per sample")
    y = validate_signs(y, len(Z))
    lam = validate_lam(lam)
    validate_loss(loss)
    weights = validate_sample_weight(sample_weight, len(Z))
    if fit_intercept:
        constant = _constant(Z.shape[1], y, weights, loss)
        if constant is not None:
            return constant
    problem = BlockProblem(Z, y, lam, weights, fit_intercept, tol, loss)
    if loss != "hinge":
        return newton(problem, start)
    if start is not None and multipliers is not None:
        near = confirmed(problem, start, multipliers)
        if near.converged:
            return near
        start, multipliers = (near.weights, near.intercept), near.multipliers
    found = solve_hinge_block(problem, start, multipliers)
    if found.converged or found.dual_gap <= TIGHT * abs(found.objective):
        return found
    other = augmented_newton(problem, (found.weights, found.intercept), found.multipliers)
    return other if other.dual_gap < found.dual_gap else found


def only_class(y: np.ndarray, weights: np.ndarray) -> float | None:
    """Return the sign of the only class with weight, 0 if none has any, None if both have."""
    present = np.unique(y[weights > 0])
    if len(present) == 2:
        return None
    return float(present[0]) if len(present) else 0.0


def _constant(p: int, y: np.ndarray, weights: np.ndarray, loss: str) -> InnerSolution | None:
    """Return the solution where only one class has weight: no coefficients, and an intercept that fits it.

    The logistic risk has only an infimum then, 0; at the intercept 40 it is below rounding.
    """
    sign = only_class(y, weights)
    if sign is None:
        return None
    b = sign * (40.0 if loss == "logistic" else 1.0)
    value = float(weights @ loss_values(y * b, loss)) / len(y) if sign else 0.0
    return InnerSolution(np.zeros(p), b, np.zeros(len(y)), value, value, 0, True)

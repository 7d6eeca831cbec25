r"""The convex cases of kFDA_q, solved by a general conic solver: slow, and independent of all else here.

cvxpy states (5) as it is written: for q = 1 with the norm, for 1 < q < 2 with power cones, for q = 2 as least
squares. Tests hold every solver of the room against this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from marginbook.kfda.model.objective import Problem, objective, validate_parameters

from ...base.oracles import cvxpy


@dataclass(frozen=True, eq=False)
class OracleSolution:
    r"""A minimiser as the general solver found it.

    Attributes
    ----------
    omega : (M+1,) array
        The bias, then the kernel coefficients; zeros only to the solver's tolerance.
    objective : float
        J(omega), computed here and not by the solver.
    """

    omega: np.ndarray
    objective: float


def oracle(
    problem: Problem, q: float, rho: float, *, penalize_bias: bool = True, **options: Any
) -> OracleSolution:
    r"""Minimise J over omega by Clarabel, for 1 <= q <= 2.

    Parameters
    ----------
    problem : Problem
        Up to some hundred samples.
    q : float
        From 1 to 2, where J is convex.
    rho : float
        Positive.
    penalize_bias : bool
    **options
        For cvxpy's ``solve``, such as ``verbose=True``.

    Raises
    ------
    ModuleNotFoundError
        If cvxpy is not installed.
    ValueError
        If q is below 1, or a parameter is out of range.
    RuntimeError
        If the solver gives up.

    Examples
    --------
    >>> import numpy as np
    >>> from marginbook.kfda.model.objective import Problem, targets
    >>> x = np.array([0.0, 0.2, 1.0, 1.3])
    >>> problem = Problem(np.exp(-((x[:, None] - x) ** 2)), targets(x > 0.5))
    >>> [round(oracle(problem, q, rho=0.1).objective, 2) for q in (1.0, 1.5, 2.0)]
    [2.23, 2.64, 2.75]
    """
    validate_parameters(q, rho)
    if q < 1:
        raise ValueError(f"q must be at least 1, got {q!r}: below, J is not convex; use shrinking_mm")
    cp = cvxpy()
    omega = cp.Variable(problem.n_coefficients)
    penalised = omega if penalize_bias else omega[1:]
    cones = []
    if q == 1:
        penalty = cp.norm1(penalised)
    elif q == 2:
        penalty = cp.sum_squares(penalised)
    else:  # |omega_i| <= bound_i^(1/q), exact for every q: cvxpy's power would round q to a fraction
        bounds = cp.Variable(penalised.size)
        cones = [cp.constraints.PowCone3D(bounds, np.ones(penalised.size), penalised, 1.0 / q)]
        penalty = cp.sum(bounds)
    fit = 0.5 * cp.sum_squares(problem.yhat - problem.design @ omega)
    stated = cp.Problem(cp.Minimize(fit + rho * problem.n * penalty), cones)
    stated.solve(**{"solver": cp.CLARABEL, **options})
    if omega.value is None:
        raise RuntimeError(f"the general solver stopped with status {stated.status!r}; raise rho")
    return OracleSolution(omega.value, objective(problem, omega.value, q, rho, penalize_bias))

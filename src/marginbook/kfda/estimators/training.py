"""From a problem and parameters to a solution and its certificate: behind SparseKFDAClassifier."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...base.parameters import validate_choice, validate_counts, validate_flags, validate_not_negative
from ...base.user_line import user_level
from ...kernels import KernelOverflow
from ..model.certificates import duality_gap, kkt_residual, smallest_curvature, stationarity
from ..model.objective import Problem, objective, targets
from ..solvers.irls import majorize_minimize
from ..solvers.irls_accelerated import squarem
from ..solvers.lasso import lasso
from ..solvers.many_rows import minimise
from ..solvers.solution import Solution
from .parameters import SOLVERS, validate_cut, validate_q, validate_rho
from .rows import Rows

#: relative residual up to which a point counts as stationary; a kernel matrix near singular leaves 1e-6
STATIONARY = 1e-4
#: duality gap as a share of J, for q >= 1
GAP = 1e-8
#: relative change of J at which the paper stops
CHANGE = 1e-5
_ITERATIONS = {"mm": minimise, "plain": majorize_minimize, "squarem": squarem}


def validate_settings(model: Any) -> None:
    """Raise ValueError for parameters of a SparseKFDAClassifier that are out of range or do not fit."""
    validate_q(model.q)
    validate_rho(model.rho)
    validate_cut(model.cut)
    validate_choice("solver", model.solver, SOLVERS)
    validate_flags(penalize_bias=model.penalize_bias)
    validate_counts(max_iter=model.max_iter)
    if model.tol is not None:
        validate_not_negative(tol=model.tol)
    if isinstance(model.start, str):
        validate_choice("start", model.start, ("ridge",))
    if model.solver == "lasso" and model.q != 1:
        raise ValueError(f"solver 'lasso' needs q=1, got q={model.q!r}; use 'mm'")


def choose_solver(solver: str, q: float) -> str:
    """Return the solver that `solver` means for the exponent `q`."""
    if solver != "auto":
        return solver
    return "lasso" if q == 1 else "mm"


def training_problem(
    design: np.ndarray, rows: Rows, q: float, columns: np.ndarray | None
) -> tuple[Problem, np.ndarray | None]:
    r"""Return the problem of a `design` ``[1 K]``, (n, m+1), and the units of its coefficients, (m+1,).

    Of rows with weights w, the problem has :math:`\sqrt w` times the rows of the design and the targets, and
    a coefficient :math:`s_j\alpha_j` of column j, with :math:`s_j^q=w_j^{1-\max(q,1)}` its share of the
    penalty; s are the units, None where all are 1.

    Parameters
    ----------
    design : (n, m+1) array, by columns
        Overwritten where rows have weights.
    rows : Rows
    q : float
    columns : (m,) array of int or None
        The rows of the kernel columns; None for all.

    Raises
    ------
    KernelOverflow
        If sums of squares of the kernel's values are beyond double precision.
    """
    largest = max(float(design.max(initial=0.0)), -float(design.min(initial=0.0)))
    limit = np.sqrt(np.finfo(float).max / max(design.size, 1))
    if largest > limit:
        raise KernelOverflow(
            f"kernel values of up to {largest:.1e}, above {limit:.1e} for {len(design)} rows, have squares "
            "beyond double precision; scale the features"
        )
    yhat, root = targets(rows.positive, rows.own), rows.root
    if root is None or rows.weights is None:
        return Problem.of_design(design, yhat), None
    design *= root[:, np.newaxis]
    units = np.ones(design.shape[1])
    if q > 1:
        own = rows.weights if columns is None else rows.weights[columns]
        units[1:] = own ** ((1.0 - q) / q)
        design /= units
    return Problem.of_design(design, root * yhat, weighted=True), units


def starting_point(start: Any, rows: Rows, columns: np.ndarray | None, units: np.ndarray | None) -> Any:
    """Return the coefficients to start from, of the problem, or None for the ridge solution.

    Parameters
    ----------
    start : "ridge" or (N+1,) array
        For all rows that were given to `fit`.
    rows : Rows
    columns : (m,) array of int or None
        As in :func:`training_problem`.
    units : (m+1,) array or None
    """
    if isinstance(start, str):
        return None
    given = np.asarray(start, dtype=float)
    if not (given.shape == (rows.n_given + 1,) and np.isfinite(given).all()):
        raise ValueError(
            f"start has shape {given.shape}, wanted {rows.n_given + 1} finite numbers: the bias, then "
            "a coefficient for each row; or give 'ridge'"
        )
    places = rows.names(np.arange(len(rows.positive)) if columns is None else columns)
    omega = np.append(given[0], given[1:][places])
    return omega if units is None else omega * units


def solve(problem: Problem, model: Any, solver: str, rho: float, start: np.ndarray | None) -> Solution:
    """Return the solution for the checked parameters of `model`, and warn where it misses the tolerance.

    Parameters
    ----------
    problem : Problem
    model : SparseKFDAClassifier
    solver : {"mm", "plain", "squarem", "lasso"}
    rho : float
        That of the problem, whose penalty is multiplied by its number of rows and not by their weights.
    start : (m+1,) array or None
    """
    q, bias = float(model.q), bool(model.penalize_bias)
    certified = solver in ("mm", "lasso")
    usual = CHANGE if not certified else GAP if q >= 1 else STATIONARY
    tol = usual if model.tol is None else float(model.tol)
    if solver == "lasso":
        found = lasso(problem, rho, tol=tol, start=start, penalize_bias=bias)
    else:
        iterate: Any = _ITERATIONS[solver]
        found = iterate(
            problem, q, rho, start=start, tol=tol, max_iter=int(model.max_iter), penalize_bias=bias
        )
    if certified and q >= 1:  # as `certificate` will measure it; a solver's own gap may differ by rounding
        found = replace(found, dual_gap=float(duality_gap(problem, found.omega, rho, bias, q)))
    what, value = _measured(found, certified)
    found = replace(found, converged=value <= tol if certified else found.converged)
    if not found.converged:
        stopped_early = solver == "lasso" or found.n_iter < model.max_iter  # by rounding
        ways = "raise tol or rho" if stopped_early else "raise max_iter or tol"
        warnings.warn(
            f"solver {solver!r} stopped after {found.n_iter} iteration{'' if found.n_iter == 1 else 's'} at "
            f"the {what} {value:.2e} > tol={tol:.2e}; {ways}, or scale the features",
            ConvergenceWarning,
            stacklevel=user_level(),
        )
    return found


def _measured(found: Solution, certified: bool) -> tuple[str, float]:
    """Return name and value of what the tolerance is about."""
    tiny = np.finfo(float).tiny
    if certified and found.dual_gap is not None:
        return "relative duality gap", found.dual_gap / max(found.objective, tiny)
    if certified and found.stationarity is not None:
        return "stationarity residual", found.stationarity
    before, after = found.objective_path[-2:]
    return "relative change of J", abs(before - after) / max(abs(after), tiny)


def cut_below(omega: np.ndarray, cut: float) -> np.ndarray:
    """Return `omega`, (M+1,), with zeros for kernel coefficients up to `cut` times the largest one."""
    size = np.abs(omega[1:])
    return np.r_[omega[0], np.where(size > cut * size.max(initial=0.0), omega[1:], 0.0)]


def certificate(
    problem: Problem, omega: np.ndarray, q: float, rho: float, penalize_bias: bool
) -> dict[str, Any]:
    """Return what is known of `omega`, (M+1,), as attributes of a fitted classifier.

    ``objective_`` for every q; ``dual_gap_`` for q >= 1; ``kkt_residual_`` for q = 1, else
    ``stationarity_``; ``curvature_`` and ``is_local_minimum_`` for q < 1.
    """
    found: dict[str, Any] = {"objective_": objective(problem, omega, q, rho, penalize_bias)}
    if q >= 1:
        found["dual_gap_"] = float(duality_gap(problem, omega, rho, penalize_bias, q))
    if q == 1:
        found["kkt_residual_"] = float(kkt_residual(problem, omega, rho, penalize_bias))
        return found
    found["stationarity_"] = float(stationarity(problem, omega, q, rho, penalize_bias))
    if q < 1:
        found["curvature_"] = float(smallest_curvature(problem, omega, q, rho, penalize_bias))
        found["is_local_minimum_"] = found["stationarity_"] <= STATIONARY and found["curvature_"] > 0
    return found

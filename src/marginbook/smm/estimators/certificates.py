"""What a fit leaves of its machines: their attributes together, and a warning of those that stopped."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...base.user_line import user_level
from ..solvers.kernel_solution import KernelSolution
from ..solvers.solution import LowRankSolution
from .equal_samples import Copies

MatrixSolution: TypeAlias = LowRankSolution | KernelSolution


def certificates(found: Sequence[MatrixSolution], copies: Copies) -> dict[str, Any]:
    """Return the fitted attributes of several machines, each a list or an array with one entry a machine."""
    values: dict[str, Any] = {
        "objective_": np.array([machine.objective for machine in found]),
        "lower_bound_": np.array([machine.lower_bound for machine in found]),
        "global_gap_": np.array([machine.global_gap for machine in found]),
        "dual_gap_": np.array([machine.block_gap for machine in found]),
        "multipliers_": np.array([copies.spread(machine.multipliers) for machine in found]),
        "intercept_": np.array([machine.intercept for machine in found]),
        "objective_path_": [machine.objective_path for machine in found],
        "start_": [machine.start for machine in found],
        "U_": np.array([machine.U for machine in found]),
    }
    linear = [machine for machine in found if isinstance(machine, LowRankSolution)]
    mapped = [machine for machine in found if isinstance(machine, KernelSolution)]
    if linear:
        values["V_"] = np.array([machine.V for machine in linear])
        values["coef_"] = np.array([machine.coef for machine in linear])
    if mapped:
        values["dual_coef_"] = np.array([machine.C for machine in mapped])
        values["missed_"] = np.array([machine.missed for machine in mapped])
    return values


def last_change(path: np.ndarray) -> float:
    """Return by what share the last sweep, two blocks, lowered the objective along its `path`."""
    before = path[-3] if len(path) >= 3 else path[0]
    return float((before - path[-1]) / max(abs(float(path[-1])), np.finfo(float).tiny))


def warn_unconverged(name: str, found: Sequence[MatrixSolution], tol: float) -> None:
    """Warn, with both numbers, if one of the machines stopped before its tolerance."""
    missed = [machine for machine in found if not machine.converged]
    if missed:
        worst = max(last_change(machine.objective_path) for machine in missed)
        of = f" for {len(missed)} of {len(found)} machines" if len(found) > 1 else ""
        reason = f"the last one lowered the objective by a share of {worst:.1e}, above tol={tol:.1e}"
        remedy = "raise max_iter or lam"
        if worst <= tol:
            gap = max(machine.block_gap for machine in missed)
            reason = f"the last one left one block with a duality gap of {gap:.1e}, which rounding keeps open"
            remedy = "raise lam or scale the matrices"
        sweeps = max(machine.n_iter for machine in missed)
        warnings.warn(
            f"{name} stopped after {sweeps} sweep{'' if sweeps == 1 else 's'}{of}: {reason}; {remedy}",
            ConvergenceWarning,
            stacklevel=user_level(),
        )

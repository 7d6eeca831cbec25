r"""The loop that all iterative solvers share: columns that stop for themselves, certificates, paths.

An algorithm is a function that takes the state of the columns that still move to their next iterates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from ...base.parameters import is_number, validate_counts
from ..model.operators import System

#: what an algorithm remembers between iterations; the last axis of each array is the test point
State: TypeAlias = dict[str, np.ndarray]


@dataclass(frozen=True)
class Iterates:
    """What a solver found for m test points.

    Attributes
    ----------
    weights : (n, m) array
    n_iter : (m,) array
        Iterations that each column took.
    converged : (m,) array of bool
        Whether its last step was at most `tol` long.
    step : (m,) array
        Length of its last step; not a number where an iterate left double precision, and the weights are then
        those before.
    kkt_residual : (m,) array
        Largest entry of the gradient over the largest entry of `Kx`, the gradient at 0; as
        :func:`marginbook.drm.model.objective.kkt_residual` defines it.
    multiplications : int
        Of the iterations alone, by the counter of the system: without the set-up, this certificate and the
        records.
    objective_path : list of (m,) arrays
        With ``record=True``: f at the start and after each iteration; a column that has stopped stays.
    distance_path : list of (m,) arrays
        With ``record=True`` and `optimum`: distance to it at the start and after each iteration.
    """

    weights: np.ndarray
    n_iter: np.ndarray
    converged: np.ndarray
    step: np.ndarray
    kkt_residual: np.ndarray
    multiplications: int
    objective_path: list[np.ndarray] = field(default_factory=list)
    distance_path: list[np.ndarray] = field(default_factory=list)


def objective_values(system: System, W: np.ndarray, Kx: np.ndarray) -> np.ndarray:
    """Return f of each column, (m,)."""
    return system.scale(system.inner(W, system.apply_ridged(W))[None], 0.5)[0] - system.inner(W, Kx)


def iterate(
    system: System,
    Kx: np.ndarray,
    step: Callable[[State], np.ndarray],
    state: State,
    max_iter: int,
    tol: float,
    start: np.ndarray | None,
    record: bool,
    optimum: np.ndarray | None,
) -> Iterates:
    """Repeat `step` on the columns that still move."""
    W = _checked(system, Kx, max_iter, tol, start, optimum)
    m = Kx.shape[1]
    n_iter, length = np.zeros(m, dtype=int), np.full(m, np.inf)
    paths = _Paths(system, Kx, optimum) if record else None
    if paths:
        paths.add(W, np.arange(m))
    state = {**state, "W": W.copy(), "Kx": Kx}
    active = np.arange(m)
    before = system.multiplications
    for t in range(1, max_iter + 1):
        if not active.size:
            break
        with np.errstate(over="ignore", invalid="ignore"):  # such columns are dropped, their NaN reported
            new = step(state)
            change = new - state["W"]
            moved = np.sqrt(np.einsum("nm,nm->m", change, change))
        sound = np.isfinite(moved)
        if not sound.all():
            new = np.where(sound, new, state["W"])
        length[active] = np.where(sound, moved, np.nan)
        n_iter[active] = t
        state["W"] = new
        if paths:
            paths.add(new, active)
        going = sound & (moved > tol)
        if not going.all():
            W[:, active[~going]] = new[:, ~going]
            active = active[going]
            state = {name: values[..., going] for name, values in state.items()}
    W[:, active] = state["W"]
    spent = system.multiplications - before
    with system.uncounted(), np.errstate(over="ignore", invalid="ignore"):
        left = np.abs(system.gradient(W, Kx)).max(axis=0)
    scale = np.abs(Kx).max(axis=0)
    return Iterates(
        W,
        n_iter,
        length <= tol,
        length,
        left / np.where(scale > 0, scale, 1.0),
        spent,
        *((paths.objective, paths.distance) if paths else ()),
    )


class _Paths:
    """Objective and distances of all columns, iteration by iteration, at no count."""

    def __init__(self, system: System, Kx: np.ndarray, optimum: np.ndarray | None) -> None:
        self.system, self.Kx, self.optimum = system, Kx, optimum
        self.objective: list[np.ndarray] = []
        self.distance: list[np.ndarray] = []

    def add(self, W: np.ndarray, active: np.ndarray) -> None:
        """Take in the iterates `W` of the columns `active`."""
        m = self.Kx.shape[1]
        values = self.objective[-1].copy() if self.objective else np.empty(m)
        with self.system.uncounted():
            values[active] = objective_values(self.system, W, self.Kx[:, active])
        self.objective.append(values)
        if self.optimum is not None:
            distances = self.distance[-1].copy() if self.distance else np.empty(m)
            distances[active] = np.linalg.norm(W - self.optimum[:, active], axis=0)
            self.distance.append(distances)


def _checked(
    system: System,
    Kx: np.ndarray,
    max_iter: int,
    tol: float,
    start: np.ndarray | None,
    optimum: np.ndarray | None,
) -> np.ndarray:
    """Return the first iterate; raise ValueError for what no algorithm can use."""
    if np.ndim(Kx) != 2 or len(Kx) != system.n:
        raise ValueError(f"Kx must have a row a training example, ({system.n}, m), got shape {np.shape(Kx)}")
    for name, given in (("start", start), ("optimum", optimum)):
        if given is not None and np.shape(given) != Kx.shape:
            raise ValueError(f"{name} must have the shape of Kx, {Kx.shape}, got {np.shape(given)}")
    validate_stopping(max_iter, tol)
    return np.zeros(Kx.shape) if start is None else np.array(start, dtype=float)


def validate_stopping(max_iter: int, tol: float) -> None:
    """Raise ValueError unless `max_iter` is a whole number >= 1 and `tol` a number >= 0."""
    validate_counts(max_iter=max_iter)
    validate_tol(tol)


def validate_tol(tol: float) -> None:
    """Raise ValueError unless `tol` is a number >= 0; infinity takes whatever is found."""
    if not (is_number(tol, infinite=True) and tol >= 0):
        raise ValueError(f"tol must be a number >= 0, got {tol!r}")

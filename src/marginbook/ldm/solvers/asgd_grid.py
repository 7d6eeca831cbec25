r"""Algorithm 2 at all points of a grid: the solutions of :func:`.asgd.averaged_sgd`, one sweep for all.

The points meet the same examples in the same order, as one seed draws them, so that a row is read once for
all of them. Their numbers do not meet: each solution is to the last bit that of its own run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from ..model.linear import Matrix, linear_objective, prepared, squared_norms, unsigned
from ..model.objective import validate_parameters
from .asgd import PASSES
from .asgd_steps import sgd_steps_of_grid, sgd_steps_of_grid_dense

#: bytes of the iterates and averages that are in work at a time: what a cache beside a core holds
BYTES = 2**20
#: pairs of rows, one array of each for a pass
Draws: TypeAlias = Sequence[tuple[np.ndarray, np.ndarray]]
#: points at a time at least, or reading the rows costs more than the steps
LEAST = 16


def averaged_sgd_of_grid(
    X: Matrix,
    y: np.ndarray,
    points: Sequence[tuple[float, float, float]],
    *,
    n_passes: int = 5,
    random_state: int = 0,
) -> np.ndarray:
    """Run Algorithm 2 at each of `points`; what `averaged_sgd` with the same seed returns as ``coef``.

    Parameters
    ----------
    X : (m, d) array or CSR matrix
    y : (m,) array of -1 and +1
    points : sequence of (lambda1, lambda2, C)
    n_passes, random_state
        As of :func:`marginbook.ldm.solvers.asgd.averaged_sgd`.

    Returns
    -------
    (q, d) array

    Raises
    ------
    ValueError
        As `averaged_sgd`, for the first of the points that it does not take.
    """
    for point in points:
        validate_parameters(*point)
    X, y = prepared(X, y)
    grid = np.array(points, dtype=np.float64).reshape(-1, 3)
    rng = np.random.default_rng(random_state)
    gamma0 = _first_steps(X, y, grid, rng)
    draws = [(rng.integers(0, len(y), len(y)), rng.integers(0, len(y), len(y))) for _ in range(n_passes)]
    return _run(X, y, grid, gamma0, len(y), draws)


def _first_steps(X: Matrix, y: np.ndarray, grid: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return what `initial_step` finds for each point, in rounds: all that still move try their next step."""
    rows = np.sort(rng.choice(len(y), min(len(y), max(1000, len(y) // 10)), replace=False))
    sample, labels, seed = X[rows], y[rows], int(rng.integers(2**31))
    largest = float(squared_norms(sample).max(initial=0.0))
    ceiling = np.minimum(0.5, 1.0 / (1.0 + 8.0 * grid[:, 0] * largest))
    if largest == 0.0:
        return ceiling
    n, steps = len(labels), np.random.default_rng(seed)
    draws = [(steps.integers(0, n, PASSES * n), steps.integers(0, n, PASSES * n))]

    def costs(at: np.ndarray, gamma0: np.ndarray) -> np.ndarray:
        found = _run(sample, labels, grid[at], gamma0, len(y), draws)
        values = [
            linear_objective(sample, labels, w, lambda1, lambda2, C * len(y) / n)
            for w, (lambda1, lambda2, C) in zip(found, grid[at], strict=True)
        ]
        return np.where(np.isfinite(values), values, np.inf)

    tiny = np.finfo(float).tiny
    with np.errstate(over="ignore"):
        best = np.minimum(ceiling, 1.0 / np.maximum(len(y) * grid[:, 2] * largest, tiny))
    if (best < tiny).any():
        at = grid[best < tiny][0]
        raise ValueError(
            f"no step is short enough for lambda1={float(at[0])!r}, C={float(at[2])!r}, {len(y)} rows and "
            f"features of squared length {largest:.1e}; scale the features, or lower lambda1 and C"
        )
    value = costs(np.arange(len(grid)), best)
    moved = np.zeros(len(grid), dtype=bool)
    for factor in (2.0, 0.5):
        moving = ~moved
        while True:
            trial = best * factor
            moving &= (trial > 0) & (trial < ceiling)
            if not moving.any():
                break
            at = np.flatnonzero(moving)
            new = costs(at, trial[at])
            falls = new < value[at]
            moving[at] = falls
            at, new = at[falls], new[falls]
            best[at], value[at], moved[at] = trial[at], new, True
    return best


def _run(
    X: Matrix,
    y: np.ndarray,
    grid: np.ndarray,
    gamma0: np.ndarray,
    m: int,
    draws: Draws,
) -> np.ndarray:
    """Return the averages, (q, d), after steps with the pairs of `draws`; m examples weigh the hinge."""
    found = np.empty((len(grid), X.shape[1]))
    size = max(LEAST, BYTES // (16 * X.shape[1]))
    for start in range(0, len(grid), size):
        at = slice(start, start + size)
        of_block = _dense if isinstance(X, np.ndarray) else _sparse
        found[at] = of_block(X, y, grid[at], gamma0[at], m, draws).T
    return found


def _sparse(X: Any, y: np.ndarray, grid: np.ndarray, gamma0: np.ndarray, m: int, draws: Draws) -> np.ndarray:
    gammas, which = np.unique(gamma0, return_inverse=True)
    v, u = np.zeros((X.shape[1], len(grid))), np.zeros((X.shape[1], len(grid)))
    s, r, q, t = np.ones(len(grid)), np.zeros(len(grid)), 1.0, 0
    lambda1, lambda2, C = np.ascontiguousarray(grid.T)
    for first, second in draws:
        q = sgd_steps_of_grid(
            X.data, unsigned(X.indices), X.indptr, y, first, second, v, u, s, r, q,
            t, len(y), gammas, which, 1.0, lambda1, lambda2, m * C,
        )  # fmt: skip
        t += len(first)
    return s * v if t <= len(y) else q * (u + r * v)


def _dense(
    X: np.ndarray, y: np.ndarray, grid: np.ndarray, gamma0: np.ndarray, m: int, draws: Draws
) -> np.ndarray:
    gammas, which = np.unique(gamma0, return_inverse=True)
    w, t = np.zeros((X.shape[1], len(grid))), 0
    average = np.zeros_like(w)
    lambda1, lambda2, C = np.ascontiguousarray(grid.T)
    for first, second in draws:
        if t <= len(y):
            average = w.copy()  # as `AveragedSGD` begins a pass before the average has begun
        sgd_steps_of_grid_dense(
            X, y, first, second, w, average, t, len(y), gammas, which, 1.0, lambda1, lambda2, m * C
        )  # fmt: skip
        t += len(first)
    return w if t <= len(y) else average

"""The loops of the search for local minima, over stacks of problems of a few rows.

Loops over scalars, no array expressions: compiled in seconds, and a hundred times as fast as calls of LAPACK
on matrices of so few rows.
"""

from __future__ import annotations

import numpy as np

from ...base.compiled import njit

#: stages of the barrier, and Newton steps in each
STAGES, STEPS = 9, 12


@njit(error_model="numpy")
def iterate(A: np.ndarray, c: np.ndarray, omega: np.ndarray, force: float, q: float) -> None:
    """Take 200 steps of (8) from every row of `omega`, in place."""
    k = omega.shape[1]
    matrix, psi = np.empty((k, k)), np.empty(k)
    for b in range(len(omega)):
        for _ in range(200):
            for i in range(k):
                psi[i] = abs(omega[b, i]) ** (1 - q / 2)
                omega[b, i] = psi[i] * c[b, i]
                for j in range(i + 1):
                    matrix[i, j] = psi[i] * A[b, i, j] * psi[j]
                matrix[i, i] += force
            factor_in_place(matrix)
            solve_factored(matrix, omega[b])
            for i in range(k):
                omega[b, i] *= psi[i]


@njit(error_model="numpy")
def follow(
    A: np.ndarray, c: np.ndarray, u: np.ndarray, height: np.ndarray, force: float, kappa: float, q: float
) -> np.ndarray:
    """Take every row of `u` down its barrier, in place; return which stay off the edge of the region."""
    inside = np.ones(len(u), dtype=np.bool_)
    k = u.shape[1]
    factor, inverse, curved, step, tried = (
        np.empty((k, k)), np.empty((k, k)), np.empty((k, k)), np.empty(k), np.empty(k),
    )  # fmt: skip
    for b in range(len(u)):
        stage = taken = 0
        while inside[b] and stage < STAGES:
            weight = height[b] * 0.1**stage
            for i in range(k):
                for j in range(i + 1):
                    factor[i, j] = (u[b, i] * u[b, j]) ** (1 - q / 2) * A[b, i, j]
                factor[i, i] -= kappa * (1 + 1e-7)
            # at the edge of the region: its minimum is not inside
            inside[b] = factor_in_place(factor)
            if not inside[b]:
                break
            # the Newton step on J - weight log det Hessian
            now = barrier(A[b], c[b], u[b], weight, force, kappa, q, factor)
            for i in range(k):
                inverse[i] = 0.0
                inverse[i, i] = 1.0
                solve_factored(factor, inverse[i])
            for i in range(k):
                bend = kappa * (2 - q) * u[b, i] ** (q - 3)
                step[i] = c[b, i] - force * u[b, i] ** (q - 1) + weight * inverse[i, i] * bend
                for j in range(k):
                    other = kappa * (2 - q) * u[b, j] ** (q - 3)
                    step[i] -= A[b, i, j] * u[b, j]
                    curved[i, j] = A[b, i, j] + weight * inverse[i, j] ** 2 * bend * other
                curved[i, i] -= kappa * u[b, i] ** (q - 2)
                curved[i, i] += weight * inverse[i, i] * bend * (3 - q) / u[b, i]
            tried[:] = step
            factor_in_place(curved)
            solve_factored(curved, step)
            descent = 0.0
            for i in range(k):
                descent -= tried[i] * step[i]
            # halved until it descends
            length, decrement = 1.0, 0.0
            for _ in range(40):
                for i in range(k):
                    tried[i] = u[b, i] + length * step[i]
                value = barrier(A[b], c[b], tried, weight, force, kappa, q, factor)
                if value <= now + 0.1 * length * descent:
                    u[b] = tried
                    decrement = -descent
                    break
                length /= 2
            taken += 1
            if not decrement > 0.01 * weight or taken == STEPS:
                stage, taken = stage + 1, 0
    return inside


@njit(error_model="numpy")
def barrier(
    A: np.ndarray, c: np.ndarray, u: np.ndarray, weight: float, force: float, kappa: float, q: float,
    factor: np.ndarray,
) -> float:  # fmt: skip
    """Return J - weight log det Hessian, infinite off its region; leave the Hessian's factor in `factor`."""
    J = 0.0
    for i in range(len(u)):
        if not u[i] > 0:
            return np.inf
        J += force / q * u[i] ** q - c[i] * u[i]
        for j in range(len(u)):
            J += u[i] * A[i, j] * u[j] / 2
            factor[i, j] = A[i, j]
        factor[i, i] -= kappa * u[i] ** (q - 2)
    if not factor_in_place(factor):
        return np.inf
    for i in range(len(u)):
        J -= 2 * weight * np.log(factor[i, i])
    return J


@njit(error_model="numpy")
def factor_in_place(matrix: np.ndarray) -> bool:
    """Put the Cholesky factor into the lower triangle; return False if there is none."""
    for j in range(len(matrix)):
        for i in range(j, len(matrix)):
            for k in range(j):
                matrix[i, j] -= matrix[i, k] * matrix[j, k]
            if i > j:
                matrix[i, j] /= matrix[j, j]
            elif 0 < matrix[j, j] < np.inf:
                matrix[j, j] = np.sqrt(matrix[j, j])
            else:
                return False
    return True


@njit(error_model="numpy")
def solve_factored(factor: np.ndarray, x: np.ndarray) -> None:
    """Solve, in place, with what `factor_in_place` made."""
    for i in range(len(x)):
        for k in range(i):
            x[i] -= factor[i, k] * x[k]
        x[i] /= factor[i, i]
    for i in range(len(x) - 1, -1, -1):
        for k in range(i + 1, len(x)):
            x[i] -= factor[k, i] * x[k]
        x[i] /= factor[i, i]

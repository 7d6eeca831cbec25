r"""Kernel Fisher discriminants as penalised least squares, equation (5), with many digits."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np

from .numbers import exactly, gram, identity, largest, norm, solve, zeros
from .programs import minimise
from .reference import Reference


def targets_of(y: np.ndarray) -> np.ndarray:
    """Return N / N1 for the second class, -N / N2 for the first."""
    n, second = len(y), y == np.unique(y)[1]
    n1 = int(second.sum())
    return np.array(
        [mpmath.mpf(n) / n1 if yes else -mpmath.mpf(n) / (n - n1) for yes in second], dtype=object
    )


def decided(Kt: np.ndarray, omega: np.ndarray, yhat: np.ndarray) -> np.ndarray:
    """Return f less the midpoint of the targets, in half distances of the targets."""
    low, high = min(yhat), max(yhat)
    return (Kt @ omega[1:] + omega[0] - (low + high) / 2) / ((high - low) / 2)


def _design(model: Any, X: np.ndarray, T: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    K, Kt = gram(model.kernel, X, X), gram(model.kernel, T, X)
    omega = exactly(np.concatenate([[model.intercept_], model.dual_coef_]))
    return np.column_stack([exactly(np.ones(len(K))), K]), Kt, omega


def sparse_discriminant(model: Any, X: np.ndarray, y: np.ndarray, T: np.ndarray) -> Reference:
    """Judge a `SparseKFDAClassifier` with a penalised bias: gap for q >= 1, stationarity below."""
    D, Kt, omega = _design(model, X, T)
    yhat, q = targets_of(y), exactly(model.q)[()]
    lam = exactly(model.rho)[()] * len(y)

    def value(point: np.ndarray) -> Any:
        left = yhat - D @ point
        return left @ left / 2 + lam * sum(abs(entry) ** q for entry in point if entry != 0)

    if model.q == 1:
        size, A = D.shape[1], D.T @ D
        c = D.T @ yhat
        both = np.block([[A, -A], [-A, A]])
        found = minimise(both, np.concatenate([lam - c, lam + c]), -identity(2 * size), zeros(2 * size))
        best = found.x[:size] - found.x[size:]
    elif model.q == 2:
        best = solve(D.T @ D + 2 * lam * identity(D.shape[1]), D.T @ yhat)
    else:
        best = _local_minimum(D, yhat, omega, q, lam)
    at, least = value(omega), value(best)
    if model.q >= 1:
        reported, error, scale = float(model.dual_gap_), at - least, yhat @ yhat / 2 + at
    else:
        reported, error = float(model.stationarity_), _residual(D, yhat, omega, q, lam)
        # the slopes of the penalty, of which the residual is a share, are differences of larger products
        support = np.flatnonzero(omega)
        slopes = lam * q * abs(omega[support]) ** (q - 1)
        scale = max(norm(D[:, i]) * norm(yhat) / slope for i, slope in zip(support, slopes, strict=True))
    return Reference(reported, error, scale, at, float(model.objective_), least, decided(Kt, best, yhat))


def _residual(D: np.ndarray, yhat: np.ndarray, omega: np.ndarray, q: Any, lam: Any) -> Any:
    support = np.flatnonzero(omega)
    left = D[:, support].T @ (yhat - D @ omega)
    slopes = lam * q * np.array([abs(o) ** (q - 1) for o in omega[support]], dtype=object)
    return max(abs(c - s * mpmath.sign(o)) / s for c, s, o in zip(left, slopes, omega[support], strict=True))


def _local_minimum(D: np.ndarray, yhat: np.ndarray, omega: np.ndarray, q: Any, lam: Any) -> np.ndarray:
    """Return the stationary point next to `omega` with the same support, by Newton's method."""
    support, best = np.flatnonzero(omega), omega.copy()
    part = D[:, support]
    for _ in range(80):
        o = best[support]
        size = np.array([abs(entry) for entry in o], dtype=object)
        signs = np.array([mpmath.sign(entry) for entry in o], dtype=object)
        slope = -(part.T @ (yhat - part @ o)) + lam * q * signs * size ** (q - 1)
        H = part.T @ part
        H[np.diag_indices(len(o))] = H.diagonal() + lam * q * (q - 1) * size ** (q - 2)
        step = solve(H, slope)
        # never through zero, where the penalty has its cusp
        reach = min([mpmath.mpf(1), *(abs(e / (2 * s)) for e, s in zip(o, step, strict=True) if s != 0)])
        best[support] = o - reach * step
        if largest(step) < mpmath.mpf(10) ** -60 * largest(o):
            break
    return best


def ridge_discriminant(model: Any, X: np.ndarray, y: np.ndarray, T: np.ndarray) -> Reference:
    """Judge a `KFDAClassifier`: the residual of its linear equations, relative to their right-hand side."""
    D, Kt, omega = _design(model, X, T)
    yhat, mu = targets_of(y), exactly(model.reg)[()]
    penalty = mu * identity(D.shape[1])
    penalty[0, 0] = mpmath.mpf(0)  # the bias goes free
    A, c = D.T @ D + penalty, D.T @ yhat
    best = solve(A, c)
    error = norm(A @ omega - c) / norm(c)
    # the products D'(D omega) and D'yhat, whose difference the residual is
    scale = norm(D) * (norm(yhat) + norm(D) * norm(omega)) / norm(c)

    def value(point: np.ndarray) -> Any:
        left = yhat - D @ point
        return left @ left / 2 + mu * (point[1:] @ point[1:]) / 2

    return Reference(
        float(model.residual_), error, scale, value(omega), None, value(best), decided(Kt, best, yhat)
    )


def selected_discriminant(model: Any, X: np.ndarray, y: np.ndarray, T: np.ndarray) -> Reference:
    """Judge an `OLSKFDAClassifier`: least squares on the columns that it chose."""
    D, Kt, omega = _design(model, X, T)
    yhat = targets_of(y)
    columns = np.concatenate([[0], 1 + np.asarray(model.order_)])
    part = D[:, columns]
    best = zeros(len(omega))
    best[columns] = solve(part.T @ part, part.T @ yhat)
    left = yhat - D @ omega
    error = max(abs(column @ left) / norm(column) / norm(yhat) for column in part.T)
    true = yhat - D @ best
    return Reference(
        float(model.residual_),
        error,
        mpmath.mpf(1),
        left @ left / (yhat @ yhat),
        float(model.unexplained_),
        true @ true / (yhat @ yhat),
        decided(Kt, best, yhat),
    )

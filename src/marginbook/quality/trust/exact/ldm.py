r"""Margin distributions: equation (5) of the LDM and its peers with many digits, from their definitions."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np

from .margins import hinge_optimum, hinge_rounding
from .numbers import exactly, factor, gram, identity, norm, positive, solve, zeros
from .programs import minimise
from .reference import Reference


def signs_of(y: np.ndarray) -> np.ndarray:
    """Return -1 for the first class, 1 for the second."""
    return np.where(y == np.unique(y)[1], 1.0, -1.0)


def distribution_machine(model: Any, X: np.ndarray, y: np.ndarray, T: np.ndarray) -> Reference:
    """Judge an `LDMClassifier` without intercept by its objective less the optimum."""
    signs, m = exactly(signs_of(y)), len(y)
    lambda1, lambda2, C = (exactly(value)[()] for value in (model.lambda1, model.lambda2, model.C))
    K, Kt = gram(model.kernel, X, X), gram(model.kernel, T, X)
    linear = hasattr(model, "coef_")
    if linear:
        w = exactly(model.coef_)
        margins, square = signs * (exactly(X) @ w), w @ w
        sums = abs(exactly(X)) @ abs(w)
    else:
        a = exactly(model.dual_coef_)
        margins, square = signs * (K @ a), a @ (K @ a)
        sums = abs(K) @ abs(a)
    mean = margins.sum() / m
    terms = [
        square / 2,
        lambda1 * 2 * ((margins - mean) ** 2).sum() / m,
        -lambda2 * mean,
        C * positive(1 - margins).sum(),
    ]
    F = factor(K)
    rows = signs[:, None] * F
    centred = rows - rows.sum(axis=0) / m
    R = identity(F.shape[1]) + 4 * lambda1 / m * (centred.T @ centred)
    best = hinge_optimum(R, -lambda2 / m * rows.sum(axis=0), F, signs_of(y), C * exactly(np.ones(m)), False)
    combination = F @ solve(F.T @ F, best.w)
    value = sum(terms)
    return Reference(
        float(getattr(model, "dual_gap_", np.nan)),
        value - best.value,
        sum(abs(term) for term in terms) + C * hinge_rounding(margins, sums),
        value,
        float(model.objective_),
        best.value,
        Kt @ combination,
    )


def chosen_machine(model: Any, X: np.ndarray, y: np.ndarray, T: np.ndarray) -> Reference:
    """Judge the machine that an `LDMClassifierCV` has chosen."""
    return distribution_machine(model.best_estimator_, X, y, T)


def mean_margin_machine(model: Any, X: np.ndarray, y: np.ndarray, T: np.ndarray) -> Reference:
    """Judge a `MAMCClassifier`: its mean margin beside the largest one that the unit ball allows."""
    signs, m = exactly(signs_of(y)), len(y)
    K, Kt = gram(model.kernel, X, X), gram(model.kernel, T, X)
    most = mpmath.sqrt(signs @ (K @ signs)) / m
    a = exactly(model.dual_coef_)
    value, length = signs @ (K @ a) / m, mpmath.sqrt(a @ (K @ a))
    error = max(abs(value / most - 1), abs(length - 1))
    return Reference(
        float(model.optimality_residual_),
        error,
        mpmath.mpf(1),
        value,
        float(model.objective_),
        most,
        Kt @ signs / (m * most),
    )


def weighted_hulls_machine(model: Any, X: np.ndarray, y: np.ndarray, T: np.ndarray) -> Reference:
    """Judge a `KMOMDClassifier` by its objective less the optimum over both simplices."""
    signs = exactly(signs_of(y))
    K, Kt = gram(model.kernel, X, X), gram(model.kernel, T, X)
    lam = 0 if np.isinf(model.C) else 1 / exactly(model.C)[()]
    G = signs[:, None] * K * signs + lam * identity(len(y))
    weights = signs * exactly(model.dual_coef_)
    one = exactly(np.ones(2))
    sides = np.array([np.where(signs > 0, one[0], 0), np.where(signs < 0, one[0], 0)], dtype=object)
    best = minimise(2 * G, zeros(len(y)), -identity(len(y)), zeros(len(y)), sides, one)
    value = weights @ (G @ weights)
    threshold = best.x @ ((K * signs).T @ best.x) / 2
    return Reference(
        float(model.dual_gap_),
        value - best.value,
        abs(weights) @ (abs(G) @ abs(weights)),
        value,
        float(model.objective_),
        best.value,
        Kt @ (signs * best.x) - threshold,
    )


def exponential_machine(model: Any, X: np.ndarray, y: np.ndarray, T: np.ndarray) -> Reference:
    """Judge an `MDOClassifier`, whose problem is not convex: its objective and the gradient on the sphere."""
    signs, rows = exactly(signs_of(y)), exactly(X)
    rows = np.array([row / norm(row) for row in rows], dtype=object)
    w = exactly(model.coef_)
    u, width = w / norm(w), exactly(model.kink_width)[()]
    a, b = exactly(model.a)[()], exactly(model.b)[()]
    value, slopes = mpmath.mpf(0), []
    for t in signs * (rows @ u):
        value += mpmath.exp(-a * t * t) if t >= 0 else mpmath.exp(-b * t)
        if t >= 0:
            slopes.append(-2 * a * t * mpmath.exp(-a * t * t))
        elif -t < width:
            slopes.append(b * t / width * mpmath.exp(b * t * t / (2 * width)))
        else:
            slopes.append(-b * mpmath.exp(b * (-t - width / 2)))
    gradient = rows.T @ (np.array(slopes, dtype=object) * signs)
    error = norm(gradient - (gradient @ u) * u) / norm(w) / len(y)
    size = sum(abs(slope) for slope in slopes) / len(y) + b / width * mpmath.mpf(1)
    return Reference(float(model.gradient_norm_), error, size, value, float(model.objective_))

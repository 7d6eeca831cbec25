r"""The discriminative ridge machine: equations (8), (10), (12) and (13) with many digits.

For two-class problems; rows stay in the order in which they came, and class membership is a mask.
"""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np

from .numbers import exactly, gram, identity, largest, norm, solve, zeros
from .programs import minimise
from .reference import Reference


def quadratic(K: np.ndarray, y: np.ndarray, alpha: float) -> np.ndarray:
    """Return Q = K + alpha (H - B), (n, n), for labels `y`, (n,)."""
    n = len(y)
    Q = K.copy()
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        Q[np.ix_(rows, rows)] = Q[np.ix_(rows, rows)] - exactly(alpha) * K[np.ix_(rows, rows)] / len(rows)
    Q[np.diag_indices(n)] = Q.diagonal() + exactly(alpha) * K.diagonal()
    return Q


def decisions(K: np.ndarray, y: np.ndarray, Kt: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Return delta of the first class less that of the second, eq. (10), for the columns of `W`: (m,)."""
    values = []
    for k, w in zip(Kt.T, W.T, strict=True):
        delta = []
        for label in np.unique(y):
            own, other = np.where(y == label, w, 0), np.where(y == label, 0, w)
            delta.append(own @ (K @ own) + other @ (K @ other) - 2 * (own @ k))
        values.append(delta[0] - delta[1])
    return np.array(values, dtype=object)


def ridge_machine(model: Any, X: np.ndarray, y: np.ndarray, T: np.ndarray) -> Reference:
    """Judge a `DRMClassifier` of two classes without intercept: the share of the gradient that is left."""
    K, Kt = gram(model.kernel, X, X), gram(model.kernel, T, X).T
    M = quadratic(K, y, model.alpha) + exactly(model.beta) * identity(len(y))
    right = decisions(K, y, Kt, solve(M, Kt))
    if model.solver_ == "one-pass":
        error = _left_of_maps(model, exactly(X), y)
    else:
        order = np.argsort(y, kind="stable")
        doubles = _gram_in_doubles(model, X)[np.ix_(order, order)]
        W = zeros(*K.shape)
        # no public attribute holds the weights, which are made for each row that is asked about
        form = getattr(model._point_solver, "form", None)
        found = model._point_solver.solve(doubles).weights if form is None else form.weights(doubles)
        W[order] = exactly(found)
        columns = K[:, order]
        left = M @ W - columns
        error = max(largest(r) / largest(k) for r, k in zip(left.T, columns.T, strict=True))
    return Reference(float(model.kkt_residual_), error, mpmath.mpf(1), decisions=right)


def _gram_in_doubles(model: Any, X: np.ndarray) -> np.ndarray:
    from ....kernels import gram as library_gram

    return library_gram(model.kernel, X)


def _left_of_maps(model: Any, X: np.ndarray, y: np.ndarray) -> Any:
    r"""Return what the maps of the estimator leave of the gradient of (12), for all test points at once.

    With :math:`Y=(I+\sum_jC_j)^{-1}` the gradient vanishes where :math:`\sum_jT_j+Y=I`, and class by class
    where :math:`T_i=C_iY`: the largest error of these, over the norm of I.
    """
    p = X.shape[1]
    alpha, beta = exactly(model.alpha), exactly(model.beta)
    C = []
    for label in np.unique(y):
        rows = X[y == label]
        weights = 1 / (alpha * (rows**2).sum(axis=1) + beta)
        G = (rows.T * weights) @ rows
        C.append(solve(identity(p) - alpha / len(rows) * G, G))
    Y = solve(identity(p) + sum(C), identity(p))
    errors = [found - own @ Y for found, own in zip(exactly(model.maps_.T), C, strict=True)]
    return max(map(norm, [*errors, sum(errors)])) / norm(identity(p))


def chosen_ridge_machine(model: Any, X: np.ndarray, y: np.ndarray, T: np.ndarray) -> Reference:
    """Judge the machine that a `DRMClassifierCV` without scaling has chosen."""
    return ridge_machine(model.best_estimator_, X, y, T)


def general_machine(model: Any, X: np.ndarray, y: np.ndarray, T: np.ndarray) -> Reference:
    """Judge a `MixedNormDRMClassifier`: the duality gap of the row of `T` where it is least honest."""
    K, Kt = gram(model.kernel, X, X), gram(model.kernel, T, X).T
    Q, beta = quadratic(K, y, model.alpha), exactly(model.beta)
    found = model.solution(T)
    W, best = exactly(found.weights), zeros(len(y), len(T))

    def value(w: np.ndarray, k: np.ndarray) -> Any:
        size = _mixed_norm(w, y, model.q, model.r)
        rho = {"identity": size, "square": size**2, "half-square": size**2 / 2}[model.rho]
        return w @ (Q @ w) / 2 - k @ w + beta * rho

    worst = None
    for j in range(len(T)):
        best[:, j] = _minimum(Q, Kt[:, j], y, model, W[:, j])
        at, least = value(W[:, j], Kt[:, j]), value(best[:, j], Kt[:, j])
        size = abs(W[:, j]) @ abs(Kt[:, j]) + abs(least)
        one = (float(found.certificate.gap[j]), at - least, size, at, float(found.certificate.objective[j]))
        if worst is None or float(one[1]) - one[0] > float(worst[1]) - worst[0]:
            worst = (*one, least)
    assert worst is not None
    reported, error, size, at, said, least = worst
    return Reference(reported, error, size, at, said, least, decisions(K, y, Kt, best))


def _mixed_norm(w: np.ndarray, y: np.ndarray, q: float, r: float) -> Any:
    parts = [w[y == label] for label in np.unique(y)]
    norms = np.array([norm(part) if q == 2 else sum(abs(part)) for part in parts], dtype=object)
    return norm(norms) if r == 2 else norms.sum()


def _minimum(Q: np.ndarray, k: np.ndarray, y: np.ndarray, model: Any, near: np.ndarray) -> np.ndarray:
    """Return the minimiser of eq. (8): linear equations, a quadratic program, or Newton on the groups."""
    n, beta, which = len(k), exactly(model.beta), (model.q, model.r, model.rho)
    if which == (2, 2, "half-square"):
        return solve(Q + beta * identity(n), k)
    if which == (1, 1, "identity"):
        both = np.block([[Q, -Q], [-Q, Q]])
        found = minimise(both, np.concatenate([beta - k, beta + k]), -identity(2 * n), zeros(2 * n))
        return found.x[:n] - found.x[n:]
    if which != (2, 1, "identity"):
        raise ValueError(f"no minimiser of (q, r, rho) = {which} here")
    groups = [np.flatnonzero(y == label) for label in np.unique(y)]
    kept = [rows for rows in groups if norm(near[rows]) > 0]
    w = near.copy()
    if not kept:
        return w
    S = np.concatenate(kept)
    for _ in range(60):
        slope, H = Q[S] @ w - k[S], Q[np.ix_(S, S)].copy()
        at = 0
        for rows in kept:
            here = slice(at, at + len(rows))
            length = norm(w[rows])
            slope[here] = slope[here] + beta * w[rows] / length
            H[here, here] = H[here, here] + beta * (
                identity(len(rows)) / length - np.outer(w[rows], w[rows]) / length**3
            )
            at += len(rows)
        step = solve(H, slope)
        w[S] = w[S] - step
        if largest(step) < mpmath.mpf(10) ** -60 * largest(w):
            break
    for rows in groups:  # the groups that are zero have to be so in the optimum
        if norm(near[rows]) == 0 and norm(k[rows] - Q[rows] @ w) > beta:
            raise ArithmeticError("a group that the estimator set to zero is not zero in the optimum")
    return w

r"""Machines of matrices: penalised risk, its optimum of full rank, and bounds for low rank, many digits.

.. math:: F(B,b)=\frac1n\sum_iw_iL\bigl(y_i(\langle B,X_i\rangle+b)\bigr)+\lambda\lVert B\rVert_F^2
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
from sklearn.svm import SVC

from .ldm import signs_of
from .margins import hinge_optimum, hinge_rounding, stationary
from .numbers import exactly, identity, largest, norm, positive, singular_values, solve, zeros
from .reference import Reference

#: angles at which the global minimum of rank 1 is looked for
ANGLES = 90


def risk(
    B: np.ndarray, b: Any, X: np.ndarray, y: np.ndarray, weights: np.ndarray, lam: Any, loss: str
) -> Any:
    """Return F(B, b)."""
    n = len(y)
    margins = exactly(y) * (X.reshape(n, -1) @ B.ravel() + b)
    values = positive(1 - margins)
    if loss == "squared_hinge":
        values = values**2
    if loss == "logistic":
        values = np.array([mpmath.log1p(mpmath.exp(-z)) for z in margins], dtype=object)
    return weights @ values / n + lam * (B.ravel() @ B.ravel())


def full_rank_optimum(
    Z: np.ndarray, y: np.ndarray, weights: np.ndarray, lam: Any, loss: str, intercept: bool
) -> tuple[np.ndarray, Any, Any]:
    """Return coefficients, intercept and least risk for rows `Z`, (n, p), by a program or Newton's method."""
    n, p = Z.shape
    if loss == "hinge":
        best = hinge_optimum(2 * lam * identity(p), zeros(p), Z, y, weights / n, intercept)
        return best.w, best.b, best.value
    if loss != "logistic":
        raise ValueError(f"no optimum of the loss {loss!r} here; take hinge or logistic")
    rows = exactly(y)[:, None] * (np.column_stack([Z, exactly(np.ones(n))]) if intercept else Z)
    ridge = 2 * lam * identity(rows.shape[1])
    if intercept:
        ridge[p, p] = mpmath.mpf(0)
    point = zeros(rows.shape[1])

    def value(at: np.ndarray) -> Any:
        losses = [mpmath.log1p(mpmath.exp(-z)) for z in rows @ at]
        return weights @ np.array(losses, dtype=object) / n + at @ (ridge @ at) / 2

    for _ in range(200):
        chance = np.array([1 / (1 + mpmath.exp(z)) for z in rows @ point], dtype=object)
        slope = ridge @ point - rows.T @ (weights / n * chance)
        step = solve(ridge + (rows.T * (weights / n * chance * (1 - chance))) @ rows, slope)
        length, now = mpmath.mpf(1), value(point)
        while value(point - length * step) > now and length > mpmath.mpf(10) ** -6:
            length = length / 2
        point = point - length * step
        if largest(step) < mpmath.mpf(10) ** -50 * (1 + largest(point)):
            break
    return point[:p], point[p] if intercept else mpmath.mpf(0), value(point)


def _weights(model: Any, y: np.ndarray) -> np.ndarray:
    level = getattr(model, "pi", None)
    if level is None:
        return exactly(np.ones(len(y)))
    pi = exactly(level)[()]
    return np.array([1 - pi if sign > 0 else pi for sign in signs_of(y)], dtype=object)


def matrix_machine(model: Any, X: np.ndarray, y: np.ndarray, T: np.ndarray) -> Reference:
    """Judge a machine of full rank, whose ``dual_gap_`` bounds what it is off the optimum."""
    signs, loss = signs_of(y), getattr(model, "loss", "hinge")
    lam, weights, rows = exactly(model.lam)[()], _weights(model, y), exactly(X)
    value = risk(exactly(model.coef_), exactly(model.intercept_)[()], rows, signs, weights, lam, loss)
    flat = rows.reshape(len(y), -1)
    w, b, least = full_rank_optimum(flat, signs, weights, lam, loss, bool(model.fit_intercept))
    return Reference(
        float(model.dual_gap_),
        value - least,
        value + weights.sum() / len(y),
        value,
        float(model.objective_),
        least,
        exactly(T).reshape(len(T), -1) @ w + b,
    )


def vector_machine(model: Any, X: np.ndarray, y: np.ndarray, T: np.ndarray) -> Reference:
    """Judge a vector classifier, whose ``dual_gap_`` is a share of its objective."""
    found = matrix_machine(model, X, y, T)
    signs, rows = exactly(signs_of(y)), exactly(X).reshape(len(y), -1)
    B, b = exactly(model.coef_).ravel(), exactly(model.intercept_)[()]
    # what a rounding of the margins may change of the losses
    rounding = hinge_rounding(signs * (rows @ B + b), abs(rows) @ abs(B) + abs(b)) / len(y)
    return replace(
        found,
        error=found.error / found.value,
        size=(found.size + rounding) / found.value,
        relative=True,
    )


def chosen_matrix_machine(model: Any, X: np.ndarray, y: np.ndarray, T: np.ndarray) -> Reference:
    """Judge the machine of full rank that a `LowRankSVMClassifierCV` has chosen."""
    return matrix_machine(model.best_estimator_, X, y, T)


def level_machines(model: Any, X: np.ndarray, y: np.ndarray, T: np.ndarray) -> Reference:
    """Judge all levels of a `RegressionFunctionEstimator` of full rank; the least honest one is returned."""
    signs, lam, rows = signs_of(y), exactly(model.lam)[()], exactly(X)
    flat, asked = rows.reshape(len(y), -1), exactly(T).reshape(len(T), -1)
    found, decisions = [], []
    for h, level in enumerate(model.levels_):
        pi = exactly(level)[()]
        weights = np.array([1 - pi if sign > 0 else pi for sign in signs], dtype=object)
        value = risk(
            exactly(model.coef_[h]), exactly(model.intercept_[h])[()], rows, signs, weights, lam, model.loss
        )
        w, b, least = full_rank_optimum(flat, signs, weights, lam, model.loss, bool(model.fit_intercept))
        decisions.append(asked @ w + b)
        said = float(model.dual_gap_[h]), float(model.objective_[h])
        found.append((float(value - least) - said[0], said, value, least, value + weights.sum() / len(y)))
    _, said, value, least, size = max(found, key=lambda one: one[0])
    return Reference(said[0], value - least, size, value, said[1], least, np.array(decisions, dtype=object).T)


def rank_one_machine(model: Any, X: np.ndarray, y: np.ndarray, T: np.ndarray) -> Reference:
    r"""Judge ``global_gap_`` of a `LowRankSVMClassifier` of rank 1 for matrices of two rows, hinge loss.

    For a direction :math:`u=(\cos t,\sin t)` of the rows the best :math:`uv^\top` is a convex problem: the
    global minimum is a search over one angle.
    """
    signs, lam, rows = signs_of(y), exactly(model.lam)[()], exactly(X)
    weights, n = exactly(np.ones(len(y))), len(y)
    value = risk(exactly(model.coef_), exactly(model.intercept_)[()], rows, signs, weights, lam, "hinge")

    def coarse(t: float) -> float:
        Z = np.einsum("d,ndp->np", [np.cos(t), np.sin(t)], X)
        machine = SVC(kernel="linear", C=1 / (2 * n * float(model.lam)), tol=1e-6).fit(Z, signs)
        w = machine.coef_.ravel()
        return float(np.maximum(1 - signs * machine.decision_function(Z), 0).mean() + model.lam * w @ w)

    def fine(t: Any) -> tuple[Any, ...]:
        u, turned = (np.array(pair, dtype=object) for pair in _turn(t))
        Z = np.array([u @ row for row in rows], dtype=object)
        best = hinge_optimum(2 * lam * identity(Z.shape[1]), zeros(Z.shape[1]), Z, signs, weights / n, True)
        # the multipliers are the slopes of the losses, and the penalty does not depend on the angle
        pulls = np.array([turned @ (row @ best.w) for row in rows], dtype=object)
        slope = -(best.multipliers * exactly(signs)) @ pulls
        return best.value, slope, best.w, best.b

    angles = np.pi * np.arange(ANGLES) / ANGLES
    middle = float(angles[int(np.argmin([coarse(float(t)) for t in angles]))])
    # with what the estimator found as another candidate: the search must not miss its valley
    own = np.linalg.svd(model.coef_)[0][:, 0]
    start = min(middle, float(np.arctan2(own[1], own[0])), key=lambda t: fine(mpmath.mpf(t))[0])
    width = mpmath.pi / ANGLES
    t, (least, _, v, bias) = stationary(fine, start - width, start + width)
    decisions = exactly(T) @ v @ np.array(_turn(t)[0], dtype=object) + bias
    return Reference(
        float(model.global_gap_), value - least, 1 + value, value, float(model.objective_), least, decisions
    )


def _turn(t: Any) -> tuple[list[Any], list[Any]]:
    """Return the unit vector of an angle, and its derivative."""
    cos, sin = mpmath.cos(t), mpmath.sin(t)
    return [cos, sin], [-sin, cos]


def nuclear_machine(model: Any, X: np.ndarray, y: np.ndarray, T: np.ndarray) -> Reference:
    r"""Judge a `NuclearNormSVMClassifier`: its objective less the dual value of its own multipliers.

    .. math:: D(\beta)=\sum_iy_i\beta_i-\tfrac12\sum_k(\sigma_k(\textstyle\sum_i\beta_iX_i)-\tau)_+^2

    is computed anew, for multipliers made feasible to all digits. With ``tau=0`` it is the optimum itself.
    """
    signs, rows = exactly(signs_of(y)), exactly(X)
    tau, C = exactly(model.tau)[()], exactly(model.C)[()]
    B, b = exactly(model.coef_), exactly(model.intercept_)[()]
    margins = signs * (rows.reshape(len(y), -1) @ B.ravel() + b)
    sizes = singular_values(B)
    behind = abs(rows.reshape(len(y), -1)) @ abs(B.ravel()) + abs(b)
    terms = [norm(B) ** 2 / 2, tau * sizes.sum(), C * positive(1 - margins).sum()]
    value = sum(terms)
    beta = np.array([min(max(m, 0), C) for m in exactly(model.multipliers_)], dtype=object)
    sums = [beta[signs > 0].sum(), beta[signs < 0].sum()]
    beta = np.where(signs > 0, beta * min(sums) / sums[0], beta * min(sums) / sums[1])
    M = np.einsum("n,nij->ij", (beta * signs).astype(object), rows)
    least = beta.sum() - (positive(singular_values(M) - tau) ** 2).sum() / 2
    decisions = None
    if tau == 0:
        flat = rows.reshape(len(y), -1)
        costs = C * exactly(np.ones(len(y)))
        best = hinge_optimum(identity(flat.shape[1]), zeros(flat.shape[1]), flat, signs_of(y), costs, True)
        least, decisions = best.value, exactly(T).reshape(len(T), -1) @ best.w + best.b
    return Reference(
        float(model.dual_gap_),
        (value - least) / value,
        (sum(terms) + beta.sum() + C * hinge_rounding(margins, behind)) / value,
        value,
        float(model.objective_),
        least,
        decisions,
        relative=True,
    )

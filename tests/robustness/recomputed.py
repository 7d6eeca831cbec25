"""The certificates of kFDA computed again from their definitions, in long double and by other formulas.

The paper's own iterations stop by the change of the objective, and a cut comes after any solver. What is
attained is then anything, without a warning; the certificate must say it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, check_random_state, compute_sample_weight

from marginbook.kernels import gram, tidy
from marginbook.kfda import SparseKFDAClassifier

from .judging import Fault

#: of a certificate, and of the size of the sums that it is the difference of
SHARE, ROUNDING = 1e-6, 1e-12


def check_certificate(model: Any, X: Any, y: Any) -> None:
    """Raise Fault unless the certificates of a fitted SparseKFDAClassifier are what they say they are.

    Parameters
    ----------
    model : estimator
        Of others nothing is asked.
    X, y : rows and labels of the fit
    """
    if not isinstance(model, SparseKFDAClassifier):
        return
    rows = tidy(check_array(X, accept_sparse="csr", dtype=np.float64))
    K = gram(model._kernel, rows if sparse.issparse(rows) else np.asarray(rows))
    positive = np.asarray(y).ravel() == model.classes_[1]
    n = len(positive)
    targets = np.where(positive, np.longdouble(n) / positive.sum(), -np.longdouble(n) / (~positive).sum())
    D = np.column_stack([np.ones(n), K]).astype(np.longdouble)
    omega = np.r_[model.intercept_, model.dual_coef_].astype(np.longdouble)
    # a row of weight w counts w times; for q > 1 its coefficient has w^(1-q) of the penalty, as w equal rows
    rows_of = compute_sample_weight(model.class_weight, np.asarray(y).ravel()).astype(np.longdouble)
    units = np.r_[1, rows_of ** ((1 - max(model.q, 1)) / max(model.q, 1))]
    # with n_components the problem has the drawn columns only, and so have its certificates
    drawn = np.arange(n)
    if model.n_components is not None and model.n_components < n:
        drawn = check_random_state(model.random_state).choice(n, int(model.n_components), replace=False)
    kept = np.r_[0, 1 + drawn]
    if np.setdiff1d(np.flatnonzero(omega), kept).size:
        raise Fault("a coefficient outside of the columns that were drawn")
    D, omega, units = D[:, kept], omega[kept], units[kept]
    D, targets, omega = np.sqrt(rows_of)[:, None] * D / units, np.sqrt(rows_of) * targets, omega * units
    weights = np.r_[float(model.penalize_bias), np.ones(len(drawn))].astype(np.longdouble)
    sizes = np.abs(D).T @ (np.abs(targets) + np.abs(D) @ np.abs(omega))
    with np.errstate(all="ignore"):
        found = _certificates(D, targets, omega, weights, float(model.q), np.longdouble(model.rho) * n, sizes)
    for name, (value, error) in found.items():
        said = getattr(model, name, np.nan)
        if not (said == value or abs(said - value) <= SHARE * abs(value) + error):
            raise Fault(f"{name} is {said:.6g}, which by its definition is {float(value):.6g}")
    if getattr(model, "is_local_minimum_", False) and not (
        model.stationarity_ <= 1e-4 and model.curvature_ > 0
    ):
        raise Fault("is_local_minimum_ without what it rests on")


def _certificates(
    D: np.ndarray, targets: np.ndarray, omega: np.ndarray, weights: np.ndarray, q: float, lam: Any, sizes: Any
) -> dict[str, tuple[Any, Any]]:
    """Return each certificate, and what rounding in double precision may change of it."""
    left = targets - D @ omega
    penalty = lam * weights * np.abs(omega) ** q
    J = left @ left / 2 + penalty.sum()
    noise = ROUNDING * (targets @ targets + np.abs(omega) @ sizes + J)
    found = {"objective_": (J, noise)}
    if q >= 1:
        centred = left - (0 if weights[0] else D[:, 0] * (D[:, 0] @ left) / (D[:, 0] @ D[:, 0]))
        slopes = np.where(weights > 0, np.abs(D.T @ centred), 0)
        if q == 1:
            theta = centred * min(1, lam / slopes.max()) if slopes.max() > 0 else centred
            conjugate = np.longdouble(0)
            wide = noise + (ROUNDING * sizes / np.maximum(slopes, lam)).max() * (centred @ centred)
        else:
            theta = centred
            each = lam * (q - 1) * (slopes / (lam * q)) ** (q / (q - 1))
            conjugate = each.sum()
            wide = (
                noise + (each * q / (q - 1) * ROUNDING * sizes / np.maximum(slopes, ROUNDING * sizes)).sum()
            )
        dual = targets @ targets / 2 - (targets - theta) @ (targets - theta) / 2 - conjugate
        found["dual_gap_"] = (J - dual, wide)
    signed = D.T @ left
    if q == 1:
        moved = np.where(
            omega != 0, np.abs(signed - lam * weights * np.sign(omega)), np.abs(signed) - lam * weights
        )
        found["kkt_residual_"] = (max(moved.max(), 0) / lam, ROUNDING * sizes.max() / lam)
        return found
    asked = (weights > 0) & ((omega != 0) | (q > 1))
    pull = lam * q * np.abs(omega[asked]) ** (q - 1)
    short = np.abs(signed[asked] - pull * np.sign(omega[asked]))
    seen = 1e-10 * np.sqrt((D * D).sum(axis=0).max() * (targets @ targets))
    scale = pull if q < 1 else max(pull.max(initial=0), seen)
    worst = (short / scale).max(initial=0)
    error = (ROUNDING * sizes[asked] / scale).max(initial=0)
    if not weights[0]:
        worst = max(worst, abs(D[:, 0] @ left) / np.sqrt((D[:, 0] @ D[:, 0]) * (targets @ targets)))
        error += ROUNDING * sizes[0]
    found["stationarity_"] = (worst, error)
    return found

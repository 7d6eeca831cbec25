"""How far a solution of regularised least squares is from its equations, in the terms of `.least_squares`."""

from __future__ import annotations

import numpy as np

from .least_squares import LeastSquares


def kkt_residual(
    K: np.ndarray, targets: np.ndarray, C: float, found: LeastSquares, weights: np.ndarray | None = None
) -> float:
    """Return the largest error of the bordered equations of `found`, relative to the largest target.

    Parameters
    ----------
    K : (n, n) array
    targets : (n, m) array
    C : float
    found : LeastSquares
    weights : (n,) array, optional
    """
    return equations_error(K @ found.dual, targets, C, found, weights)


def equations_error(
    fitted: np.ndarray, targets: np.ndarray, C: float, found: LeastSquares, weights: np.ndarray | None = None
) -> float:
    """Return what :func:`kkt_residual` does, with the product of the Gram matrix and the dual at hand.

    Parameters
    ----------
    fitted : (n, m) array
    targets : (n, m) array
    C : float
    found : LeastSquares
    weights : (n,) array, optional
    """
    errors = found.dual / C if weights is None else found.dual / (C * weights[:, None])
    rows = fitted + errors + found.bias - targets
    worst = max(np.abs(rows).max(), np.abs(found.dual.sum(axis=0)).max() / C)
    return float(worst / np.abs(targets).max())


def features_error(
    X: np.ndarray, targets: np.ndarray, C: float, found: LeastSquares, weights: np.ndarray | None = None
) -> float:
    r"""Return the largest error of :math:`w/C=X^\top(s\circ e)`, :math:`s^\top e=0`, e = y - b - Xw.

    It is relative to the sums of the absolute values of their terms, with y for e.

    Parameters
    ----------
    X : (n, p) array
    targets : (n, m) array
    C : float
    found : LeastSquares
    weights : (n,) array, optional
    """
    assert found.coef is not None
    s = np.ones(len(X)) if weights is None else weights
    left = (targets - found.bias - X @ found.coef) * s[:, None]
    size = np.abs(X).T @ (np.abs(targets) * s[:, None])
    slopes = np.abs(found.coef / C - X.T @ left).max(initial=0.0) / (size.max(initial=0.0) or 1.0)
    return float(max(slopes, np.abs(left.sum(axis=0)).max() / (np.abs(targets) * s[:, None]).sum()))

r"""The rows that a layer leaves uncertain: the next one is learned on them, (43)-(45)."""

from __future__ import annotations

from typing import Any

import numpy as np


def decision_table(values: Any, n_classes: int, name: str) -> np.ndarray:
    r"""Return :math:`\xi`, one decision value a row and class, of what a ``decision_function`` returns.

    Parameters
    ----------
    values : (n,) array for two classes, else (n, n_classes)
        One value f a row means :math:`\xi=(-f,f)`.
    n_classes : int
    name : str
        Of the classifier, for the message.

    Returns
    -------
    (n, n_classes) array

    Raises
    ------
    ValueError
        For values of another shape, as of a classifier that votes over pairs of classes, or not finite.
    """
    found = np.asarray(values, dtype=float)
    if n_classes == 2 and found.ndim == 1:
        found = np.column_stack([-found, found])
    if found.ndim != 2 or found.shape[1] != n_classes:
        raise ValueError(
            f"decision_function of {name} gives shape {np.shape(values)}, wanted one column for each of the "
            f"{n_classes} classes; take a base that separates each class from the rest"
        )
    if not np.isfinite(found).all():
        raise ValueError(f"decision_function of {name} gives values that are not finite; scale the data")
    return found


def confidence(decision: np.ndarray, codes: np.ndarray, margin: str) -> np.ndarray:
    r"""Return :math:`\kappa`, by which rows count as marginal.

    Parameters
    ----------
    decision : (n, C) array
        :math:`\xi`.
    codes : (n,) array of int
        Classes of the rows; only "signed" looks at them.
    margin : {"printed", "signed"}
        "printed" is (44), half of the largest value minus the second: never negative, and large where the
        row is on the wrong side with certainty. "signed" takes the row's own class against the best of the
        others, which is negative there.

    Returns
    -------
    (n,) array
    """
    if margin == "printed":
        second, first = np.partition(decision, -2, axis=1)[:, -2:].T
        return (first - second) / 2.0
    rows = np.arange(len(codes))
    others = decision.copy()
    others[rows, codes] = -np.inf
    return (decision[rows, codes] - others.max(axis=1)) / 2.0


def marginal_rows(kappa: np.ndarray, codes: np.ndarray, limit: float, least: int) -> np.ndarray:
    r"""Return the rows of :math:`\mathcal M=\{i:\kappa_i\le T_\kappa\}`, and enough of each class.

    A class with fewer than `least` such rows keeps its `least` rows of smallest :math:`\kappa`, or all that
    it has: a subspace needs rows, where the paper says nothing of a class that is certain. No row at all is
    returned where :math:`\mathcal M` itself is empty.

    Parameters
    ----------
    kappa : (n,) array
    codes : (n,) array of int
    limit : float
        :math:`T_\kappa`.
    least : int

    Returns
    -------
    (m,) array of int, ascending
    """
    chosen = kappa <= limit
    if not chosen.any():
        return np.empty(0, dtype=int)
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        if chosen[rows].sum() < least:
            chosen[rows[np.argsort(kappa[rows], kind="stable")[:least]]] = True
    return np.flatnonzero(chosen)

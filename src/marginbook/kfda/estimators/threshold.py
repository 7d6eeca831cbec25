"""What the discriminant is compared with."""

from __future__ import annotations

import numpy as np

from ...base.parameters import validate_choice
from .parameters import THRESHOLDS


def decision_threshold(
    kind: str, values: np.ndarray, positive: np.ndarray, weights: np.ndarray | None = None
) -> float:
    r"""Return what f is compared with.

    Parameters
    ----------
    kind : {"midpoint", "means"}
        "midpoint" of the two targets, :math:`\tfrac N2(1/N_1-1/N_2)`, section 4 of the paper; "means" is the
        midpoint of the mean of f in either class, as Fisher's discriminant has it. Where f is constant it
        falls back on the former, which then says the larger class.
    values : (N,) array
        f on the training rows.
    positive : (N,) array of bool
    weights : (N,) array, optional
        Of the rows; N, :math:`N_1` and :math:`N_2` are then their sums, and means are weighted.
    """
    validate_choice("threshold", kind, THRESHOLDS)
    if weights is None:
        weights = np.ones(len(positive))
    if kind == "means" and values.min() < values.max():
        means = [np.average(values[part], weights=weights[part]) for part in (positive, ~positive)]
        return 0.5 * float(sum(means))
    total, of_positive = float(weights.sum()), float(weights[positive].sum())
    return 0.5 * total * (1.0 / of_positive - 1.0 / (total - of_positive))

"""The distance that widths of a Gaussian kernel are multiples of."""

from __future__ import annotations

import numpy as np


def mean_distance(squared: np.ndarray) -> float:
    """Return the mean distance of two different rows from the (m, m) array of squared distances, or 1."""
    m = len(squared)
    total = float(np.sqrt(squared[np.triu_indices(m, 1)]).sum())
    return total / (m * (m - 1) / 2) if total > 0 else 1.0

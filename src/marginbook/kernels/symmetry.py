"""Whether a Gram matrix that a user gives is symmetric."""

from __future__ import annotations

import numpy as np

#: how far it may be from its transpose, as a share of its largest entry: single precision
ASYMMETRY = 1e-6


def validate_symmetric(G: np.ndarray) -> None:
    """Raise ValueError if the square matrix `G`, (n, n), differs from its transpose beyond rounding."""
    apart = np.abs(G - G.T)
    if float(apart.max(initial=0.0)) > ASYMMETRY * float(np.abs(G).max(initial=0.0)):
        i, j = np.unravel_index(int(apart.argmax()), G.shape)
        raise ValueError(
            f"the precomputed Gram matrix is not symmetric: entry ({i}, {j}) is {G[i, j]:.6g} and "
            f"({j}, {i}) is {G[j, i]:.6g}; give k(x_i, x_j) of the training rows, or (G + G.T) / 2"
        )

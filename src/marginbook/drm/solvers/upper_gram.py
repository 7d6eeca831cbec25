"""The upper triangle of a Gram matrix, in tiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels import Kernel, gram

#: rows and columns of a tile: large enough for matrix products, small enough that Python hears Ctrl-C
TILE = 512
#: up to so many rows the Gram matrix is formed as a whole
WHOLE = 2048


def upper_gram(kernel: Kernel, X: Any) -> np.ndarray:
    """Return an (n, n) array whose upper triangle is that of the Gram matrix; what is below, is anything.

    Half the kernel values of :func:`marginbook.kernels.gram`, and no second array of that size.
    """
    n = X.shape[0]
    if n <= WHOLE:
        return gram(kernel, X)
    K = np.empty((n, n))
    for start in range(0, n, TILE):
        stop = min(start + TILE, n)
        rows = X[start:stop]
        K[start:stop, start:stop] = gram(kernel, rows)  # with an exact diagonal
        if stop < n:
            K[start:stop, stop:] = gram(kernel, rows, X[stop:])
    return K

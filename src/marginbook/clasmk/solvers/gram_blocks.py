"""Several Gram matrices that are computed in blocks whenever they are needed, in the memory of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.linalg.blas import daxpy

from .half_stored import block_rows, square

#: bytes of Gram matrices that are kept; more of them are computed anew for each set of weights
KEPT_BYTES = 2**29

#: kernel values of rows and other rows for the kernels of these numbers
Values = Callable[[np.ndarray, np.ndarray | None, np.ndarray], Sequence[np.ndarray]]


class GramBlocks:
    """K Gram matrices of the same n rows.

    Parameters
    ----------
    count : int
        K.
    rows : (n, p) array
    values : function of rows (r, p), other rows (c, p) and numbers of kernels
        Returns their (r, c) matrices.
    instead : str
        What to take for more rows than memory has room for.
    """

    def __init__(self, count: int, rows: np.ndarray, values: Values, instead: str) -> None:
        self.count, self.rows, self.values = count, rows, values
        self.total = square(len(rows), instead)

    def __len__(self) -> int:
        return self.count

    def combine(self, weights: np.ndarray) -> np.ndarray:
        """Return the sum with `weights`, (K,), an (n, n) array that the next call overwrites.

        Each block above the diagonal is computed once; kernels of weight 0 cost nothing.
        """
        n, used = len(self.rows), np.flatnonzero(weights > 0)
        height = block_rows(n)
        for start in range(0, n, height):
            stop = min(start + height, n)
            found = self.values(self.rows[start:stop], self.rows[start:], used)
            sum_ = weights[used[0]] * found[0]
            for k, K in zip(used[1:], found[1:], strict=True):
                daxpy(K.reshape(-1), sum_.reshape(-1), a=weights[k])
            self.total[start:stop, start:] = sum_
            self.total[stop:, start:stop] = sum_[:, stop - start :].T
        return self.total

    def moves(self, beta: np.ndarray) -> np.ndarray:
        """Return the products of each matrix with `beta`, (n, m), on the rows where that is not 0: (K, n, m).

        They are 0 on the others, which neither slopes nor curvature look at.
        """
        inside = np.flatnonzero(beta.any(axis=1))
        rows, some = self.rows[inside], beta[inside]
        products = np.zeros((self.count, *some.shape))
        height = block_rows(max(1, len(inside)))
        for start in range(0, len(inside), height):
            stop = min(start + height, len(inside))
            grams = self.values(rows[start:stop], rows[start:], np.arange(self.count))
            for product, K in zip(products, grams, strict=True):
                product[start:stop] += K @ some[start:]
                product[stop:] += K[:, stop - start :].T @ some[start:stop]
        found = np.zeros((self.count, *beta.shape))
        found[:, inside] = products
        return found

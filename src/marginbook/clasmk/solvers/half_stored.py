r"""A symmetric matrix of which only the upper half is computed: products, columns, and a factor in its place.

The Gram matrix of 10,000 rows has 800 MB. Its upper half, filled in blocks of rows, is enough for every
product, and memory that nobody writes to is not taken: 400 MB. The lower half has room for the blocks of a
Cholesky factor, so that matrix and factor together need one square. No call takes longer than about a second
for up to 30,000 rows, so that an interrupt is heard.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, blas, cholesky, solve_triangular

from ...base.memory import require_memory

#: rows of a block
BLOCK = 512
#: kernel values that are computed at once: 16 MB, below what the allocator takes anew from the system
ENTRIES = 2**21
#: share of the machine's memory that a matrix may take
SHARE = 0.5


def require_square(n: int, instead: str, count: int = 1) -> None:
    """Raise MemoryError if `count` square matrices of `n` rows are more than half of the machine's memory.

    Parameters
    ----------
    n : int
    instead : str
        Ends the sentence "... take ".
    count : int
        1 stands for one of which half is filled.
    """
    _require(n, instead, count, 2 * SHARE if count == 1 else SHARE)


def square(n: int, instead: str) -> np.ndarray:
    """Return an (n, n) array that is not yet filled, or say at once what to use instead.

    Parameters
    ----------
    n : int
    instead : str
        Ends the sentence "... take ".

    Raises
    ------
    MemoryError
        If half of it would take more than half of the memory of the machine, or cannot be allocated.
    """
    require_square(n, instead)
    try:
        return np.empty((n, n))
    except MemoryError:  # of a process with less than the machine has
        _require(n, instead, 1, 0.0)
        raise


def block_rows(n: int) -> int:
    """Return how many rows of kernel values with `n` other rows are computed at once."""
    return min(BLOCK, max(16, ENTRIES // n))


def _require(n: int, instead: str, count: int, share: float) -> None:
    what = f"the kernel values of all pairs of {n} rows need"
    require_memory(what, float(count) * n * n, f"take {instead}", share=share)


@dataclass(frozen=True, eq=False)
class HalfStored:
    """A symmetric (n, n) matrix.

    Attributes
    ----------
    array : (n, n) array, C order
        Right on and above its diagonal.
    """

    array: np.ndarray

    @classmethod
    def fill(cls, array: np.ndarray, values: Callable[[slice, slice], np.ndarray]) -> HalfStored:
        """Fill `array`, (n, n), by `values`, which returns the matrix at a slice of rows and of columns."""
        n = len(array)
        height = block_rows(n)
        for start in range(0, n, height):
            rows, columns = slice(start, min(start + height, n)), slice(start, n)
            array[rows, columns] = values(rows, columns)
        return cls(array)

    def __len__(self) -> int:
        return len(self.array)

    def times(self, V: np.ndarray) -> np.ndarray:
        """Return the product with `V`, (n, m)."""
        # LAPACK counts columns first: the upper half of the array is the lower one of its transpose
        if V.shape[1] == 1:
            return np.asarray(blas.dsymv(1.0, self.array.T, V[:, 0], lower=1))[:, None]
        return np.asarray(blas.dsymm(1.0, self.array.T, np.asfortranarray(V), lower=1))

    def columns(self, places: np.ndarray) -> np.ndarray:
        """Return the columns at `places`, sorted numbers, as (n, len(places))."""
        found = np.empty((len(places), len(self)))
        for k, place in enumerate(places):
            found[k, :place] = self.array[:place, place]
            found[k, place:] = self.array[place, place:]
        return found.T

    def diagonal(self) -> np.ndarray:
        """Return the diagonal, (n,)."""
        return self.array.diagonal()


@dataclass(frozen=True, eq=False)
class BlockedFactor:
    r"""The Cholesky factor L of a matrix, in blocks: n^3/3 operations, with a return to Python after each.

    Attributes
    ----------
    array : (n, n) array
        Blocks of L below the diagonal; the rest is not looked at.
    corners : list of arrays
        Blocks of L on the diagonal.
    """

    array: np.ndarray
    corners: list[np.ndarray]

    @classmethod
    def of(cls, K: HalfStored, pairs: np.ndarray, others: np.ndarray, ridge: float) -> BlockedFactor | None:
        r"""Factor :math:`K+\sum_k(p_kq_k^\top+q_kp_k^\top)+\text{ridge}\,I` into the lower half of `K`.

        Parameters
        ----------
        K : HalfStored
            Its upper half stays as it is.
        pairs, others : (n, r) arrays
            Columns p and q.
        ridge : float

        Returns
        -------
        BlockedFactor or None
            None if the matrix is not positive definite.
        """
        A, n, corners = K.array, len(K), []
        for start in range(0, n, BLOCK):
            stop = min(start + BLOCK, n)
            panel = np.array(A[start:stop, start:].T)
            corner = np.triu(panel[: stop - start].T)
            panel[: stop - start] = corner + np.triu(corner, 1).T
            panel += pairs[start:] @ others[start:stop].T
            panel += others[start:] @ pairs[start:stop].T
            panel[np.arange(stop - start), np.arange(stop - start)] += ridge
            if start:
                panel -= A[start:, :start] @ A[start:stop, :start].T
            try:
                corners.append(cholesky(panel[: stop - start], lower=True, check_finite=False))
            except LinAlgError:
                return None
            if stop < n:
                below = panel[stop - start :]
                A[stop:, start:stop] = solve_triangular(
                    corners[-1], below.T, lower=True, check_finite=False
                ).T
        return cls(A, corners)

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return the solution with the right-hand sides `right`, (n, m)."""
        found, n = np.array(right), len(right)
        for k, corner in enumerate(self.corners):
            start = k * BLOCK
            stop = min(start + BLOCK, n)
            found[start:stop] -= self.array[start:stop, :start] @ found[:start]
            found[start:stop] = solve_triangular(corner, found[start:stop], lower=True, check_finite=False)
        for k, corner in reversed(list(enumerate(self.corners))):
            start = k * BLOCK
            stop = min(start + BLOCK, n)
            found[start:stop] -= self.array[stop:, start:stop].T @ found[stop:]
            found[start:stop] = solve_triangular(
                corner, found[start:stop], lower=True, trans="T", check_finite=False
            )
        return found

    def inverse_diagonal(self) -> np.ndarray:
        """Return the diagonal of the inverse, (n,): the squared columns of the inverse of L, n^3/3 again."""
        n = len(self.array)
        found = np.empty(n)
        inverses = [
            solve_triangular(corner, np.eye(len(corner)), lower=True, check_finite=False)
            for corner in self.corners
        ]
        for k, first in enumerate(inverses):
            start = k * BLOCK
            columns = np.empty((n - start, len(first)))
            columns[: len(first)] = first
            for inverse, low in zip(inverses[k + 1 :], range(start + BLOCK, n, BLOCK), strict=True):
                high = min(low + BLOCK, n)
                reach = self.array[low:high, start:low] @ columns[: low - start]
                columns[low - start : high - start] = -inverse @ reach
            found[start : start + len(first)] = np.einsum("ij,ij->j", columns, columns)
        return found

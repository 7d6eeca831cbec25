"""Rows of a Gram matrix, and products with it: of a matrix at hand, or computed on demand with some kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from ...kernels import Kernel, gram, parse_kernel

#: kernel values that are computed at a time: 16 MB
BATCH = 2**21
#: rows that are kept: 8 bytes for each of their m values
KEPT = 4000


class GramRows(Protocol):
    """What a decomposition asks of a Gram matrix G, (m, m)."""

    m: int

    def diagonal(self) -> np.ndarray:
        """Return the (m,) diagonal of G."""

    def block(self, rows: np.ndarray) -> np.ndarray:
        """Return the entries of G between `rows`, (k, k), as a new array."""

    def combined(self, rows: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Return ``coefficients @ G[rows]``, (m,)."""

    def times(self, vector: np.ndarray) -> np.ndarray:
        """Return ``G @ vector``, (m,)."""


class StoredRows:
    """Of a matrix `G`, (m, m), in memory."""

    def __init__(self, G: np.ndarray) -> None:
        self.G, self.m = np.ascontiguousarray(G, dtype=float), len(G)

    def diagonal(self) -> np.ndarray:
        """Return the (m,) diagonal of G."""
        return np.diagonal(self.G)

    def block(self, rows: np.ndarray) -> np.ndarray:
        """Return the entries of G between `rows`, (k, k), as a new array."""
        return self.G.copy() if len(rows) == self.m else self.G[np.ix_(rows, rows)]

    def combined(self, rows: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Return ``coefficients @ G[rows]``, (m,)."""
        if 3 * len(rows) < self.m:
            return coefficients @ self.G[rows]
        full = np.zeros(self.m)  # to copy the rows would take longer than to multiply by zeros
        full[rows] = coefficients
        return self.G @ full

    def times(self, vector: np.ndarray) -> np.ndarray:
        """Return ``G @ vector``, (m,)."""
        return self.G @ vector


class ComputedRows:
    """Of a kernel on rows `X`, (m, d), plus `constant`; the rows used last are kept, at most `kept` of them.

    A product with G needs each entry once for both of its places, and keeps none.

    Parameters
    ----------
    kernel : Kernel
        Not "precomputed".
    X : (m, d) array or CSR matrix
    constant : float
        Added to every kernel value.
    kept : int
    """

    def __init__(self, kernel: Kernel, X: Any, constant: float = 0.0, kept: int = KEPT) -> None:
        self.kernel, self.X, self.constant, self.m = kernel, X, constant, X.shape[0]
        self.store = np.empty((min(kept, self.m), self.m))  # pages that are not touched take no memory
        self.slot = np.full(self.m, -1)
        self.owner = np.full(len(self.store), -1)
        self.used = np.zeros(len(self.store), dtype=np.int64)
        self.clock = self.filled = 0

    def diagonal(self) -> np.ndarray:
        """Return the (m,) diagonal of G."""
        if parse_kernel(self.kernel)[0] == "rbf":
            return np.full(self.m, 1.0 + self.constant)
        return np.array([self.values([i], [i])[0, 0] for i in range(self.m)])

    def values(self, rows: Any, columns: Any = slice(None)) -> np.ndarray:
        """Return the entries of G between `rows` and `columns`."""
        same = isinstance(rows, slice) and rows == columns  # then exactly symmetric
        found = gram(self.kernel, self.X[rows], None if same else self.X[columns])
        if self.constant:
            found += self.constant
        return found

    def block(self, rows: np.ndarray) -> np.ndarray:
        """Return the entries of G between `rows`, (k, k), as a new array."""
        found = gram(self.kernel, self.X[rows])
        if self.constant:
            found += self.constant
        return found

    def combined(self, rows: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Return ``coefficients @ G[rows]``, (m,)."""
        self.clock += 1
        self.used[self.slot[rows[self.slot[rows] >= 0]]] = self.clock
        total = np.zeros(self.m)
        missing = np.flatnonzero(self.slot[rows] < 0)
        height = max(1, BATCH // self.m)
        for start in range(0, len(missing), height):
            part = missing[start : start + height]
            values = self.values(rows[part])
            if not self._kept(rows[part], values):
                total += coefficients[part] @ values
        here = self.slot[rows] >= 0
        full = np.zeros(self.filled)
        # what was left out above because no slot was free has none now either
        np.add.at(full, self.slot[rows[here]], coefficients[here])
        return total + full @ self.store[: self.filled]

    def _kept(self, rows: np.ndarray, values: np.ndarray) -> bool:
        """Keep `values` of `rows`, in place of those that were used longest ago; False if all are in use."""
        free = np.arange(self.filled, min(self.filled + len(rows), len(self.store)))
        if len(free) < len(rows):
            idle = np.flatnonzero(self.used[: self.filled] < self.clock)
            wanted = len(rows) - len(free)
            if len(idle) < wanted:
                return False
            idle = idle[np.argsort(self.used[idle], kind="stable")[:wanted]]
            self.slot[self.owner[idle]] = -1
            self.filled += len(free)
            free = np.concatenate([free, idle])
        else:
            self.filled += len(free)
        self.store[free] = values
        self.slot[rows], self.owner[free], self.used[free] = free, rows, self.clock
        return True

    def times(self, vector: np.ndarray) -> np.ndarray:
        """Return ``G @ vector``, (m,)."""
        total = np.zeros(self.m)
        for tall, wide, values in self._blocks():
            total[tall] += values @ vector[wide]
            if tall != wide:
                total[wide] += vector[tall] @ values
        return total

    def whole(self) -> np.ndarray:
        """Return G, (m, m), in the memory of itself alone."""
        G = np.empty((self.m, self.m))
        for tall, wide, values in self._blocks():
            G[tall, wide] = values
            if tall != wide:
                G[wide, tall] = values.T
        return G

    def _blocks(self) -> Iterator[tuple[slice, slice, np.ndarray]]:
        """Yield the blocks of the upper triangle with their rows and columns."""
        side = int(BATCH**0.5)
        cuts = [slice(top, min(top + side, self.m)) for top in range(0, self.m, side)]
        for i, tall in enumerate(cuts):
            for wide in cuts[i:]:
                yield tall, wide, self.values(tall, wide)

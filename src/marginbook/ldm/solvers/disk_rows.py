"""Rows of a sparse matrix on disk, dealt at random into shards of which a few are in memory at a time."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import LinearOperator

from .libsvm_files import read_libsvm, scan_libsvm

_FORMATS: dict[str, np.dtype[Any]] = {
    "values": np.dtype("<f8"),
    "columns": np.dtype("<i4"),
    "lengths": np.dtype("<i4"),
    "labels": np.dtype("<f8"),
    "rows": np.dtype("<i8"),
}


# shards of a block: blocks of new shards in each sweep converge like blocks of new rows from 4 on
_PER_BLOCK = 4


class DiskRows(LinearOperator):
    """Rows of a sparse matrix in shards on disk; ``X @ w`` and ``X.T @ v`` read all of them.

    Made by :meth:`from_libsvm`; used as a context, it removes its files at the end.

    Attributes
    ----------
    shape : (m, d)
    y : (m,) array of -1.0 and +1.0
        In the order of the shards.
    rows : (m,) array of int
        Numbers of the rows in the file that the shards were made from.
    bounds : (n_shards + 1,) array of int
        First row of each shard, and m.
    """

    def __init__(self, directory: Path, shape: tuple[int, int], n_shards: int) -> None:
        super().__init__(np.dtype(np.float64), shape)
        self.directory, self.n_shards = directory, n_shards
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        every = range(n_shards)
        self.bounds = np.concatenate([[0], np.cumsum([self._joined([k], "rows").size for k in every])])
        self.y, self.rows = self._joined(every, "labels"), self._joined(every, "rows")

    @classmethod
    def from_libsvm(
        cls,
        path: str | Path,
        *,
        block_rows: int = 50_000,
        n_features: int | None = None,
        zero_based: bool = False,
        directory: str | Path | None = None,
        random_state: int | np.random.Generator | None = 0,
    ) -> DiskRows:
        """Deal the rows of a file in LIBSVM's format into shards.

        Parameters
        ----------
        path : path
            Plain, .gz or .bz2; read twice. Of its two labels the larger becomes +1.
        block_rows : int
            Rows in memory at a time, about.
        n_features : int, optional
            Number of columns; the largest index of the file if not given.
        zero_based : bool
            Whether indices start from 0.
        directory : path, optional
            Where the shards go, 12 bytes a non-zero; a temporary directory if not given.
        random_state : int, Generator or None
            Deals the rows.

        Raises
        ------
        ValueError
            If a line is malformed, or the file does not hold two labels.
        """
        if block_rows < 1:
            raise ValueError(f"block_rows must be at least 1, got {block_rows}")
        size = scan_libsvm(path, zero_based=zero_based)
        if len(size.labels) != 2:
            raise ValueError(f"{path} must hold two labels, got {list(size.labels[:5])}; select two classes")
        width = size.n_features if n_features is None else n_features
        temporary = tempfile.TemporaryDirectory() if directory is None else None
        target = Path(temporary.name if temporary else str(directory))
        target.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(random_state)
        n_blocks, done = -(-size.n_rows // block_rows), 0
        n_shards = n_blocks * _PER_BLOCK if n_blocks > 1 else 1
        try:
            for k in range(n_shards):
                for name in _FORMATS:
                    (target / f"{k}.{name}").write_bytes(b"")
            for X, y in read_libsvm(path, n_features=width, zero_based=zero_based, chunk_rows=block_rows):
                shard = rng.integers(0, n_shards, len(y))
                for k in range(n_shards):
                    _append(target, k, X, np.where(y == size.labels[1], 1.0, -1.0), shard == k, done)
                done += len(y)
            made = cls(target, (size.n_rows, width), n_shards)
        except BaseException:
            for k in range(n_shards):
                for name in _FORMATS:
                    (target / f"{k}.{name}").unlink(missing_ok=True)
            if temporary is not None:
                temporary.cleanup()
            raise
        made._temporary = temporary
        return made

    def __enter__(self) -> DiskRows:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for k in range(self.n_shards):
            for name in _FORMATS:
                (self.directory / f"{k}.{name}").unlink(missing_ok=True)
        if self._temporary is not None:
            self._temporary.cleanup()

    def blocks(self, rng: np.random.Generator | None = None) -> Iterator[tuple[np.ndarray, csr_matrix]]:
        """Yield the row numbers, in the order of the shards, and the matrix of each block.

        Parameters
        ----------
        rng : Generator, optional
            Makes new blocks of the shards; they go in their order if not given.
        """
        order = np.arange(self.n_shards) if rng is None else rng.permutation(self.n_shards)
        for first in range(0, self.n_shards, _PER_BLOCK):
            shards = np.sort(order[first : first + _PER_BLOCK])
            rows = np.concatenate([np.arange(self.bounds[k], self.bounds[k + 1]) for k in shards])
            if rows.size == 0:
                continue
            indptr = np.concatenate([[0], np.cumsum(self._joined(shards, "lengths"))])
            arrays = (self._joined(shards, "values"), self._joined(shards, "columns"), indptr)
            yield rows, csr_matrix(arrays, (rows.size, self.shape[1]))

    def _joined(self, shards: Iterable[int], name: str) -> np.ndarray:
        return np.concatenate(
            [np.fromfile(self.directory / f"{k}.{name}", dtype=_FORMATS[name]) for k in shards]
        )

    def _matvec(self, w: np.ndarray) -> np.ndarray:
        result = np.empty(self.shape[0])
        for rows, X in self.blocks():
            result[rows] = X @ np.ravel(w)
        return result

    def _rmatvec(self, v: np.ndarray) -> np.ndarray:
        result = np.zeros(self.shape[1])
        for rows, X in self.blocks():
            result += X.T @ np.ravel(v)[rows]
        return result


def _append(directory: Path, k: int, X: csr_matrix, y: np.ndarray, chosen: np.ndarray, first: int) -> None:
    part = X[chosen]
    arrays = {
        "values": part.data,
        "columns": part.indices,
        "lengths": np.diff(part.indptr),
        "labels": y[chosen],
        "rows": first + np.flatnonzero(chosen),
    }
    for name, array in arrays.items():
        with (directory / f"{k}.{name}").open("ab") as file:
            file.write(array.astype(_FORMATS[name]).tobytes())

"""Where chunks of rows come from: pairs of arrays, and files in LIBSVM's format.

A source can be read again and again, always in the same order, and gives rows that were checked: finite
numbers, the same features in every chunk. Chunks without rows are left out.
"""

from __future__ import annotations

import reprlib
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.utils.validation import column_or_1d

from ..base.labels import validate_labels
from ..base.parameters import is_whole
from ..ldm.solvers.libsvm_files import read_libsvm, scan_libsvm

#: numbers of a chunk that may be dense at a time: 16 MB
DENSE = 2**21


@dataclass(frozen=True)
class Chunk:
    """Some rows.

    Attributes
    ----------
    X : (m, p) array of float64, or CSR matrix
    y : (m,) array of labels
    place : str
        Where they come from, for messages.
    first : int
        Number of the first row in its file or in the source, from 1.
    """

    X: np.ndarray | csr_matrix
    y: np.ndarray
    place: str
    first: int

    def dense_parts(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the rows as dense arrays of a limited size, each with its labels."""
        width = max(1, DENSE // max(1, self.X.shape[1]))
        for start in range(0, len(self.y), width):
            rows = self.X[start : start + width]
            yield (rows.toarray() if isinstance(rows, csr_matrix) else rows), self.y[start : start + width]


class Source(ABC):
    """Rows in chunks, as often as asked; iterating over it is one pass.

    Attributes
    ----------
    n_rows : int or None
        None where only a pass tells.
    """

    n_rows: int | None = None

    @abstractmethod
    def __iter__(self) -> Iterator[Chunk]: ...


class Pairs(Source):
    """Chunks from pairs of arrays: of memory-mapped files, a database, a generator.

    Parameters
    ----------
    make : callable
        Returns an iterable of pairs ``(X, y)``: rows (m, p), dense or CSR, and labels (m,). It is called
        once a pass and must give the same rows each time.
    n_rows : int, default=None
        For the progress bar.

    Raises
    ------
    ValueError
        For a `make` that is no function; while reading, for anything but pairs, for chunks that do not fit
        together, and for values that are not finite: the chunk, and for such a value row and feature, are
        named.
    """

    def __init__(self, make: Callable[[], Iterable[tuple[Any, Any]]], n_rows: int | None = None) -> None:
        if not callable(make):
            raise ValueError(
                f"make must be a function that returns pairs (X, y), got {type(make).__name__}; "
                "write Pairs(lambda: pairs)"
            )
        self.make, self.n_rows = make, n_rows

    def __iter__(self) -> Iterator[Chunk]:
        first, width, before = 1, None, ""
        pairs = self.make()
        if not isinstance(pairs, Iterable):
            raise ValueError(f"make must return pairs (X, y), got {type(pairs).__name__}")
        for number, pair in enumerate(pairs, start=1):
            place = f"chunk {number}"
            try:
                X, y = pair
            except (TypeError, ValueError):
                raise ValueError(f"{place} must be a pair (X, y), got {type(pair).__name__}") from None
            rows = _numbers(X, place)
            if rows.ndim != 2:
                raise ValueError(f"{place} must have two dimensions, got shape {rows.shape}")
            if rows.shape[1] == 0:
                raise ValueError(f"{place} has no features; expected at least one")
            if width not in (None, rows.shape[1]):
                raise ValueError(f"{place} has {rows.shape[1]} features, those before it had {width}")
            width, labels = rows.shape[1], column_or_1d(np.asarray(y))
            if rows.shape[0] != len(labels):
                raise ValueError(f"{place} has {rows.shape[0]} rows and {len(labels)} labels")
            if len(labels):
                validate_labels(labels)
                kind = "text" if isinstance(labels[0], str) else "numbers"
                if before not in ("", kind):
                    raise ValueError(f"{place} has {kind} as labels, those before it had {before}")
                before = kind
                yield checked(Chunk(rows, labels, place, first))
            first += len(labels)


def _numbers(X: Any, place: str) -> np.ndarray | csr_matrix:
    """Return rows as numbers, or raise ValueError with their `place`."""
    try:
        found = X if issparse(X) else np.asarray(X)
        if not np.iscomplexobj(found):
            return csr_matrix(X, dtype=np.float64) if issparse(X) else np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(f"{place} must hold rows of real numbers, got {type(X).__name__} of others")


class LibsvmFiles(Source):
    """Chunks of CSR rows from files in LIBSVM's format; the files together are one data set.

    Text is parsed again in each pass: for the LDM, which needs many, :func:`write_parquet` pays.

    Parameters
    ----------
    paths : path or sequence of paths
        Plain, .gz or .bz2.
    n_features : int, default=None
        Number of columns; counted by a pass over the files if not given.
    zero_based : bool, default=False
        Whether indices start from 0.
    chunk_rows : int, default=20000
        Most rows of a chunk.

    Raises
    ------
    FileNotFoundError
        For a path without a file.
    ValueError
        For no paths, or an `n_features` or `chunk_rows` that is no integer >= 1; while reading, and without
        `n_features` at once, for a line that is malformed or holds NaN: file and line are named.
    """

    def __init__(
        self,
        paths: str | PathLike[str] | Sequence[str | PathLike[str]],
        *,
        n_features: int | None = None,
        zero_based: bool = False,
        chunk_rows: int = 20_000,
    ) -> None:
        self.paths = existing(paths)
        self.zero_based, self.chunk_rows = zero_based, whole("chunk_rows", chunk_rows)
        if n_features is None:
            sizes = [scan_libsvm(path, zero_based=zero_based) for path in self.paths]
            n_features = max(size.n_features for size in sizes)
            self.n_rows = sum(size.n_rows for size in sizes)
        self.n_features = whole("n_features", n_features)

    def __iter__(self) -> Iterator[Chunk]:
        for path in self.paths:
            first = 1
            for X, y in read_libsvm(
                path, n_features=self.n_features, zero_based=self.zero_based, chunk_rows=self.chunk_rows
            ):
                yield Chunk(X, y, str(path), first)
                first += len(y)


def existing(paths: str | PathLike[str] | Sequence[str | PathLike[str]]) -> list[Path]:
    """Return paths as a list.

    Raises
    ------
    FileNotFoundError
        For one without a file.
    ValueError
        For none.
    """
    found = [Path(paths)] if isinstance(paths, str | PathLike) else [Path(path) for path in paths]
    if not found:
        raise ValueError("got no paths; expected at least one file")
    for path in found:
        if not path.is_file():
            raise FileNotFoundError(f"there is no file {path}; give paths of files, not of a folder")
    return found


def whole(name: str, value: Any) -> int:
    """Return `value` if it is an integer >= 1, or raise ValueError with its name."""
    if not (is_whole(value) and value <= sys.maxsize):
        raise ValueError(f"{name} must be an integer >= 1, got {reprlib.repr(value)}")
    return int(value)


def checked(chunk: Chunk, names: Sequence[str] | None = None) -> Chunk:
    """Return the chunk.

    Parameters
    ----------
    chunk : Chunk
    names : sequence of str, optional
        Of the features; numbers from 1 if not given.

    Raises
    ------
    ValueError
        For a value that is not finite: place, row and feature are named.
    """
    X = chunk.X
    if np.isfinite(X.data if issparse(X) else X).all():
        return chunk
    rows, columns = X.nonzero() if issparse(X) else np.nonzero(~np.isfinite(X))
    values = np.asarray(X[rows, columns]).ravel()
    at = int(np.flatnonzero(~np.isfinite(values))[0])
    feature = names[columns[at]] if names else columns[at] + 1
    raise ValueError(
        f"{chunk.place}, row {chunk.first + rows[at]}: feature {feature} is {values[at]}; "
        "impute such values or drop the rows"
    )

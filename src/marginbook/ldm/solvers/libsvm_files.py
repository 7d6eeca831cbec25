"""Reading files in LIBSVM's format in chunks of rows: plain, gzip or bzip2.

A line is ``label index:value index:value ...``, indices ascending and from 1 (or 0, if so asked); what
follows ``#`` is a comment. The text is parsed by scikit-learn; a line that it refuses is found again, and
named with its number.
"""

from __future__ import annotations

import bz2
import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.datasets import load_svmlight_file


class MalformedLine(ValueError):
    """A line of a file is not in LIBSVM's format."""

    def __init__(self, path: Path, number: int, fault: str) -> None:
        super().__init__(f"{path}, line {number}: {fault}; expected 'label index:value index:value ...'")
        self.path, self.number = path, number


@dataclass(frozen=True)
class FileSize:
    """What one pass over a file counts.

    Attributes
    ----------
    n_rows, n_features : int
        `n_features` is the largest index that occurs (plus 1 if indices start from 0).
    labels : tuple of float
        Ascending.
    """

    n_rows: int
    n_features: int
    labels: tuple[float, ...]


def scan_libsvm(path: str | Path, *, zero_based: bool = False, chunk_rows: int = 20_000) -> FileSize:
    """Count the rows, features and labels of a file in one pass.

    Parameters
    ----------
    path : path
        Ends in .gz or .bz2 if compressed.
    zero_based : bool
        Whether indices start from 0.
    chunk_rows : int
        Lines in memory at a time.

    Raises
    ------
    MalformedLine
        With file and line number.
    ValueError
        If the file holds no rows, or its compressed data are damaged.
    """
    rows = features = 0
    labels: set[float] = set()
    for X, y in read_libsvm(path, zero_based=zero_based, chunk_rows=chunk_rows):
        rows, features = rows + X.shape[0], max(features, X.shape[1])
        labels.update(np.unique(y).tolist())
    if rows == 0:
        raise ValueError(f"{path} holds no rows; expected lines of 'label index:value ...'")
    return FileSize(rows, features, tuple(sorted(labels)))


def read_libsvm(
    path: str | Path,
    *,
    n_features: int | None = None,
    zero_based: bool = False,
    chunk_rows: int = 20_000,
) -> Iterator[tuple[csr_matrix, np.ndarray]]:
    """Yield a file in chunks: CSR matrices of at most `chunk_rows` rows, and their labels as printed.

    Parameters
    ----------
    path : path
        Ends in .gz or .bz2 if compressed.
    n_features : int, optional
        Number of columns; if not given, each chunk has as many as its largest index asks for.
    zero_based : bool
        Whether indices start from 0.
    chunk_rows : int
        Lines in memory at a time.

    Raises
    ------
    MalformedLine
        With file and line number.
    ValueError
        If `chunk_rows` is below 1, or compressed data are damaged.
    """
    if chunk_rows < 1:
        raise ValueError(f"chunk_rows must be at least 1, got {chunk_rows}")
    path, done = Path(path), 0
    with _opened(path) as file:
        while True:
            try:
                lines = list(islice(file, chunk_rows))
            except (EOFError, OSError, zlib.error) as error:
                fault = f"the compressed data are damaged after line {done} ({error})"
                raise ValueError(f"{path}: {fault}; fetch the file again") from error
            if not lines:
                return
            X, y = _parsed(path, lines, done, n_features, zero_based)
            if len(y):  # a chunk may consist of comments
                yield X, y
            done += len(lines)


def _opened(path: Path) -> BinaryIO:
    if path.suffix == ".gz":
        return cast(BinaryIO, gzip.open(path, "rb"))
    if path.suffix == ".bz2":
        return cast(BinaryIO, bz2.open(path, "rb"))
    return path.open("rb")


def _parsed(
    path: Path, lines: list[bytes], done: int, n_features: int | None, zero_based: bool
) -> tuple[csr_matrix, np.ndarray]:
    if not any(line.partition(b"#")[0].strip() for line in lines):
        return csr_matrix((0, n_features or 0)), np.empty(0)
    try:
        X, y = load_svmlight_file(
            BytesIO(b"".join(lines)), n_features=n_features, dtype=np.float64, zero_based=zero_based
        )
        if np.isfinite(X.data).all() and np.isfinite(y).all():
            return X, y
        refusal: Exception | None = None
    except (ValueError, OverflowError, UnicodeDecodeError) as error:
        refusal = error
    for number, line in enumerate(lines, done + 1):
        fault = line_fault(line, n_features, zero_based)
        if fault:
            raise MalformedLine(path, number, fault) from refusal
    raise ValueError(f"{path}, lines {done + 1} to {done + len(lines)}: {refusal}") from refusal


def line_fault(line: bytes, n_features: int | None = None, zero_based: bool = False) -> str | None:
    """Return what is wrong with a line, or None.

    Parameters
    ----------
    line : bytes
    n_features : int, optional
        Largest number of columns.
    zero_based : bool
        Whether indices start from 0.
    """
    text = line.partition(b"#")[0].decode("utf-8", "replace").split()
    if not text:
        return None
    if not _finite(text[0]):
        return f"the label {text[0]!r} is not a finite number"
    last = -1 if zero_based else 0
    for pair in text[1:]:
        index, colon, value = pair.partition(":")
        if index == "qid":
            continue
        if not colon or not index.isascii() or not index.lstrip("-").isdigit():
            return f"{pair!r} is not a pair index:value"
        if int(index) < (0 if zero_based else 1):
            return f"the index {index} is below {0 if zero_based else 1}"
        if int(index) <= last:
            return f"the index {index} follows {last}; indices must ascend"
        if int(index) > np.iinfo(np.int32).max:
            return f"the index {index} is above {np.iinfo(np.int32).max}"
        last = int(index)
        if not _finite(value):
            return f"the value {value!r} of index {index} is not a finite number"
    columns = last + 1 if zero_based else last
    if n_features is not None and columns > n_features:
        return f"the index {last} exceeds n_features={n_features}"
    return None


def _finite(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False

"""LIBSVM text, also bz2 and gzip: read by scikit-learn; when it fails, the bad line is looked for here."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ..dataset import CorruptData
from .limits import opened
from .rows import fail, is_finite


def parse_libsvm(
    path: Path, n_features: int | None = None, zero_based: bool = False
) -> tuple[csr_matrix, NDArray]:
    """Parse ``label index:value ...`` lines with indices from 1, or from 0 when ``zero_based``.

    Returns
    -------
    X : csr_matrix of shape (n, n_features)
    y : ndarray of shape (n,)
        int64 when all labels are whole numbers, else float64.

    Raises
    ------
    CorruptData
        With file and line: no label, a pair without a colon, indices that do not increase or exceed
        ``n_features``, a value that is no finite number; or the file cannot be decompressed, or grows too
        large.
    """
    from sklearn.datasets import load_svmlight_file  # slow to import

    try:
        with opened(path) as stream:
            X, y = load_svmlight_file(stream, n_features=n_features, zero_based=zero_based)
    except (ValueError, OverflowError, EOFError, OSError, zlib.error) as error:
        _find_bad_line(path, n_features, zero_based)
        raise CorruptData(f"{path.name}: {error}; fetch the file again") from None
    if not X.shape[0]:
        raise CorruptData(f"{path.name}: no records; the file is cut short, fetch it again")
    if not np.isfinite(X.data).all() or not np.isfinite(y).all():
        _find_bad_line(path, n_features, zero_based)
    whole = y.astype(np.int64)
    return csr_matrix(X), whole if np.array_equal(whole, y) else y


def _find_bad_line(path: Path, n_features: int | None, zero_based: bool) -> None:
    number = 0
    try:
        with opened(path) as stream:
            for number, line in enumerate(stream, 1):
                words = line.decode("latin-1").partition("#")[0].split()
                problem = _problem(words, n_features, int(zero_based))
                if problem:
                    fail(path, number, problem)
    except (EOFError, OSError, zlib.error) as error:
        raise CorruptData(
            f"{path.name}, after line {number}: cannot decompress: {error}; fetch the file again"
        ) from None


def _problem(words: list[str], n_features: int | None, shift: int) -> str:
    if not words:
        return ""
    if not is_finite(words[0]):
        return f"label {words[0]!r}, wanted a number"
    last = 0
    for word in words[1:]:
        index, colon, value = word.partition(":")
        if not colon or not index.isdigit():
            return f"got {word!r}, wanted index:value"
        if not is_finite(value):
            return f"value {value!r} of feature {index}, wanted a finite number"
        if int(index) + shift <= last:
            return f"index {index} after {last - shift}, wanted increasing indices from {1 - shift}"
        last = int(index) + shift
    if n_features is not None and last > n_features:
        return f"index {last - shift}, wanted at most {n_features - shift}"
    return ""

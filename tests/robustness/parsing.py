"""One call for each format: bytes in, arrays out as the loader makes them, or an error that may be raised."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from marginbook.datasets import DatasetError
from marginbook.datasets.build import from_table
from marginbook.datasets.parsers import (
    parse_arff,
    parse_idx,
    parse_keel,
    parse_libsvm,
    parse_matlab,
    parse_npy,
    parse_npz,
    parse_r,
    parse_text,
)
from marginbook.datasets.parsers.rfiles import as_array, as_table

from .judging import Fault


def parse(kind: str, content: bytes, folder: Path) -> str:
    """Parse `content` as a file of the format `kind`; return "right" or the message of a clear error.

    Raises
    ------
    Fault
        For data that are none: values of the wrong type or length.
    Exception
        Whatever else a parser lets through, which is a fault too.
    """
    suffix, read = PARSERS[kind]
    path = folder / f"file{suffix}"
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            read(path)
        except DatasetError as error:
            message = str(error)
            if "\n" in message.strip() or not (path.name in message or "wanted" in message):
                raise Fault(f"unclear: {message!r}") from None
            return message
    return "right"


def _table(read: Callable[..., Any], **options: Any) -> Callable[[Path], None]:
    def run(path: Path) -> None:
        table = read(path, **options)
        if len({len(column) for column in table.columns}) != 1 or len(table.names) != len(table.columns):
            raise Fault("columns of different lengths")
        arrays = from_table(table, {}, path.name)
        _check(arrays.X, len(table))
        if len(arrays.y) != len(table):
            raise Fault(f"{len(arrays.y)} labels for {len(table)} rows")

    return run


def _libsvm(path: Path) -> None:
    X, y = parse_libsvm(path)
    _check(X, len(y))
    if not (np.isfinite(X.data).all() and np.isfinite(y).all()):
        raise Fault("values that are not finite")


def _matlab(path: Path) -> None:
    for array in parse_matlab(path, ["x", "y"]).values():
        _check(array, array.shape[0])


def _array(read: Callable[[Path], Any]) -> Callable[[Path], None]:
    def run(path: Path) -> None:
        array = read(path)
        if not (isinstance(array, np.ndarray) or sparse.issparse(array)) or array.dtype == object:
            raise Fault(f"got {type(array).__name__} of {getattr(array, 'dtype', None)}")
        array.sum() if array.dtype.kind in "fiub" else array.ravel().tolist()  # every entry is followed

    return run


def _r(path: Path) -> None:
    for value in parse_r(path).values():
        as_array(value)
        if hasattr(value, "columns"):
            as_table(value, path.name)


def _check(X: Any, n: int) -> None:
    if X.shape[0] != n or X.dtype.kind not in "fiub":
        raise Fault(f"got {X.dtype} of shape {X.shape}, wanted {n} rows of numbers")
    if sparse.issparse(X):
        X.sum(axis=0)  # every index is followed


#: the end of the file's name, and what reads it
PARSERS: dict[str, tuple[str, Callable[[Path], None]]] = {
    "keel": (".dat", _table(parse_keel)),
    "arff": (".arff", _table(parse_arff)),
    "csv": (".csv", _table(parse_text)),
    "table": (".txt", _table(parse_text, delimiter=None, header=True)),
    "libsvm": (".txt", _libsvm),
    "libsvm-bz2": (".bz2", _libsvm),
    "npy": (".npy", _array(parse_npy)),
    "npz": (".npz", _array(parse_npz)),
    "idx": (".idx", _array(parse_idx)),
    "matlab": (".mat", _matlab),
    "r": (".rda", _r),
}

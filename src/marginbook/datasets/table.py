"""A parsed file before it becomes numbers: named columns, numeric or nominal, and their encoding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .dataset import CorruptData, RegistryError

MISSING = frozenset({"?", "<null>", "NA", ""})
ENCODINGS = ("one-hot", "one-hot-full", "codes")


@dataclass(frozen=True)
class Table:
    """Columns of equal length.

    Attributes
    ----------
    names : list of str
    columns : list of ndarray of shape (n,)
        float64 with NaN for a missing value, or object holding str with None for a missing value.
    levels : dict of str to tuple of str
        The declared values of a nominal column, in the order of the file's header; columns without a
        declaration are absent, and their values are taken in sorted order.
    """

    names: list[str]
    columns: list[NDArray]
    levels: dict[str, tuple[str, ...]]

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    def index(self, column: str | int, where: str) -> int:
        """Return the position of a column that is given by name or by (possibly negative) position."""
        if isinstance(column, int):
            if not -len(self.names) <= column < len(self.names):
                raise CorruptData(f"{where}: got {len(self.names)} columns, wanted a column {column}")
            return column % len(self.names)
        if column not in self.names:
            raise CorruptData(f"{where}: no column {column!r}; the columns are {', '.join(self.names)}")
        return self.names.index(column)

    def without(self, columns: Sequence[str | int], where: str) -> Table:
        """Return the table without these columns."""
        gone = {self.index(column, where) for column in columns}
        keep = [i for i in range(len(self.names)) if i not in gone]
        return replace(self, names=[self.names[i] for i in keep], columns=[self.columns[i] for i in keep])

    def take(self, rows: NDArray) -> Table:
        """Return the table with only these rows."""
        return replace(self, columns=[column[rows] for column in self.columns])

    def missing(self) -> NDArray[np.bool_]:
        """Return an (n, columns) mask of the missing values."""
        return np.column_stack([_missing(column) for column in self.columns])


def _missing(column: NDArray) -> NDArray[np.bool_]:
    if column.dtype == object:
        return np.array([value is None for value in column], dtype=bool)
    return np.isnan(column)


def column_from_text(texts: Sequence[str], nominal: bool = False) -> NDArray:
    """Return a float64 column when every text is a number or a missing value, else an object column.

    >>> column_from_text(["1", "?", "2.5"])
    array([1. , nan, 2.5])
    """
    if not nominal:
        try:
            return np.asarray(texts, dtype=np.float64)
        except ValueError:
            try:
                return np.array([np.nan if t in MISSING else float(t) for t in texts])
            except ValueError:
                pass
    return np.array([None if t in MISSING else t for t in texts], dtype=object)


def labels(column: NDArray, where: str) -> NDArray:
    """Return a label column as strings, or as integers when all its numbers are whole."""
    if _missing(column).any():
        row = int(np.flatnonzero(_missing(column))[0]) + 1
        raise CorruptData(f"{where}: record {row} has no label; fetch the file again")
    if column.dtype == object:
        return np.array([str(value) for value in column])
    whole = column.astype(np.int64)
    return whole if np.array_equal(whole, column) else np.array([repr(float(v)) for v in column])


def concatenate(tables: Sequence[Table], where: str) -> Table:
    """Put tables with the same columns below each other; a column is nominal when it is so in any."""
    first = tables[0]
    for other in tables[1:]:
        if len(other.names) != len(first.names):
            raise CorruptData(
                f"{where}: got {len(other.names)} columns in one part, {len(first.names)} in another"
            )
    columns = [np.concatenate(parts) for parts in zip(*(table.columns for table in tables), strict=True)]
    return replace(first, columns=columns)


def drop_incomplete(table: Table) -> tuple[Table, NDArray[np.intp]]:
    """Return the rows without a missing value, and their positions."""
    rows = np.flatnonzero(~table.missing().any(axis=1))
    return table.take(rows), rows


def fewest_missing(table: Table, label: str | int, keep: int, drop: Sequence[str], where: str) -> Table:
    """Keep the label and the ``keep`` features with the fewest missing values, less those in ``drop``.

    Ties go to the earlier column.
    """
    at = table.index(label, where)
    counts = table.missing().sum(axis=0)
    features = [i for i in range(len(table.names)) if i != at]
    kept = set(sorted(features, key=lambda i: (counts[i], i))[:keep])
    gone: list[str | int] = [i for i in features if i not in kept or table.names[i] in drop]
    return table.without(gone, where)


def encode(
    table: Table, encoding: str, where: str, values: Mapping[str, float] | None = None
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Turn all columns into numbers.

    Parameters
    ----------
    table : Table
        Features only (a missing value becomes NaN).
    encoding : {"one-hot", "one-hot-full", "codes"}
        ``"one-hot"``: a nominal column with k > 2 values becomes k indicator columns, with two values one
        indicator column of the second value. ``"one-hot-full"``: k columns for k = 2 too. Values that are
        declared but absent get no column. ``"codes"``: the position of the value (0, 1, ...) among the
        declared, else the sorted values.
    where : str
        The file, for messages.
    values : dict of str to float, optional
        With ``"codes"``: the number of each value, instead of its position.

    Returns
    -------
    X : ndarray of shape (n, p)
    feature_names : tuple of str
    """
    if encoding not in ENCODINGS:
        raise RegistryError(f"{where}: encoding {encoding!r}, wanted one of {', '.join(ENCODINGS)}")
    blocks: list[NDArray] = []
    names: list[str] = []
    for name, column in zip(table.names, table.columns, strict=True):
        if column.dtype != object:
            blocks.append(column)
            names.append(name)
            continue
        present = {value for value in column if value is not None}
        levels = table.levels.get(name) or tuple(sorted(present))
        if encoding == "codes":
            if values and present - values.keys():
                raise CorruptData(
                    f"{where}: {name} is {sorted(present - values.keys())[0]!r}, wanted {', '.join(values)}"
                )
            number = values or {level: float(i) for i, level in enumerate(levels)}
            blocks.append(np.array([np.nan if v is None else number[v] for v in column]))
            names.append(name)
            continue
        levels = tuple(level for level in levels if level in present)
        shown = levels if len(levels) > 2 or encoding == "one-hot-full" else levels[-1:]
        gaps = np.array([value is None for value in column])
        for level in shown:
            blocks.append(np.where(gaps, np.nan, column == level))
            names.append(f"{name}={level}")
    if not blocks:
        raise CorruptData(f"{where}: no feature column; fetch the file again")
    return np.ascontiguousarray(np.column_stack(blocks), dtype=np.float64), tuple(names)

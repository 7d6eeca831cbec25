"""CSV and the text files of the UCI repository: values between delimiters, perhaps a header line."""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import numpy as np

from ..dataset import CorruptData
from ..table import Table
from .rows import fail, read_text, table_from_rows


def parse_text(
    path: Path, delimiter: str | None = ",", header: bool = False, names: Sequence[str] | None = None
) -> Table:
    """Parse delimited text, also gzipped.

    Parameters
    ----------
    path : Path
    delimiter : str or None
        One character, or None for any run of blanks and tabs.
    header : bool
        Whether the first line holds the names.
    names : sequence of str, optional
        Names of the columns when there is no header.

    Raises
    ------
    CorruptData
        With file and line: wrong number of values, a text in a column of numbers, an open quote, no record.
    """
    text = read_text(path)
    lines = text.splitlines()
    first = 0
    while first < len(lines) and not lines[first].strip():
        first += 1
    found: list[str] | None = list(names) if names else None
    if header:
        if first == len(lines):
            raise CorruptData(f"{path.name}: no records; the file is cut short, fetch it again")
        found = _values(lines[first], delimiter)
        first += 1
    table = _all_numbers(lines[first:], delimiter, found) or _by_line(path, lines, first, delimiter, found)
    if not len(table):
        raise CorruptData(f"{path.name}: no records; the file is cut short, fetch it again")
    return table


def _all_numbers(lines: Sequence[str], delimiter: str | None, names: list[str] | None) -> Table | None:
    """Read with numpy when everything is a number, None otherwise; the slow way then finds the place."""
    body = [line[:-1] if delimiter == "," and line.endswith(",") else line for line in lines]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            matrix = np.loadtxt(StringIO("\n".join(body)), delimiter=delimiter, ndmin=2, comments=None)
    except (ValueError, UserWarning):
        return None
    if (names is not None and len(names) != matrix.shape[1]) or not np.isfinite(matrix).all():
        return None
    return Table(names or _default_names(matrix.shape[1]), list(matrix.T), {})


def _by_line(
    path: Path, lines: Sequence[str], first: int, delimiter: str | None, names: list[str] | None
) -> Table:
    records: list[list[str]] = []
    numbers: list[int] = []
    for number, line in enumerate(lines[first:], first + 1):
        if not line.strip():
            continue
        try:
            values = _values(line, delimiter)
        except csv.Error as error:
            fail(path, number, str(error))
        width = len(names or (records[0] if records else values))
        if len(values) != width:
            fail(path, number, f"got {len(values)} values, wanted {width}")
        records.append(values)
        numbers.append(number)
    if not records:
        raise CorruptData(f"{path.name}: no records; the file is cut short, fetch it again")
    columns = names or _default_names(len(records[0]))
    return table_from_rows(path, columns, [None] * len(columns), records, numbers, declared=False)


def _values(line: str, delimiter: str | None) -> list[str]:
    if delimiter is None:
        return re.split(r"\s+", line.strip())
    values = [value.strip() for value in next(csv.reader([line], delimiter=delimiter, strict=True))]
    # Some UCI files end every line with the delimiter.
    return values[:-1] if len(values) > 1 and not values[-1] else values


def _default_names(width: int) -> list[str]:
    return [f"x{i + 1}" for i in range(width)]

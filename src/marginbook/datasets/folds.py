"""The original five folds of the KEEL sets: rows of the whole file, assigned to the published test files."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..base.project import resource
from .dataset import CorruptData
from .table import Table


@lru_cache(maxsize=32)
def read_assignment(relative: str) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    """Read a file of ``data_download/folds``.

    Returns
    -------
    folds : ndarray of shape (rows,)
        1 to 5, or 0 for a row that is in no fold.
    places : ndarray of shape (rows,)
        The place (from 0) of the row in the test file of its fold, or -1.

    Raises
    ------
    CorruptData
        With the file and the line.
    """
    path = resource("data_download", *relative.split("/"))
    folds, places = [], []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        words = line.split()
        if words == ["-"]:
            folds.append(0)
            places.append(-1)
            continue
        if len(words) != 2 or words[0] not in "12345" or not words[1].isdigit():
            raise CorruptData(f"{path.name}, line {number}: got {line!r}, wanted 'fold place' or '-'")
        folds.append(int(words[0]))
        places.append(int(words[1]))
    return np.array(folds, dtype=np.int8), np.array(places)


def records(table: Table) -> list[tuple[object, ...] | None]:
    """Return the rows as comparable tuples; None for a row with a missing value."""
    incomplete = np.logical_or.reduce(table.missing(), axis=1).tolist()
    columns = [column.tolist() for column in table.columns]
    return [None if gap else row for gap, row in zip(incomplete, zip(*columns, strict=True), strict=True)]


def derive_assignment(whole: Table, tests: Mapping[int, Table], name: str) -> list[tuple[int, int] | None]:
    """Find the (fold, place) of each row of the whole file.

    Equal rows are interchangeable: they are handed out in the order of the folds. Rows with missing values
    belong to no fold.

    Raises
    ------
    CorruptData
        When the rows of the five test files are not, as a multiset, the complete rows of the whole file.
    """
    waiting: dict[tuple[object, ...], deque[tuple[int, int]]] = defaultdict(deque)
    for fold in sorted(tests):
        for place, row in enumerate(records(tests[fold])):
            if row is None:
                raise CorruptData(f"{name}: row {place + 1} of test file {fold} has a missing value")
            waiting[row].append((fold, place))
    assignment: list[tuple[int, int] | None] = []
    for number, row in enumerate(records(whole), 1):
        if row is None:
            assignment.append(None)
        elif not waiting.get(row):
            raise CorruptData(f"{name}: row {number} of the whole file is in no test file")
        else:
            assignment.append(waiting[row].popleft())
    left = sum(len(rows) for rows in waiting.values())
    if left:
        raise CorruptData(f"{name}: {left} rows of the test files are not in the whole file")
    return assignment


def write_assignment(assignment: Sequence[tuple[int, int] | None], path: Path) -> None:
    """Write one line per row of the whole file: ``fold place``, or ``-``."""
    path.write_text("".join("-\n" if a is None else f"{a[0]} {a[1]}\n" for a in assignment), "utf-8")


def assemble(tests: Mapping[int, Table], relative: str) -> tuple[Table, NDArray[np.int8]]:
    """Put the rows of the five test files into the order of the whole file."""
    folds, places = read_assignment(relative)
    kept = np.flatnonzero(folds)
    starts = np.cumsum([0] + [len(tests[fold]) for fold in sorted(tests)])
    first = tests[min(tests)]
    if starts[-1] != len(kept):
        raise CorruptData(
            f"{relative}: the test files have {starts[-1]} rows, the assignment has {len(kept)}"
        )
    order = starts[folds[kept] - 1] + places[kept]
    columns = [
        np.concatenate([tests[fold].columns[i] for fold in sorted(tests)])[order]
        for i in range(len(first.names))
    ]
    return Table(first.names, columns, first.levels), folds[kept]

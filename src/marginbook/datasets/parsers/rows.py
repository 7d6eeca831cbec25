"""Records of text values become a table; shared by the text formats."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from ..dataset import CorruptData
from ..table import MISSING, Table, column_from_text
from .limits import contents

Kind = tuple[str, ...] | None  # declared values of a nominal column, () for text, None for numbers


def read_text(path: Path) -> str:
    """Return the text of a file, decompressed when its name ends in .gz or .bz2; a zero byte is damage."""
    raw = contents(path)
    if b"\0" in raw:
        raise CorruptData(f"{path.name}: byte {raw.index(0)} is zero, wanted text; fetch the file again")
    # latin-1 maps every byte to one character: old headers hold names in several encodings.
    return raw.decode("latin-1")


def fail(path: Path, line: int, problem: str) -> NoReturn:
    """Raise `CorruptData` with file and line."""
    raise CorruptData(f"{path.name}, line {line}: {problem}; fetch the file again")


def table_from_rows(
    path: Path,
    names: list[str],
    kinds: Sequence[Kind],
    records: Sequence[Sequence[str]],
    numbers: Sequence[int],
    declared: bool,
) -> Table:
    """Build a table and check every value.

    Parameters
    ----------
    path : Path
        For messages.
    names, kinds : sequences over the columns
        A kind is None for numbers, a tuple for a nominal column (empty when nothing is declared).
    records, numbers : sequences over the rows
        Values, and the lines where they stand.
    declared : bool
        Whether the kinds come from a header. If not, a column without any number is nominal; a column with
        numbers and some other text is damaged either way.
    """
    columns = []
    levels = {}
    for name, kind, texts in zip(names, kinds, zip(*records, strict=True), strict=True):
        column = column_from_text(texts, nominal=kind is not None)
        if kind:
            levels[name] = kind
            allowed = MISSING.union(kind)
            for text, number in zip(texts, numbers, strict=True):
                if text not in allowed:
                    fail(path, number, f"{name} is {text!r}, wanted one of {', '.join(kind)}")
        elif kind is None:
            _validate_numbers(path, name, column, texts, numbers, declared)
        columns.append(column)
    return Table(names, columns, levels)


def _validate_numbers(
    path: Path, name: str, column: NDArray, texts: Sequence[str], numbers: Sequence[int], declared: bool
) -> None:
    if column.dtype != object and np.isfinite(column).all():
        return
    good = [text in MISSING or is_finite(text) for text in texts]
    if not declared and not any(is_finite(text) for text in texts):
        return
    if not all(good):
        first = good.index(False)
        fail(path, numbers[first], f"{name} is {texts[first]!r}, wanted a finite number")


def is_finite(text: str) -> bool:
    """Return whether a text is a finite number."""
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def first_line(error: Exception) -> str:
    """Return the first line of what a library says, or the kind of its error when it says nothing."""
    return (str(error).splitlines() or [type(error).__name__])[0]

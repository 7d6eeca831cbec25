"""ARFF of Weka: numeric, nominal and string attributes, quoted names and values, ``?``, comments."""

from __future__ import annotations

import re
from pathlib import Path

from ..dataset import CorruptData
from ..table import Table
from .rows import Kind, fail, read_text, table_from_rows

_NAME = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^\s{,]+"
_ATTRIBUTE = re.compile(rf"@attribute\s+({_NAME})\s*(\{{.*\}}|\w+)", re.IGNORECASE)
_VALUE = re.compile(r"\s*('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^,'\"]*)\s*(,|$)")


def parse_arff(path: Path) -> Table:
    """Parse a dense ARFF file.

    Raises
    ------
    CorruptData
        With file and line: unknown header line, open quote, wrong number of values, text in the place of a
        number, a value that is not declared, a sparse record, no ``@data``, no record.
    """
    names: list[str] = []
    kinds: list[Kind] = []
    records: list[list[str]] = []
    numbers: list[int] = []
    in_data = False
    for number, line in enumerate(read_text(path).splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        if in_data:
            if text.startswith("{"):
                fail(path, number, "a sparse record, wanted a dense one")
            values = _split(path, number, text)
            if len(values) != len(names):
                fail(path, number, f"got {len(values)} values, wanted {len(names)}")
            records.append(values)
            numbers.append(number)
        else:
            in_data = _header_line(path, number, text, names, kinds)
    if not in_data:
        raise CorruptData(f"{path.name}: no @data line; the file is cut short, fetch it again")
    if not records:
        raise CorruptData(f"{path.name}: no records; the file is cut short, fetch it again")
    return table_from_rows(path, names, kinds, records, numbers, declared=True)


def _header_line(path: Path, number: int, text: str, names: list[str], kinds: list[Kind]) -> bool:
    """Read one line of the header; return whether it was ``@data``."""
    word = text.lower().split(None, 1)[0]
    if word == "@data":
        if not names:
            fail(path, number, "@data before any @attribute")
        return True
    if word == "@relation":
        return False
    match = _ATTRIBUTE.match(text)
    if match is None:
        fail(path, number, f"got {text[:60]!r}, wanted @relation, @attribute or @data")
    kind = match[2]
    if kind.startswith("{"):
        kinds.append(tuple(_split(path, number, kind[1:-1])))
    elif kind.lower() in ("real", "integer", "numeric"):
        kinds.append(None)
    elif kind.lower() == "string":
        kinds.append(())
    else:
        fail(path, number, f"attribute type {kind!r}, wanted numeric, string or {{values}}")
    names.append(_unquote(match[1]))
    return False


def _split(path: Path, number: int, text: str) -> list[str]:
    """Split at the commas that are outside quotes."""
    if "'" not in text and '"' not in text:
        return [value.strip() for value in text.split(",")]
    values = []
    at = 0
    while True:
        match = _VALUE.match(text, at)
        if match is None:
            fail(path, number, f"cannot read {text[at : at + 40]!r}: a quote is open or misplaced")
        values.append(_unquote(match[1]))
        at = match.end()
        if not match[2]:
            return values


def _unquote(text: str) -> str:
    text = text.strip()
    if len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0]:
        # Weka writes 'democrat' and \'democrat\'; both mean democrat.
        text = re.sub(r"\\(.)", r"\1", text[1:-1]).strip("'\" ")
    return text

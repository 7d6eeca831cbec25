"""What a small file may grow to when it is read: a bomb is refused before it fills the memory."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..dataset import CorruptData

#: a file may always grow to this many bytes ...
FLOOR = 64 << 20
#: ... and beyond to this many times its own size: data compress three to twenty times, zeros a thousand times
RATIO = 100
_CHUNK = 1 << 20
_BY_SUFFIX: dict[str, Callable[[Path], Any]] = {".gz": gzip.open, ".bz2": bz2.open}
_BY_MAGIC: dict[bytes, Callable[[Path], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\0": lzma.open,
}
_MATLAB_COMPRESSED = 15  # the element type miCOMPRESSED
_MATLAB_NUMBERS = frozenset({1, 2, 3, 4, 5, 6, 7, 9, 12, 13})  # element types of whole and of real numbers
_MATLAB_COMPLEX = 0x0800  # the flag of an array with imaginary parts
_MATLAB_ARRAYS = range(5, 16)  # classes whose parts are numbers: sparse, double, ..., uint64


def allowed(path: Path) -> int:
    """Return how many bytes the content of a file may take in memory."""
    return max(FLOOR, RATIO * path.stat().st_size)


def refuse(path: Path, limit: int) -> CorruptData:
    """Return the error for a file that grows beyond `limit`."""
    return CorruptData(
        f"{path.name}: {path.stat().st_size:,} bytes grow to more than {limit:,}, which no data set does; "
        "fetch the file again"
    )


class _Bounded(io.RawIOBase):
    """A stream that ends in an error once it has given more than a file of that size may hold."""

    def __init__(self, stream: BinaryIO, path: Path) -> None:
        self._stream, self._path = stream, path
        self._left = self._limit = allowed(path)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._stream.read(len(buffer))
        self._left -= len(piece)
        if self._left < 0:
            raise refuse(self._path, self._limit)
        buffer[: len(piece)] = piece
        return len(piece)


@contextmanager
def opened(path: Path, by_magic: bool = False) -> Iterator[BinaryIO]:
    """Open a file for reading, decompressed as its name (or its first bytes) says, and bounded."""
    if by_magic:
        with path.open("rb") as stream:
            head = stream.read(6)
        opener = next((opener for magic, opener in _BY_MAGIC.items() if head.startswith(magic)), None)
    else:
        opener = _BY_SUFFIX.get(path.suffix)
    with path.open("rb") if opener is None else opener(path) as stream:
        yield stream if opener is None else io.BufferedReader(_Bounded(stream, path), _CHUNK)


def contents(path: Path) -> bytes:
    """Return all bytes of a file, decompressed as its name says.

    Raises
    ------
    CorruptData
        It cannot be decompressed, or grows beyond what `allowed` says.
    """
    try:
        with opened(path) as stream:
            return stream.read()
    except (EOFError, OSError, ValueError, zlib.error) as error:
        raise CorruptData(f"{path.name}: cannot decompress: {error}; fetch the file again") from None


def compressed_again(content: bytes) -> bool:
    """Return whether bytes are themselves a compressed file: layers would get around the bound."""
    return content.startswith(tuple(_BY_MAGIC))


def validate_archive(path: Path) -> None:
    """Refuse a zip archive whose members are together too large; zipfile gives no more than it declares."""
    limit = allowed(path)
    with zipfile.ZipFile(path) as archive:
        if sum(member.file_size for member in archive.infolist()) > limit:
            raise refuse(path, limit)


def validate_matlab(path: Path) -> None:
    """Refuse a MATLAB v5 file whose compressed elements are together too large, or a part of unknown type."""
    limit, total = allowed(path), 0
    with path.open("rb") as stream:
        version = stream.read(128)[124:]
        order = {b"IM": "<", b"MI": ">"}.get(version[2:])
        if order and version[1 if order == "<" else 0] != 1:
            return  # version 2 is HDF5
        while order is not None and len(tag := stream.read(8)) == 8:
            kind, size = struct.unpack(f"{order}2I", tag)
            if kind != _MATLAB_COMPRESSED:
                _validate_parts(path, stream.read(min(size, path.stat().st_size)), order)
                continue
            pieces = []
            for piece in _inflated(stream, size):
                pieces.append(piece)
                total += len(piece)
                if total > limit:
                    raise refuse(path, limit)
            _validate_parts(path, b"".join(pieces)[8:], order)


def _validate_parts(path: Path, body: bytes, order: str) -> None:
    """Refuse an array, whose parts stand in `body`, with a part of a type that no array has, or too few.

    SciPy takes the type for a place in its memory, and for a part that is missing what follows the array.
    """
    flags = struct.unpack_from(f"{order}I", body, 8)[0] if len(body) >= 16 else 0
    if flags & 0xFF not in _MATLAB_ARRAYS:
        return
    if flags & _MATLAB_COMPLEX:
        raise CorruptData(f"{path.name}: an array of complex numbers, wanted real ones; fetch the file again")
    at, parts = 16, 0
    while at + 8 <= len(body):
        kind, size = struct.unpack_from(f"{order}2I", body, at)
        if kind >> 16:  # up to four bytes stand in the tag itself
            kind, size = kind & 0xFFFF, 0
        if kind not in _MATLAB_NUMBERS:
            raise CorruptData(
                f"{path.name}: an array has a part of type {kind}, wanted numbers; fetch the file again"
            )
        at += 8 + size + -size % 8
        parts += 1
    # shape, name and values; of a sparse array rows and starts too
    if parts < (5 if flags & 0xFF == _MATLAB_ARRAYS[0] else 3):
        raise CorruptData(f"{path.name}: an array lacks a part; the file is cut short, fetch it again")


def validate_indices(matrix: Any) -> None:
    """Raise ValueError for a sparse matrix by rows or columns whose indices SciPy would follow anywhere."""
    matrix.check_format(full_check=True)
    if np.any(np.diff(matrix.indptr) < 0):  # of a matrix that says it is empty, SciPy does not look
        raise ValueError("the starts of rows or columns of a sparse matrix do not increase")


def _inflated(stream: BinaryIO, size: int) -> Iterator[bytes]:
    """Yield the pieces that a compressed element grows to, none above a megabyte."""
    inflater = zlib.decompressobj()
    while size > 0 and (piece := stream.read(min(size, _CHUNK))):
        size -= len(piece)
        while piece:
            try:
                yield inflater.decompress(piece, _CHUNK)
            except zlib.error:
                return  # damaged: the parser that follows says so, with the variable
            piece = inflater.unconsumed_tail

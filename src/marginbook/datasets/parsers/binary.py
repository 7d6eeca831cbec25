"""numpy's npy and npz (never pickled), sparse npz, and the IDX files of MNIST."""

from __future__ import annotations

import gzip
import struct
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, load_npz

from ..dataset import CorruptData
from .rows import first_line

_IDX_TYPES = {8: "u1", 9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}


def parse_npy(path: Path) -> NDArray:
    """Read one array; a pickled one is refused.

    Raises
    ------
    CorruptData
        Not an npy file, cut short, or made of Python objects.
    """
    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise CorruptData(f"{path.name}: {first_line(error)}; fetch the file again") from None


def parse_npz(path: Path) -> csr_matrix:
    """Read a sparse matrix that scipy wrote; a pickled member is refused.

    Raises
    ------
    CorruptData
        Not an npz file, cut short, a member missing or made of Python objects.
    """
    try:
        return csr_matrix(load_npz(path), dtype=np.float64)
    except Exception as error:  # zip, zlib, key and value errors all mean damage
        raise CorruptData(f"{path.name}: {first_line(error)}; fetch the file again") from None


def parse_idx(path: Path) -> NDArray:
    """Read an IDX file (magic number, sizes, values), also gzipped.

    Raises
    ------
    CorruptData
        With the byte where the file is wrong.
    """
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rb") as stream:
            raw = stream.read()
    except (OSError, EOFError, zlib.error) as error:
        raise CorruptData(f"{path.name}: cannot decompress: {error}; fetch the file again") from None
    if len(raw) < 4 or raw[:2] != b"\0\0" or raw[2] not in _IDX_TYPES or not raw[3]:
        raise CorruptData(
            f"{path.name}, byte 0: got {raw[:4].hex() or 'nothing'}, wanted an IDX magic number"
        )
    kind, axes = _IDX_TYPES[raw[2]], raw[3]
    start = 4 + 4 * axes
    if len(raw) < start:
        raise CorruptData(f"{path.name}, byte {len(raw)}: the header ends early; fetch the file again")
    shape = struct.unpack(f">{axes}I", raw[4:start])
    want = start + int(np.prod(shape, dtype=np.int64)) * np.dtype(kind).itemsize
    if len(raw) != want:
        at = min(len(raw), want)
        raise CorruptData(
            f"{path.name}, byte {at}: got {len(raw)} bytes, wanted {want}; fetch the file again"
        )
    return np.frombuffer(raw, dtype=kind, offset=start).reshape(shape)

"""numpy's npy and npz (never pickled), sparse npz, and the IDX files of MNIST."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, load_npz

from ..dataset import CorruptData
from .limits import contents, validate_archive, validate_indices
from .rows import first_line

_IDX_TYPES = {8: "u1", 9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}


def parse_npy(path: Path) -> NDArray:
    """Read one array; a pickled one is refused.

    Raises
    ------
    CorruptData
        Not an npy file, cut short, larger than the memory, or made of Python objects.
    """
    try:
        found = np.load(path, allow_pickle=False)
    except Exception as error:  # the header is Python's: tokenizer, type and memory errors mean damage too
        raise CorruptData(f"{path.name}: {first_line(error)}; fetch the file again") from None
    if not isinstance(found, np.ndarray):  # numpy goes by the first bytes, not by the name
        found.close()
        raise CorruptData(f"{path.name}: is an archive of arrays, wanted one array; fetch the file again")
    return found


def parse_npz(path: Path) -> csr_matrix:
    """Read a sparse matrix that scipy wrote; a pickled member is refused.

    Raises
    ------
    CorruptData
        Not an npz file, cut short, a member missing or made of Python objects, indices outside of the matrix,
        or members that grow beyond what `allowed` of `marginbook.datasets.parsers.limits` says.
    """
    try:
        validate_archive(path)
        matrix = load_npz(path)
        if hasattr(matrix, "check_format"):
            # SciPy follows indices without a look, out of its arrays if they say so
            validate_indices(matrix)
        return csr_matrix(matrix, dtype=np.float64)
    except CorruptData:
        raise
    except Exception as error:  # zip, zlib, key and value errors all mean damage
        raise CorruptData(f"{path.name}: {first_line(error)}; fetch the file again") from None


def parse_idx(path: Path) -> NDArray:
    """Read an IDX file (magic number, sizes, values), also gzipped.

    Raises
    ------
    CorruptData
        With the byte where the file is wrong.
    """
    raw = contents(path)
    if len(raw) < 4 or raw[:2] != b"\0\0" or raw[2] not in _IDX_TYPES or not raw[3]:
        raise CorruptData(
            f"{path.name}, byte 0: got {raw[:4].hex() or 'nothing'}, wanted an IDX magic number"
        )
    kind, axes = _IDX_TYPES[raw[2]], raw[3]
    start = 4 + 4 * axes
    if len(raw) < start:
        raise CorruptData(f"{path.name}, byte {len(raw)}: the header ends early; fetch the file again")
    shape = struct.unpack(f">{axes}I", raw[4:start])
    want = start + math.prod(shape) * np.dtype(kind).itemsize  # of Python's integers, which do not overflow
    if len(raw) != want:
        at = min(len(raw), want)
        raise CorruptData(
            f"{path.name}, byte {at}: got {len(raw)} bytes, wanted {want}; fetch the file again"
        )
    try:
        return np.frombuffer(raw, dtype=kind, offset=start).reshape(shape)
    except ValueError as error:  # more axes than numpy has
        raise CorruptData(f"{path.name}, byte 3: {first_line(error)}; fetch the file again") from None

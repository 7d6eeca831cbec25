"""Small valid files of every format that the parsers read: where fuzzing and the regression tests begin."""

from __future__ import annotations

import bz2
import gzip
import io
import struct

import numpy as np
from scipy import sparse
from scipy.io import savemat

_KEEL = b"""@relation toy
@attribute width real [0.0, 9.5]
@attribute colour {red, green}
@attribute class {yes, no}
@inputs width, colour
@outputs class
@data
1.5, red, yes
2e-3, green, no
<null>, red, yes
"""
_ARFF = b"""% a comment
@RELATION toy
@ATTRIBUTE 'the width' NUMERIC
@ATTRIBUTE colour {red,'light green'}
@ATTRIBUTE note string
@DATA
1.5,red,"a, b"
?,'light green','c d'
"""


def seeds(kind: str) -> list[bytes]:
    """Return valid files of the format `kind`, a key of ``PARSERS``."""
    return _SEEDS[kind]()


def _written(save: object, *arguments: object, **named: object) -> bytes:
    stream = io.BytesIO()
    save(stream, *arguments, **named)  # type: ignore[operator]
    return stream.getvalue()


def _npy() -> list[bytes]:
    arrays = (np.arange(6.0).reshape(2, 3), np.array(["a", "bc"]), np.asfortranarray(np.eye(2, dtype="i1")))
    return [_written(np.save, array) for array in arrays]


def _npz() -> list[bytes]:
    matrix = sparse.csr_matrix(np.array([[0, 1.0], [2, 0]]))
    return [_written(sparse.save_npz, each, compressed=False) for each in (matrix, matrix.tocoo())]


def _matlab() -> list[bytes]:
    plain = {"x": np.arange(6.0).reshape(2, 3), "y": np.array([[1, -1]], dtype="i1")}
    return [
        _written(savemat, plain),
        _written(savemat, plain | {"x": sparse.csc_matrix(np.eye(3))}),
        _written(savemat, plain | {"x": np.array(["text"])}, do_compression=True),
    ]


def _idx() -> list[bytes]:
    return [
        b"\0\0\x08\x01" + struct.pack(">I", 3) + b"\1\2\3",
        b"\0\0\x0d\x02" + struct.pack(">II", 2, 1) + np.ones(2, ">f4").tobytes(),
    ]


def _r() -> list[bytes]:
    # save(x, compress = FALSE), version 2: x <- c(1.5, NA), and x <- 1:3 in text
    head = b"RDX2\nX\n" + struct.pack(">iii", 2, 0x040000, 0x020300)
    symbol = struct.pack(">iii", 0x402, 1, 0x40009) + struct.pack(">i", 1) + b"x"
    real = struct.pack(">ii", 14, 2) + struct.pack(">d", 1.5) + bytes.fromhex("7ff00000000007a2")
    listed = struct.pack(">ii", 19, 2) + struct.pack(">iii", 13, 1, 7) + struct.pack(">iii", 10, 1, 1)
    end = struct.pack(">i", 254)
    return [
        head + symbol + real + end,
        head + symbol + listed + end,
        gzip.compress(head + symbol + real + end),
    ]


_SEEDS = {
    "keel": lambda: [_KEEL, b"1.5,2,yes\n2.5,3,no\n", gzip.compress(_KEEL)],
    "arff": lambda: [_ARFF, _ARFF.replace(b"string", b"{'a, b','c'}")],
    "csv": lambda: [b"1,2,a\n3,4,b\n", b'"x, y",2\n"z",3\n', b"1,2\n3,nan\n"],
    "table": lambda: [b"a b c\n1 2 3\n4 ? 6\n", b"x\n1e3\n"],
    "libsvm": lambda: [b"1 1:0.5 3:2\n-1 2:1e-3 # note\n", b"+1 qid:1 1:1\n"],
    "libsvm-bz2": lambda: [bz2.compress(b"1 1:0.5\n-1 2:1\n")],
    "npy": _npy,
    "npz": _npz,
    "idx": _idx,
    "matlab": _matlab,
    "r": _r,
}

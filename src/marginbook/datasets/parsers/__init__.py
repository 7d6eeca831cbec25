"""Parsers, one file per format: a path in, a :class:`~marginbook.datasets.table.Table` or arrays out.

Every parser refuses damaged input with the file and the line (the byte or the variable for binary formats).
"""

from .arff import parse_arff
from .binary import parse_idx, parse_npy, parse_npz
from .keel import parse_keel
from .libsvm import parse_libsvm
from .matlab import parse_matlab
from .rfiles import parse_r
from .text import parse_text

__all__ = [
    "parse_arff",
    "parse_idx",
    "parse_keel",
    "parse_libsvm",
    "parse_matlab",
    "parse_npy",
    "parse_npz",
    "parse_r",
    "parse_text",
]

"""Parsers, one file per format: a path in, a :class:`~marginbook.datasets.table.Table` or arrays out.

Every parser refuses damaged input with the file and the line (the byte or the variable for binary formats).
"""

from .keel import parse_keel

__all__ = ["parse_keel"]

"""The book: one clean source tree, generated parts, Jupyter Book, everything local.

`making` goes from end to end: execute the notebooks, check the claims, generate what is generated, compile.
Modules that end in ``_page`` or ``_pages`` write the generated parts, in the words of `myst`.
"""

from .command import book_command
from .compiling import BuildFailed
from .making import Built, make_book

__all__ = ["BuildFailed", "Built", "book_command", "make_book"]

"""The book: one clean source tree, generated parts, Jupyter Book, everything local.

==============================  ==========================================================
`making`                        end to end: execute, check claims, generate, compile
`source`                        the tree that is compiled; the hash that says it is up to date
`ledger_pages`, `data_page`,
`result_pages`, `api_pages`     generated parts, in the words of `myst`
`compiling`                     Jupyter Book as a child process
`command`                       ``marginbook book``
==============================  ==========================================================
"""

from .command import book_command
from .compiling import BuildFailed
from .making import Built, make_book

__all__ = ["BuildFailed", "Built", "book_command", "make_book"]

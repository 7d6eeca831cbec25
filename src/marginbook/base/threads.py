"""BLAS threads for small matrices: one."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

#: rows from which a second thread pays for its synchronisation
WORTH = 1000


def few_threads(n: int, worth: int = WORTH) -> AbstractContextManager[object]:
    """Return a context in which BLAS works with one thread, if `n`, the number of rows, is below `worth`.

    Solvers of small problems take thousands of steps on small matrices. Threads that wait for one another
    between them cost many times the work itself, above all where other programs run.
    """
    limited: AbstractContextManager[object] = _controller().limit(
        limits=1 if n < worth else None, user_api="blas"
    )
    return limited


@cache
def _controller() -> ThreadpoolController:
    """Return the threads of BLAS; found once, because that takes longer than many a solution."""
    return ThreadpoolController()

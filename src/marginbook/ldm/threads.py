"""BLAS threads for small matrices: one."""

from __future__ import annotations

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

#: rows from which a second thread pays for its synchronisation
WORTH = 1000


def few_threads(m: int) -> threadpool_limits:
    """Return a context in which BLAS works with one thread, if `m`, the number of rows, is below `WORTH`.

    The active sets take thousands of steps on small matrices. Threads that wait for one another between
    them cost many times the work itself, above all where other programs run.
    """
    return threadpool_limits(limits=1 if m < WORTH else None, user_api="blas")

"""BLAS threads for small matrices: one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache, wraps
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

#: rows from which a second thread pays for its synchronisation
WORTH = 1000
Method = TypeVar("Method", bound=Callable[..., Any])


def few_threads(n: int, worth: int = WORTH) -> AbstractContextManager[object]:
    """Return a context in which BLAS works with one thread, if `n`, the number of rows, is below `worth`.

    Solvers of small problems take thousands of steps on small matrices. Threads that wait for one another
    between them cost many times the work itself, above all where other programs run.
    """
    limited: AbstractContextManager[object] = _controller().limit(
        limits=1 if n < worth else None, user_api="blas"
    )
    return limited


def on_few_threads(method: Method) -> Method:
    """Decorate a method of an estimator, ``method(self, X, ...)``: one thread of BLAS for few rows of X."""

    @wraps(method)
    def limited(self: Any, X: Any, *arguments: Any, **options: Any) -> Any:
        with few_threads(_rows(X)):
            return method(self, X, *arguments, **options)

    return limited  # type: ignore[return-value]


def _rows(X: Any) -> int:
    """Return the number of rows of what a user gives; 0 where it has none, which the method will refuse."""
    try:
        shape = getattr(X, "shape", None)
        return int(len(X) if shape is None else shape[0])
    except (TypeError, ValueError, IndexError):
        return 0


@cache
def _controller() -> ThreadpoolController:
    """Return the threads of BLAS; found once, because that takes longer than many solutions."""
    return ThreadpoolController()

"""Loops over scalars, compiled; kept on disk where that can be written, and not where it cannot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def njit(**options: Any) -> Callable[[Any], Any]:
    """Return a decorator that compiles a function by numba, in its nopython mode.

    Numba asks where it may keep what it compiled when a function is defined, that is at import; in a
    read-only installation of another user there is no such place, and each process then compiles for
    itself. ``NUMBA_CACHE_DIR`` names a place, which ``marginbook warmup`` fills.

    Parameters
    ----------
    **options
        Such as ``fastmath`` and ``error_model``; see :func:`numba.njit`.
    """

    def compiled(function: Any) -> Any:
        try:
            return numba.njit(cache=True, **options)(function)
        except RuntimeError as error:
            if "no locator available" not in str(error):
                raise
            return numba.njit(**options)(function)

    return compiled

"""What does not fit into memory is refused before anything is allocated, with what to use instead."""

from __future__ import annotations

import math
import os


def machine_memory() -> float:
    """Return the bytes of memory of this machine; infinity where the system does not say."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # no POSIX: the allocation itself will say so
        return math.inf


def require_memory(
    what: str, numbers: float, instead: str, *, share: float = 1.0, most: float | None = None
) -> None:
    """Raise MemoryError where `numbers` in double precision are too many.

    Parameters
    ----------
    what : str
        Begins the sentence, up to its verb: "the exact DRM of 300 rows needs".
    numbers : float
    instead : str
        Ends the sentence: what to do.
    share : float
        The part of the machine's memory that they may take.
    most : float, optional
        How many there may be at most, whatever the machine has.

    Examples
    --------
    >>> require_memory("a matrix of 50000 rows takes", 50_000**2, "take fewer", most=10_000**2)
    Traceback (most recent call last):
    MemoryError: a matrix of 50000 rows takes 20.0 GB, more than the 0.8 GB that are allowed here; take fewer
    """
    there = machine_memory()
    if numbers > (share * there / 8.0 if most is None else most):
        limit = (
            f"more than this machine, with {there / 1e9:.1f} GB, has to spare"
            if most is None
            else f"more than the {8e-9 * most:.1f} GB that are allowed here"
        )
        raise MemoryError(f"{what} {8e-9 * numbers:.1f} GB, {limit}; {instead}")

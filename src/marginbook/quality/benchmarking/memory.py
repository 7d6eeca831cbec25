"""The resident memory that a fit needs at its peak, in a process of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from .timing import CPU, clock


@dataclass(frozen=True)
class Peak:
    """Resident bytes before the fit, the most during it, and its CPU seconds."""

    before: int
    peak: int
    seconds: float


def peak_of_fit(prepare: Callable[..., Callable[[], object]], *args: Any) -> Peak:
    """Return the peak of ``prepare(*args)()`` in a fresh process; what `prepare` itself needs does not count.

    `prepare` has to be a function of a module. It loads the data, and calls once on few rows what is compiled
    at the first call.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
        return fresh.submit(_measured, prepare, args).result()


def _measured(prepare: Callable[..., Callable[[], object]], args: tuple[Any, ...]) -> Peak:
    action = prepare(*args)
    before = forget_peak()
    seconds, result = clock(action)
    peak = resident()[1]
    del result  # what was fitted is part of the peak
    return Peak(before, max(peak, before), seconds[CPU])


def resident() -> tuple[int, int]:
    """Return the resident bytes of this process now, the most so far; that twice if no more is known."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        import resource  # not on Windows

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        most *= 1 if sys.platform == "darwin" else 1024
        return most, most
    sizes = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in status if line.startswith("Vm")}
    return sizes["VmRSS"], sizes["VmHWM"]


def forget_peak() -> int:
    """Set the most so far to what is resident now, where the system can, and return that."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return resident()[1]
    return resident()[0]

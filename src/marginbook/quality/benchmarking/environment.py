"""On what a measurement was made: processor, BLAS, versions, and how busy the machine was."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from threadpoolctl import threadpool_info  # type: ignore[import-untyped]

#: packages whose version a time depends on
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "cvxpy", "clarabel", "celer", "skglm")
#: pinned in the process of every case file before NumPy is imported
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB_MAXIMUM")}


def short() -> dict[str, str]:
    """Return what stands at the end of every row of every table."""
    return {
        "python": platform.python_version(),
        "numpy": _version("numpy"),
        "machine": platform.machine(),
    }


def environment() -> dict[str, str]:
    """Return what is stored once for a case file; call it with all libraries loaded."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "cpu": processor(),
        "cores": str(cores()),
        "memory_gib": _memory(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: _version(name) for name in PACKAGES},
        "blas": _blas(),
    }


def load() -> float:
    """Return the mean number of runnable processes of the last minute; NaN where the system has none."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def processor() -> str:
    """Return the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def cores() -> int:
    """Return how many processors this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f}"
    except (AttributeError, OSError, ValueError):
        return ""


def _blas() -> str:
    found = {
        f"{lib['internal_api']} {lib['version']} ({lib.get('architecture', 'unknown')}), "
        f"{lib['num_threads']} thread{'s' * (lib['num_threads'] > 1)}"
        for lib in threadpool_info()
        if lib["user_api"] == "blas"
    }
    return "; ".join(sorted(found))

"""All benchmarks: ``make bench``, ``make bench ROOM=smm``, or ``python benchmarks [ROOM ...] --help``."""

from __future__ import annotations

import sys
from pathlib import Path

from marginbook.quality.benchmarking import run_suite

FILES = {
    "drm": ("drm", "drm_scaling"),
    "ldm": ("ldm", "ldm_curves", "ldm_sparse"),
    "kfda": ("kfda", "kfda_curves"),
    "clasmk": ("clasmk", "clasmk_curves"),
    "smm": ("smm", "smm_curves"),
    "memory": ("memory",),
}

if __name__ == "__main__":
    sys.exit(run_suite(FILES, Path(__file__).parent))

"""All benchmarks: ``make bench``, ``make bench PAPER=smm``, or ``python benchmarks [PAPER ...] --help``."""

from __future__ import annotations

import sys
from pathlib import Path

from marginbook.cli.stopping import one_sentence

with one_sentence():  # these imports take seconds
    from marginbook.base.rooms import papers
    from marginbook.quality.benchmarking import run_suite

HERE = Path(__file__).parent
_NAMES = sorted(path.stem for path in HERE.glob("*.py"))
#: what the measuring files share
_SHARED = ("_cases", "_peers", "_growth")
_OF_PAPERS = {
    key: tuple(name for name in _NAMES if name.partition("_")[0] == key and not name.endswith(_SHARED))
    for key in papers()
}
#: a paper without benchmarks is no choice
FILES = {key: names for key, names in _OF_PAPERS.items() if names} | {
    "memory": ("memory",),
    "frames": ("frames",),
    "first_fits": ("first_fits",),
    "sparse_linear": ("sparse_linear",),
    "growth": ("growth",),
}
#: hours, and what it has measured it does not measure again: only if it is named
ON_REQUEST = ("growth",)

if __name__ == "__main__":
    with one_sentence():
        sys.exit(run_suite(FILES, HERE, on_request=ON_REQUEST))

"""The frame of ``benchmarks/``: a clock for peers in turns, goals, tables, memory, the suite.

A case file of ``benchmarks/`` holds one generator, ``measure(quick)``, of :class:`Ratio`, :class:`Line` and
:class:`Record`; ends with ``main(measure)``; and is listed in ``benchmarks/__main__.py``.
"""

from __future__ import annotations

from .case_file import Record, main
from .memory import peak_of_fit
from .suite import run_suite
from .timing import CPU, SLOW, WALL, Line, Ratio, Times, clock, compare, in_turns, sampled

__all__ = [
    "CPU",
    "SLOW",
    "WALL",
    "Line",
    "Ratio",
    "Record",
    "Times",
    "clock",
    "compare",
    "in_turns",
    "main",
    "peak_of_fit",
    "run_suite",
    "sampled",
]

"""The claim that nothing is computed for pairs of samples: measured times against the number of samples."""

from __future__ import annotations

import csv

import numpy as np

from ..claims import Evidence, claim, decide, share
from ..project import resource

SCALING = "benchmarks/results/clasmk-scaling.csv"
#: from so many samples on, no class is small enough for their pairs to be kept
LARGE = 16_000
#: lines of the measurements whose basis has the same size whatever N
FIXED = ("basis of 50 rows", "basis, polynomial of degree 1", "statistics, 50 rows")
GROWING, PAIRS = "basis that grows", "one kernel of all pairs"
#: largest exponent that counts as linear, with what caches and clocks add
LINEAR = 1.25


def times() -> dict[str, np.ndarray]:
    """Return N and CPU seconds of each line that has been measured against N, (2, sizes), by ascending N."""
    stored = resource(*SCALING.split("/"))
    if not stored.is_file():
        return {}
    lines: dict[str, list[tuple[float, float]]] = {}
    with stored.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["x"] == "N":
                lines.setdefault(row["what"], []).append((float(row["value"]), float(row["seconds"])))
    return {what: np.array(sorted(points)).T for what, points in lines.items()}


def exponent(line: np.ndarray, least: float = 0.0) -> float:
    """Return the slope in both logarithms of a line, (2, sizes), from the size `least` on; NaN of one."""
    size, seconds = np.log(line[:, line[0] >= least])
    if len(size) < 2:
        return float("nan")
    return float(np.polyfit(size, seconds, 1)[0])


@claim(
    "clasmk/no-pairwise",
    where="Abstract, Section 1",
    statement="learning needs no computations for pairs of samples: with bases of fixed size its cost grows "
    "linearly with their number",
    notebook="clasmk/09_speed#clasmk-no-pairwise",
    depends=(SCALING,),
)
def check_no_pairwise() -> Evidence:
    """Fit exponents of N to the stored times, where the bases have a fixed size and where they grow."""
    lines = times()
    if not all(what in lines and np.sum(lines[what][0] >= LARGE) > 1 for what in FIXED):
        return Evidence(
            share(0, 0), "nothing", "an exponent of 1", None, "Run benchmarks/clasmk_curves.py.", {"lines": 0}
        )
    slopes = {what: exponent(lines[what], LARGE) for what in FIXED}
    largest = max(slopes.values())
    told = ", ".join(f"{what} N^{slope:.2f}" for what, slope in slopes.items())
    others = ", ".join(f"{what} N^{exponent(lines[what]):.1f}" for what in (GROWING, PAIRS) if what in lines)
    most = int(max(lines[what][0].max() for what in FIXED))
    return Evidence(
        decide(largest <= LINEAR),
        f"CPU time from N = {LARGE:,} to {most:,}: {told}",
        f"an exponent of 1, at most {LINEAR:g} with what a clock adds",
        LINEAR - largest,
        f"Beside them, on up to 4,000 samples: {others or 'nothing'}. Linear only as long as the basis does "
        "not grow; where most samples are far from the span of the others, as under a narrow kernel, it "
        "takes them in. Of classes of up to 4,096 samples this library does compute all pairs, once for all "
        "kernels of a family, since that is quicker for several kernels; so the exponent is fitted above "
        "that size.",
        {"classes": 2, "N": [LARGE, most], "lines": len(FIXED)},
    )

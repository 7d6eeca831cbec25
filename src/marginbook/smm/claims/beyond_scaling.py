"""The claim that no pairs of samples are computed: measured times against the number of samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ...claims import Evidence, Rival, claim, decide, share
from ...quality.benchmarking.goals import exponent, measured
from .stored_results import TABLES

TABLE = "smm-scaling"
#: from so many samples on, products with all matrices are what counts
LARGE = 2_000
#: lines of the measurements that the claim is about, and those of machines on the Gram matrix of all samples
FITS = ("rank r, hinge", "rank r, squared hinge", "rank r, logistic")
PAIRS = ("LIBSVM on vectors", "nuclear norm")
#: where the check looks the times up
MEASURED = "quality.benchmarking.goals.measured"
Lines: TypeAlias = dict[str, tuple[np.ndarray, np.ndarray]]


def _grown(read: Callable[..., Lines]) -> Callable[..., Lines]:
    """Return a swap of the stored times: each grows faster by a power of one half."""

    def lines(table: str, x: str) -> Lines:
        return {what: (n, seconds * np.sqrt(n)) for what, (n, seconds) in read(table, x).items()}

    return lines


@claim(
    "smm/linear-cost",
    kind="ours",
    where="Section 3, whose algorithm has a dual with all pairs of samples",
    statement="for matrices of fixed size the time of a fit of fixed rank grows linearly with the number of "
    "samples, for every loss: it needs no pairs of samples",
    notebook="smm/08_speed#smm-linear-cost",
    depends=(f"benchmarks/results/{TABLE}.csv",),
    rivals=(
        Rival("times that grow faster by the root of n", swaps={MEASURED: _grown}),
        Rival("an exponent of at most 0.9", {"linear": 0.9}),
    ),
)
def check_linear_cost(linear: float | None = None) -> Evidence:
    """Fit exponents of n to the stored times."""
    # with what caches and clocks add
    allowed = float(TABLES.protocol("sample-size").thresholds["exponent"] if linear is None else linear)
    lines, large = measured(TABLE, "n"), (LARGE, np.inf)
    if not all(what in lines and np.sum(lines[what][0] >= LARGE) > 1 for what in FITS):
        return Evidence(
            verdict=share(0, 0),
            measured="nothing",
            claimed="an exponent of 1",
            slack=None,
            why="Run benchmarks/smm_curves.py.",
            sizes={"lines": 0},
        )
    slopes = {what.removeprefix("rank r, "): exponent(*lines[what], large) for what in FITS}
    largest = max(slopes.values())
    told = ", ".join(f"{what} n^{slope:.2f}" for what, slope in slopes.items())
    others = ", ".join(
        f"{what} n^{exponent(*lines[what], (0, np.inf)):.1f}" for what in PAIRS if what in lines
    )
    most = int(max(lines[what][0].max() for what in FITS))
    return Evidence(
        verdict=decide(largest <= allowed),
        measured=f"CPU time from n = {LARGE:,} to {most:,}: {told}",
        claimed=f"an exponent of 1; at most {allowed:g}, allowing for timing error",
        slack=allowed - largest,
        why=f"For comparison, up to {LARGE:,} samples: {others or 'nothing'}; these methods work on pairs. "
        "Here the systems of equations have a side of r(d1 + d2), of d1 d2 for the first problem, which has "
        "no rank, or of n where that is smaller. Only the products that fill them involve all samples. With "
        "fewer samples the systems themselves dominate, and flatten the line.",
        sizes={"d": 20, "r": 3, "n": [LARGE, most], "lines": len(FITS)},
    )

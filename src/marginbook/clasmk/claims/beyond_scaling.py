"""The claim that nothing is computed for pairs of samples: measured times against the number of samples."""

from __future__ import annotations

import numpy as np

from ...claims import Evidence, Rival, claim, decide, share
from ...quality.benchmarking.goals import exponent, measured

TABLE = "clasmk-scaling"
#: from so many samples on, no class is small enough for their pairs to be kept
LARGE = 16_000
#: lines of the measurements whose basis has the same size whatever N
FIXED = ("basis of 50 rows", "basis, polynomial of degree 1", "statistics, 50 rows")
GROWING, PAIRS = "basis that grows", "one kernel of all pairs"
#: largest exponent that counts as linear, with what caches and clocks add
LINEAR = 1.25


@claim(
    "clasmk/no-pairwise",
    kind="statement",
    where="Abstract, contribution 1",
    statement="no pairwise computations are required",
    notebook="clasmk/09_speed#clasmk-no-pairwise",
    depends=(f"benchmarks/results/{TABLE}.csv",),
    rivals=(
        Rival("an exponent below 1", {"linear": 0.98}),
        Rival("times of all pairs", {"power": 2}),
    ),
)
def check_no_pairwise(*, linear: float = LINEAR, power: int = 1) -> Evidence:
    """Fit exponents of N to the stored times, where the bases have a fixed size and where they grow.

    Without pairs of samples, and with bases of a fixed size, the cost is in proportion to their number.
    """
    lines, large = measured(TABLE, "N"), (LARGE, np.inf)
    if not all(what in lines and np.sum(lines[what][0] >= LARGE) > 1 for what in FIXED):
        return Evidence(
            verdict=share(0, 0),
            measured="nothing",
            claimed="an exponent of 1",
            slack=None,
            why="Run benchmarks/clasmk_curves.py.",
            sizes={"lines": 0},
        )
    slopes = {what: power * exponent(*lines[what], large) for what in FIXED}
    largest = max(slopes.values())
    told = ", ".join(f"{what} N^{slope:.2f}" for what, slope in slopes.items())
    others = ", ".join(
        f"{what} N^{exponent(*lines[what], (0, np.inf)):.1f}" for what in (GROWING, PAIRS) if what in lines
    )
    most = int(max(lines[what][0].max() for what in FIXED))
    return Evidence(
        verdict=decide(largest <= linear),
        measured=f"CPU time from N = {LARGE:,} to {most:,}: {told}",
        claimed=f"an exponent of 1; at most {linear:g}, allowing for timing error",
        slack=linear - largest,
        why=f"For comparison, on up to 4,000 samples: {others or 'nothing'}. The time is linear only as long "
        "as the basis does not grow. Under a narrow kernel most samples are far from the span of the others, "
        "and the basis takes them in. For classes of up to 4,096 samples this library does compute all "
        "pairs, once for all kernels of a family, because that is quicker for several kernels; so the "
        "exponent is fitted above that size.",
        sizes={"classes": 2, "N": [LARGE, most], "lines": len(FIXED)},
    )

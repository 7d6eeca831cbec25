"""Claims about the curves of the simulation study: by size of the matrices, and by rank.

Bounds are thresholds of the protocol, fixed before there were results of these experiments, except the point
of error that counts as a difference, which was set after a first run; grids of parameters were set on draws
that no result uses.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...claims import Evidence, Rival, claim, share, short
from ...claims.changed_results import moved, renamed
from ...claims.open_parts import OPEN, REFUTED, SHOWN
from ...claims.wrong_runs import WrongRuns, all_ways, lows, turned
from . import as_good_as
from .stored_results import (
    NAMES,
    NUCLEAR,
    PATH,
    PLATT,
    TABLES,
    VECTOR_LOGISTIC,
    VECTOR_PATH,
    VECTOR_PLATT,
    by_draw,
    contest,
    csv,
    interval,
    listed,
    means,
    size_of,
    tally,
    with_methods,
)

if TYPE_CHECKING:
    import pandas as pd

FEATURES = "smm/01_matrices_as_features"
RANK_2, RANK_10 = "rank 2 SVM, levels", "rank 10 SVM, levels"
#: in the words of parts of a claim
PARTS = {"within": SHOWN, "open": OPEN, "beyond": REFUTED}
#: differences are counted in these parts of a point, so that equal sums of all exchanges are kept once
UNITS = 100


def won_by_chance(gains: pd.Series[float], won: pd.Series[bool]) -> WrongRuns:
    """Return how often two machines win on as many sets, if they are exchanged on each draw.

    Draws of a generated set are independent, so that each can be exchanged apart.

    Parameters
    ----------
    gains : Series
        Of (data set, draw), in points.
    won : Series
        By data set, whether the paired t-test says so.
    """
    rate = 1.0
    for name in won.index[won]:
        units = np.rint(UNITS * gains.xs(name, level="dataset").to_numpy(float))
        low = lows(units, as_good_as.ONE_SIDED / 2)  # the test of a contest has two sides
        ways = all_ways([table.astype(int) for table in turned(units)])
        rate *= ways.as_well(partial(_ahead, low))
    return WrongRuns(rate, "the two machines are exchanged on each draw", "the first wins at as many d")


def _ahead(low: Callable[[np.ndarray], np.ndarray], sums: np.ndarray) -> np.ndarray:
    return (low(sums)[:, 0] > 0).astype(float)


@claim(
    "smm/low-rank-helps",
    kind="statement",
    where="Section 2.0, last two paragraphs, last sentence of each",
    statement="reshaping matrices to vectors results in very high dimensionality, which leads to "
    "overfitting; the low-rank assumption, where it is true, overcomes it",
    notebook=f"{FEATURES}#smm-low-rank-helps",
    depends=(csv("dimension"),),
    rivals=(
        Rival("the columns of the two machines exchanged", {"first": VECTOR_PLATT, "second": PLATT}),
        Rival("vectors beside vectors", {"first": VECTOR_LOGISTIC, "second": VECTOR_PLATT}),
    ),
)
def check_low_rank_helps(first: str = PLATT, second: str = VECTOR_PLATT) -> Evidence:
    """Compare test errors at each d with n and the rank fixed, and fit the advantage against log d."""
    claimed = "lower error at every d from 10, and an advantage that grows with d"
    frame = with_methods(by_draw("dimension", "error"), first, second)
    if frame is None:
        return TABLES.nothing(claimed, "dimension")
    advantage = (frame[second] - frame[first]).unstack("split").dropna(axis=1)
    if advantage.shape[0] < 3 or advantage.shape[1] < 2:
        return TABLES.nothing(claimed, "dimension")
    d = np.array([size_of(str(name), "d") for name in advantage.index])
    growth = interval(np.polyfit(np.log2(d), advantage.to_numpy(float), 1)[0])
    margin = float(TABLES.protocol("dimension").thresholds["margins"]["error"])
    against, found = as_good_as.contested(frame, first, second, margin), means(frame)
    large = np.array([size_of(str(name), "d") >= 10 for name in against.index])
    grows = "within" if growth.low > 0 else "beyond"
    wrong = won_by_chance(frame[second] - frame[first], (against["counts"] == "within")[large])
    return Evidence(
        verdict=wrong.judge_open(PARTS[part] for part in (grows, *against["counts"][large])),
        measured=f"error in %: {listed(found[first], 1)}; of the vector machine: {listed(found[second], 1)}; "
        f"the advantage grows by {growth} points with each doubling of d",
        claimed=claimed,
        slack=min(growth.low, short(int((against["counts"][large] == "within").sum()), int(large.sum()))),
        why="All sets are generated, with a truth of rank "
        f"{', '.join(str(rank) for rank in sorted({size_of(str(name), 'r') for name in found.index}))}: the "
        "verdict is about truths of low rank, not about natural matrices, for which see smm/real-low-rank. "
        "The training size, the rank of the truth and the Bayes error are the same at every d; low rank "
        f"has r(2d - r) free parameters, the vector d^2. {tally(against['paired'])} over all d. Both "
        "machines have the hinge loss and Platt's sigmoid, and their parameters are chosen in the same way. "
        f"{wrong} {NAMES} {as_good_as.how_powerful(against, margin, 'points of error')}",
        sizes={"d": sorted(int(value) for value in d)} | as_good_as.powers([against]),
    )


@claim(
    "smm/rank",
    kind="ours",
    where="Section 2.1",
    statement="the rank is a trade-off between complexity and flexibility: the rank of the truth is the "
    "best, and choosing it costs little",
    notebook=f"{FEATURES}#smm-rank",
    depends=(csv("rank"),),
    rivals=(
        Rival("ranks 2 and 10 exchanged", swaps=renamed("smm", ["rank"], {RANK_2: RANK_10, RANK_10: RANK_2})),
        Rival("a chosen rank with a fifth more error", swaps=moved("smm", ["rank"], PATH, "mae", times=1.2)),
    ),
)
def check_rank() -> Evidence:
    """Find the best fixed rank for truths of each rank; compare with the chosen one."""
    allowed = float(TABLES.protocol("rank").thresholds["chosen"])
    claimed = (
        f"the true rank is the best of the fixed ones; the chosen one within {100 * allowed:.0f} % of it"
    )
    frame = by_draw("rank", "mae")
    names = [] if frame is None else [name for name in frame.columns if str(name).startswith("rank ")]
    frame = with_methods(frame, PATH, *names)
    if frame is None or len(names) < 2:
        return TABLES.nothing(claimed, "rank")
    found = means(frame)
    fixed = found[names]
    fixed.columns = [int(str(name).split()[1]) for name in names]
    best, truth = fixed.idxmin(axis=1), [size_of(str(name), "r") for name in found.index]
    worse = found[PATH] / fixed.min(axis=1) - 1
    parts = [*(best == truth), *(worse <= allowed)]
    by_rank = fixed[sorted(fixed.columns)].add_prefix("rank ")
    told = "; ".join(f"{name}: {listed(row)}" for name, row in by_rank.iterrows())
    return Evidence(
        verdict=share(int(np.sum(parts)), len(parts)),
        measured=f"best ranks {best.tolist()} for truths of rank {truth}; the chosen rank is worse than the "
        f"best by {', '.join(f'{100 * value:.1f} %' for value in worse)}",
        claimed=claimed,
        slack=min(float(allowed - worse.max()), short(int(np.sum(parts)), len(parts))),
        why=f"Mean absolute errors: {told}; full rank: "
        f"{listed(found[VECTOR_PATH]) if VECTOR_PATH in found else 'none'}. {NAMES}",
        sizes={"sets": len(found), "draws": len(frame) // len(found)},
    )


@claim(
    "smm/nuclear-norm",
    kind="ours",
    where="Section 2.1",
    statement="where the truth has low rank, a fixed rank costs less than a point of error compared with a "
    "nuclear norm, which shrinks",
    notebook=f"{FEATURES}#smm-nuclear-norm",
    depends=(csv("dimension"), csv("sample-size")),
    rivals=(
        Rival(
            "a fixed rank with twenty points more error",
            swaps=moved("smm", ["dimension", "sample-size"], PLATT, "error", by=20),
        ),
    ),
)
def check_nuclear_norm() -> Evidence:
    """Compare test errors on all sets of a logit truth of low rank."""
    import pandas as pd

    margin = float(TABLES.protocol("dimension").thresholds["margins"]["error"])
    frames = [with_methods(by_draw(table, "error"), PLATT, NUCLEAR) for table in ("dimension", "sample-size")]
    there = [frame[[PLATT, NUCLEAR]] for frame in frames if frame is not None]
    if not there:
        return TABLES.nothing(as_good_as.claimed(margin, "points of error"), "dimension")
    frame = pd.concat(there)
    frame = frame[~frame.index.duplicated()]  # the centre is in both
    lines = contest(frame, PLATT, NUCLEAR)
    more = f"By paired t-tests at 0.05 the fixed rank has {tally(lines['paired'])}. Both use Platt's sigmoid."
    return as_good_as.evidence(
        frame, ((PLATT, NUCLEAR),), margin, digits=2, unit="points of error", more=more
    )

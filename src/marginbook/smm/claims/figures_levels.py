"""Claims about the curves of the simulation study: by training size, and by number of levels.

Bounds are thresholds of the protocol, fixed before there were results of these experiments, except the point
of error that counts as a difference, which was set after a first run; grids of parameters were set on draws
that no result uses.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from ...claims import Evidence, Rival, claim, share, short
from ...claims.changed_results import moved, other_sets, renamed
from . import as_good_as
from .stored_results import (
    NAMES,
    PATH,
    TABLES,
    VECTOR_PATH,
    by_draw,
    by_size,
    contest,
    csv,
    listed,
    means,
    slope,
    tally,
    with_methods,
)

if TYPE_CHECKING:
    import pandas as pd

LEVELS, PROBABILITIES = "smm/03_weighted_margins", "smm/04_probabilities"
#: sets of the least and the largest training size, and two in between
FEWEST, MOST = "logit-n100-d20-r2", "logit-n1600-d20-r2"
NEXT = {"logit-n200-d20-r2": "logit-n800-d20-r2", "logit-n800-d20-r2": "logit-n200-d20-r2"}
#: number at the end of a method's name
MARK = ", H="


@claim(
    "smm/consistency",
    kind="ours",
    where="Section 2.3",
    statement=r"the mean absolute error of $\hat p$ falls as the training size grows",
    notebook=f"{PROBABILITIES}#smm-consistency",
    depends=(csv("sample-size"),),
    rivals=(
        Rival(
            "the sets of the fewest and of the most samples exchanged",
            swaps=other_sets("smm", ["sample-size"], {FEWEST: MOST, MOST: FEWEST}),
        ),
        Rival(
            "twice as many samples exchanged with half as many",
            swaps=other_sets("smm", ["sample-size"], NEXT),
        ),
    ),
)
def check_consistency() -> Evidence:
    """Fit the exponent of n on every draw; look at each doubling of n."""
    frame = with_methods(by_draw("sample-size", "mae"), PATH)
    rate = None if frame is None else slope(frame, PATH, "n")
    if frame is None or rate is None:
        return TABLES.nothing("a negative exponent of n", "sample-size")
    found = by_size(means(frame), "n")
    steps = np.diff(found[PATH])
    parts = [rate.high < 0, *(steps < 0)]
    others = {name: slope(frame, name, "n") for name in found.columns if name != PATH}
    told = "; ".join(f"{name} {value}" for name, value in others.items() if value)
    return Evidence(
        verdict=share(int(np.sum(parts)), len(parts)),
        measured=f"mean absolute error by n: {listed(found[PATH])}; exponent of n {rate}",
        claimed="falls at every doubling, and the exponent's 95 % interval is below 0",
        slack=min(-rate.high, short(int(np.sum(parts)), len(parts))),
        why=f"The exponents of {rate.draws} draws are fitted by least squares to the logarithms; shown are "
        f"their mean and 95 % interval. The others: {told or 'none'}. A parametric model would have an "
        "exponent of -1/2.",
        sizes={"n": [int(n) for n in found.index], "draws": rate.draws},
    )


def by_levels() -> pd.DataFrame | None:
    """Return mean absolute errors of level paths: (data set, draw) down, H across, sorted; None without."""
    frame = by_draw("levels", "mae")
    if frame is None:
        return None
    frame = frame[[name for name in frame.columns if MARK in str(name)]]
    frame.columns = [int(str(name).rpartition(MARK)[2]) for name in frame.columns]
    return frame[sorted(frame.columns)].dropna()


@claim(
    "smm/levels",
    kind="ours",
    where="Section 2.3, scheme",
    statement=r"more levels improve $\hat p$, by less and less: its resolution is $1/H$",
    notebook=f"{PROBABILITIES}#smm-levels",
    depends=(csv("levels"),),
    rivals=(
        Rival(
            "4 levels and 20 exchanged",
            swaps=renamed(
                "smm", ["levels"], {PATH + MARK + a: PATH + MARK + b for a, b in (("4", "20"), ("20", "4"))}
            ),
        ),
        Rival(
            "50 levels with a tenth less error",
            swaps=moved("smm", ["levels"], f"{PATH}{MARK}50", "mae", times=0.9),
        ),
    ),
)
def check_levels() -> Evidence:
    """Compare 4 with 20 levels, and 20 with 50, draw by draw."""
    frame = by_levels()
    if frame is None or not {4, 20, 50} <= set(frame.columns):
        return TABLES.nothing("better with 20 levels than with 4; hardly with 50", "levels")
    frame = with_methods(frame, 4, 20, 50)
    if frame is None:
        return TABLES.nothing("better with 20 levels than with 4; hardly with 50", "levels")
    enough = float(TABLES.protocol("levels").thresholds["enough"])
    fewer, found = contest(frame, 20, 4), means(frame)
    gain = (found[20] - found[50]) / found[20]
    parts = [*(fewer["paired"] == "win"), *(gain.abs() <= enough)]
    told = "; ".join(f"{name}: {listed(row)}" for name, row in found.iterrows())
    return Evidence(
        verdict=share(int(np.sum(parts)), len(parts)),
        measured=f"20 levels against 4: {tally(fewer['paired'])}; from 20 to 50 the error falls by "
        f"{', '.join(f'{100 * value:.1f} %' for value in gain)}",
        claimed=f"20 levels win on every set, and 50 change the error by at most {100 * enough:.0f} %",
        slack=min(float(enough - gain.abs().max()), short(int(np.sum(parts)), len(parts))),
        why=f"Mean absolute errors by H: {told}. {NAMES} The count is within 1/(2H) of p where level sets "
        "are exact; what remains with many levels is the error of the sets.",
        sizes={"sets": len(found), "H": [int(h) for h in found.columns], "draws": len(frame) // len(found)},
    )


def level_curve(table: str, name: str, method: str) -> np.ndarray | None:
    """Return the level-set errors of a method on a set, means over draws: (H-1,); None without results."""
    frame = TABLES.results(table)
    if frame is None or frame.empty:
        return None
    rows = frame[(frame["dataset"] == name) & (frame["method"] == method)]
    return None if rows.empty else np.mean([json.loads(text) for text in rows["level_errors"]], axis=0)


@claim(
    "smm/level-sets",
    kind="ours",
    where="Section 2.2",
    statement=r"$\hat S(\pi)$ estimates the level set: its symmetric difference from the true set, averaged "
    r"over $\pi$, falls with n, and is smaller than for the vector machine",
    notebook=f"{LEVELS}#smm-level-sets",
    depends=(csv("sample-size"),),
    rivals=(
        Rival(
            "low rank and vectors exchanged",
            swaps=renamed("smm", ["sample-size"], {PATH: VECTOR_PATH, VECTOR_PATH: PATH}),
        ),
    ),
)
def check_level_sets() -> Evidence:
    """Fit the exponent of n, and compare with vectorised matrices at every n."""
    frame = with_methods(by_draw("sample-size", "level_error"), PATH, VECTOR_PATH)
    rate = None if frame is None else slope(frame, PATH, "n")
    if frame is None or rate is None:
        return TABLES.nothing("a negative exponent of n; below the vector machine's", "sample-size")
    margin = float(TABLES.protocol("sample-size").thresholds["margins"]["mae"])
    found, against = means(frame), as_good_as.contested(frame, PATH, VECTOR_PATH, margin)
    falls = "within" if rate.high < 0 else "beyond"
    return Evidence(
        verdict=as_good_as.judged([falls, *against["counts"]]),
        measured=f"exponent of n {rate}; against the vector machine's sets {tally(against['paired'])}",
        claimed="an exponent below 0, and smaller errors than the vector machine's at every n",
        slack=min(-rate.high, short(int((against["counts"] == "within").sum()), len(against))),
        why="Falling does not mean vanishing: smm/linear-class shows what a linear f misses however large "
        "the sample. Probability that a new matrix is in only one of the two sets, averaged over the levels "
        f"h/20: {listed(found[PATH])}; vector machine: {listed(found[VECTOR_PATH])}. {NAMES} Where the sets "
        "of the levels are nested, this average is the mean absolute error of the probability, up to 1/H. "
        f"{as_good_as.how_powerful(against, margin, 'probability')}",
        sizes={"sets": len(found)} | as_good_as.powers([against]),
    )

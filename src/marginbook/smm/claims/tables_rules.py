"""Claims about rules, crossings and calibration: level paths beside machines with a link function.

Bounds are thresholds of the protocol, fixed before there were results of these experiments; but the margin of
the mean absolute error for the rules only: the claims about links took it over after a first run. Grids of
parameters were set on draws that no result uses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...claims import Evidence, Rival, claim, share, short
from ...claims.changed_results import moved, renamed
from . import as_good_as
from .stored_results import (
    LOGISTIC,
    NAMES,
    PATH,
    PLATT,
    RBF,
    ROWS,
    TABLES,
    VECTOR_PATH,
    by_draw,
    contest,
    csv,
    interval,
    listed,
    means,
    tally,
    with_methods,
)

if TYPE_CHECKING:
    import pandas as pd

PROBABILITIES, KERNELS = "smm/04_probabilities", "smm/05_row_kernels"
ERROR = "mean absolute error"
RULES = ("count", "interval", "isotonic")
#: scores of probabilities, less is better
SCORES = {
    "mae": ERROR,
    "brier": "Brier score",
    "log_loss": "logarithmic loss",
    "ece": "expected calibration error",
}
#: experiments with level paths on simulated matrices
SIMULATED = ("sample-size", "dimension", "step")


def path_rows() -> pd.DataFrame | None:
    """Return the results of the low-rank level path on all simulated sets, each set once; None without."""
    import pandas as pd

    frames = [TABLES.results(table) for table in SIMULATED]
    present = [frame for frame in frames if frame is not None and not frame.empty]
    if not present:
        return None
    rows = pd.concat([frame[frame["method"] == PATH] for frame in present])
    rows = rows.dropna(subset=[f"mae_{rule}" for rule in RULES]).drop_duplicates(["dataset", "split"])
    return None if rows.empty else rows


@claim(
    "smm/rules",
    kind="ours",
    where="Scheme, S.4",
    statement="the rule that turns level sets into a probability hardly matters: count, interval rule and "
    "isotonic rule agree",
    notebook=f"{PROBABILITIES}#smm-rules",
    depends=tuple(map(csv, SIMULATED)),
    rivals=(
        Rival(
            "an isotonic rule that is 0.01 worse",
            swaps=moved("smm", SIMULATED, PATH, "mae_isotonic", by=0.01),
        ),
        Rival(
            "an interval rule that is 0.01 better",
            swaps=moved("smm", SIMULATED, PATH, "mae_interval", by=-0.01),
        ),
    ),
)
def check_rules() -> Evidence:
    """Compare the mean absolute errors of the three rules on every set, by intervals to both sides."""
    rows, same_by = path_rows(), float(TABLES.protocol("sample-size").thresholds["margins"]["mae"])
    if rows is None:
        return TABLES.nothing(f"mean absolute errors within {same_by:g} on every set", "sample-size")
    frame = rows.set_index(["dataset", "split"])[[f"mae_{rule}" for rule in RULES]]
    frame.columns = list(RULES)
    found = means(frame)
    sides = [pair for rule in ("interval", "isotonic") for pair in ((rule, "count"), ("count", rule))]
    lines = [as_good_as.within(frame, *pair, same_by) for pair in sides]
    apart = found[["interval", "isotonic"]].sub(found["count"], axis=0)
    # of a set the worst of its comparisons: "beyond" comes before "open", and this before "within"
    outcomes = [min(each) for each in zip(*(table["outcome"] for table in lines), strict=True)]
    same = outcomes.count("within")
    told = "; ".join(f"{name}: {listed(row, 4)}" for name, row in found.iterrows())
    best = found.idxmin(axis=1).value_counts()
    return Evidence(
        verdict=as_good_as.judged(outcomes),
        measured=f"within {same_by:g} on {same} of {len(found)} sets; interval minus count "
        f"{apart['interval'].min():+.4f} to {apart['interval'].max():+.4f}, isotonic minus count "
        f"{apart['isotonic'].min():+.4f} to {apart['isotonic'].max():+.4f}",
        claimed=f"within {same_by:g} on every set, by 90 % intervals on both sides",
        slack=float(same_by - max(table["high"].max() for table in lines)),
        why=f"Lowest error: {', '.join(f'{rule} on {number}' for rule, number in best.items())} of "
        f"{len(found)} sets. Mean absolute errors: {told}. {NAMES}",
        sizes={"sets": len(found)},
    )


@claim(
    "smm/crossings",
    kind="ours",
    where="Section 2.3",
    statement="estimated level sets are not nested: on every set they cross for some matrices, and "
    "isotonic repair does not lower the error of the count",
    notebook=f"{PROBABILITIES}#smm-crossings",
    depends=tuple(map(csv, SIMULATED)),
    rivals=(
        Rival("sets that never cross", swaps=moved("smm", SIMULATED, PATH, "crossed", times=0)),
        Rival("a repair that gains 0.01", swaps=moved("smm", SIMULATED, PATH, "mae_isotonic", by=-0.01)),
    ),
)
def check_crossings() -> Evidence:
    """Count new matrices in a level set but not in one of a lower level; see what the repair gains."""
    rows = path_rows()
    claimed = "above 0 % of the matrices, and an error that is not lower, on every set"
    if rows is None:
        return TABLES.nothing(claimed, "sample-size")
    found = rows.groupby("dataset", sort=False)[["crossed", "crossing_pairs", "level_error", "mae"]].mean()
    repaired = rows["mae_isotonic"] - rows["mae_count"]
    gain, by_set = interval(repaired.to_numpy(float)), repaired.groupby(rows["dataset"]).mean()[found.index]
    parts = [*(found["crossed"] > 0), *(by_set >= 0)]
    seldom = float(TABLES.protocol("sample-size").thresholds["seldom"])
    few = int((found["crossed"] <= seldom).sum())
    return Evidence(
        verdict=share(int(np.sum(parts)), len(parts)),
        measured=f"shares in %: {listed(100 * found['crossed'], 1)}: at most {100 * seldom:.0f} % on {few} "
        f"of {len(found)} sets; isotonic repair changes the error by {by_set.min():+.4f} to "
        f"{by_set.max():+.4f}",
        claimed=claimed,
        slack=min(float(min(found["crossed"].min(), by_set.min())), short(sum(parts), len(parts))),
        why=f"Pairs of crossing levels per matrix: {listed(found['crossing_pairs'], 2)}. The isotonic repair "
        f"changes the mean absolute error by {gain.mean:+.4f} [{gain.low:.4f}, {gain.high:.4f}] over all "
        "draws. Because of crossings the error of the sets, averaged over the levels, exceeds that of the "
        "probability, which counts the sets that contain the matrix, by "
        f"{listed(found['level_error'] - found['mae'])}. {NAMES}",
        sizes={"sets": len(found), "draws": len(rows)},
    )


def _against(table: str, column: str, first: str, seconds: tuple[str, ...]) -> dict[str, pd.DataFrame]:
    """Return the contests of a method with others, by their names; none without results."""
    frame = with_methods(by_draw(table, column), first, *seconds)
    return {} if frame is None else {name: contest(frame, first, name) for name in seconds}


def _told(contests: dict[str, pd.DataFrame]) -> str:
    return "; ".join(
        f"against {name} {tally(lines['paired'])} ("
        + ", ".join(f"{row['difference']:+.3f}" for _, row in lines.iterrows())
        + ")"
        for name, lines in contests.items()
    )


def _nearer(
    column: str, first: str, others: tuple[str, ...], measured: str, claimed: str, why: str
) -> Evidence:
    """Return whether a method wins against all `others` on both truths of bumps; `why` takes the means."""
    contests = _against("bumps", column, first, others)
    frame = by_draw("bumps", column)
    if not contests or frame is None:
        return TABLES.nothing(claimed, "bumps")
    outcomes = np.concatenate([lines["paired"].to_numpy(str) for lines in contests.values()])
    told = "; ".join(f"{name}: {listed(row)}" for name, row in means(frame).iterrows())
    return Evidence(
        verdict=share(int(np.sum(outcomes == "win")), len(outcomes)),
        measured=f"{measured}: {_told(contests)}",
        claimed=claimed,
        slack=-max(float(lines["difference"].max()) for lines in contests.values()),
        why=f"{why.format(told)} {NAMES}",
        sizes={"sets": len(next(iter(contests.values()))), "methods": 1 + len(others)},
    )


def _broken_links(table: str) -> tuple[Rival, ...]:
    exchanged = {PATH: LOGISTIC, LOGISTIC: PATH}
    return (
        Rival("levels and logistic regression exchanged", swaps=renamed("smm", [table], exchanged)),
        Rival(
            "a logistic regression that is 0.05 worse", swaps=moved("smm", [table], LOGISTIC, "mae", by=0.05)
        ),
    )


def _links(table: str) -> Evidence:
    """Return whether one logistic regression of low rank is as exact as the level path, on every set."""
    margin = float(TABLES.protocol(table).thresholds["margins"]["mae"])
    frame = with_methods(by_draw(table, "mae"), PATH, LOGISTIC, PLATT)
    if frame is None:
        return TABLES.nothing(as_good_as.claimed(margin, ERROR), table)
    others = " ".join(
        f"By the {words}, levels minus the other: {_told(_against(table, score, PATH, (LOGISTIC, PLATT)))}."
        for score, words in SCORES.items()
    )
    return as_good_as.evidence(frame, ((LOGISTIC, PATH),), margin, digits=3, unit=ERROR, more=others)


@claim(
    "smm/model-free",
    kind="ours",
    where="Section 2.3, which asks for a model-free method",
    statement="even on a step, where no sigmoid is right, one logistic regression of low rank is as exact "
    "as the level sets of 19 machines: its mean absolute error is less than 0.005 above theirs",
    notebook=f"{PROBABILITIES}#smm-model-free",
    depends=(csv("step"),),
    rivals=_broken_links("step"),
)
def check_model_free() -> Evidence:
    """Compare mean absolute errors on the step, machines of low rank among themselves."""
    return _links("step")


@claim(
    "smm/calibration",
    kind="ours",
    where="Section 2.3",
    statement="where a sigmoid is right, one logistic regression of low rank is as exact as the level sets "
    "of 19 machines at every $n$: its mean absolute error is less than 0.005 above theirs",
    notebook=f"{PROBABILITIES}#smm-calibration",
    depends=(csv("sample-size"),),
    rivals=_broken_links("sample-size"),
)
def check_calibration() -> Evidence:
    """Compare mean absolute errors on the logit truth at every n, machines of low rank among themselves."""
    return _links("sample-size")


@claim(
    "smm/level-sets-nonlinear",
    kind="ours",
    where="Sections 2.2 and 4",
    statement="where the truth is nonlinear in the rows, the level sets of the row kernel are closer to the "
    "true ones, averaged over the levels, than those of linear machines and those cut from a calibrated "
    "Gaussian kernel",
    notebook=f"{KERNELS}#smm-level-sets-nonlinear",
    depends=(csv("bumps"),),
    rivals=(Rival("the sets of the Gaussian kernel first", {"first": RBF, "others": (ROWS,)}),),
)
def check_nonlinear_sets(first: str = ROWS, others: tuple[str, ...] = (PATH, VECTOR_PATH, RBF)) -> Evidence:
    """Compare the probability of the symmetric difference on both truths of bumps."""
    return _nearer(
        "level_error",
        first,
        others,
        f"probability of the symmetric difference, {first} minus the other",
        "smaller than every other method's on every set",
        "Paired t-tests at 0.05 over the draws; means over the levels h/20: {}.",
    )


@claim(
    "smm/row-kernel-truth",
    kind="ours",
    where="Section 4",
    statement="where the truth is nonlinear in the rows, the row kernel is better than the linear low-rank "
    "machine and a Gaussian kernel on vec(X)",
    notebook=f"{KERNELS}#smm-row-kernel-truth",
    depends=(csv("bumps"),),
    rivals=(
        Rival(
            "row kernel and Gaussian kernel exchanged",
            swaps=renamed("smm", ["bumps"], {ROWS: RBF, RBF: ROWS}),
        ),
        Rival("a row kernel that is 0.2 worse", swaps=moved("smm", ["bumps"], ROWS, "mae", by=0.2)),
    ),
)
def check_row_kernel() -> Evidence:
    """Compare mean absolute errors on both truths of bumps."""
    more = " ".join(
        f"By {words}: {_told(_against('bumps', column, ROWS, (PATH, RBF)))}."
        for words, column in (("the test error, in points", "error"), ("the logarithmic loss", "log_loss"))
    )
    return _nearer(
        "mae",
        ROWS,
        (PATH, RBF),
        "mean absolute error, row kernel minus the other",
        "lower than both on every set",
        f"Means: {{}}. {more}",
    )

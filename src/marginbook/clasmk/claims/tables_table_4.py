"""Claims about our results beside Table 4: cells, a second layer, and whether two methods are similar."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from ...claims import Evidence, Rival, claim
from ...claims.cell_verdicts import TESTED
from ...claims.changed_results import moved
from ...claims.open_parts import OPEN, above, judged, tally, unless_open
from ...claims.printed_tables import paired
from ...experiments.equivalence import mean_interval
from ..model.kernel_sets import paper_kernels
from ..paper.printed import LAYERS, NOTEBOOK, PAPER_TABLES, RIVALS, SUMMARY, printed
from ..paper.readings import MARK
from . import solver_of_paper
from .agreement import ONE_SIDED, equivalent
from .solver_of_paper import LIMITED, arrives, as_the_papers, named
from .tables import (
    EXTRA_4,
    LAYER_SOLVERS_CSV,
    LEAST,
    LIMITED_CSV,
    REGISTRY,
    SOLVERS_CSV,
    START,
    TABLE_4,
    local_apart,
    means_of,
    with_columns,
)

if TYPE_CHECKING:
    import pandas as pd


#: kernels of Table 4, for each class
KERNELS = len(paper_kernels("table-4"))


def by_nearest_solver() -> tuple[pd.DataFrame | None, str]:
    """Return our results with weights by the paper's solver, and its name; without any, by the minimum's."""
    stored = PAPER_TABLES.results("table-4")
    if stored is None or not set(stored["method"]) >= {f"{name}{MARK}{LIMITED}" for name in LAYERS}:
        return stored, LEAST
    rows = stored[~stored["method"].isin(LAYERS)]
    return rows.assign(method=[name.removesuffix(f"{MARK}{LIMITED}") for name in rows["method"]]), LIMITED


def open_sets(names: Iterable[object]) -> list[str]:
    """Return the sets on which the paper's weights may be others than ours, as for the figures."""
    used = by_nearest_solver()[1]
    return [str(name) for name in names if used != LIMITED and not arrives(str(name), KERNELS)]


def about_solver(names: Iterable[object]) -> str:
    """Say whose weights the results have, and where searches of the paper's kind end on these sets."""
    used = by_nearest_solver()[1]
    return solver_of_paper.told(used, {str(name): [KERNELS] for name in names}, "this table")


@claim(
    "clasmk/table-4",
    kind="experiment",
    where="Table 4",
    statement="the printed accuracies of CLASMK-ML and multiple kernel learning, in one and two layers",
    notebook=f"{NOTEBOOK}#clasmk-table-4",
    depends=(TABLE_4, LAYER_SOLVERS_CSV, LIMITED_CSV, SOLVERS_CSV, REGISTRY),
    rivals=(
        Rival(
            "with our accuracies as those of the paper's solver", swaps=as_the_papers("table-4", of=LAYERS)
        ),
        Rival(
            "forty points less for multiple kernel learning",
            swaps=moved("clasmk", ["table-4"], RIVALS, "accuracy", by=-40.0),
        ),
    ),
)
def check_table_4() -> Evidence:
    """Compare every printed cell of the twelve sets with ours; the summary row is another claim's.

    Cells of learned weights are open on the sets of `open_sets`: the verdict is that with all of these
    agreeing and with none of them, where the two are the same.
    """
    results, _ = by_nearest_solver()
    frame = PAPER_TABLES.cells("table-4", results)
    frame = frame[frame["dataset"] != SUMMARY]
    found = PAPER_TABLES.agreement("table-4", frame)
    tested = frame[frame["verdict"].isin(TESTED)]
    if tested.empty:
        return found
    unsure = tested["method"].isin(LAYERS) & tested["dataset"].isin(open_sets(tested["dataset"].unique()))
    sure, number = int((tested["verdict"] == TESTED[0])[~unsure].sum()), int(unsure.sum())
    calibration = PAPER_TABLES.calibration("table-4")
    worst, best = (calibration.judge(agree, len(tested)) for agree in (sure, sure + number))
    needed = calibration.needed(len(tested))
    return replace(
        found,
        verdict=unless_open(worst, worst != best),
        slack=(sure - needed) / len(tested),
        measured=found.measured
        + (f"; the {number} of learned weights are open, {sure} of the others agree" if number else ""),
        why=f"{found.why} {about_solver(tested['dataset'].unique())}"
        + (
            f" If all {number} open cells agreed, {sure + number} of {len(tested)} would, which is "
            f"{'enough' if sure + number >= needed else 'not enough to reproduce the table'}. "
            + equal_cells(tested[unsure])
            if number
            else ""
        ),
    )


def equal_cells(cells: pd.DataFrame) -> str:
    """Say how many of some cells agree with equal weights, where a search of (33) starts; "" without any."""
    ours = PAPER_TABLES.results("layer-solvers")
    if ours is None:
        return ""
    names = {f"{name}: {START}": name for name in LAYERS}
    rows = ours[ours["method"].isin(names)]
    again = PAPER_TABLES.cells("table-4", rows.assign(method=[names[str(m)] for m in rows["method"]]))
    both = again.merge(cells[["dataset", "method"]], on=["dataset", "method"])
    agree = int((both["verdict"] == TESTED[0]).sum())
    return (
        f"With {START}, where a search starts, {agree} of them agree, on other halves; with those of the "
        f"{LEAST}, {int((cells['verdict'] == TESTED[0]).sum())}."
    )


def of_the_paper(names: Iterable[object]) -> list[str]:
    """Return the sets whose public version is that of the paper: the others are not-testable."""
    others = PAPER_TABLES.other_data()
    return [str(name) for name in names if name not in others]


def accuracies() -> pd.DataFrame | None:
    """Return our means of Table 4, sets down, methods across; None without results."""
    return means_of("table-4", "accuracy", by_nearest_solver()[0])


def compared(first: str, second: str) -> tuple[int, int, int, float, float] | None:
    """Compare two of our columns of Table 4, as `printed_tables.paired` does; None without results.

    It is over the sets whose public version is that of the paper.
    """
    frame = with_columns(accuracies(), first, second)
    if frame is None:
        return None
    frame = frame.loc[of_the_paper(frame.index)]
    return paired(frame[first], frame[second])


def left_out(told: Callable[[str], str]) -> str:
    """Return what is to be said of the sets that are not tested: `told` of each one's name; "" for none."""
    ours = accuracies()
    others = (
        {} if ours is None else {n: why for n, why in PAPER_TABLES.other_data().items() if n in ours.index}
    )
    return "".join(
        f" Not tested, as the data differ: {name}, {why}; {told(name)}." for name, why in others.items()
    )


@claim(
    "clasmk/table-4-layers",
    kind="ours",
    where="Table 4, the columns CLASMK-ML and 2L-CLASMK-ML",
    statement="on every set of Table 4 a second layer improves CLASMK-ML",
    notebook=f"{NOTEBOOK}#clasmk-table-4",
    depends=(TABLE_4, LIMITED_CSV, SOLVERS_CSV, REGISTRY),
    rivals=(
        Rival(
            "with our accuracies as those of the paper's solver, twelve points more",
            swaps=as_the_papers("table-4", "accuracy", LAYERS[1], by=12.0, of=LAYERS),
        ),
        Rival(
            "with our accuracies as those of the paper's solver, fifty points less",
            swaps=as_the_papers("table-4", "accuracy", LAYERS[1], by=-50.0, of=LAYERS),
        ),
    ),
)
def check_layers() -> Evidence:
    """Ask on every set whether our accuracy in two layers is higher than in one.

    A set is also open where it is one of `open_sets`. The paper prints the columns and does not compare them:
    that it is so on every set is what we read off them.
    """
    found = compared(LAYERS[1], LAYERS[0])
    if found is None:
        return PAPER_TABLES.nothing("better on every set", "table-4")
    better, worse, number, by, p = found
    every = {
        name: mean_interval(values.round(9), overlap=1.0)
        for name, values in differences(LAYERS[1], LAYERS[0]).items()
    }
    ends = {name: every[name] for name in of_the_paper(every)}
    unsure = open_sets(ends)
    parts = [OPEN if name in unsure else above(low, high) for name, (low, high) in ends.items()]
    page = printed("table-4").drop(index=SUMMARY)
    rise = (page[LAYERS[1]] - page[LAYERS[0]]).round(6)
    return Evidence(
        verdict=judged(parts),
        measured=f"better on {number} sets: {tally(parts)}; the mean is higher on {better}, lower on "
        f"{worse}, by {by:+.2f} points on average (p = {p:.2g})",
        claimed="better on every set",
        slack=min(*(low for low, _ in ends.values()), -len(unsure) if unsure else math.inf),
        why="By the 90 % intervals of the corrected resampled t-test over the halves, in points: "
        + ", ".join(f"{name} {low:+.1f} to {high:+.1f}" for name, (low, high) in ends.items())
        + ". An interval that contains 0 leaves a set open. The mean over the sets has p from Wilcoxon's "
        f"test. In print it is better on {int((rise > 0).sum())} of {len(rise)} sets, by {rise.mean():+.2f} "
        f"points on average. {about_solver(ends)}"
        + left_out(lambda name: "{:+.1f} to {:+.1f} there".format(*every[name])),
        sizes={"sets": number},
    )


def differences(first: str, second: str) -> dict[str, pd.Series[float]]:
    """Return the differences of two of our columns of Table 4 on the halves, by set."""
    ours, _ = by_nearest_solver()
    assert ours is not None
    table = ours.pivot_table(index=["dataset", "split"], columns="method", values="accuracy", sort=False)
    apart = (table[first] - table[second]).dropna()
    return {str(name): part for name, part in apart.groupby(level="dataset", sort=False)}


def mean_difference(first: str, second: str, also: Iterable[str] = ()) -> tuple[float, float]:
    """Return the mean difference of two of our columns of Table 4 over its sets, and its standard error.

    They are the sets whose public version is that of the paper, and those named `also`. As they are those of
    the table, the error is that of the halves: of the paired differences, by set, with the variance of the
    corrected resampled t-test, as halves of one set share rows.
    """
    found = differences(first, second)
    by_set = [found[name] for name in dict.fromkeys([*of_the_paper(found), *also])]
    variance = sum(float(part.var()) * (1 / len(part) + 1.0) for part in by_set)
    return sum(float(part.mean()) for part in by_set) / len(by_set), variance**0.5 / len(by_set)


def similar() -> float:
    """Return the points within which two methods are called similar on average: from the protocol."""
    return float(PAPER_TABLES.protocol("table-4").thresholds["similar"])


@claim(
    "clasmk/table-4-order",
    kind="experiment",
    where="Section 5.2, last sentence",
    statement="on average 2L-CLASMK-ML achieves a similar result compared to 2L-MKL",
    notebook=f"{NOTEBOOK}#clasmk-table-4",
    depends=(TABLE_4, LAYER_SOLVERS_CSV, LIMITED_CSV, SOLVERS_CSV, REGISTRY),
    rivals=(
        Rival(
            "with our accuracies as those of the paper's solver, a point less",
            swaps=as_the_papers("table-4", "accuracy", LAYERS[1], by=-1.0, of=LAYERS),
        ),
    ),
)
def check_similar(*, first: str = LAYERS[1]) -> Evidence:
    """Compare the two methods of two layers, and those of one, over the sets, within the margin.

    It is undecided where the average has one of `open_sets`.
    """
    margin = similar()
    two, one = compared(first, RIVALS[1]), compared(LAYERS[0], RIVALS[0])
    frame = accuracies()
    if two is None or one is None or frame is None:
        return PAPER_TABLES.nothing(f"within {margin:g} point", "table-4")
    higher, lower, number, _, p = two
    difference, se = mean_difference(first, RIVALS[1])
    unsure = open_sets(of_the_paper(frame.index))
    names = [name for name in (*LAYERS, *RIVALS, *EXTRA_4) if name in frame.columns]
    complete = frame.loc[of_the_paper(frame.index)].dropna(subset=names)
    told = ", ".join(f"{name} {complete[name].mean():.1f}" for name in names)
    summary = printed("table-4").loc[SUMMARY]
    return Evidence(
        verdict=unless_open(equivalent(difference, se, margin), bool(unsure)),
        measured=f"with weights by {named(by_nearest_solver()[1])}, {first} is {difference:+.2f} points from "
        f"2L-MKL on average, with standard error {se:.2f}; "
        f"it is higher on {higher} of {number} sets and lower on {lower} (p = {p:.2g}). In one layer it is "
        f"higher on {one[0]} and lower on {one[1]}, by {one[3]:+.2f} on average (p = {one[4]:.2g})",
        claimed=f"within {margin:g} point",
        slack=float(min(margin - abs(difference) - ONE_SIDED * se, -len(unsure) if unsure else math.inf)),
        why=f"Two one-sided tests at 5 % use the margin {margin:g} point, our choice; the printed columns "
        f"are {abs(summary[LAYERS[1]] - summary[RIVALS[1]]):.1f} apart. The standard error allows for the "
        f"overlap of the halves. Mean accuracies over the {len(complete)} sets that all methods have: "
        f"{told}. p is from Wilcoxon's test over sets. {about_solver(complete.index)} {local_apart()}"
        + left_out(
            lambda name: "with it {:+.2f}, standard error {:.2f}".format(
                *mean_difference(first, RIVALS[1], [name])
            )
        ),
        sizes={"sets": number},
    )

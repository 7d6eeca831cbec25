"""Claims about our results beside Table 4: cells, a second layer, and whether two methods are similar."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ...claims import Evidence, Rival, claim
from ...claims.changed_results import moved, our_means
from ...claims.open_parts import above, judged, tally
from ...claims.printed_tables import paired
from ...experiments.equivalence import mean_interval
from ..paper.printed import LAYERS, NOTEBOOK, PAPER_TABLES, RIVALS, SUMMARY, printed
from .agreement import ONE_SIDED, equivalent
from .tables import EXTRA_4, LAYER_SOLVERS_CSV, REGISTRY, TABLE_4, local_apart, means_of, with_columns

if TYPE_CHECKING:
    import pandas as pd


@claim(
    "clasmk/table-4",
    kind="experiment",
    where="Table 4",
    statement="the printed accuracies of CLASMK-ML and multiple kernel learning, in one and two layers",
    notebook=f"{NOTEBOOK}#clasmk-table-4",
    depends=(TABLE_4, REGISTRY),
    rivals=(
        Rival(
            "our own means as if they were printed",
            swaps=our_means("clasmk", "table-4", "accuracy", digits=2),
        ),
    ),
)
def check_table_4() -> Evidence:
    """Compare every printed cell of the twelve sets with ours; the summary row is another claim's."""
    frame = PAPER_TABLES.cells("table-4")
    return PAPER_TABLES.agreement("table-4", frame[frame["dataset"] != SUMMARY])


def of_the_paper(names: Iterable[object]) -> list[str]:
    """Return the sets whose public version is that of the paper: the others are not-testable."""
    others = PAPER_TABLES.other_data()
    return [str(name) for name in names if name not in others]


def compared(first: str, second: str) -> tuple[int, int, int, float, float] | None:
    """Compare two of our columns of Table 4, as `printed_tables.paired` does; None without results.

    It is over the sets whose public version is that of the paper.
    """
    frame = with_columns(means_of("table-4", "accuracy"), first, second)
    if frame is None:
        return None
    frame = frame.loc[of_the_paper(frame.index)]
    return paired(frame[first], frame[second])


def left_out(told: Callable[[str], str]) -> str:
    """Return what is to be said of the sets that are not tested: `told` of each one's name; "" for none."""
    ours = means_of("table-4", "accuracy")
    others = (
        {} if ours is None else {n: why for n, why in PAPER_TABLES.other_data().items() if n in ours.index}
    )
    return "".join(
        f" Not tested, as the data differ: {name}, {why}; {told(name)}." for name, why in others.items()
    )


@claim(
    "clasmk/table-4-layers",
    kind="experiment",
    where="Table 4, the columns CLASMK-ML and 2L-CLASMK-ML",
    statement="in Table 4 a second layer improves CLASMK-ML on every set",
    notebook=f"{NOTEBOOK}#clasmk-table-4",
    depends=(TABLE_4, REGISTRY),
    rivals=(
        Rival("twelve points more", swaps=moved("clasmk", ["table-4"], LAYERS[1], "accuracy", by=12.0)),
        Rival("fifteen points less", swaps=moved("clasmk", ["table-4"], LAYERS[1], "accuracy", by=-15.0)),
    ),
)
def check_layers() -> Evidence:
    """Ask on every set whether our accuracy in two layers is higher than in one."""
    found = compared(LAYERS[1], LAYERS[0])
    if found is None:
        return PAPER_TABLES.nothing("better on every set", "table-4")
    better, worse, number, by, p = found
    every = {
        name: mean_interval(values.round(9), overlap=1.0)
        for name, values in differences(LAYERS[1], LAYERS[0]).items()
    }
    ends = {name: every[name] for name in of_the_paper(every)}
    parts = [above(low, high) for low, high in ends.values()]
    page = printed("table-4").drop(index=SUMMARY)
    rise = (page[LAYERS[1]] - page[LAYERS[0]]).round(6)
    return Evidence(
        verdict=judged(parts),
        measured=f"better on {number} sets: {tally(parts)}; the mean is higher on {better}, lower on "
        f"{worse}, by {by:+.2f} points on average (p = {p:.2g})",
        claimed="better on every set",
        slack=min(low for low, _ in ends.values()),
        why="By the 90 % intervals of the corrected resampled t-test over the halves, in points: "
        + ", ".join(f"{name} {low:+.1f} to {high:+.1f}" for name, (low, high) in ends.items())
        + ". An interval that contains 0 leaves a set open. The mean over the sets has p from Wilcoxon's "
        f"test. In print it is better on {int((rise > 0).sum())} of {len(rise)} sets, by {rise.mean():+.2f} "
        "points on average." + left_out(lambda name: "{:+.1f} to {:+.1f} there".format(*every[name])),
        sizes={"sets": number},
    )


def differences(first: str, second: str) -> dict[str, pd.Series[float]]:
    """Return the differences of two of our columns of Table 4 on the halves, by set."""
    ours = PAPER_TABLES.results("table-4")
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
    depends=(TABLE_4, LAYER_SOLVERS_CSV, REGISTRY),
    rivals=(Rival("truncated by half of the energy", {"first": "2L-CLASMK-ML half"}),),
)
def check_similar(*, first: str = LAYERS[1]) -> Evidence:
    """Compare the two methods of two layers, and those of one, over the sets, within the margin."""
    margin = similar()
    two, one = compared(first, RIVALS[1]), compared(LAYERS[0], RIVALS[0])
    frame = means_of("table-4", "accuracy")
    if two is None or one is None or frame is None:
        return PAPER_TABLES.nothing(f"within {margin:g} point", "table-4")
    higher, lower, number, _, p = two
    difference, se = mean_difference(first, RIVALS[1])
    names = [name for name in (*LAYERS, *RIVALS, *EXTRA_4) if name in frame.columns]
    complete = frame.loc[of_the_paper(frame.index)].dropna(subset=names)
    told = ", ".join(f"{name} {complete[name].mean():.1f}" for name in names)
    summary = printed("table-4").loc[SUMMARY]
    return Evidence(
        verdict=equivalent(difference, se, margin),
        measured=f"{first} is {difference:+.2f} points from 2L-MKL on average, with standard error {se:.2f}; "
        f"it is higher on {higher} of {number} sets and lower on {lower} (p = {p:.2g}). In one layer it is "
        f"higher on {one[0]} and lower on {one[1]}, by {one[3]:+.2f} on average (p = {one[4]:.2g})",
        claimed=f"within {margin:g} point",
        slack=float(margin - abs(difference) - ONE_SIDED * se),
        why=f"Two one-sided tests at 5 % use the margin {margin:g} point, our choice; the printed columns "
        f"are {abs(summary[LAYERS[1]] - summary[RIVALS[1]]):.1f} apart. The standard error allows for the "
        f"overlap of the halves. Mean accuracies over the {len(complete)} sets that all methods have: "
        f"{told}. p is from Wilcoxon's test over sets. {local_apart()}"
        + left_out(
            lambda name: "with it {:+.2f}, standard error {:.2f}".format(
                *mean_difference(first, RIVALS[1], [name])
            )
        ),
        sizes={"sets": number},
    )

"""Claims about who is ahead over all data sets in our runs: averages, rank tests, and the intercept."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...claims import Evidence, Rival, claim, decide, share
from ...claims.changed_results import moved
from ...claims.printed_tables import paired
from ...experiments.equivalence import mean_interval
from ..paper.printed import KINDS, LEVEL, PAPER_TABLES, printed
from ..paper.readings import Reading, available, best
from .tables_wins import contest, nothing, scores, win_tie_loss

if TYPE_CHECKING:
    import pandas as pd

#: a peer and the LDM with equal chances: neither has an intercept, or both have
FAIR = {"neither": ("LDM", "SVM-0"), "both": ("LDM+1", "SVM")}
#: contests that are told beside them
OTHER_PAIRS = {
    "only the SVM has one": ("LDM", "SVM"),
    "what it is worth to the SVM": ("SVM", "SVM-0"),
    "what it is worth to the LDM": ("LDM+1", "LDM"),
}


@dataclass(frozen=True)
class Ranking:
    """Who is ahead over the data sets under one reading; `parts` are the statements that are asked."""

    parts: list[bool]
    averages: pd.Series[float]
    printed: pd.Series[float]
    told: str
    sets: int


def ranking(table: str, reading: Reading, level: float = LEVEL) -> Ranking | None:
    """Ask whether the LDM's average is the best, and its lead over each peer significant; None without runs.

    Parameters
    ----------
    table : str
    reading : Reading
    level : float
        Of Wilcoxon's test over the sets.
    """
    wide = scores(table, reading=reading)
    if wide is None:
        return None
    wanted = [name for name in printed(table).means.columns if name in wide.columns]
    means = wide.groupby(level="dataset", sort=False)[wanted].mean()
    whole = means.dropna()
    if "LDM" not in wanted or len(wanted) < 2 or len(whole) < 2:
        return None
    averages = whole.mean()
    parts, told = [bool(averages["LDM"] >= averages.max())], []
    for peer in (name for name in wanted if name != "LDM"):
        ahead, behind, pairs, mean, p = paired(means["LDM"], means[peer])
        parts.append(mean > 0 and p < level)
        lines = contest(wide, "LDM", peer)
        told.append(
            f"{peer}: higher on {ahead}, lower on {behind} of {pairs} sets, p = {p:.2g}, win/tie/loss "
            f"{win_tie_loss(lines['paired'])} by the paired and {win_tie_loss(lines['corrected'])} by the "
            "corrected test"
        )
    theirs = printed(table).means.loc[whole.index, wanted].mean()
    return Ranking(parts, averages, theirs, "; ".join(told), len(whole))


def moved_rivals(table: str, *by: float) -> tuple[Rival, ...]:
    """Return rivals in which the accuracies of the LDM are moved `by` so much."""
    points = {0.005: "half a point", 0.01: "a point"}
    return tuple(
        Rival(
            f"an LDM that is {points[abs(step)]} {'less' if step < 0 else 'more'} accurate",
            swaps=moved("ldm", [table], "LDM", "accuracy", by=step),
        )
        for step in by
    )


def order(table: str, level: float = LEVEL) -> Evidence:
    """Rank the methods over the data sets under each reading that has been run, and judge by the best one."""
    results = PAPER_TABLES.results(table)
    found = {r: ranking(table, r, level) for r in (available(results) if results is not None else ())}
    rankings = {reading: one for reading, one in found.items() if one is not None}
    if not rankings:
        return nothing("highest average, ahead of every peer", table)
    reading, text = best({r: (sum(one.parts), len(one.parts)) for r, one in rankings.items()})
    one = rankings[reading]
    return Evidence(
        verdict=share(sum(one.parts), len(one.parts)),
        measured=f"averages {', '.join(f'{name} {value:.3f}' for name, value in one.averages.items())}; the "
        f"LDM {'has' if one.parts[0] else 'does not have'} the best average and is significantly ahead of "
        f"{sum(one.parts[1:])} of {len(one.parts) - 1} peers",
        claimed=", ".join(f"{name} {value:.3f}" for name, value in one.printed.items()),
        slack=float(sum(one.parts) - len(one.parts)),
        why=f"All averages, also the printed ones, are over the {one.sets} sets on which all methods have a "
        "result. Against each peer we apply Wilcoxon's test over the sets, and tests over the splits on "
        f"each set. {one.told}. The parts of the claim are the best average and a significant lead over "
        f"each peer; the level {level:g} is ours. Slack is minus the number of parts that fail.",
        sizes={"sets": one.sets, "methods": len(one.averages)},
        reading=text,
    )


@claim(
    "ldm/table-2-order",
    kind="experiment",
    where="Section 4.2, second sentence, and the last rows of Table 2",
    statement="with linear kernels the overall performance of the LDM is superior or highly competitive to "
    "that of the SVM and the other methods: it has the best average and leads every peer",
    notebook="ldm/04_regular_data#ldm-table-2-order",
    depends=("results/ldm/table-2.csv",),
    rivals=moved_rivals("table-2", -0.005, 0.01),
)
def check_table_2_order() -> Evidence:
    """Test the linear results over the data sets."""
    return order("table-2")


@claim(
    "ldm/table-3-order",
    kind="experiment",
    where="Section 4.2, second sentence, and the last rows of Table 3",
    statement="with rbf kernels the overall performance of the LDM is superior or highly competitive to "
    "that of the SVM and the other methods: it has the best average and leads every peer",
    notebook="ldm/04_regular_data#ldm-table-3-order",
    depends=("results/ldm/table-3.csv",),
    rivals=moved_rivals("table-3", -0.005, 0.005),
)
def check_table_3_order() -> Evidence:
    """Test the results with the rbf kernel over the data sets."""
    return order("table-3")


@claim(
    "ldm/table-4-order",
    kind="experiment",
    where="Section 4.3, third sentence, and the last rows of Table 4",
    statement="on large sets the overall performance of the LDM is superior or highly competitive to that "
    "of the SVM and the other methods: it has the best average and leads every peer",
    notebook="ldm/05_large_scale#ldm-table-4-order",
    depends=("results/ldm/table-4.csv",),
    rivals=moved_rivals("table-4", -0.005, 0.01),
)
def check_table_4_order() -> Evidence:
    """Test the results on the large sets over the data sets."""
    return order("table-4")


@claim(
    "ldm/intercept",
    kind="ours",
    where="Sections 2 and 4.2",
    statement="with the weights of (6), and with an intercept in both classifiers or in neither, the LDM's "
    "mean lead over the SVM is less than half of the printed lead",
    notebook="ldm/04_regular_data#ldm-intercept",
    depends=("results/ldm/table-2.csv", "results/ldm/table-3.csv"),
    rivals=(
        Rival("less than a fiftieth of the printed lead", {"part": 0.02}),
        Rival("contests in which only the SVM has an intercept", {"pairs": {"only the SVM": ("LDM", "SVM")}}),
        Rival(
            "the double sum of (4) in the place of the variance, against an SVM without an intercept",
            {"pairs": {"neither": ("LDM(4)", "SVM-0")}},
        ),
    ),
)
def check_intercept(part: float = 0.5, pairs: Mapping[str, tuple[str, str]] = FAIR) -> Evidence:
    """Ask in the two fair contests, for each kernel, whether the mean lead is equivalent to none.

    Parameters
    ----------
    part : float
        Of the printed lead: the margin of the equivalence.
    pairs : mapping
        The contests that count.
    """
    parts, told, leads, room, sets = [], [], [], math.inf, 0
    for table in ("table-2", "table-3"):
        wide = scores(table)
        if wide is None:
            continue
        means = wide.groupby(level="dataset", sort=False).mean()
        theirs = printed(table).means
        margin = part * float((theirs["LDM"] - theirs["SVM"]).mean())
        for label, pair in (*pairs.items(), *OTHER_PAIRS.items()):
            if not set(pair) <= set(means):
                continue
            ahead, behind, number, mean, p = paired(means[pair[0]], means[pair[1]])
            if label in OTHER_PAIRS and pair in pairs.values():
                continue
            low, high = mean_interval((means[pair[0]] - means[pair[1]]).dropna())
            points = round(100 * mean, 2) + 0.0  # no minus before a zero
            told.append(
                f"{KINDS[table]}: {pair[0]} over {pair[1]} {points:+.2f} points ({100 * low:+.2f} to "
                f"{100 * high:+.2f}), higher on {ahead}, lower on {behind} of {number}, p = {p:.2g}"
            )
            if label in pairs:
                parts.append(-margin < low and high < margin)
                room = min(room, low + margin, margin - high)
                leads.append(f"{KINDS[table]}, {label}: {points:+.2f} (margin {100 * margin:.2f})")
                sets = max(sets, number)
    if not parts:
        return nothing("no lead in each")
    return Evidence(
        verdict=decide(all(parts)),
        measured=f"equivalent to no lead in {sum(parts)} of {len(parts)} contests; mean leads in points, "
        f"with the margin of the test: {'; '.join(leads)}",
        claimed=f"in each contest between minus {part:g} and plus {part:g} times the printed mean lead",
        slack=100 * room,
        why="The paper writes both models without an intercept, but common SVM programs have one. SVM-0 has "
        f"none; LDM+1 has a constant feature, or a constant added to the kernel. {'; '.join(told)}. In "
        "brackets is the 90 % interval of Student's t over the data sets. Two one-sided tests at 5 % show "
        "equivalence where it lies within the margin, which is ours. The p-values are those of Wilcoxon's "
        "test. Slack is in points.",
        sizes={"sets": sets, "contests": len(parts)},
    )

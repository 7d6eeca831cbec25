"""Claims about who is ahead over all data sets in our runs: averages, rank tests, and the intercept."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...claims import Evidence, Rival, claim, decide
from ...claims.changed_results import moved
from ...claims.open_parts import OPEN, REFUTED, SHOWN, above, all_of, at_least, judged, tally
from ...claims.printed_tables import paired
from ...experiments.equivalence import mean_interval
from ..paper.printed import KINDS, PAPER_TABLES, printed
from ..paper.readings import Reading, available, best_parts
from .tables_wins import contest, in_points, margin, outcome_counts, scores

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
    """Who is ahead over the data sets under one reading.

    Attributes
    ----------
    parts : list of str
        Shown, open or refuted: that the LDM's average is the highest, then of each peer that the LDM is
        superior to it or, within the margin, competitive.
    averages, printed : Series
        By method, over the sets that all methods have.
    room : float
        The least distance of an interval's lower end from minus the margin.
    told : str
    sets : int
    """

    parts: list[str]
    averages: pd.Series[float]
    printed: pd.Series[float]
    room: float
    told: str
    sets: int


def ranking(table: str, reading: Reading) -> Ranking | None:
    """Ask whether the LDM's average is the highest, and whether it keeps up with each peer.

    Parameters
    ----------
    table : str
    reading : Reading

    Returns
    -------
    Ranking or None
        None without results.
    """
    wide = scores(table, reading=reading)
    if wide is None:
        return None
    wanted = [name for name in printed(table).means.columns if name in wide.columns]
    means = wide.groupby(level="dataset", sort=False)[wanted].mean()
    whole = means.dropna()
    if "LDM" not in wanted or len(wanted) < 2 or len(whole) < 2:
        return None
    ahead, keeps_up, told, room, allowed = [], [], [], math.inf, margin(table)
    for peer in (name for name in wanted if name != "LDM"):
        low, high = mean_interval((whole["LDM"] - whole[peer]).round(12))
        ahead.append(above(low, high))
        keeps_up.append(at_least(low, high, -allowed))
        room = min(room, low + allowed)
        more, less, pairs, _, p = paired(means["LDM"], means[peer])
        lines = contest(wide, "LDM", peer)
        told.append(
            f"{peer}: {100 * low:+.2f} to {100 * high:+.2f} points, higher on {more}, lower on {less} of "
            f"{pairs} sets, p = {p:.2g}, win/tie/loss {outcome_counts(lines['paired'])} by the paired and "
            f"{outcome_counts(lines['corrected'])} by the corrected test"
        )
    theirs = printed(table).means.loc[whole.index, wanted].mean()
    parts = [all_of(ahead), *keeps_up]
    return Ranking(parts, whole.mean(), theirs, room, "; ".join(told), len(whole))


def moved_rivals(table: str, *by: float) -> tuple[Rival, ...]:
    """Return rivals in which the accuracies of the LDM are moved `by` so much."""
    return tuple(
        Rival(
            f"an LDM that is {in_points(abs(step))} {'less' if step < 0 else 'more'} accurate",
            swaps=moved("ldm", [table], "LDM", "accuracy", by=step),
        )
        for step in by
    )


#: what the interval of a lead says of an average
HIGHEST = {SHOWN: "is the highest", OPEN: "may be the highest or not", REFUTED: "is not the highest"}


def order(table: str) -> Evidence:
    """Rank the methods over the data sets under each reading that has been run, and judge by the best one."""
    results = PAPER_TABLES.results(table)
    found = {r: ranking(table, r) for r in (available(results) if results is not None else ())}
    rankings = {reading: one for reading, one in found.items() if one is not None}
    if not rankings:
        return PAPER_TABLES.nothing("highest average, superior to every peer or competitive", table)
    reading, text = best_parts({r: one.parts for r, one in rankings.items()}, table)
    one = rankings[reading]
    return Evidence(
        verdict=judged(one.parts),
        measured=f"averages {', '.join(f'{name} {value:.3f}' for name, value in one.averages.items())}; that "
        f"of the LDM {HIGHEST[one.parts[0]]}; superior or competitive within "
        f"{in_points(margin(table))}, against {len(one.parts) - 1} peers: {tally(one.parts[1:])}",
        claimed=", ".join(f"{name} {value:.3f}" for name, value in one.printed.items()),
        slack=100 * one.room,
        why=f"All averages, also the printed ones, are over the {one.sets} sets on which all methods have a "
        "result. Of the mean lead of the LDM over each peer we take the 90 % interval of Student's t over "
        "the sets. The average is the highest where all intervals are above 0; the LDM keeps up with a peer "
        f"where the interval is above minus {in_points(margin(table))}, a margin of ours. An interval that "
        f"contains the bound leaves the part open. {one.told}. The p-values are those of Wilcoxon's test "
        "over the sets, the counts those of tests over the splits on each set. Slack is the least distance "
        "from the margin, in points.",
        sizes={"sets": one.sets, "methods": len(one.averages)},
        reading=text,
    )


@claim(
    "ldm/table-2-order",
    kind="experiment",
    where="Section 4.2, second sentence, and the row 'Ave. accuracy' of Table 2",
    statement="with linear kernels the overall performance of the LDM is superior or highly competitive to "
    "that of the SVM and of the other methods; its average is the highest",
    notebook="ldm/04_regular_data#ldm-table-2-order",
    depends=("results/ldm/table-2.csv",),
    rivals=moved_rivals("table-2", -0.04, 0.01),
)
def check_table_2_order() -> Evidence:
    """Test the linear results over the data sets."""
    return order("table-2")


@claim(
    "ldm/table-3-order",
    kind="experiment",
    where="Section 4.2, second sentence, and the row 'Ave. accuracy' of Table 3",
    statement="with rbf kernels the overall performance of the LDM is superior or highly competitive to "
    "that of the SVM and of the other methods; its average is the highest",
    notebook="ldm/04_regular_data#ldm-table-3-order",
    depends=("results/ldm/table-3.csv",),
    rivals=moved_rivals("table-3", -0.04, 0.005),
)
def check_table_3_order() -> Evidence:
    """Test the results with the rbf kernel over the data sets."""
    return order("table-3")


@claim(
    "ldm/table-4-order",
    kind="experiment",
    where="Section 4.3, third sentence, and the row 'Ave. accuracy' of Table 4",
    statement="on large sets the overall performance of the LDM is superior or highly competitive to that "
    "of the SVM and of the other methods; its average is the highest",
    notebook="ldm/05_large_scale#ldm-table-4-order",
    depends=("results/ldm/table-4.csv",),
    rivals=moved_rivals("table-4", 0.005),
)
def check_table_4_order() -> Evidence:
    """Test the results on the large sets over the data sets."""
    return order("table-4")


@claim(
    "ldm/intercept",
    kind="ours",
    where="(2) and (5), which have no intercept; Section 4.2, last sentence",
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
        allowed = part * float((theirs["LDM"] - theirs["SVM"]).mean())
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
                parts.append(-allowed < low and high < allowed)
                room = min(room, low + allowed, allowed - high)
                leads.append(f"{KINDS[table]}, {label}: {points:+.2f} (margin {100 * allowed:.2f})")
                sets = max(sets, number)
    if not parts:
        return PAPER_TABLES.nothing("no lead in each", "table-2")
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

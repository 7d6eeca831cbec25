"""Claims about the counts that the text reads off the tables, and about the marks in them."""

from __future__ import annotations

from collections.abc import Mapping

from ...claims import Evidence, Rival, claim, decide
from ..paper.printed import (
    KINDS,
    OUTCOMES,
    SPLITS,
    by_possibility,
    possible_outcomes,
    printed,
    printed_counts,
)
from .made_up_scores import ANOTHER_LEVEL, ONE_SPLIT_MORE, otherwise

#: "performs significantly better than SVM, MDO, MAMC, KM-OMD on ... and achieves the best accuracy on ..."
TEXT_WINS = {
    "table-2": {"SVM": 12, "MDO": 9, "MAMC": 17, "KM-OMD": 10},
    "table-3": {"SVM": 10, "MAMC": 18, "KM-OMD": 15},
    "table-4": {"SVM": 6, "MDO": 7, "MAMC": 12},
}
TEXT_BEST = {"table-2": 13, "table-3": 15, "table-4": 8}


def best_counts(table: str) -> tuple[int, int]:
    """Return on how many sets the LDM's printed mean is the highest: alone, and with ties counted."""
    means = printed(table).means
    top = means.eq(means.max(axis=1), axis=0)
    return int((top["LDM"] & (top.sum(axis=1) == 1)).sum()), int(top["LDM"].sum())


def count_bounds(table: str, method: str) -> dict[str, tuple[int, int]]:
    """Return the fewest and the most wins, ties and losses of the LDM that the printed numbers allow.

    Against the SVM, the marks say them.
    """
    page = printed(table)
    if method == "SVM":
        marked = [{outcome} for outcome in page.marks["LDM"]]
    else:
        marked = [
            possible_outcomes(page.cell(name, "LDM"), page.cell(name, method), SPLITS[table])
            for name in page.sets(method)
        ]
    return {
        outcome: (sum(found == {outcome} for found in marked), sum(outcome in found for found in marked))
        for outcome in OUTCOMES
    }


def _told(differ: int) -> str:
    """Return what is said of cells for which the bounds on the test are not those of real scores."""
    return f"; for {differ} cells scores have other outcomes than the bounds say" if differ else ""


def _exactly(differ: int) -> str:
    return "not always" if differ else "exactly"


def _changed(counts: tuple[int, int, int], to: tuple[int, int, int] | None) -> tuple[int, int, int]:
    return counts if to is None else to


@claim(
    "ldm/table-2-counts",
    kind="arithmetic",
    where="Section 4.2, third sentence; Section 4.3, fourth sentence; the last rows of Tables 2 to 4",
    statement="LDM performs significantly better than SVM, MDO, MAMC, KM-OMD on 12, 9, 17, 10 (linear), "
    "10, -, 18, 15 (rbf), 6, 7, 12, - (large) sets, as the win/tie/loss rows say, and for the "
    "SVM also the marks",
    notebook="ldm/04_regular_data#ldm-table-2-counts",
    rivals=(
        Rival("8 wins over MDO in the text", {"text": {("table-2", "MDO"): 8}}),
        Rival("8 wins over MDO in the last row", {"row": {("table-2", "MDO"): (8, 10, 1)}}),
        Rival("11 wins over the SVM in text and row", {
            "text": {("table-2", "SVM"): 11}, "row": {("table-2", "SVM"): (11, 9, 0)},
        }),
        Rival("a bullet of the LDM deleted: colic, linear", {"unmarked": ("table-2", "colic")}),
        Rival("a bullet of the LDM deleted: rcv1", {"unmarked": ("table-4", "rcv1")}),
    ),
)  # fmt: skip
def check_counts(
    text: Mapping[tuple[str, str], int] = {},
    row: Mapping[tuple[str, str], tuple[int, int, int]] = {},
    unmarked: tuple[str, str] | None = None,
) -> Evidence:
    """Hold the text against the last rows, these against the numbers of sets, the SVM's against the marks.

    Parameters
    ----------
    text, row : mapping
        By table and method, counts that are printed otherwise.
    unmarked : (table, data set), optional
        A mark of the LDM that is not there.
    """
    wrong, number = [], 0
    for table, kind in KINDS.items():
        page = printed(table)
        if unmarked is not None and unmarked[0] == table:
            page.marks.loc[unmarked[1], "LDM"] = "tie"
        for method, printed_row in printed_counts(table).items():
            counts = _changed(printed_row, row.get((table, method)))
            number += 1
            if text.get((table, method), TEXT_WINS[table].get(method)) != counts[0]:
                wrong.append(f"{method} ({kind}): {counts[0]} wins in the row, another number in the text")
            if sum(counts) != len(page.sets(method)):
                wrong.append(
                    f"{method} ({kind}): the row sums to {sum(counts)}, but there are "
                    f"{len(page.sets(method))} sets"
                )
            marks = tuple(int((page.marks["LDM"] == outcome).sum()) for outcome in OUTCOMES)
            if method == "SVM" and counts != marks:
                wrong.append(f"SVM ({kind}): the marks give {'/'.join(map(str, marks))}")
    return Evidence(
        verdict=decide(not wrong),
        measured=f"{number - len(wrong)} of {number} rows agree with the text, have the right sum and, for "
        "the SVM, agree with the marks"
        if len(wrong) <= number
        else "no row agrees",
        claimed=f"{number} of {number}",
        slack=float(-len(wrong)),
        why=f"Exceptions: {'; '.join(wrong) or 'none'}. Wins, ties and losses must add up to the number of "
        "sets for which the method has an accuracy. Whether the tests against the other peers give these "
        "counts is a separate claim, ldm/table-2-peers.",
        sizes={"rows": number, "sets": sum(len(printed(table).means) for table in KINDS)},
    )


@claim(
    "ldm/table-2-peers",
    kind="arithmetic",
    where="Tables 2 to 4, the last rows: MDO, MAMC and KM-OMD",
    statement="the counts of significant wins, ties and losses of the LDM against MDO, MAMC and KM-OMD are "
    "those of paired t-tests on the printed means",
    notebook="ldm/04_regular_data#ldm-table-2-counts",
    rivals=(
        Rival("19 wins over MDO with the linear kernel", {"row": {("table-2", "MDO"): (19, 0, 1)}}),
        Rival("11 wins over MAMC on large sets", {"row": {("table-4", "MAMC"): (11, 1, 0)}}),
        Rival("15 wins over MAMC with the linear kernel", {"row": {("table-2", "MAMC"): (15, 5, 0)}}),
        ANOTHER_LEVEL,
        ONE_SPLIT_MORE,
    ),
)
def check_peers(row: Mapping[tuple[str, str], tuple[int, int, int]] = {}) -> Evidence:
    """Bound the wins, ties and losses by the printed means and deviations.

    Parameters
    ----------
    row : mapping
        By table and method, counts that are printed otherwise.
    """
    possible, certain, number, told, room, differ = 0, 0, 0, [], [], 0
    for table, kind in KINDS.items():
        for method, printed_row in printed_counts(table).items():
            if method == "SVM":
                continue
            counts = _changed(printed_row, row.get((table, method)))
            bounds = [count_bounds(table, method)[outcome] for outcome in OUTCOMES]
            number += 1
            differ += otherwise("LDM", method, table)
            possible += all(low <= n <= high for n, (low, high) in zip(counts, bounds, strict=True))
            certain += all(low == n == high for n, (low, high) in zip(counts, bounds, strict=True))
            room += [min(n - low, high - n) for n, (low, high) in zip(counts, bounds, strict=True)]
            told.append(f"{method} ({kind}) {counts[0]} in {bounds[0][0]} to {bounds[0][1]}")
    return Evidence(
        verdict=by_possibility(0 if differ else possible, certain, number),
        measured=f"{possible} of {number} rows are possible, {certain} certain{_told(differ)}",
        claimed=f"{number} certain",
        slack=float(min(*room, -differ)),
        why="A paired test needs the scores on the splits, which are not printed. But the two printed "
        f"deviations bound the deviation of the difference, and so the number of wins: {', '.join(told)}. A "
        "count that is only possible is not confirmed. For each cell, t-tests on made-up scores with the "
        f"printed means and deviations have {_exactly(differ)} the outcomes that the bounds allow.",
        sizes={"rows": number},
    )


@claim(
    "ldm/table-2-best",
    kind="arithmetic",
    where="Section 4.2, third sentence; Section 4.3, fourth sentence",
    statement="LDM achieves the best accuracy on 13 sets with linear kernels, on 15 with rbf kernels, and on "
    "8 large sets",
    notebook="ldm/04_regular_data#ldm-table-2-counts",
    rivals=(
        Rival("14 with linear kernels", {"text": TEXT_BEST | {"table-2": 14}}),
        Rival("13 with rbf kernels", {"text": TEXT_BEST | {"table-3": 13}}),
        Rival("6 large sets", {"text": TEXT_BEST | {"table-4": 6}}),
        Rival(
            "13, 16 and 11: ties of the digits count", {"text": {"table-2": 13, "table-3": 16, "table-4": 11}}
        ),
    ),
)
def check_best(text: Mapping[str, int] = TEXT_BEST) -> Evidence:
    """Count the sets on which the LDM's printed mean is the highest, alone and with ties.

    Parameters
    ----------
    text : mapping
        The counts of the text by table.
    """
    best = {table: best_counts(table) for table in KINDS}
    possible = sum(alone <= text[table] <= shared for table, (alone, shared) in best.items())
    rules = {
        "a tie counts for nobody": sum(text[table] == alone for table, (alone, _) in best.items()),
        "a tie counts": sum(text[table] == shared for table, (_, shared) in best.items()),
    }
    shown = "; ".join(
        f"{KINDS[table]} {alone} alone, {shared} with ties" for table, (alone, shared) in best.items()
    )
    # the slack: how many sets are counted otherwise by the better rule for ties
    otherwise = min(
        sum(abs(text[table] - counts[place]) for table, counts in best.items()) for place in range(2)
    )
    told = ", ".join(f"{rule}: {number} of {len(best)}" for rule, number in rules.items())
    return Evidence(
        verdict=by_possibility(possible, max(rules.values()), len(best)),
        measured=f"number of sets on which the LDM is best: {shown}",
        claimed=f"best on {', '.join(str(text[table]) for table in best)}",
        slack=float(-otherwise),
        why="The printed digits leave ties, which digits that are not printed may break. "
        f"{possible} of {len(best)} counts of the text lie between those without and with these ties. Counts "
        f"that one rule for the ties gives: {told}.",
        sizes={"tables": len(best), "sets": sum(len(printed(table).means) for table in KINDS)},
    )


@claim(
    "ldm/table-2-marks",
    kind="arithmetic",
    where="Tables 2 to 4, captions",
    statement="a bullet or circle marks a method that differs significantly from the SVM by a paired t-test "
    "at 95 %",
    notebook="ldm/04_regular_data#ldm-table-2-marks",
    rivals=(
        Rival("MAMC not worse than the SVM on rcv1", {"instead": ("table-4", "rcv1", "MAMC", "tie")}),
        Rival("LDM worse than the SVM on vote, linear", {"instead": ("table-2", "vote", "LDM", "loss")}),
        Rival(
            "LDM better than the SVM on promoters, linear",
            {"instead": ("table-2", "promoters", "LDM", "win")},
        ),
        ANOTHER_LEVEL,
    ),
)
def check_marks(instead: tuple[str, str, str, str] | None = None) -> Evidence:
    """Ask of every mark, and of every cell without one, whether the printed numbers allow it.

    Parameters
    ----------
    instead : (table, data set, method, outcome), optional
        A mark that is printed otherwise.
    """
    possible, certain, number, off, differ = 0, 0, 0, [], 0
    for table in KINDS:
        page = printed(table)
        if instead is not None and instead[0] == table:
            page.marks.loc[instead[1], instead[2]] = instead[3]
        for method in page.means.columns.drop("SVM"):
            marks = page.marks[method].to_dict()
            differ += otherwise(str(method), "SVM", table)
            for name in page.sets(str(method)):
                found = possible_outcomes(page.cell(name, str(method)), page.cell(name, "SVM"), SPLITS[table])
                number += 1
                certain += found == {marks[name]}
                if marks[name] in found:
                    possible += 1
                else:
                    off.append(f"{name}, {method} ({KINDS[table]})")
    return Evidence(
        verdict=by_possibility(0 if differ else possible, certain, number),
        measured=f"{possible} of {number} marks are possible, {certain} of them certain{_told(differ)}",
        claimed=f"{number} of {number} certain",
        slack=float(min(possible - number, -differ)),
        why=f"Impossible: {', '.join(off) or 'none'}. The deviation of a paired difference lies between the "
        "difference and the sum of the two printed deviations. Where both ends give the same outcome, the "
        "mark is certain. The other marks cannot be confirmed without the scores on the splits. For each "
        f"cell, t-tests on made-up scores with the printed means and deviations have {_exactly(differ)} the "
        "outcomes that the bounds allow.",
        sizes={"cells": number},
    )

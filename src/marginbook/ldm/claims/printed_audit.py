"""Claims about the paper's own numbers: sizes of the data, averages, counts, and the most frequent class."""

from __future__ import annotations

import math
from typing import Any

from ...claims import Evidence, claim, decide
from ..paper.printed import (
    KINDS,
    OUTCOMES,
    ROUNDING,
    SPLITS,
    possible_outcomes,
    printed,
    printed_counts,
    sizes,
    summary,
)

REGISTRY = ("data_download/registry.toml",)
#: "performs significantly better than SVM, MDO, MAMC, KM-OMD on ... and achieves the best accuracy on ..."
TEXT_WINS = {
    "table-2": {"SVM": 12, "MDO": 9, "MAMC": 17, "KM-OMD": 10},
    "table-3": {"SVM": 10, "MAMC": 18, "KM-OMD": 15},
    "table-4": {"SVM": 6, "MDO": 7, "MAMC": 12},
}
TEXT_BEST = {"table-2": 13, "table-3": 15, "table-4": 8}


@claim(
    "ldm/table-1",
    kind="arithmetic",
    where="Table 1",
    statement="the numbers of instances and features of 32 data sets",
    notebook="ldm/04_regular_data#ldm-table-1",
    depends=REGISTRY,
)
def check_table_1() -> Evidence:
    """Compare every printed size with that of the data that can be had."""
    from ...datasets.registry import entry

    rows, features, inferred, absent = 0, 0, [], []
    off: dict[str, str] = {}
    for name, line in sizes().to_dict("index").items():
        found = entry(str(name))
        if not found.available:
            absent.append(f"{line['printed_name']} ({found.home})")
            continue
        rows += found.n == line["n"]
        features += found.p == line["p"]
        if found.n != line["n"]:
            off[str(name)] = f"{line['printed_name']} {line['n']} rows, the set has {found.n}"
        elif found.p != line["p"]:
            off[str(name)] = f"{line['printed_name']} {line['p']} features, the set has {found.p}"
        elif "inferred" in found.notes:
            inferred.append(str(line["printed_name"]))
    had = len(sizes()) - len(absent)
    return Evidence(
        decide(rows == had == features, rows == had and had - features == len(off) <= had // 4),
        f"{rows} of {had} numbers of instances and {features} of {had} numbers of features are those of the "
        "data that can be had",
        f"{had} and {had}",
        float(min(rows, features) - had),
        f"Not so: {'; '.join(off.values()) or 'none'}. The corrected statement, checked too: every number of "
        "instances, and all but these numbers of features. For "
        f"{', '.join(inferred) or 'no set'} the agreement proves little: which columns or rows of the public "
        f"set are meant was inferred from the printed size. Not to be had: {', '.join(absent) or 'none'}.",
        {"sets": len(sizes()), "compared": had},
    )


@claim(
    "ldm/table-2-averages",
    kind="arithmetic",
    where="Tables 2, 3 and 4",
    statement="the row 'Ave. accuracy' holds the means of the columns above it",
    notebook="ldm/04_regular_data#ldm-table-2-averages",
)
def check_averages() -> Evidence:
    """Average the printed cells again: cells and averages are both rounded to three digits."""
    tested, equal, off, worst, unequal = 0, 0, [], 0.0, []
    for table in KINDS:
        means = printed(table).means
        for method, text in summary(table, "average").items():
            column = means[method].dropna()
            if text == "N/A":
                continue
            tested += 1
            again = float(column.mean())
            worst = max(worst, abs(again - float(text)))
            if f"{again:.3f}" == text:
                equal += 1
            else:
                off.append(f"{method} of {KINDS[table]}: {again:.4f} from the cells, printed {text}")
            if len(column) < len(means):
                rest = means.loc[column.index]
                others = ", ".join(f"{name} {rest[name].mean():.3f}" for name in ("SVM", "LDM"))
                unequal.append(
                    f"the average {text} of {method} in the table of {KINDS[table]} sets is over "
                    f"{len(column)} sets, the others' over {len(means)}; on those {len(column)} {others}"
                )
    allowed = 2 * ROUNDING
    return Evidence(
        decide(worst <= allowed + 1e-12),
        f"{equal} of {tested} averages come out to the last digit; the largest difference is {worst:.4f}",
        f"at most {allowed:.3f}, by rounding",
        allowed - worst,
        f"Differences: {'; '.join(off) or 'none'}: rounded cells and a rounded average can differ by so "
        f"much. An empty cell is left out: {'; '.join(unequal) or 'there is none'}.",
        {"averages": tested},
    )


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


@claim(
    "ldm/table-2-counts",
    kind="arithmetic",
    where="Tables 2 to 4, Sections 4.2 and 4.3",
    statement="LDM wins significantly on 12, 9, 17, 10 (linear), 10, 18, 15 (rbf), 6, 7, 12 (large) sets "
    "against its peers, and is the best on 13, 15 and 8",
    notebook="ldm/04_regular_data#ldm-table-2-counts",
)
def check_counts() -> Evidence:
    """Recount: the text against the last rows, these against marks or bounds, the best from the means."""
    rows_hold, told, n_rows = True, [], 0
    for table, kind in KINDS.items():
        for method, counts in printed_counts(table).items():
            bounds = count_bounds(table, method)
            inside = all(bounds[o][0] <= c <= bounds[o][1] for o, c in zip(OUTCOMES, counts, strict=True))
            rows_hold &= inside and TEXT_WINS[table].get(method) == counts[0]
            n_rows += 1
            if method != "SVM":
                low, high = bounds["win"]
                told.append(f"{method} ({kind}) {counts[0]} in {low} to {high}")
    best = {table: best_counts(table) for table in KINDS}
    between = all(best[table][0] <= claimed <= best[table][1] for table, claimed in TEXT_BEST.items())
    shown = "; ".join(
        f"{KINDS[table]} {alone} alone, {shared} with ties" for table, (alone, shared) in best.items()
    )
    return Evidence(
        decide(rows_hold and between),
        f"best on: {shown}; the win/tie/loss rows are {'' if rows_hold else 'not '}within marks and bounds",
        "best on 13, 15, 8",
        float(min(min(c - best[t][0], best[t][1] - c) for t, c in TEXT_BEST.items())),
        "Against the SVM the marks of LDM's column are counted. Against the others a paired test needs the "
        "splits, which are not printed; two deviations bound that of the difference, and so the wins: "
        f"{', '.join(told)}. The counts of best sets lie between those without and with ties of the printed "
        "digits, as they would if more digits broke the ties; no one way to count printed ties gives all.",
        {"rows": n_rows, "sets": sum(len(printed(table).means) for table in KINDS)},
    )


@claim(
    "ldm/table-2-marks",
    kind="arithmetic",
    where="Tables 2 to 4",
    statement="a bullet or circle marks a method that differs from the SVM by a paired t-test at 95 %",
    notebook="ldm/04_regular_data#ldm-table-2-marks",
)
def check_marks() -> Evidence:
    """Ask of every mark, and of every cell without one, whether the printed numbers allow it."""
    possible, certain, number, off = 0, 0, 0, []
    for table in KINDS:
        page = printed(table)
        for method in page.means.columns.drop("SVM"):
            marks = page.marks[method].to_dict()
            for name in page.sets(str(method)):
                found = possible_outcomes(page.cell(name, str(method)), page.cell(name, "SVM"), SPLITS[table])
                number += 1
                certain += len(found) == 1
                if marks[name] in found:
                    possible += 1
                else:
                    off.append(f"{name}, {method} ({KINDS[table]})")
    return Evidence(
        decide(possible == number),
        f"{possible} of {number} are possible, {certain} of them certain",
        f"{number} of {number}",
        float(possible - number),
        f"Not possible: {', '.join(off) or 'none'}. The deviation of a difference lies between the "
        "difference and the sum of the two printed deviations; where both ends give the same outcome, it is "
        "certain.",
        {"cells": number},
    )


def above_majority(table: str) -> dict[str, dict[str, Any]]:
    """Return, by set of which the class counts are known, the LDM's printed mean and the largest class.

    Returns
    -------
    dict
        `mean`, `share` (of the most frequent class), `lead` (of the mean, less two standard errors),
        `as_mamc` (mean and deviation are those printed for MAMC).
    """
    from ...datasets.registry import entry

    page = printed(table)
    found: dict[str, dict[str, Any]] = {}
    for name in map(str, page.means.index):
        counts = list(entry(name).classes.values()) if entry(name).available else []
        if counts:
            mean, std = page.cell(name, "LDM")
            share = max(counts) / sum(counts)
            found[name] = {
                "mean": mean,
                "share": share,
                "lead": mean - share - 2 * std / math.sqrt(SPLITS[table]) - ROUNDING,
                "as_mamc": page.cell(name, "MAMC") == (mean, std),
            }
    return found


@claim(
    "ldm/table-2-majority",
    kind="ours",
    where="Tables 2 to 4",
    statement="the LDM's printed accuracies are above the share of the larger class, by more than two "
    "standard errors",
    notebook="ldm/04_regular_data#ldm-table-2-majority",
    depends=REGISTRY,
)
def check_majority() -> Evidence:
    """Compare the printed means with the share of the larger class, beyond two standard errors."""
    lines = {(table, name): line for table in KINDS for name, line in above_majority(table).items()}
    above = sum(line["lead"] > 0 for line in lines.values())
    below = [
        f"{name} ({KINDS[table]}): {line['mean']:.3f}, the share is {line['share']:.3f}"
        for (table, name), line in lines.items()
        if line["lead"] <= 0
    ]
    twins = [(table, name) for (table, name), line in lines.items() if line["as_mamc"] and line["lead"] <= 0]
    twin_names = ", ".join(f"{name} ({KINDS[table]})" for table, name in twins)
    won = [f"{name} ({KINDS[t]})" for t, name in twins if printed(t).marks.loc[name, "LDM"] == "win"]
    return Evidence(
        decide(above == len(lines), above > 0.8 * len(lines)),
        f"{above} of {len(lines)} printed accuracies are above it",
        f"{len(lines)} of {len(lines)}",
        float(min(line["lead"] for line in lines.values())),
        f"Not so: {'; '.join(below) or 'none'}. On {twin_names or 'none'} mean and deviation are those of "
        "MAMC, to all digits: so it looks when both always answer the larger class, and "
        f"{', '.join(won) or 'none'} of these counts as a significant win over the SVM. The corrected "
        "statement, checked too: more than four in five.",
        {"cells": len(lines)},
    )

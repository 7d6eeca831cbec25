"""Claims about the paper's own numbers: sizes of the data, and the most frequent class."""

from __future__ import annotations

import math
from typing import Any

from ...claims import Evidence, Rival, claim, decide, decide_below
from ..paper.printed import KINDS, ROUNDING, SPLITS, printed, sizes

REGISTRY = ("data_download/registry.toml",)
#: sets whose public version has other features than printed, so that it is not the paper's: not testable
OTHER_FEATURES = frozenset({"heart", "vehicle", "wdbc", "australian"})


@claim(
    "ldm/table-1",
    kind="statement",
    where="Table 1",
    statement="the printed numbers of instances and features of 32 data sets",
    notebook="ldm/04_regular_data#ldm-table-1",
    depends=REGISTRY,
    rivals=(
        Rival("one instance more of sonar", {"changed": ("sonar", "n", 209)}),
        Rival("one instance less of skin", {"changed": ("skin", "n", 245056)}),
        Rival("one feature more of german", {"changed": ("german-59", "p", 60)}),
        Rival("heart is its public version", {"other": OTHER_FEATURES - {"heart"}}),
    ),
)
def check_table_1(
    changed: tuple[str, str, int] | None = None, other: frozenset[str] = OTHER_FEATURES
) -> Evidence:
    """Compare every printed size with that of the data that are available.

    Parameters
    ----------
    changed : (data set, "n" or "p", number), optional
        A number that is printed otherwise.
    other : set of str
        Data sets whose public version is not the paper's.
    """
    from ...datasets.registry import entry

    rows, features, compared, inferred, absent = 0, 0, 0, [], []
    off: list[str] = []
    untested: list[str] = []
    same_rows = 0
    page = sizes()
    if changed is not None:
        page.loc[changed[0], changed[1]] = changed[2]
    for name, line in page.to_dict("index").items():
        found = entry(str(name))
        printed_name = line["printed_name"]
        if not found.available:
            absent.append(f"{printed_name} ({found.home})")
            continue
        if name in other and found.p != line["p"]:
            untested.append(f"{printed_name}, {line['p']} features printed, {found.p} in the public set")
            same_rows += found.n == line["n"]
            continue
        compared += 1
        rows += found.n == line["n"]
        features += found.p == line["p"]
        if found.n != line["n"]:
            off.append(f"{printed_name} with {line['n']} rows (the data set has {found.n})")
        elif found.p != line["p"]:
            off.append(f"{printed_name} with {line['p']} features (the data set has {found.p})")
        elif "inferred" in found.notes:
            inferred.append(str(printed_name))
    wrong, here = compared - min(rows, features), compared + len(untested)
    return Evidence(
        # nothing may speak against the table and a part of it not be compared
        verdict=decide_below(wrong, wrong + len(page) - compared, 0),
        measured=f"of {here} sets that are available, {rows + same_rows} numbers of instances and {features} "
        f"of features agree; {len(untested)} sets may be other versions than the paper's, and {len(absent)} "
        "are not available",
        claimed=f"{len(page)} and {len(page)}",
        slack=float(-wrong),
        why=f"Exceptions: {'; '.join(off) or 'none'}. Not tested, as the data differ: "
        f"{'; '.join(untested) or 'none'}. The paper names no source, so these sets may be other versions, "
        f"with as many instances in {same_rows} of {len(untested)} cases: they neither agree nor disagree. "
        "Tables 2 and 3 leave them out for the same reason. "
        f"For {', '.join(inferred) or 'no set'} the agreement proves little, because we "
        "inferred from the printed size which columns or rows of the public set are meant. Not available: "
        f"{', '.join(absent) or 'none'}.",
        sizes={"sets": len(sizes()), "compared": compared},
    )


def above_majority(table: str, errors: float = 2.0) -> dict[str, dict[str, Any]]:
    """Return, by set of which the class counts are known, the LDM's printed mean and the largest class.

    Returns
    -------
    dict
        `mean`, `share` (of the most frequent class), `lead` (of the mean, less `errors` standard errors),
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
                "lead": mean - share - errors * std / math.sqrt(SPLITS[table]) - ROUNDING,
                "as_mamc": page.cell(name, "MAMC") == (mean, std),
            }
    return found


#: printed accuracies that are not above the larger class
NOT_ABOVE = {
    ("table-2", "planning"), ("table-2", "colic-orig"), ("table-2", "haberman-14"), ("table-3", "planning"),
    ("table-3", "haberman-14"),
}  # fmt: skip


@claim(
    "ldm/table-2-majority",
    kind="ours",
    where="Tables 2 to 4, column LDM",
    statement="the LDM's printed accuracies exceed the share of the larger class by more than two standard "
    "errors, except on planning and haberman with both kernels and on colic.ORIG with the linear "
    "kernel",
    notebook="ldm/04_regular_data#ldm-table-2-majority",
    depends=REGISTRY,
    rivals=(
        Rival("haberman with the rbf kernel above it", {"below": NOT_ABOVE - {("table-3", "haberman-14")}}),
        Rival("breast with the linear kernel not above it", {"below": NOT_ABOVE | {("table-2", "breast")}}),
        Rival("by more than six standard errors", {"errors": 6.0}),
    ),
)
def check_majority(below: set[tuple[str, str]] = NOT_ABOVE, errors: float = 2.0) -> Evidence:
    """Compare the printed means with the share of the larger class, beyond two standard errors.

    Parameters
    ----------
    below : set of (table, data set)
        Those that are not above it.
    errors : float
        Standard errors.
    """
    lines = {(table, name): line for table in KINDS for name, line in above_majority(table, errors).items()}
    not_above = {key for key, line in lines.items() if line["lead"] <= 0}
    told = [
        f"{name} ({KINDS[table]}) {lines[table, name]['mean']:.3f}, where the share is "
        f"{lines[table, name]['share']:.3f}"
        for table, name in lines
        if (table, name) in not_above
    ]
    twins = [key for key in lines if lines[key]["as_mamc"] and key in not_above]
    twin_names = ", ".join(f"{name} ({KINDS[table]})" for table, name in twins)
    won = [f"{name} ({KINDS[t]})" for t, name in twins if printed(t).marks.loc[name, "LDM"] == "win"]
    return Evidence(
        verdict=decide(not_above == below),
        measured=f"{len(lines) - len(not_above)} of {len(lines)} printed accuracies are above the share by "
        f"more than {errors:g} standard errors",
        claimed=f"all but {len(below)}",
        slack=min(-line["lead"] if key in below else line["lead"] for key, line in lines.items()),
        why=f"Exceptions: {'; '.join(told) or 'none'}. On {twin_names or 'none'} mean and deviation equal "
        "those of MAMC in all digits, as they do when both methods always answer the larger class. Of these, "
        f"a significant win over the SVM: {', '.join(won) or 'none'}.",
        sizes={"cells": len(lines)},
    )

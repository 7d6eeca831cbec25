"""The claims about the table of accuracies on genes, faces and low-dimensional data (III)."""

from __future__ import annotations

from ...claims import Evidence, claim, decide, share
from ...claims.comparison import read_printed
from .printed_accuracies import reachable
from .results import PAPER, agreement, by_rule, families, leaders, lost, not_run, printed_table, won

KINDS = {
    "gene expression": (
        "nakayama", "leukemia", "lung-cancer", "prostate", "gcm", "sun", "ramaswamy", "nci9",
    ),
    "faces": ("ar", "eyaleb", "jaffe", "yale", "pix"),
    "low-dimensional": ("semeion", "pendigits", "optdigits", "iris", "wine", "tic-tac-toe"),
}  # fmt: skip
DIGIT_SETS = KINDS["low-dimensional"][:3]
#: "at least 20 %, 13 % and 10 % improvements"
GAINS = {"gcm": 20.0, "ramaswamy": 13.0, "nci9": 10.0}
#: above so many test rows, any mean and deviation of four digits can be reached
INFORMATIVE = 320


@claim(
    "drm/table-3",
    kind="experiment",
    where="Table III",
    statement="the printed accuracies of SVM, KNN, RF, C4.5, NB and DRM on 19 data sets",
    notebook="drm/03_high_dimensional#drm-table-3",
    depends=("results/drm/table-3.csv", "data_download/registry.toml"),
)
def check_table_3() -> Evidence:
    """Compare every printed cell of a set that can be had with ours."""
    return agreement("table-3")


@claim(
    "drm/table-3-counts",
    kind="arithmetic",
    where="Tables II and III",
    statement="the accuracies of Table III are those of 5 trials with the test sets of Table II",
    notebook="drm/03_high_dimensional#drm-table-3-counts",
)
def check_counts() -> Evidence:
    """Ask of every printed mean and deviation whether five counts of right answers lead to it."""
    import pandas as pd

    printed = read_printed(PAPER / "table-3.csv")
    sizes = pd.read_csv(PAPER / "table-2.csv").set_index("dataset")["test"].to_dict()
    tested, as_printed, mended, notes = 0, 0, 0, []
    for name, rows in printed[printed["mean"] != ""].groupby("dataset", sort=False):
        methods = [str(method) for method in rows["method"]]
        numbers = list(zip(rows["mean"].astype(float), rows["std"].astype(float), strict=True))
        size = sizes.get(name)
        if size is not None and size > INFORMATIVE:
            continue
        off = [
            method
            for method, (mean, std) in zip(methods, numbers, strict=True)
            if size is None or not reachable(mean, std, int(size))
        ]
        tested += len(numbers)
        as_printed += len(numbers) - len(off)
        if 2 * len(off) > len(numbers):  # not a slip in a cell: another size
            fits = (n for n in range(2, 101) if all(reachable(mean, std, n) for mean, std in numbers))
            fitting = next(fits, None)
            mended += len(numbers) if fitting else len(numbers) - len(off)
            notes.append(f"{name}: {size or 'no size'} printed, {fitting} fits every cell")
        else:
            mended += len(numbers) - len(off)
            notes += [f"{name} {', '.join(off)}"] if off else []
    return Evidence(
        decide(as_printed == tested, mended > 0.9 * tested),
        f"{as_printed} of {tested} cells can be 5 counts out of the printed size, {mended} with mended sizes",
        "all cells",
        float(as_printed - tested),
        f"Means and deviations (divisor n - 1) to four digits. Not so: {'; '.join(notes)}. Sets of more than "
        f"{INFORMATIVE} test rows are left out: they reach any number. The corrected statement, checked too: "
        "more than nine in ten cells with sizes mended where most cells of a set ask for it.",
        {"cells": tested, "splits": 5},
    )


@claim(
    "drm/table-3-best",
    kind="statement",
    where="Section VII-A",
    statement="the DRM is the best on 7 of 8 gene sets (not Prostate), 11 of 13 high-dimensional sets, "
    "5 of 6 low-dimensional sets and all digits",
    notebook="drm/03_high_dimensional#drm-table-3-best",
)
def check_table_3_best() -> Evidence:
    """Count again in the printed table."""
    leading = leaders(printed_table("table-3"))
    kinds = {kind: {name: leading[name] for name in names} for kind, names in KINDS.items()}
    shared = {kind: won(part, shared=True) for kind, part in kinds.items()}
    alone = {kind: won(part, shared=False) for kind, part in kinds.items()}
    counts = list(shared.values())
    as_printed = (
        counts == [7, 4, 5]
        and "DRM" not in leading["prostate"]
        and all("DRM" in leading[name] for name in DIGIT_SETS)
    )
    ties = [name for name, best in leading.items() if "DRM" in best and len(best) > 1]
    return Evidence(
        decide(as_printed, sum(counts) > len(leading) / 2),
        f"best on {', '.join(f'{shared[kind]} of {len(part)} {kind}' for kind, part in kinds.items())}; "
        f"alone on {', '.join(str(count) for count in alone.values())}",
        "7 of 8, 4 of 5, 5 of 6",
        float(sum(counts) - 16),
        f"Counted in the paper's own numbers, where a shared best counts: {', '.join(ties)}. "
        f"Not on {lost(leading, shared=True)}.",
        {"sets": len(leading), "methods": 9},
    )


@claim(
    "drm/table-3-gains",
    kind="statement",
    where="Section VII-A1",
    statement="the DRM improves accuracy by at least 20 %, 13 % and 10 % on GCM, Ramaswamy and NCI",
    notebook="drm/03_high_dimensional#drm-table-3-gains",
)
def check_gains() -> Evidence:
    """Subtract and divide, in the printed table: the DRM and the best of the others."""
    scores = families(printed_table("table-3")).loc[list(GAINS)]
    drm, others = scores["DRM"], scores.drop(columns="DRM").max(axis=1)
    points, percent = 100 * (drm - others), 100 * (drm / others - 1)
    readings = {"points": points, "percent": percent}
    # the last printed digit is a hundredth of a point
    holds = [all(gain[name] >= GAINS[name] - 0.01 for name in GAINS) for gain in readings.values()]
    told = "; ".join(
        f"{name} {points[name]:.1f} points or {percent[name]:.1f} %, claimed {GAINS[name]:.0f}"
        for name in GAINS
    )
    return Evidence(
        decide(any(holds), bool(points.min() >= 9 and percent.min() >= 17)),
        ", ".join(f"{points[name]:.1f}" for name in GAINS) + " points; "
        + ", ".join(f"{percent[name]:.1f}" for name in GAINS) + " %",
        "at least 20, 13, 10 %",
        float(min(percent[name] - GAINS[name] for name in GAINS)),
        f"In the paper's own numbers, against the best of the others: {told}. Readings, points and percent, "
        f"that give all three: {sum(holds)} of 2. The corrected statement, checked too: at least 9 points, "
        "and 17 % of the accuracy, on each.",
        {"sets": len(GAINS)},
    )  # fmt: skip


@claim(
    "drm/table-3-images",
    kind="statement",
    where="Section VII-A2, footnote 1",
    statement="the DRM's accuracy is higher than 96 % on 7 of 8 image sets, above 98 % on 5, above 99 % on 4",
    notebook="drm/03_high_dimensional#drm-table-3-images",
)
def check_images() -> Evidence:
    """Count again in the printed table: five sets of faces, three of digits."""
    best = families(printed_table("table-3"))["DRM"].loc[[*KINDS["faces"], *DIGIT_SETS]]
    limits = {0.96: 7, 0.98: 5, 0.99: 4}
    above = {limit: int((best > limit).sum()) for limit in limits}
    reached = {limit: int((best >= limit).sum()) for limit in limits}
    on_the_line = ", ".join(str(name) for limit in limits for name in best.index[best == limit])
    return Evidence(
        decide(above == limits, reached == limits),
        ", ".join(f"above {100 * limit:.0f} % on {count}" for limit, count in above.items()),
        "7, 5, 4 of 8",
        float(min(above[limit] - limits[limit] for limit in limits)),
        f"Counted in the paper's own numbers; exactly on a limit: {on_the_line or 'none'}. The corrected "
        "statement, checked too: at least, in place of higher than.",
        {"sets": len(best)},
    )


@claim(
    "drm/table-3-order",
    kind="experiment",
    where="Section VII-A",
    statement="run again, the DRM is the best on most of the sets that can be had",
    notebook="drm/03_high_dimensional#drm-table-3-best",
    depends=("results/drm/table-3.csv",),
)
def check_table_3_order() -> Evidence:
    """Count the wins in our results, by the paper's rule and with scaling chosen in the training rows."""
    printed, tables = leaders(printed_table("table-3")), by_rule("table-3")
    if not tables:
        return Evidence(
            share(0, 0), "nothing", "most sets", None, not_run("table-3"), {"sets": 0, "splits": 5}
        )
    leading = {rule: leaders(table) for rule, table in tables.items()}
    ours, sets = leading["paper"], len(leading["paper"])
    there = won({name: printed[name] for name in ours}, shared=True)
    here, honest = (won(leading[rule], shared=True) for rule in ("paper", "honest"))
    parts = 2 if here >= there else int(here > sets / 2)
    by_kind = ", ".join(
        f"{won({name: ours[name] for name in names if name in ours}, shared=True)} of "
        f"{sum(name in ours for name in names)} {kind}"
        for kind, names in KINDS.items()
    )
    return Evidence(
        share(parts, 2),
        f"best on {here} of {sets} by the paper's rule, on {honest} with scaling chosen in training; "
        f"alone on {won(ours, shared=False)}",
        f"{there} of these {sets}",
        float(here - there),
        f"A shared best counts on both sides. By kind: {by_kind}. By the paper's rule not on "
        f"{lost(ours, shared=True)}.",
        {"sets": sets, "splits": 5},
    )

"""The claims about the table of accuracies on genes, faces and low-dimensional data (III)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from scipy.stats import ttest_ind_from_stats

from ...claims import Evidence, Rival, claim, decide, share
from ...claims.comparison import read_printed
from .printed_accuracies import reachable
from .results import (
    LEVEL,
    PAPER,
    agreement,
    by_rule,
    cell,
    families,
    leaders,
    lost,
    not_run,
    printed_table,
    read_sizes,
    won,
)

if TYPE_CHECKING:
    import pandas as pd

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


READER = "drm.claims.results.printed_table"
Families: TypeAlias = "Callable[[pd.DataFrame], pd.DataFrame]"


def _less_on_pix(merge: Families) -> Families:
    """Return a swap of `families`: the DRM is just below 96 % on PIX."""

    def swapped(table: pd.DataFrame) -> pd.DataFrame:
        found = merge(table)
        found.loc["pix", "DRM"] = 0.9599
        return found

    return swapped


def _two_full_marks_less(merge: Families) -> Families:
    """Return a swap of `families`: nobody else has an accuracy of 1 on Jaffe and Leukemia."""

    def swapped(table: pd.DataFrame) -> pd.DataFrame:
        found = merge(table)
        others = found.columns != "DRM"
        found.loc[["jaffe", "leukemia"], others] = found.loc[["jaffe", "leukemia"], others].clip(upper=0.99)
        return found

    return swapped


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
    rivals=(
        Rival("corrected, 4 trials", {"splits": 4}),
        Rival("corrected, deviations with the divisor n", {"scale": math.sqrt(5 / 4)}),
        Rival("corrected, one test row more in every set", {"more": 1}),
    ),
)
def check_counts(splits: int = 5, scale: float = 1.0, more: int = 0) -> Evidence:
    """Ask of every printed mean and deviation whether five counts of right answers lead to it."""
    printed = read_printed(PAPER / "table-3.csv")
    sizes = {name: size + more for name, size in read_sizes("table-2").set_index("dataset")["test"].items()}
    tested, as_printed, mended, notes = 0, 0, 0, []
    for name, rows in printed[printed["mean"] != ""].groupby("dataset", sort=False):
        methods = [str(method) for method in rows["method"]]
        numbers = list(zip(rows["mean"].astype(float), scale * rows["std"].astype(float), strict=True))
        size = sizes.get(name)
        if size is not None and size > INFORMATIVE:
            continue
        off = [
            method
            for method, (mean, std) in zip(methods, numbers, strict=True)
            if size is None or not reachable(mean, std, int(size), splits=splits)
        ]
        tested += len(numbers)
        as_printed += len(numbers) - len(off)
        if 2 * len(off) > len(numbers):  # not a slip in a cell: another size
            fits = (
                n
                for n in range(2, 101)
                if all(reachable(mean, std, n, splits=splits) for mean, std in numbers)
            )
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
        {"cells": tested, "splits": splits},
    )


@claim(
    "drm/table-3-best",
    kind="arithmetic",
    where="Sections VII-A1 to VII-A3 and Table III",
    statement="the DRM has the highest accuracy on 7 of 8 gene sets, except for Prostate, on 4 of 5 face "
    "sets, so on 11 "
    "of 13 high-dimensional sets, on 5 low-dimensional sets and on all sets of digits",
    notebook="drm/03_high_dimensional#drm-table-3-best",
    rivals=(
        Rival("8 gene sets", {"claimed": (8, 4, 5)}),
        Rival("5 face sets", {"claimed": (7, 5, 5)}),
        Rival("except for GCM", {"exception": "gcm"}),
        Rival("prostate, DRM(P) 0.9555", swaps={READER: cell("table-3", "prostate", "DRM(P)", 0.9555)}),
        Rival("optdigits, SVM(R) 0.9925", swaps={READER: cell("table-3", "optdigits", "SVM(R)", 0.9925)}),
        Rival("pix, DRM(R) 0.9800", swaps={READER: cell("table-3", "pix", "DRM(R)", 0.98)}),
    ),
)
def check_table_3_best(claimed: tuple[int, int, int] = (7, 4, 5), exception: str = "prostate") -> Evidence:
    """Count again in the printed table."""
    leading = leaders(printed_table("table-3"))
    kinds = {kind: {name: leading[name] for name in names} for kind, names in KINDS.items()}
    shared = {kind: won(part, shared=True) for kind, part in kinds.items()}
    alone = {kind: won(part, shared=False) for kind, part in kinds.items()}
    counts = list(shared.values())
    as_printed = (
        tuple(counts) == claimed
        and "DRM" not in leading[exception]
        and all("DRM" in leading[name] for name in DIGIT_SETS)
    )
    ties = [name for name, best in leading.items() if "DRM" in best and len(best) > 1]
    return Evidence(
        decide(as_printed, sum(counts) > len(leading) / 2),
        f"best on {', '.join(f'{shared[kind]} of {len(part)} {kind}' for kind, part in kinds.items())}; "
        f"alone on {', '.join(str(count) for count in alone.values())}",
        "7 of 8, 4 of 5, 5 of 6",
        float(sum(counts) - sum(claimed)),
        f"Counted in the paper's own numbers. Not on {lost(leading, shared=True)}.",
        {"sets": len(leading), "methods": 9},
        reading=f"A shared best counts, which it does on {', '.join(ties)}. Counted where the DRM is alone "
        "the best, the "
        f"numbers are {', '.join(f'{alone[kind]} of {len(part)}' for kind, part in kinds.items())}.",
    )


@claim(
    "drm/table-3-gains",
    kind="arithmetic",
    where="Section VII-A1, last paragraph, and Table III",
    statement="the DRM has at least 20 %, 13 % and 10 % improvements on the GCM, Ramaswamy and NCI data sets",
    notebook="drm/03_high_dimensional#drm-table-3-gains",
    rivals=(
        Rival("13, 12 and 9 printed", {"claimed": (13.0, 12.0, 9.0)}),
        Rival("corrected, 9.4 points", {"points_least": 9.4}),
        Rival("corrected, 17.4 % of the accuracy", {"percent_least": 17.4}),
        Rival("gcm, DRM(P) 0.9100", swaps={READER: cell("table-3", "gcm", "DRM(P)", 0.91)}),
        Rival("nci9, DRM(R) 0.6200", swaps={READER: cell("table-3", "nci9", "DRM(R)", 0.62)}),
    ),
)
def check_gains(
    claimed: tuple[float, ...] = tuple(GAINS.values()), points_least: float = 9.0, percent_least: float = 17.0
) -> Evidence:
    """Subtract and divide, in the printed table: the DRM and the best of the others."""
    gains = dict(zip(GAINS, claimed, strict=True))
    scores = families(printed_table("table-3")).loc[list(gains)]
    drm, others = scores["DRM"], scores.drop(columns="DRM").max(axis=1)
    points, percent = 100 * (drm - others), 100 * (drm / others - 1)
    readings = {"points": points, "percent": percent}
    # the last printed digit is a hundredth of a point
    holds = [all(gain[name] >= gains[name] - 0.01 for name in gains) for gain in readings.values()]
    told = "; ".join(
        f"{name} {points[name]:.1f} points or {percent[name]:.1f} %, claimed {gains[name]:.0f}"
        for name in gains
    )
    return Evidence(
        decide(any(holds), bool(points.min() >= points_least and percent.min() >= percent_least)),
        ", ".join(f"{points[name]:.1f}" for name in gains) + " points; "
        + ", ".join(f"{percent[name]:.1f}" for name in gains) + " %",
        "at least 20, 13, 10 %",
        float(min(percent[name] - gains[name] for name in gains)),
        f"In the paper's own numbers, against the best of the others: {told}. Readings, points and percent, "
        f"that give all three: {sum(holds)} of 2. The corrected statement, checked too: at least 9 points, "
        "and 17 % of the accuracy, on each.",
        {"sets": len(gains)},
    )  # fmt: skip


@claim(
    "drm/table-3-significant",
    kind="arithmetic",
    where="Section VII-A1, last paragraph, Section VII-A2, last paragraph but one, and Table III",
    statement="on the 7 gene sets and the 4 face sets on which the DRM has the highest accuracy, the "
    "improvement is "
    "significant",
    notebook="drm/03_high_dimensional#drm-table-3-significant",
    rivals=(
        Rival("without the sets on which others reach 1", {"full": False}),
        Rival("corrected, with PIX", {"extra": ("pix",)}),
        Rival(
            "nobody else at 1 on Jaffe and Leukemia",
            swaps={"drm.claims.results.families": _two_full_marks_less},
        ),
        Rival("corrected, ar, SVM(P) 0.9856", swaps={READER: cell("table-3", "ar", "SVM(P)", 0.9856)}),
    ),
)
def check_significant(full: bool = True, extra: tuple[str, ...] = ()) -> Evidence:
    """Ask for an improvement at all, over the best of the others, and test it by the printed deviations."""
    scores = families(printed_table("table-3"))
    others = scores.drop(columns="DRM").max(axis=1)
    leads = scores["DRM"] - others
    names = [name for kind in ("gene expression", "faces") for name in KINDS[kind] if leads[name] >= 0]
    names = [*names, *extra] if full else [name for name in names if others[name] < 1]
    ahead = [name for name in names if leads[name] > 0]
    rest = [name for name in names if name not in ahead]
    mended = all(others[name] == 1 for name in rest)
    sure = [name for name in names if _welch(name) < LEVEL]
    return Evidence(
        decide(not rest, mended),
        f"an improvement on {len(ahead)} of {len(names)}: none on {', '.join(rest) or 'no set'}",
        f"{len(names)} of {len(names)}",
        float(min(leads[name] for name in names)) if not rest else -float(len(rest)),
        "In the paper's own numbers, the better kernel of the DRM against the best of the others. True "
        "once corrected: "
        "an improvement on each of them but where another method has an accuracy of 1 as well.",
        {"sets": len(names)},
        reading="Significant is read as any improvement, which is the least it can mean. By Welch's test "
        "of the printed "
        f"means and deviations of 5 trials at the level {LEVEL} it is so on {len(sure)} of {len(names)}: "
        f"{', '.join(sure)}.",
    )


def _welch(name: str) -> float:
    """Return the two-sided p of the DRM's best cell against the best other one."""
    rows = read_printed(PAPER / "table-3.csv")
    rows = rows[(rows["dataset"] == name) & (rows["mean"] != "")]
    rows = rows.assign(mean=rows["mean"].astype(float), std=rows["std"].astype(float))
    own = rows["method"].str.startswith("DRM")
    one, two = (part.sort_values("mean", kind="stable").iloc[-1] for part in (rows[own], rows[~own]))
    if one["std"] == two["std"] == 0:
        return 1.0 if one["mean"] == two["mean"] else 0.0
    test = ttest_ind_from_stats(one["mean"], one["std"], 5, two["mean"], two["std"], 5, equal_var=False)
    return float(test.pvalue)


@claim(
    "drm/table-3-images",
    kind="arithmetic",
    where="Section VII-A2, footnote 1, and Table III",
    statement="of 8 image sets, the DRM's accuracy is higher than 96 % on 7, above 98 % on 5, above 99 % "
    "on 4",
    notebook="drm/03_high_dimensional#drm-table-3-images",
    rivals=(
        Rival("6 above 96 % printed", {"claimed": (6, 5, 4)}),
        Rival("5 above 99 %", {"claimed": (7, 5, 5)}),
        Rival("pix, DRM(R) 0.9601", swaps={READER: cell("table-3", "pix", "DRM(R)", 0.9601)}),
        Rival(
            "pix 0.9599 by both kernels",
            swaps={"drm.claims.results.families": _less_on_pix},
        ),
    ),
)
def check_images(claimed: tuple[int, int, int] = (7, 5, 4)) -> Evidence:
    """Count again in the printed table: five sets of faces, three of digits."""
    best = families(printed_table("table-3"))["DRM"].loc[[*KINDS["faces"], *DIGIT_SETS]]
    limits = dict(zip((0.96, 0.98, 0.99), claimed, strict=True))
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
    where="Sections VII-A1 to VII-A3",
    statement="run again, the DRM has the highest accuracy on as many gene, face and low-dimensional sets "
    "as printed, "
    "of those that can be had, and on all sets of digits",
    notebook="drm/03_high_dimensional#drm-table-3-best",
    depends=("results/drm/table-3.csv",),
)
def check_table_3_order() -> Evidence:
    """Count the wins in our results, by the paper's rule and with scaling chosen in the training rows."""
    printed, tables = leaders(printed_table("table-3")), by_rule("table-3")
    if not tables:
        return Evidence(
            share(0, 0), "nothing", "as printed", None, not_run("table-3"), {"sets": 0, "splits": 5}
        )
    leading = {rule: leaders(table) for rule, table in tables.items()}
    ours, sets = leading["paper"], len(leading["paper"])
    groups = {**KINDS, "digits": DIGIT_SETS}
    had = {kind: [name for name in names if name in ours] for kind, names in groups.items()}
    counts = {
        kind: tuple(won({name: best[name] for name in names}, shared=True) for best in (ours, printed))
        for kind, names in had.items()
    }
    reached = [here >= there for here, there in counts.values()]
    honest = won(leading["honest"], shared=True)
    return Evidence(
        share(sum(reached), len(reached)),
        "best on "
        + ", ".join(f"{here} of {len(had[kind])} {kind}" for kind, (here, _) in counts.items())
        + f"; with scaling chosen in training on {honest} of {sets}",
        ", ".join(f"{there} of {len(had[kind])} {kind}" for kind, (_, there) in counts.items()),
        float(min(here - there for here, there in counts.values())),
        f"A shared best counts on both sides; alone on {won(ours, shared=False)} of {sets}. By the paper's "
        "rule not on "
        f"{lost(ours, shared=True)}.",
        {"sets": sets, "splits": 5},
    )

"""Claims about who is ahead in our runs, with machines refitted on every partition.

The errors of two methods are paired by partition. The partitions of one set overlap, so that the corrected
resampled t-test decides on a set, and Wilcoxon's test over the sets decides in all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...claims import Evidence, claim, share
from ...claims.printed_tables import LEVEL, paired
from ...experiments.stats import corrected_resampled_t, paired_t
from ..experiments.columns import columns_of, means
from ..paper.printed import OWN, RIVAL, printed
from .printed_retained import PAIRS
from .tables import RESULTS, nothing

if TYPE_CHECKING:
    import pandas as pd

K1, K1_SPARSE, HALF, HALF_SPARSE = OWN
#: our rows beside the paper's columns
PEERS = ("kFDA", "SVM")


def contest(wide: pd.DataFrame, first: str, second: str) -> pd.DataFrame:
    """Compare the errors of two columns on every data set that both have.

    Parameters
    ----------
    wide : DataFrame
        As from `marginbook.kfda.experiments.columns.expand`.
    first, second : str

    Returns
    -------
    DataFrame
        By data set: `partitions`, `difference` (mean error of first minus second, in points), `p_paired`,
        `p_corrected`, and `outcome` of the first by the corrected test: "win" (fewer errors), "tie", "loss".
    """
    import pandas as pd

    columns = ["partitions", "difference", "p_paired", "p_corrected", "outcome"]
    rows = {}
    sides = wide[wide["method"].isin([first, second])]
    for name, part in sides.groupby("dataset", sort=False):
        both = part.pivot(index="split", columns="method", values="mcr")
        if {first, second} - set(both.columns) or len(both.dropna()) < 2:
            continue
        both = both.dropna()
        a, b = both[first].to_numpy(float), both[second].to_numpy(float)
        n_train, n_test = float(part["n_train"].iloc[0]), float(part["n_test"].iloc[0])
        plain, corrected = paired_t(a, b), corrected_resampled_t(a, b, n_train=n_train, n_test=n_test)
        outcome = "tie"
        if corrected.p_value < LEVEL:
            outcome = "win" if corrected.mean_difference < 0 else "loss"
        rows[str(name)] = {
            "partitions": len(both),
            "difference": plain.mean_difference,
            "p_paired": plain.p_value,
            "p_corrected": corrected.p_value,
            "outcome": outcome,
        }
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("dataset")


def win_tie_loss(lines: pd.DataFrame) -> str:
    """Return the outcomes of a contest as "wins/ties/losses"."""
    found = lines["outcome"].tolist()
    return "/".join(str(found.count(name)) for name in ("win", "tie", "loss"))


def described(wide: pd.DataFrame, first: str, second: str, lines: pd.DataFrame) -> str:
    """Return one sentence part on a contest, of which `lines` is the outcome: averages, sets, tests."""
    found = means(wide)
    higher, lower, sets, by, p = paired(found[first], found[second])
    return (
        f"{first} against {second}: {by:+.2f} points, fewer errors on {lower} and more on {higher} of {sets} "
        f"sets, p = {p:.2g}, win/tie/loss {win_tie_loss(lines)} by the corrected test on each"
    )


def have(wide: pd.DataFrame | None, *columns: str) -> bool:
    """Return whether there are results with all these columns on some data set."""
    if wide is None or wide.empty:
        return False
    found = means(wide)
    return set(columns) <= set(found.columns) and not found[list(columns)].dropna().empty


@claim(
    "kfda/kfda1-accuracy",
    kind="experiment",
    where="Section 4, Tables 1 and 2",
    statement="kFDA_1, chosen for min MCR, is at least as accurate as kFDA_OLS on every set, and more "
    "accurate on average",
    notebook="kfda/04_tables#kfda-kfda1-accuracy",
    depends=RESULTS,
)
def check_accuracy() -> Evidence:
    """Compare kFDA_1 and kFDA_OLS set by set, and over the sets."""
    wide = columns_of()
    if wide is None or not have(wide, K1, RIVAL):
        return nothing("on every set")
    lines = contest(wide, K1, RIVAL)
    at_least = int((lines["difference"] <= 0).sum())
    _, lower, sets, by, p = paired(means(wide)[K1], means(wide)[RIVAL])
    page = printed().errors.loc[list(lines.index)]
    theirs = paired(page[K1], page[RIVAL])
    fixed = columns_of("fixed")
    other = ""
    if fixed is not None:
        told = described(fixed, K1, RIVAL, contest(fixed, K1, RIVAL))
        other = f" As one classifier on all partitions, {told}."
    return Evidence(
        share(at_least + int(by < 0 and p < LEVEL), len(lines) + 1),
        f"at most its error on {at_least} of {len(lines)} sets, {by:+.2f} points on average (p = {p:.2g}), "
        f"win/tie/loss {win_tie_loss(lines)}",
        f"{len(lines)} of {len(lines)}; printed {theirs[3]:+.2f} points (p = {theirs[4]:.1g})",
        float(at_least - len(lines)),
        f"Refitted on every partition; losses are significant by the corrected resampled t-test.{other} "
        "Parts: each set, and a significant lead over the sets. Our kFDA_OLS chooses its number of terms "
        "by cross-validation; the stop of the printed one is that of its own paper.",
        {"sets": sets, "lower": lower},
    )


@claim(
    "kfda/q-half-sparser",
    kind="experiment",
    where="Section 4",
    statement="q = 0.5 retains fewer samples than q = 1 on every set, with little or no loss of accuracy",
    notebook="kfda/04_tables#kfda-q-half-sparser",
    depends=RESULTS,
)
def check_half_sparser() -> Evidence:
    """Compare retained samples and errors of the two exponents, both chosen for min MCR."""
    wide = columns_of()
    if wide is None or not have(wide, K1, HALF):
        return nothing("on every set")
    kept, errors = means(wide, "nrs")[[K1, HALF]].dropna(), means(wide)[[K1, HALF]].dropna()
    fewer = int((kept[HALF] < kept[K1]).sum())
    *_, by, p = paired(errors[HALF], errors[K1])
    lines = contest(wide, HALF, K1)
    lost = int((lines["outcome"] == "loss").sum())
    page = printed()
    theirs = page.retained.loc[list(kept.index)], page.errors.loc[list(kept.index)]
    return Evidence(
        share(fewer + len(lines) - lost, len(kept) + len(lines)),
        f"fewer on {fewer} of {len(kept)} sets: {kept[HALF].mean():.1f} against {kept[K1].mean():.1f} % on "
        f"average; {by:+.2f} points of error (p = {p:.2g}), significantly more on {lost} of {len(lines)}",
        f"fewer on {int((theirs[0][HALF] < theirs[0][K1]).sum())} of {len(kept)}: "
        f"{theirs[0][HALF].mean():.1f} against {theirs[0][K1].mean():.1f} %; "
        f"{(theirs[1][HALF] - theirs[1][K1]).mean():+.2f} points",
        float(fewer - len(kept)),
        "Refitted on every partition, coefficients that are exactly zero do not count. Not fewer: "
        f"{', '.join(kept.index[kept[HALF] >= kept[K1]]) or 'none'}. More errors by the corrected test: "
        f"{', '.join(lines.index[lines['outcome'] == 'loss']) or 'none'}. Parts: fewer samples, and no "
        "significant loss, on each set.",
        {"sets": len(kept)},
    )


@claim(
    "kfda/min-nrs",
    kind="experiment",
    where="Section 4",
    statement="choosing for min NRS improves sparsity and costs a little accuracy",
    notebook="kfda/04_tables#kfda-min-nrs",
    depends=RESULTS,
)
def check_min_nrs() -> Evidence:
    """Compare the two choices for each q: are retained samples fewer, and are errors more?"""
    wide = columns_of()
    if wide is None or not have(wide, *OWN):
        return nothing("sparser, and less accurate")
    kept, errors = means(wide, "nrs"), means(wide)
    sparser = costs = number = 0
    parts, told = [], []
    for full, sparse in PAIRS:
        both = kept[[full, sparse]].dropna()
        *_, nrs_by, nrs_p = paired(both[sparse], both[full])
        higher, lower, sets, by, p = paired(errors[sparse], errors[full])
        sparser += int((both[sparse] <= both[full]).sum())
        costs += sets - lower
        number += sets
        parts += [nrs_by < 0 and nrs_p < LEVEL, by > 0 and p < LEVEL]
        told.append(
            f"{sparse}: {nrs_by:+.1f} % of the samples (p = {nrs_p:.1g}), {by:+.2f} points of error (p = "
            f"{p:.1g}), more errors on {higher}, fewer on {lower} of {sets} sets"
        )
    page = printed()
    theirs = "; ".join(
        f"{sparse} {(page.retained[sparse] - page.retained[full]).mean():+.1f} %, "
        f"{(page.errors[sparse] - page.errors[full]).mean():+.2f} points"
        for full, sparse in PAIRS
    )
    return Evidence(
        share(sum(parts), len(parts)),
        f"at most as many samples in {sparser} of {number} pairs, at least as many errors in {costs}",
        f"{number} of {number}; printed: {theirs}",
        float(sparser - number),
        f"Refitted on every partition. {'; '.join(told)}. Parts: significantly sparser, and significantly "
        f"more errors, for each q; Wilcoxon's tests over the sets, level {LEVEL}. The choice is among five "
        "winners of cross-validation, by the samples that each retains on its own realisation.",
        {"pairs": number},
    )


@claim(
    "kfda/svm-and-ridge",
    kind="ours",
    where="Abstract, Section 5",
    statement="kFDA_1 and kFDA_0.5 are as accurate as a leading learner: a support vector machine, or the "
    "kernel Fisher discriminant with a ridge, both with as much tuning",
    notebook="kfda/04_tables#kfda-svm-and-ridge",
    depends=RESULTS,
)
def check_peers() -> Evidence:
    """Compare both exponents with two peers: no significant loss on a set, none over the sets."""
    wide = columns_of()
    if wide is None or not have(wide, K1, HALF, *PEERS):
        return nothing("no significant loss")
    parts, told, sets = [], [], 0
    for own in (K1, HALF):
        for peer in PEERS:
            lines = contest(wide, own, peer)
            *_, by, p = paired(means(wide)[own], means(wide)[peer])
            parts += [*(lines["outcome"] != "loss"), not (by > 0 and p < LEVEL)]
            told.append(described(wide, own, peer, lines))
            sets = max(sets, len(lines))
    found, kept = means(wide).dropna(), means(wide, "nrs").dropna()
    shown = ", ".join(f"{name} {found[name].mean():.1f} ({kept[name].mean():.0f})" for name in found.columns)
    return Evidence(
        share(sum(parts), len(parts)),
        f"no significant loss in {sum(parts)} of {len(parts)} contests",
        f"{len(parts)} of {len(parts)}",
        float(sum(parts) - len(parts)),
        f"Average error (retained samples), in %: {shown}. {'; '.join(told)}. All refitted on every "
        "partition, same folds and widths for all. Contests: on each set by the corrected resampled "
        f"t-test, and over the sets by Wilcoxon's, level {LEVEL}.",
        {"sets": sets, "contests": len(parts)},
    )

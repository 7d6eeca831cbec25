"""Claims about who is ahead in our runs: with machines refitted on every partition, and with one classifier.

The errors of two methods are paired by partition. The partitions of one set overlap, so that the corrected
resampled t-test decides on a set of refitted machines, and Wilcoxon's test over the sets decides in all.
Where the text says that accuracy is *not* lost, an upper bound of the loss has to be below a margin: what the
paper itself calls "a small degradation", 1.1 points (Table 2, 6.7 to 7.8).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from scipy import stats

from ...claims import Evidence, Rival, claim, decide, share
from ...claims.printed_tables import LEVEL, paired
from ...experiments.stats import corrected_resampled_t, paired_t
from ..experiments.columns import columns_of, means
from ..paper.printed import OWN, PROTOCOLS, RIVAL, printed
from .printed_retained import PAIRS
from .tables import RESULTS, nothing
from .tables_readings import IN_WORDS

if TYPE_CHECKING:
    import pandas as pd

K1, K1_SPARSE, HALF, HALF_SPARSE = OWN
#: our rows beside the paper's columns
PEERS = ("kFDA", "SVM")
#: points of error that the paper calls "a small degradation" (Section 4.2: 6.7 to 7.8 in Table 2)
MARGIN = 1.1


class Parts(NamedTuple):
    """What came out of one reading: parts that are as claimed, of how many, and two texts."""

    right: int
    number: int
    slack: float
    measured: str
    why: str


def best_of(look: Callable[[pd.DataFrame], Parts], *columns: str) -> tuple[Parts, str] | None:
    """Return what the reading gives that agrees best, and the other in words; None without results."""
    found = {}
    for protocol in PROTOCOLS:
        wide = columns_of(protocol)
        if wide is None or not have(wide, *columns):
            return None
        found[protocol] = look(wide)
    best = max(found, key=lambda protocol: found[protocol].right)
    others = "; ".join(
        f"{IN_WORDS[protocol]}: {parts.measured}" for protocol, parts in found.items() if protocol != best
    )
    return found[best], f"{IN_WORDS[best]}. The other, {others}"


def largest_loss(difference: pd.Series[float], level: float = LEVEL) -> float:
    """Return the upper end of the one-sided t-interval of a mean loss over the data sets, in points."""
    n = len(difference)
    if n < 2:
        return math.inf
    return float(difference.mean() + stats.t.ppf(1 - level, n - 1) * difference.std(ddof=1) / math.sqrt(n))


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
    where="Tables 1 and 2",
    statement="kFDA_1, chosen for min MCR, has at most the error of kFDA_OLS on every set",
    notebook="kfda/04_tables#kfda-kfda1-accuracy",
    depends=RESULTS,
)
def check_accuracy() -> Evidence:
    """Compare kFDA_1 and kFDA_OLS set by set, and over the sets."""

    def look(wide: pd.DataFrame) -> Parts:
        lines = contest(wide, K1, RIVAL)
        at_least = int((lines["difference"] <= 0).sum())
        *_, by, p = paired(means(wide)[K1], means(wide)[RIVAL])
        return Parts(
            at_least,
            len(lines),
            float(at_least - len(lines)),
            f"at most its error on {at_least} of {len(lines)} sets, {by:+.2f} points on average (p = "
            f"{p:.2g}), "
            f"win/tie/loss {win_tie_loss(lines)}",
            "",
        )

    found = best_of(look, K1, RIVAL)
    if found is None:
        return nothing("on every set")
    parts, reading = found
    page = printed().errors[[K1, RIVAL]]
    theirs = paired(page[K1], page[RIVAL])
    return Evidence(
        share(parts.right, parts.number),
        parts.measured,
        f"{theirs[2] - theirs[0]} of {theirs[2]}; printed {theirs[3]:+.2f} points (p = {theirs[4]:.1g})",
        parts.slack,
        "Losses are significant by the corrected resampled t-test, which is about refitted machines. Our "
        "kFDA_OLS chooses its number of terms by cross-validation; the stop of the printed one is that of "
        "its "
        "own paper.",
        {"sets": parts.number},
        reading=reading,
    )


@claim(
    "kfda/q-half-sparser",
    kind="experiment",
    where="Sections 4.2 and 5",
    statement="q = 0.5 in place of q = 1, both chosen for min MCR, retains fewer samples with little or no "
    "degradation in accuracy",
    notebook="kfda/04_tables#kfda-q-half-sparser",
    depends=RESULTS,
)
def check_half_sparser(margin: float = MARGIN) -> Evidence:
    """Compare retained samples and errors of the two exponents, both chosen for min MCR."""

    def look(wide: pd.DataFrame) -> Parts:
        kept, errors = means(wide, "nrs")[[K1, HALF]].dropna(), means(wide)[[K1, HALF]].dropna()
        fewer, loss = int((kept[HALF] < kept[K1]).sum()), errors[HALF] - errors[K1]
        most = largest_loss(loss)
        return Parts(
            fewer + int(most <= margin),
            len(kept) + 1,
            float(min(fewer - len(kept), margin - most)),
            f"fewer on {fewer} of {len(kept)} sets: {kept[HALF].mean():.1f} against {kept[K1].mean():.1f} % "
            "on "
            f"average; {loss.mean():+.2f} points of error, at most {most:+.2f}",
            f"Not fewer: {', '.join(kept.index[kept[HALF] >= kept[K1]]) or 'none'}. More than {margin} "
            "points "
            f"worse: {', '.join(loss.index[loss > margin]) or 'none'}.",
        )

    found = best_of(look, K1, HALF)
    if found is None:
        return nothing("on every set")
    parts, reading = found
    page = printed()
    theirs = page.retained[[K1, HALF]], page.errors[HALF] - page.errors[K1]
    return Evidence(
        share(parts.right, parts.number),
        parts.measured,
        f"fewer on {int((theirs[0][HALF] < theirs[0][K1]).sum())} of {len(theirs[0])}: "
        f"{theirs[0][HALF].mean():.1f} against {theirs[0][K1].mean():.1f} %; {theirs[1].mean():+.2f} points",
        parts.slack,
        f"Coefficients that are exactly zero do not count. {parts.why} Parts: fewer samples, on each set; "
        "and "
        "over the sets the upper end of the one-sided 95 % interval of the loss, which has to be below "
        f"{margin} points, what Section 4.2 calls a small degradation.",
        {"sets": parts.number - 1},
        reading=reading,
    )


@claim(
    "kfda/min-nrs",
    kind="experiment",
    where="Sections 4.1 and 4.2",
    statement="choosing for min NRS improves sparsity and costs a little accuracy",
    notebook="kfda/04_tables#kfda-min-nrs",
    depends=RESULTS,
)
def check_min_nrs() -> Evidence:
    """Compare the two choices for each q: are retained samples fewer, and are errors more?"""

    def look(wide: pd.DataFrame) -> Parts:
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
        return Parts(
            sum(parts),
            len(parts),
            float(sum(parts) - len(parts)),
            f"at most as many samples in {sparser} of {number} pairs, at least as many errors in {costs}",
            "; ".join(told),
        )

    found = best_of(look, *OWN)
    if found is None:
        return nothing("sparser, and less accurate")
    parts, reading = found
    page = printed()
    theirs = "; ".join(
        f"{sparse} {(page.retained[sparse] - page.retained[full]).mean():+.1f} %, "
        f"{(page.errors[sparse] - page.errors[full]).mean():+.2f} points"
        for full, sparse in PAIRS
    )
    return Evidence(
        share(parts.right, parts.number),
        parts.measured,
        f"all; printed: {theirs}",
        parts.slack,
        f"{parts.why}. Parts: significantly sparser, and significantly more errors, for each q; Wilcoxon's "
        f"tests over the sets, level {LEVEL}: {parts.right} of {parts.number}. The choice is among five "
        "winners of cross-validation, by the samples that each retains on its own realisation.",
        {"parts": parts.number},
        reading=reading,
    )


@claim(
    "kfda/svm-and-ridge",
    kind="ours",
    where="Abstract, Section 5",
    statement=f"averaged over the sets, kFDA_1 and kFDA_0.5 err at most {MARGIN} points more than the kernel "
    "Fisher discriminant with a ridge, with as much tuning; of a support vector machine that cannot be said",
    notebook="kfda/04_tables#kfda-svm-and-ridge",
    depends=RESULTS,
    rivals=[Rival("at most 0.5 points", {"margin": 0.5}), Rival("at most 1.3 points", {"margin": 1.3})],
)
def check_peers(margin: float = MARGIN) -> Evidence:
    """Compare both exponents with two peers: upper bounds of the loss over the sets, and the losses."""
    wide = columns_of()
    if wide is None or not have(wide, K1, HALF, *PEERS):
        return nothing("a loss within the margin")
    bounds: dict[str, list[float]] = {peer: [] for peer in PEERS}
    losses, told, sets = [], [], 0
    for own in (K1, HALF):
        for peer in PEERS:
            lines = contest(wide, own, peer)
            bounds[peer].append(largest_loss(lines["difference"]))
            losses += [float(lines["difference"].mean())] * (peer == "SVM")
            told.append(f"{described(wide, own, peer, lines)}, at most {bounds[peer][-1]:+.2f} points")
            sets = max(sets, len(lines))
    found, kept = means(wide).dropna(), means(wide, "nrs").dropna()
    shown = ", ".join(f"{name} {found[name].mean():.1f} ({kept[name].mean():.0f})" for name in found.columns)
    return Evidence(
        decide(max(bounds["kFDA"]) <= margin and max(losses) <= margin < max(bounds["SVM"])),
        "upper ends of the one-sided 95 % intervals of the mean loss, in points: "
        + "; ".join(f"against {peer} {ends[0]:+.2f} and {ends[1]:+.2f}" for peer, ends in bounds.items())
        + f"; the mean losses against the SVM {losses[0]:+.2f} and {losses[1]:+.2f}",
        f"at most {margin} with a ridge; an interval around {margin} with the SVM",
        min(margin - max(bounds["kFDA"]), max(bounds["SVM"]) - margin),
        f"Average error (retained samples), in %: {shown}. {'; '.join(told)}. All refitted on every "
        "partition, same folds and widths for all. Tests on a set are the corrected resampled t-test's. The "
        "margin is what Section 4.2 calls a small degradation.",
        {"sets": sets, "contests": 2 * len(bounds)},
    )

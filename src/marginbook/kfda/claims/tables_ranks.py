"""Claims about who is ahead in our runs: with machines refitted on every partition, and with one classifier.

The errors of two methods are paired by partition. The partitions of one set overlap, so that the corrected
resampled t-test decides on a set of refitted machines, and Wilcoxon's test over the sets decides in all.
Where the text says that accuracy is *not* lost, an upper bound of the loss has to be below a margin: what the
paper itself calls "a small degradation", 1.1 points (Table 2, 6.7 to 7.8).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...claims import Evidence, Rival, claim, decide_below
from ...claims.changed_results import moved, renamed
from ...claims.contests import outcome_counts
from ...claims.open_parts import above, at_least, judged, tally
from ...claims.printed_tables import paired
from ...experiments.equivalence import mean_interval
from ..experiments.columns import columns_of, means
from ..paper.printed import HALF, K1, KINDS, OWN, PAPER_TABLES, RIVAL, printed
from .printed_retained import PAIRS
from .tables import RESULTS
from .tables_contests import Parts, best_of, contest, described, exchanged, have, looks

if TYPE_CHECKING:
    import pandas as pd

#: our rows beside the paper's columns
PEERS = ("kFDA", "SVM")
#: points of error that the paper calls "a small degradation" (Section 4.2: 6.7 to 7.8 in Table 2)
MARGIN = 1.1


@claim(
    "kfda/kfda1-accuracy",
    kind="ours",
    where="Tables 1 and 2, the columns kFDA_OLS and kFDA_1 for min MCR, of which no sentence says it",
    statement="on every data set kFDA_1, chosen for min MCR, has an error no higher than that of kFDA_OLS",
    notebook="kfda/04_tables#kfda-kfda1-accuracy",
    depends=RESULTS,
    rivals=(
        Rival(
            "a fifth of the errors of kFDA_1",
            swaps=moved("kfda", tuple(KINDS), "kFDA-1", "errors_", times=0.2),
        ),
        Rival("twice the errors of kFDA_1", swaps=moved("kfda", tuple(KINDS), "kFDA-1", "errors_", times=2)),
    ),
)
def check_accuracy() -> Evidence:
    """Compare kFDA_1 and kFDA_OLS set by set, and over the sets."""

    def look(wide: pd.DataFrame) -> Parts:
        lines = contest(wide, K1, RIVAL)
        ends = list(zip(lines["low"], lines["high"], strict=True))
        parts = [at_least(-high, -low, 0.0) for low, high in ends]
        *_, by, p = paired(means(wide)[K1], means(wide)[RIVAL])
        return Parts(
            parts,
            -float(lines["high"].max()),
            f"no higher error: {tally(parts)}; the mean is no higher on "
            f"{int((lines['difference'] <= 0).sum())} of {len(lines)} sets, {by:+.2f} points on average (p "
            f"= {p:.2g}), win/tie/loss {outcome_counts(lines['corrected'])}",
            "",
        )

    found = looks(look, K1, RIVAL)
    if not found:
        return PAPER_TABLES.nothing("on every set", "table-1")
    parts, reading = best_of(found)
    page = printed().errors[[K1, RIVAL]]
    theirs = paired(page[K1], page[RIVAL])
    return Evidence(
        verdict=judged(parts.found),
        measured=parts.measured,
        claimed=f"{theirs[2] - theirs[0]} of {theirs[2]}; printed {theirs[3]:+.2f} points (p = "
        f"{theirs[4]:.1g})",
        slack=parts.slack,
        why=f"In print it is so on {theirs[2] - theirs[0]} of {theirs[2]} sets. No sentence of the paper "
        "says so: we ask whether our run shows it. A set counts as shown, open or refuted by the 90 % "
        "interval of the corrected resampled t-test over the partitions, which is meant for refitted "
        "classifiers; the win/tie/loss counts are by the same test. Our kFDA_OLS chooses its number of terms "
        "by cross-validation; the printed one has the stopping rule of its own paper.",
        sizes={"sets": len(parts.found)},
        reading=reading,
    )


@claim(
    "kfda/q-half-sparser",
    kind="experiment",
    where="Section 4.2, 'Reducing q to 0.5'; Section 5, 'little or no degradation'",
    statement="q = 0.5 in place of q = 1, both chosen for min MCR, improves mean sparsity with a small "
    "degradation in accuracy",
    notebook="kfda/04_tables#kfda-q-half-sparser",
    depends=RESULTS,
    rivals=(
        Rival(
            "q = 1 and q = 0.5 exchanged",
            swaps=renamed("kfda", tuple(KINDS), {"kFDA-1": "kFDA-0.5", "kFDA-0.5": "kFDA-1"}),
        ),
        Rival(
            "a third more errors for q = 0.5",
            swaps=moved("kfda", tuple(KINDS), "kFDA-0.5", "errors_", times=4 / 3),
        ),
    ),
)
def check_half_sparser(margin: float = MARGIN) -> Evidence:
    """Compare retained samples and errors of the two exponents, both chosen for min MCR, over the sets."""

    def look(wide: pd.DataFrame) -> Parts:
        kept, errors = means(wide, "nrs")[[K1, HALF]].dropna(), means(wide)[[K1, HALF]].dropna()
        fewer, loss = int((kept[HALF] < kept[K1]).sum()), errors[HALF] - errors[K1]
        (less, more), (least, most) = mean_interval(kept[K1] - kept[HALF]), mean_interval(loss)
        parts = [above(less, more), at_least(-most, -least, -margin)]
        return Parts(
            parts,
            float(min(less, margin - most)),
            f"{kept[HALF].mean():.1f} against {kept[K1].mean():.1f} % of the samples on average, by "
            f"{less:.1f} to {more:.1f} points less ({parts[0]}), and fewer on {fewer} of {len(kept)} sets; "
            f"{loss.mean():+.2f} points of error, {least:+.2f} to {most:+.2f} ({parts[1]})",
            f"Not fewer on: {', '.join(kept.index[kept[HALF] >= kept[K1]]) or 'none'}. More than {margin} "
            f"points worse on: {', '.join(loss.index[loss > margin]) or 'none'}.",
            [(kept[K1] - kept[HALF], 0.0), (-loss, -margin)],
        )

    found = looks(look, K1, HALF)
    if not found:
        return PAPER_TABLES.nothing("fewer samples on average, and a small loss", "table-1")
    parts, reading = best_of(found)
    wrong = exchanged((each.gains for each in found.values()), "q = 1 and q = 0.5")
    page = printed()
    theirs = page.retained[[K1, HALF]], page.errors[HALF] - page.errors[K1]
    return Evidence(
        verdict=wrong.judge_open(parts.found),
        measured=parts.measured,
        claimed=f"fewer on {int((theirs[0][HALF] < theirs[0][K1]).sum())} of {len(theirs[0])}: "
        f"{theirs[0][HALF].mean():.1f} against {theirs[0][K1].mean():.1f} %; {theirs[1].mean():+.2f} points",
        slack=parts.slack,
        why=f"Coefficients that are exactly zero do not count. {parts.why} The claim has two parts, fewer "
        "samples and a small loss, both of means over the sets, as the text says (a rule that we put into "
        "words when these results were known; an earlier one asked both of every set); each is shown where "
        f"the 90 % interval over the sets is on the right side of 0 and of {margin} points, which Section "
        f"4.2 calls a small degradation. {wrong}",
        sizes={"sets": len(theirs[1])},
        reading=reading,
    )


@claim(
    "kfda/min-nrs",
    kind="experiment",
    where="Section 4.1, 'a small loss of accuracy'; Section 4.2, 'at the cost of reducing accuracy'",
    statement="choosing for min NRS improves sparsity and costs a little accuracy",
    notebook="kfda/04_tables#kfda-min-nrs",
    depends=RESULTS,
    rivals=(
        Rival(
            "the densest of the five classifiers for the sparsest",
            swaps=moved("kfda", tuple(KINDS), "kFDA", "retained_fixed", times=-1),
        ),
    ),
)
def check_min_nrs() -> Evidence:
    """Compare the two choices for each q: are retained samples fewer, and are errors more?"""

    def look(wide: pd.DataFrame) -> Parts:
        kept, errors = means(wide, "nrs"), means(wide)
        sparser = costs = number = 0
        parts, told, lows, gains = [], [], [], []
        for full, sparse in PAIRS:
            both = kept[[full, sparse]].dropna()
            rise = (errors[sparse] - errors[full]).dropna()
            ends = mean_interval(both[full] - both[sparse]), mean_interval(rise)
            higher, lower, sets, _, p = paired(errors[sparse], errors[full])
            sparser += int((both[sparse] <= both[full]).sum())
            costs += sets - lower
            number += sets
            parts += [above(low, high) for low, high in ends]
            lows += [low for low, _ in ends]
            gains += [(both[full] - both[sparse], 0.0), (rise, 0.0)]
            (less, more), (least, most) = ends
            told.append(
                f"{sparse}: {less:.1f} to {more:.1f} points of NRS less ({parts[-2]}), {least:+.2f} to "
                f"{most:+.2f} points of error ({parts[-1]}), more errors on {higher}, fewer on {lower} of "
                f"{sets} sets, p = {p:.1g} by Wilcoxon's test"
            )
        return Parts(
            parts,
            float(min(lows)),
            f"{tally(parts)}; at most as many samples in {sparser} of {number} pairs, at least as many "
            f"errors in {costs}",
            "; ".join(told),
            gains,
        )

    found = looks(look, *OWN)
    if not found:
        return PAPER_TABLES.nothing("sparser, and less accurate", "table-1")
    parts, reading = best_of(found)
    wrong = exchanged((each.gains for each in found.values()), "the two choices")
    page = printed()
    theirs = "; ".join(
        f"{sparse} {(page.retained[sparse] - page.retained[full]).mean():+.1f} %, "
        f"{(page.errors[sparse] - page.errors[full]).mean():+.2f} points"
        for full, sparse in PAIRS
    )
    return Evidence(
        verdict=wrong.judge_open(parts.found),
        measured=parts.measured,
        claimed=f"all; printed: {theirs}",
        slack=parts.slack,
        why=f"{parts.why}. For each q there are two parts, fewer samples and more errors, each by the 90 % "
        "interval of its mean over the sets. The choice is among five winners of cross-validation, by the "
        f"samples that each retains on its own realisation. {wrong}",
        sizes={"parts": len(parts.found)},
        reading=reading,
    )


@claim(
    "kfda/svm-and-ridge",
    kind="ours",
    where="Abstract, last sentence, and Section 5, second paragraph, which name no machine and no margin",
    statement="averaged over the data sets, kFDA_1 and kFDA_0.5 are at least as accurate as a kernel "
    "Fisher discriminant with a ridge and as an equally tuned support vector machine",
    notebook="kfda/04_tables#kfda-svm-and-ridge",
    depends=RESULTS,
    rivals=[
        Rival("as the ridge alone, which the data can tell", {"peers": ("kFDA",)}),
        Rival(
            "a tenth more errors of both", swaps=moved("kfda", tuple(KINDS), "kFDA-", "errors_", times=1.1)
        ),
    ],
)
def check_peers(margin: float = MARGIN, peers: Sequence[str] = PEERS) -> Evidence:
    """Compare both exponents with two peers: is the mean loss over the sets below the margin, or above it?

    Parameters
    ----------
    margin : float
        Points of error that do not count: what Section 4.2 calls a small degradation.
    peers : sequence of str
    """
    wide = columns_of()
    if wide is None or not have(wide, K1, HALF, *PEERS):
        return PAPER_TABLES.nothing("a loss within the margin", "table-1")
    ends: dict[str, list[tuple[float, float]]] = {peer: [] for peer in peers}
    told, sets = [], 0
    for own in (K1, HALF):
        for peer in peers:
            lines = contest(wide, own, peer)
            ends[peer].append(mean_interval(lines["difference"]))
            told.append(described(wide, own, peer, lines))
            sets = max(sets, len(lines))
    every = [pair for pairs in ends.values() for pair in pairs]
    lowest, highest = max(low for low, _ in every), max(high for _, high in every)
    found, kept = means(wide).dropna(), means(wide, "nrs").dropna()
    shown = ", ".join(f"{name} {found[name].mean():.1f} ({kept[name].mean():.0f})" for name in found.columns)
    return Evidence(
        verdict=decide_below(lowest, highest, margin),
        measured="90 % intervals of the mean loss, in points: "
        + "; ".join(
            f"against {peer} {' and '.join(f'{low:+.2f} to {high:+.2f}' for low, high in pairs)}"
            for peer, pairs in ends.items()
        ),
        claimed=f"below {margin} in each",
        slack=margin - highest,
        why=f"Average error (retained samples), in %: {shown}. {'; '.join(told)}. All methods are refitted "
        "on every partition and use the same folds and widths. Tests on a single set are corrected resampled "
        "t-tests. The abstract says 'as well as or better than a number of leading machine learning "
        "algorithms'; the margin is what Section 4.2 calls a small degradation. Where an interval contains "
        "the margin, the data do not decide.",
        sizes={"sets": sets, "contests": len(every)},
    )

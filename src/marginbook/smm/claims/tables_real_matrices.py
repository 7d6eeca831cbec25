"""Claims about real matrices: digits, EEG, brain connectivity.

The random splits of one set overlap: the corrected resampled t-test decides on a set, after Holm over the
sets, and Wilcoxon's test over the sets is told beside it. Grids of parameters were set on split 1, which is
one of the 20.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...claims import Evidence, claim, share
from ...claims.printed_tables import paired
from .results import (
    LOGISTIC,
    NUCLEAR,
    PATH,
    PLATT,
    TABLES,
    VECTOR_LOGISTIC,
    VECTOR_PATH,
    VECTOR_PLATT,
    by_draw,
    csv,
    listed,
    means,
    nothing,
    resampled_contest,
    tally,
    with_methods,
)

if TYPE_CHECKING:
    import pandas as pd

REAL = "smm/06_real_matrices"
DEPENDS = (csv("matrices"),)


def sizes(table: str) -> pd.DataFrame:
    """Return `n_train` and `n_test` of every set."""
    frame = TABLES.results(table)
    if frame is None:
        raise FileNotFoundError(TABLES.not_run(table))
    return frame.groupby("dataset", sort=False)[["n_train", "n_test"]].first()


def compared(
    column: str, first: str, second: str, table: str = "matrices"
) -> tuple[pd.DataFrame, str] | None:
    """Compare two methods by a column on every set; also return the test over the sets as text."""
    frame = with_methods(by_draw(table, column), first, second)
    if frame is None:
        return None
    lines, found = resampled_contest(frame, first, second, sizes(table)), means(frame)
    higher, lower, number, by, p = paired(found[first], found[second])
    told = f"lower mean on {lower} of {number} sets, higher on {higher}, by {by:+.3g} on average"
    return lines, f"{told} (Wilcoxon p = {p:.2g})"


def evidence(column: str, pairs: tuple[tuple[str, str], ...], wanted: str, digits: int) -> Evidence:
    """Return how the first of each pair fares against the second: "win" or "not loss" on every set.

    Parameters
    ----------
    column : str
        Less is better.
    pairs : tuple of (str, str)
    wanted : {"win", "not loss"}
    digits : int
        Of the means that are told.
    """
    claimed = {"win": "significantly lower on every set", "not loss": "on no set significantly higher"}[
        wanted
    ]
    found = [compared(column, first, second) for first, second in pairs]
    frame = by_draw("matrices", column)
    if frame is None or any(each is None for each in found):
        return nothing(claimed, "matrices")
    lines = [each for each in found if each is not None]
    good = total = 0
    for table, _ in lines:
        good += int(
            (table["outcome"] == "win").sum() if wanted == "win" else (table["outcome"] != "loss").sum()
        )
        total += len(table)
    measured = "; ".join(
        f"{first} against {second}: {tally(table['outcome'])}, {text}"
        for (first, second), (table, text) in zip(pairs, lines, strict=True)
    )
    told = "; ".join(f"{name}: {listed(row, digits)}" for name, row in means(frame).iterrows())
    return Evidence(
        share(good, total),
        measured,
        claimed,
        -max(float(table["difference"].max()) for table, _ in lines),
        f"Corrected resampled t-tests at 0.05 after Holm over the sets. Means of {column}: {told}.",
        {"sets": len(lines[0][0]), "comparisons": total},
    )


@claim(
    "smm/real-low-rank",
    kind="ours",
    where="Section 2, on vectorised matrices",
    statement="on real matrices, too, low rank makes fewer errors than vectors",
    notebook=f"{REAL}#smm-real-low-rank",
    depends=DEPENDS,
)
def check_low_rank() -> Evidence:
    """Compare test errors, SVM with SVM and logistic with logistic regression."""
    return evidence("error", ((PLATT, VECTOR_PLATT), (LOGISTIC, VECTOR_LOGISTIC)), "win", 1)


@claim(
    "smm/real-nuclear-norm",
    kind="ours",
    where="Section 2.1",
    statement="on real matrices a fixed rank makes no more errors than a nuclear norm",
    notebook=f"{REAL}#smm-real-nuclear-norm",
    depends=DEPENDS,
)
def check_nuclear_norm() -> Evidence:
    """Compare test errors, both with Platt's sigmoid."""
    return evidence("error", ((PLATT, NUCLEAR),), "not loss", 1)


@claim(
    "smm/real-probabilities",
    kind="ours",
    where="Section 2.3",
    statement="on real matrices probabilities from level sets are as good as those of Platt's sigmoid and of "
    "logistic regression",
    notebook=f"{REAL}#smm-real-probabilities",
    depends=DEPENDS,
)
def check_probabilities() -> Evidence:
    """Compare Brier scores of level paths with those of other machines, of low rank and of vectors."""
    return evidence("brier", ((PATH, PLATT), (PATH, LOGISTIC), (VECTOR_PATH, VECTOR_PLATT)), "not loss", 4)


@claim(
    "smm/real-classes",
    kind="ours",
    where="Section 2, on vectorised matrices",
    statement="of ten digits, too, machines of low rank confuse fewer than those of vectors",
    notebook=f"{REAL}#smm-real-classes",
    depends=(csv("classes"),),
)
def check_classes() -> Evidence:
    """Compare test errors of one machine for each digit against the rest."""
    found = compared("error", "low-rank SVM", "vector SVM", "classes")
    frame = by_draw("classes", "error")
    if found is None or frame is None:
        return nothing("significantly lower on every set", "classes")
    lines, told = found
    everything = "; ".join(f"{name}: {listed(row, 1)}" for name, row in means(frame).iterrows())
    return Evidence(
        share(int((lines["outcome"] == "win").sum()), len(lines)),
        f"low-rank against vector SVM: {tally(lines['outcome'])}, {told}",
        "significantly lower on every set",
        -float(lines["difference"].max()),
        f"300 training samples. Corrected resampled t-tests at 0.05 after Holm. Errors in %: {everything}.",
        {"sets": len(lines), "comparisons": len(lines)},
    )

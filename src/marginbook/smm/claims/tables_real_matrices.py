"""Claims about real matrices: digits, EEG, brain connectivity.

The claims are about seven sets as they are, and random splits of them: differences are judged by their
intervals over the splits, within margins that the protocol states. Whether they carry over to new samples is
another question. Splits of one set overlap, so that the corrected resampled t-test, which answers it, has no
power on sets with many more test than training samples, however many splits there are; its p-values are told
beside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...claims import Evidence, claim
from ...claims.printed_tables import paired
from . import margins
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
    means,
    nothing,
    resampled_contest,
    tally,
    with_methods,
)

if TYPE_CHECKING:
    import pandas as pd

Pairs = tuple[tuple[str, str], ...]

REAL = "smm/06_real_matrices"
DEPENDS = (csv("matrices"),)
LOW, FLAT = "low-rank SVM", "vector SVM"


def sizes(table: str) -> pd.DataFrame:
    """Return `n_train` and `n_test` of every set."""
    frame = TABLES.results(table)
    if frame is None:
        raise FileNotFoundError(TABLES.not_run(table))
    return frame.groupby("dataset", sort=False)[["n_train", "n_test"]].first()


def over_sets(frame: pd.DataFrame, first: str, second: str, table: str) -> str:
    """Say how two methods compare for new samples, and over the sets."""
    lines, found = resampled_contest(frame, first, second, sizes(table)), means(frame)
    higher, lower, number, by, p = paired(found[first], found[second])
    return (
        f"{first} against {second} for new samples: {tally(lines['outcome'])} by the corrected resampled "
        "t-test, "
        f"after Holm; lower mean on {lower} of {number} sets, higher on {higher}, by {by:+.3g} on average "
        f"(Wilcoxon p = {p:.2g})."
    )


def evidence(column: str, pairs: Pairs, digits: int, table: str = "matrices") -> Evidence:
    """Return whether the first of each pair is, on every set, worse than the second by less than the margin.

    Parameters
    ----------
    column : {"brier", "error"}
        Less is better.
    pairs : tuple of (str, str)
    digits : int
        Of what is told.
    table : {"matrices", "classes"}
    """
    margin = float(TABLES.protocol(table).settings["margins"][column])
    unit = "points of error" if column == "error" else "Brier score"
    frame = with_methods(by_draw(table, column), *(name for pair in pairs for name in pair))
    if frame is None:
        return nothing(margins.claimed(margin, unit), table)
    more = " ".join(over_sets(frame, *pair, table) for pair in pairs)
    return margins.evidence(frame, pairs, margin, digits=digits, unit=unit, more=more)


@claim(
    "smm/real-low-rank",
    kind="ours",
    where="Section 2, on vectorised matrices",
    statement="on seven sets of real matrices low rank gains less than a point of error over vectors: a "
    "vector "
    "machine is nowhere worse by more",
    notebook=f"{REAL}#smm-real-low-rank",
    depends=DEPENDS,
)
def check_low_rank(pairs: Pairs = ((VECTOR_PLATT, PLATT), (VECTOR_LOGISTIC, LOGISTIC))) -> Evidence:
    """Compare test errors, SVM with SVM and logistic with logistic regression."""
    return evidence("error", pairs, 1)


@claim(
    "smm/real-nuclear-norm",
    kind="ours",
    where="Section 2.1",
    statement="on seven sets of real matrices a fixed rank makes less than a point of error more than a "
    "nuclear norm",
    notebook=f"{REAL}#smm-real-nuclear-norm",
    depends=DEPENDS,
)
def check_nuclear_norm(pairs: Pairs = ((PLATT, NUCLEAR),)) -> Evidence:
    """Compare test errors, both with Platt's sigmoid."""
    return evidence("error", pairs, 1)


@claim(
    "smm/real-probabilities",
    kind="ours",
    where="Section 2.3",
    statement="on seven sets of real matrices the Brier score of probabilities from level sets is above "
    "those of "
    "Platt's sigmoid and of logistic regression by less than 0.01",
    notebook=f"{REAL}#smm-real-probabilities",
    depends=DEPENDS,
)
def check_probabilities(
    pairs: Pairs = ((PATH, PLATT), (PATH, LOGISTIC), (VECTOR_PATH, VECTOR_PLATT)),
) -> Evidence:
    """Compare Brier scores of level paths with those of other machines, of low rank and of vectors."""
    return evidence("brier", pairs, 4)


@claim(
    "smm/real-classes",
    kind="ours",
    where="Section 2, on vectorised matrices",
    statement="of ten digits, too, low rank gains less than a point of error over vectors",
    notebook=f"{REAL}#smm-real-classes",
    depends=(csv("classes"),),
)
def check_classes(pairs: Pairs = ((FLAT, LOW),)) -> Evidence:
    """Compare test errors of one machine for each digit against the rest."""
    return evidence("error", pairs, 1, "classes")

"""Claims about real matrices: digits, EEG, brain connectivity, products of digits.

The claims are about eight sets as they are, and random splits of them: differences are judged by their
intervals over the splits, within margins that the protocol states, and the power of the splits is given.
Whether they carry over to new samples is another question. Splits of one set overlap, so that the corrected
resampled t-test, which answers it, has no power on sets with many more test than training samples, however
many splits there are; its p-values are told beside.

Seven sets come as matrices, and nobody promised that low rank suits them. The eighth is made so that it does:
see `marginbook.smm.experiments.real_pairs`. Where the experiment ``contest`` has a set again on more splits,
matrices and vectors are compared on these.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...claims import Evidence, Rival, claim
from ...claims.changed_results import moved
from ...claims.printed_tables import paired
from ..experiments.real_pairs import PARITY
from . import as_good_as
from .stored_results import (
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
    resampled_contest,
    tally,
    with_methods,
)

if TYPE_CHECKING:
    import pandas as pd

Pairs = tuple[tuple[str, str], ...]

REAL = "smm/06_real_matrices"
DEPENDS = (csv("matrices"),)
#: with more splits of some sets, by table
AGAIN = {"matrices": "contest"}
LOW, FLAT = "low-rank SVM", "vector SVM"


def with_again(table: str, column: str, *names: str) -> pd.DataFrame | None:
    """Return a column of `by_draw`, with the splits of the second run of those sets that had one.

    Parameters
    ----------
    table, column : str
    *names : str
        Methods that the second run must have.
    """
    import pandas as pd

    frame = by_draw(table, column)
    again = by_draw(AGAIN[table], column) if table in AGAIN else None
    if frame is None or again is None or not set(names) <= set(again.columns):
        return frame
    again = again.dropna(subset=list(names))
    twice = again.index.get_level_values("dataset").unique()
    return pd.concat([frame.drop(twice, level="dataset", errors="ignore"), again])


def looks(*tables: str) -> dict[str, int]:
    """Return how often the sets of some tables were looked at, of tables where that was more than once."""
    found: dict[str, int] = {}
    for table in tables:
        number, frame = int(TABLES.protocol(table).thresholds.get("looks", 1)), TABLES.results(table)
        if frame is not None and number > 1:
            found |= dict.fromkeys(map(str, frame["dataset"].unique()), number)
    return found


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
        f"{first} against {second} for new samples: {tally(lines['corrected'])} by the corrected resampled "
        f"t-test, after Holm; lower mean on {lower} of {number} sets, higher on {higher}, by {by:+.3g} on "
        f"average (Wilcoxon p = {p:.2g})."
    )


def evidence(
    column: str,
    pairs: Pairs,
    digits: int,
    table: str = "matrices",
    *,
    again: bool = False,
    but: tuple[str, ...] = (),
    share: float = 1.0,
) -> Evidence:
    """Return whether the first of each pair is, on every set, worse than the second by less than the margin.

    Parameters
    ----------
    column : {"brier", "error"}
        Less is better.
    pairs : tuple of (str, str)
    digits : int
        Of the numbers shown.
    table : {"matrices", "classes"}
    again : bool
        Whether splits of a second run replace those of the first.
    but : tuple of str
        Sets that are left out.
    share : float
        Of the margin.
    """
    margin = share * float(TABLES.protocol(table).thresholds["margins"][column])
    unit = "points of error" if column == "error" else "Brier score"
    names = [name for pair in pairs for name in pair]
    frame = with_methods(with_again(table, column, *names) if again else by_draw(table, column), *names)
    if frame is None:
        return TABLES.nothing(as_good_as.claimed(margin, unit), table)
    frame = frame.drop(list(but), level="dataset", errors="ignore")
    more = " ".join(over_sets(frame, *pair, table) for pair in pairs)
    there = {*frame.index.get_level_values("dataset"), *but}
    if missing := [name for name in TABLES.protocol(table).datasets if name not in there]:
        more += f" Missing: {', '.join(missing)}."
    looked_at = looks(table, AGAIN[table]) if again else looks(table)
    return as_good_as.evidence(frame, pairs, margin, digits=digits, unit=unit, more=more, looks=looked_at)


@claim(
    "smm/real-low-rank",
    kind="ours",
    where="Section 2, on vectorised matrices",
    statement="on seven sets that come as matrices, low rank gains less than a point of error over vectors: "
    "a vector machine is nowhere worse by more",
    notebook=f"{REAL}#smm-real-low-rank",
    depends=(*DEPENDS, csv("contest")),
    rivals=(
        Rival(
            "vectors with twenty points more error",
            swaps=moved("smm", ["matrices", "contest"], "vector", "error", by=20),
        ),
    ),
)
def check_low_rank(pairs: Pairs = ((VECTOR_PLATT, PLATT), (VECTOR_LOGISTIC, LOGISTIC))) -> Evidence:
    """Compare test errors, SVM with SVM and logistic with logistic regression."""
    return evidence("error", pairs, 1, again=True, but=(PARITY,))


@claim(
    "smm/real-rank-one",
    kind="ours",
    where="Section 2, on vectorised matrices",
    statement="on products of two digits low rank makes fewer errors than vectors, by more than a point; "
    "there a coefficient of rank 1 tells whether both digits are even or both odd, as far as a linear "
    "function can tell even from odd",
    notebook=f"{REAL}#smm-real-rank-one",
    depends=DEPENDS,
    rivals=(
        Rival("vectors first", {"pairs": ((VECTOR_PLATT, PLATT), (VECTOR_LOGISTIC, LOGISTIC))}),
        Rival("vectors beside vectors", {"pairs": ((VECTOR_LOGISTIC, VECTOR_PLATT),)}),
        Rival("two digits that come as they are", {"name": "digits-4-9"}),
    ),
)
def check_rank_one(
    pairs: Pairs = ((PLATT, VECTOR_PLATT), (LOGISTIC, VECTOR_LOGISTIC)), name: str = PARITY
) -> Evidence:
    """Compare test errors on the set that was made for it: the interval must end below minus the margin."""
    margin, unit = float(TABLES.protocol("matrices").thresholds["margins"]["error"]), "points of error"
    claimed = f"better by more than {margin:g} ({unit})"
    frame = with_methods(by_draw("matrices", "error"), *(each for pair in pairs for each in pair))
    if frame is None or name not in frame.index.get_level_values("dataset"):
        return TABLES.nothing(claimed, "matrices")
    frame = frame[frame.index.get_level_values("dataset") == name]
    found = as_good_as.evidence(frame, pairs, -margin, digits=1, unit=unit)
    return replace(found, claimed=claimed)


@claim(
    "smm/real-nuclear-norm",
    kind="ours",
    where="Section 2.1",
    statement="on eight sets of real matrices a fixed rank costs less than a point of error compared with a "
    "nuclear norm",
    notebook=f"{REAL}#smm-real-nuclear-norm",
    depends=(*DEPENDS, csv("contest")),
    rivals=(
        Rival(
            "a fixed rank with twenty points more error",
            swaps=moved("smm", ["matrices", "contest"], PLATT, "error", by=20),
        ),
    ),
)
def check_nuclear_norm(pairs: Pairs = ((PLATT, NUCLEAR),)) -> Evidence:
    """Compare test errors, both with Platt's sigmoid."""
    return evidence("error", pairs, 1, again=True)


@claim(
    "smm/real-probabilities",
    kind="ours",
    where="Section 2.3",
    statement="on eight sets of real matrices the Brier score of probabilities from level sets is less "
    "than 0.01 above those of Platt's sigmoid and of logistic regression",
    notebook=f"{REAL}#smm-real-probabilities",
    depends=DEPENDS,
    rivals=(
        Rival(
            "level sets with a Brier score higher by 0.1",
            swaps=moved("smm", ["matrices"], (PATH, VECTOR_PATH), "brier", by=0.1),
        ),
    ),
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
    statement="on ten digits, too, low rank gains less than a point of error over vectors",
    notebook=f"{REAL}#smm-real-classes",
    depends=(csv("classes"),),
    rivals=(
        Rival(
            "a vector machine with two points more error",
            swaps=moved("smm", ["classes"], FLAT, "error", by=2),
        ),
        Rival("another margin, of a quarter of a point", {"share": 0.25}),
    ),
)
def check_classes(pairs: Pairs = ((FLAT, LOW),), share: float = 1.0) -> Evidence:
    """Compare test errors of one machine for each digit against the rest, within a share of the margin."""
    return evidence("error", pairs, 1, "classes", share=share)
